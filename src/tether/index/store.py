"""What the index keeps: files, fragments and symbols in SQLite, postings in mapped files beside it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from tether.errors import TetherError
from tether.index.fragments import Fragment
from tether.index.segment import (
    Builder,
    DamagedSegmentError,
    Segment,
    check_segment,
    merge_segments,
    write_segment,
)
from tether.index.traits import stem_of
from tether.types import noun

VERSION: Final = 1  # an index of another version is rebuilt, never migrated: it can always be made again
MERGE_AT: Final = 8  # segments of one size class that become one
_CLASS: Final = 1_000  # postings of the smallest class; each further one is MERGE_AT times larger

SCHEMA: Final = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
  traits INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, hash TEXT NOT NULL,
  created_at INTEGER NOT NULL, base TEXT NOT NULL, imports TEXT NOT NULL, passages TEXT NOT NULL,
  segment INTEGER NOT NULL, note TEXT NOT NULL, name TEXT NOT NULL, stem TEXT NOT NULL);
CREATE INDEX file_name ON file(name);
CREATE INDEX file_stem ON file(stem);
CREATE INDEX file_segment ON file(segment);
CREATE TABLE source(file INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE fragment(
  file INTEGER NOT NULL, ord INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  start_char INTEGER NOT NULL, end_char INTEGER NOT NULL, level INTEGER NOT NULL, kind TEXT NOT NULL,
  name TEXT NOT NULL, parent_symbol TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL,
  hash BLOB NOT NULL, PRIMARY KEY(file, ord)) WITHOUT ROWID;
CREATE INDEX fragment_hash ON fragment(hash);
CREATE TABLE symbol(
  folded TEXT NOT NULL, name TEXT NOT NULL, qualified TEXT NOT NULL, kind TEXT NOT NULL,
  file INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, exported INTEGER NOT NULL,
  signature TEXT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX symbol_folded ON symbol(folded);
CREATE INDEX symbol_file ON symbol(file);
CREATE TABLE segment(id INTEGER PRIMARY KEY AUTOINCREMENT, postings INTEGER NOT NULL, size INTEGER NOT NULL,
  checksum INTEGER NOT NULL);
CREATE TABLE dead(file INTEGER PRIMARY KEY, segment INTEGER NOT NULL);
CREATE TABLE aside(path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE folder(path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL) WITHOUT ROWID;
"""

FILE_FIELDS: Final = (
    "id, path, language, traits, size, mtime_ns, hash, created_at, base, imports, passages, note"
)


class DamagedIndexError(Exception):
    """The index on disk cannot be trusted; it has to be made again."""


@noun
class FileRow:
    """One indexed file."""

    id: int
    path: str
    language: str
    traits: int
    size: int
    mtime_ns: int
    hash: str  # sha256 hex of the bytes: staleness is judged by it
    created_at: int  # Unix seconds at which it was indexed
    base: str  # a UUID v7 as hex; a fragment's id is this plus its ordinal
    imports: str  # JSON list of module, first and last line
    passages: str  # JSON list: the first fragment of each passage
    note: str  # why it has no syntax tree, if it has none


@noun
class NewFile:
    """A file ready to be stored."""

    path: str
    language: str
    traits: int
    size: int
    mtime_ns: int
    hash: str
    text: str
    imports: tuple[tuple[str, int, int], ...]
    fragments: tuple[Fragment, ...]
    hashes: tuple[bytes, ...]  # sha256 of each fragment's text
    passages: tuple[int, ...]
    symbols: tuple[tuple[Any, ...], ...]  # rows of `symbol` without the file
    extra: dict[str, int]  # terms of its path, which count for the file as a whole
    terms: tuple[dict[str, int], ...]  # of each passage
    note: str = ""


class Store:
    """One index directory. Any number of processes read; the holder of the lease writes."""

    def __init__(self, folder: str, *, create: bool = False) -> None:
        self.folder = folder
        self.path = os.path.join(folder, "index.db")
        if create:
            os.makedirs(folder, exist_ok=True)
        elif not os.path.exists(self.path):
            raise FileNotFoundError(self.path)
        try:
            self.db = sqlite3.connect(self.path, timeout=5, isolation_level=None, check_same_thread=False)
            self._prepare(create)
        except sqlite3.DatabaseError as error:
            raise DamagedIndexError(f"`{self.path}`: {error}") from error
        self._segments: dict[int, Segment] = {}
        self._dead: frozenset[int] = frozenset()
        self._seen = -1
        self._total = -1
        self._rows: dict[int, FileRow] = {}
        self.stems: dict[int, tuple[str, ...]] = {}  # what the ranking remembers of each file's name

    def _prepare(self, create: bool) -> None:
        db = self.db
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA temp_store=MEMORY")
        if create:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("BEGIN IMMEDIATE")
            # INVARIANT: the schema and its version appear together or not at all.
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                for statement in filter(str.strip, SCHEMA.split(";")):
                    db.execute(statement)
                db.execute("INSERT INTO meta VALUES('version', ?)", (str(VERSION),))
            db.execute("COMMIT")
        try:
            row = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                raise DamagedIndexError(f"`{self.path}` holds no index") from error
            raise
        if row is None or row[0] != str(VERSION):
            raise DamagedIndexError(f"`{self.path}` is of version {row and row[0]}, not {VERSION}")

    def close(self) -> None:
        """Let files and mappings go."""
        for segment in self._segments.values():
            segment.close()
        self._segments.clear()
        self.db.close()

    # ── reading ──────────────────────────────────────────────────────────────

    def segments(self) -> tuple[Sequence[Segment], frozenset[int]]:
        """The live segments and the files in them that are no more, as of the last commit."""
        version = self.db.execute("PRAGMA data_version").fetchone()[0]
        if version != self._seen:
            for _ in range(5):
                try:
                    self._load()
                    break
                except FileNotFoundError:
                    continue  # merged away between listing and opening: list again
            else:
                raise DamagedIndexError(f"`{self.folder}` misses a segment")
            self._seen = version
            self._rows.clear()
            self.stems.clear()
            self._total = -1
        return list(self._segments.values()), self._dead

    def forget(self) -> None:
        """Look at the segments again at the next question: this connection itself changed them."""
        self._seen = -1

    def _load(self) -> None:
        wanted = {row[0]: row[1] for row in self.db.execute("SELECT id, size FROM segment ORDER BY id")}
        for gone in self._segments.keys() - wanted.keys():
            self._segments.pop(gone)  # closed when the last posting list of it is let go
        for number in wanted.keys() - self._segments.keys():
            path = self.segment_path(number)
            if os.stat(path).st_size != wanted[number]:
                raise DamagedIndexError(f"`{path}` is not of the size it was written with")
            try:
                self._segments[number] = Segment(path)
            except (DamagedSegmentError, ValueError) as error:
                raise DamagedIndexError(str(error)) from error
        self._dead = frozenset(row[0] for row in self.db.execute("SELECT file FROM dead"))

    def segment_path(self, number: int) -> str:
        return os.path.join(self.folder, f"{number}.seg")

    def total_files(self) -> int:
        """How many files are indexed."""
        if self._total < 0 or self._seen < 0:
            self._total = self.db.execute("SELECT count(*) FROM file").fetchone()[0]
        return self._total

    def files(self, ids: Iterable[int]) -> dict[int, FileRow]:
        """Indexed files by id; those gone meanwhile are missing."""
        found: dict[int, FileRow] = {}
        wanted = []
        for number in ids:
            if number in self._rows:
                found[number] = self._rows[number]
            else:
                wanted.append(number)
        for at in range(0, len(wanted), 500):
            part = wanted[at : at + 500]
            marks = ",".join("?" * len(part))
            for row in self.db.execute(f"SELECT {FILE_FIELDS} FROM file WHERE id IN ({marks})", part):  # noqa: S608
                found[row[0]] = self._rows[row[0]] = FileRow(*row)
        return found

    def file(self, path: str) -> FileRow | None:
        """One indexed file by path."""
        row = self.db.execute(f"SELECT {FILE_FIELDS} FROM file WHERE path = ?", (path,)).fetchone()  # noqa: S608
        return FileRow(*row) if row else None

    def known(self) -> dict[str, tuple[int, int, str]]:
        """Size, modification time and hash of every indexed file."""
        return {row[0]: row[1:] for row in self.db.execute("SELECT path, size, mtime_ns, hash FROM file")}

    def text(self, file: int) -> str:
        """The text of a file as it was indexed."""
        row = self.db.execute("SELECT text FROM source WHERE file = ?", (file,)).fetchone()
        return zlib.decompress(row[0]).decode() if row else ""

    def fragments(self, file: int, first: int = 0, last: int = 1 << 30) -> list[Fragment]:
        """Fragments of a file in order, from ordinal `first` up to, not including, `last`."""
        return [
            Fragment(*row)
            for row in self.db.execute(
                "SELECT start_line, end_line, start_char, end_char, level, kind, name, parent_symbol,"
                " signature, doc FROM fragment WHERE file = ? AND ord >= ? AND ord < ? ORDER BY ord",
                (file, first, last),
            )
        ]

    def fragments_at(self, file: int, line: int) -> tuple[list[Fragment], int]:
        """The fragment of a file that holds a line, and its ordinal."""
        row = self.db.execute(
            "SELECT ord FROM fragment WHERE file = ? AND start_line <= ? AND end_line >= ? ORDER BY ord DESC",
            (file, line, line),
        ).fetchone()
        return (self.fragments(file, row[0], row[0] + 1), row[0]) if row else ([], 0)

    def read_meta(self, key: str, default: str = "") -> str:
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else default

    # ── writing: only the holder of the lease ────────────────────────────────

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def write_meta(self, key: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))

    def put(self, files: Sequence[NewFile], gone: Iterable[str] = ()) -> list[int]:
        """Replace these files and drop those that are gone, in one transaction; the new files' ids."""
        builder = Builder()
        ids: list[int] = []
        number = 0
        with self.transaction():
            for path in [*gone, *(file.path for file in files)]:
                self._drop(path)
            if files:
                number = int(self.db.execute("INSERT INTO segment VALUES(NULL, 0, 0, 0)").lastrowid or 0)
            for file in files:
                ids.append(self._insert(file, number))
                builder.add(ids[-1], file.extra, file.terms)
            if files:
                # Not synced: after a power cut the size and checksum kept here tell, and the index is remade.
                path = self.segment_path(number)
                check = write_segment(path, builder.encode())
                self.db.execute(
                    "UPDATE segment SET postings = ?, size = ?, checksum = ? WHERE id = ?",
                    (builder.postings, os.path.getsize(path), check, number),
                )
        self.forget()
        return ids

    def _drop(self, path: str) -> None:
        row = self.db.execute("SELECT id, segment FROM file WHERE path = ?", (path,)).fetchone()
        if row is None:
            return
        self.db.execute("INSERT INTO dead VALUES(?, ?)", row)
        for table in ("source", "fragment", "symbol"):
            self.db.execute(f"DELETE FROM {table} WHERE file = ?", (row[0],))  # noqa: S608
        self.db.execute("DELETE FROM file WHERE id = ?", (row[0],))

    def _insert(self, new: NewFile, segment: int) -> int:
        now = time.time()
        cursor = self.db.execute(
            "INSERT INTO file VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                new.path, new.language, new.traits, new.size, new.mtime_ns, new.hash, int(now), _uuid7(now),
                json.dumps(new.imports), json.dumps(new.passages), segment, new.note,
                new.path.rsplit("/", 1)[-1].lower(), stem_of(new.path).lower(),
            ),
        )  # fmt: skip
        number = int(cursor.lastrowid or 0)
        self.db.execute("INSERT INTO source VALUES(?, ?)", (number, zlib.compress(new.text.encode(), 1)))
        self.db.executemany(
            "INSERT INTO fragment VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (number, at, f.start_line, f.end_line, f.start_char, f.end_char, f.level, f.kind, f.name,
                 f.parent_symbol, f.signature, f.doc, digest)
                for at, (f, digest) in enumerate(zip(new.fragments, new.hashes, strict=True))
            ),
        )  # fmt: skip
        self.db.executemany(
            "INSERT INTO symbol(file, folded, name, qualified, kind, start_line, end_line, exported,"
            " signature, doc) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((number, *symbol) for symbol in new.symbols),
        )
        return number

    def touch(self, path: str, size: int, mtime_ns: int) -> None:
        """A file was touched but not changed."""
        self.db.execute("UPDATE file SET size = ?, mtime_ns = ? WHERE path = ?", (size, mtime_ns, path))
        self.forget()

    def merge(self) -> int:
        """Make one segment of many small ones; how many were merged."""
        groups: dict[int, list[int]] = {}
        for number, postings in self.db.execute("SELECT id, postings FROM segment ORDER BY id"):
            step = 0
            while postings > _CLASS * MERGE_AT**step:
                step += 1
            groups.setdefault(step, []).append(number)
        merged = 0
        for numbers in groups.values():
            if len(numbers) >= MERGE_AT:
                self._merge(numbers)
                merged += len(numbers)
        return merged

    def _merge(self, numbers: Sequence[int]) -> None:
        self.segments()
        marks = ",".join("?" * len(numbers))
        with self.transaction():
            dead = {
                row[0]
                for row in self.db.execute(f"SELECT file FROM dead WHERE segment IN ({marks})", numbers)  # noqa: S608
            }
            number = int(self.db.execute("INSERT INTO segment VALUES(NULL, 0, 0, 0)").lastrowid or 0)
            path = self.segment_path(number)
            check = write_segment(path, merge_segments([self._segments[n] for n in numbers], dead))
            summed = f"SELECT sum(postings) FROM segment WHERE id IN ({marks})"  # noqa: S608
            total = self.db.execute(summed, numbers).fetchone()[0]
            self.db.execute(
                "UPDATE segment SET postings = ?, size = ?, checksum = ? WHERE id = ?",
                (total, os.path.getsize(path), check, number),
            )
            self.db.execute(f"UPDATE file SET segment = {number} WHERE segment IN ({marks})", numbers)  # noqa: S608
            self.db.execute(f"DELETE FROM dead WHERE segment IN ({marks})", numbers)  # noqa: S608
            self.db.execute(f"DELETE FROM segment WHERE id IN ({marks})", numbers)  # noqa: S608
        self.forget()
        for old in numbers:
            with suppress(FileNotFoundError):
                os.unlink(self.segment_path(old))

    def sweep(self) -> None:
        """Remove segment files that no commit names: what a killed indexer left."""
        named = {f"{row[0]}.seg" for row in self.db.execute("SELECT id FROM segment")}
        for name in os.listdir(self.folder):
            if name.endswith((".seg", ".seg.new")) and name not in named:
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.folder, name))

    def verify(self) -> None:
        """Read everything once; DamagedIndexError when anything is not as it was written."""
        try:
            answer = self.db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if answer != "ok":
                raise DamagedIndexError(f"`{self.path}`: {answer}")
            for number, size, checksum in self.db.execute("SELECT id, size, checksum FROM segment"):
                path = self.segment_path(number)
                if os.path.getsize(path) != size or check_segment(path) != checksum:
                    raise DamagedIndexError(f"`{path}` is not as it was written")
        except (sqlite3.DatabaseError, OSError) as error:
            raise DamagedIndexError(f"`{self.folder}`: {error}") from error


def destroy(folder: str) -> None:
    """Remove an index, so that it is made again. Only the holder of the lease may."""
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith("index.db") or name.endswith((".seg", ".new")):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def fragment_id(base: str, ordinal: int) -> str:
    """The UUID v7 of a fragment."""
    number = f"{int(base, 16) + ordinal:032x}"
    return f"{number[:8]}-{number[8:12]}-{number[12:16]}-{number[16:20]}-{number[20:]}"


def find_fragment(store: Store, given: str) -> tuple[FileRow, int]:
    """The file and ordinal that a fragment's id names."""
    value = given.replace("-", "").lower()
    base = value[:-5] + "00000"
    row = store.db.execute(f"SELECT {FILE_FIELDS} FROM file WHERE base = ?", (base,)).fetchone()  # noqa: S608
    if row is None:
        raise TetherError("NOT_FOUND", f"no fragment `{given}` in the index", action="Search again")
    return FileRow(*row), int(value[-5:], 16)


def _uuid7(now: float) -> str:
    """A UUID v7 whose last 20 bits are free for an ordinal."""
    random = int.from_bytes(os.urandom(10), "big")
    value = int(now * 1000) << 80 | 7 << 76 | (random >> 64 & 0xFFF) << 64 | 2 << 62 | random & (1 << 62) - 1
    return f"{value >> 20 << 20:032x}"
