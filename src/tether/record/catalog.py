"""A disposable index of the ledger, so that a question costs the same however long the ledger is.

It follows the ledger line by line: what was only appended is read from where the last reading ended, and
after a merge or a checkout only lines never seen before are parsed.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from tether.record.trace import is_sound, own, unpack
from tether.types import noun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FORMAT: Final = "1"
_TAIL: Final = 4096
_MANY: Final = 256  # newest records considered where a file has more
_EQUAL: Final = 16  # and where a line has

_SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE record (n INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, id TEXT NOT NULL,
  journal TEXT NOT NULL, seq INTEGER NOT NULL, tree TEXT NOT NULL, at REAL NOT NULL,
  revision TEXT NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE INDEX record_id ON record (id);
CREATE INDEX record_at ON record (at);
CREATE TABLE file (path TEXT NOT NULL, at REAL NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (path, at, n)) WITHOUT ROWID;
CREATE INDEX file_n ON file (n);
CREATE TABLE gram (key INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (key, n)) WITHOUT ROWID;
"""


@noun
class Row:
    """Where one record is, and when and by whom it was made."""

    n: int
    id: str
    journal: str
    seq: int
    tree: str
    at: float  # seconds since 1970
    revision: str


def gram(first: bytes, second: bytes, third: bytes) -> int:
    """Three consecutive line fingerprints as one key."""
    digest = blake2b(first + second + third, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class Catalog:
    """The index of one ledger, in a file of its own that may be deleted at any time."""

    def __init__(self, ledger: str, database: str) -> None:
        self.ledger = ledger
        self.database = database
        try:
            self._db = self._open()
        except sqlite3.DatabaseError:
            # a cache that cannot be read is made anew
            for end in ("", "-wal", "-shm"):
                if os.path.exists(database + end):
                    os.unlink(database + end)
            self._db = self._open()

    def close(self) -> None:
        """Closes the index."""
        self._db.close()

    def refresh(self, *, whole: bool = False) -> int:
        """Bring the index up to the ledger as it is now; how many lines had to be parsed."""
        with self._read() as ledger:
            size = ledger.seek(0, os.SEEK_END)
            start = int(self._meta("size") or 0)
            if not whole and size == start and self._meta("mark") == _mark(ledger, start):
                return 0
            self._db.execute("BEGIN IMMEDIATE")
            try:
                start = int(self._meta("size") or 0)
                if whole or size < start or self._meta("mark") != _mark(ledger, start):
                    start = 0
                parsed, end = self._follow(ledger, start)
                self._db.execute(
                    "REPLACE INTO meta VALUES ('size', ?), ('mark', ?)", (str(end), _mark(ledger, end))
                )
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            return parsed

    def find_by_path(self, paths: Iterable[str], since: float, until: float) -> list[Row]:
        """Records of any of the paths made in a span of time, newest first."""
        found: dict[int, Row] = {}
        for path in paths:
            for row in self._db.execute(
                f"SELECT {_COLUMNS} FROM file JOIN record USING (n)"  # noqa: S608
                " WHERE path = ? AND file.at > ? AND file.at <= ? ORDER BY file.at DESC LIMIT ?",
                (path, since, until, _MANY),
            ):
                found[row[0]] = Row(*row)
        return sorted(found.values(), key=lambda row: (row.at, row.seq), reverse=True)

    def find_by_gram(self, key: int) -> list[Row]:
        """Records that introduced a line with these neighbours, newest first."""
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM gram JOIN record USING (n) WHERE key = ?"  # noqa: S608
            " ORDER BY n DESC LIMIT ?",
            (key, _EQUAL),
        )
        return sorted((Row(*row) for row in rows), key=lambda row: (row.at, row.seq), reverse=True)

    def find_by_id(self, identity: str) -> Row | None:
        """The record of this id."""
        row = self._db.execute(f"SELECT {_COLUMNS} FROM record WHERE id = ?", (identity,)).fetchone()  # noqa: S608
        return Row(*row) if row else None

    def paths(self, n: int) -> set[str]:
        """The paths a record touches."""
        return {row[0] for row in self._db.execute("SELECT path FROM file WHERE n = ?", (n,))}

    def begins(self) -> float | None:
        """When the oldest record was made."""
        found: float | None = self._db.execute("SELECT min(at) FROM record").fetchone()[0]
        return found

    def load(self, n: int) -> dict[str, Any] | None:
        """The record itself, from the ledger; None when it is no longer where it was."""
        row = self._db.execute("SELECT start, size, digest FROM record WHERE n = ?", (n,)).fetchone()
        if row is None:
            return None
        with self._read() as ledger:
            ledger.seek(row[0])
            line = ledger.read(row[1])
        if sha256(line).digest() != row[2]:
            return None
        record: dict[str, Any] = json.loads(line)
        return record

    def _read(self) -> BinaryIO:
        return open(self.ledger, "rb") if os.path.exists(self.ledger) else io.BytesIO()

    def _open(self) -> sqlite3.Connection:
        os.makedirs(os.path.dirname(os.path.abspath(self.database)), mode=0o700, exist_ok=True)
        db = sqlite3.connect(self.database, timeout=30, isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=OFF")
        db.execute("BEGIN IMMEDIATE")
        known = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not known:
            for statement in _SCHEMA.split(";\n"):
                if statement.strip():
                    db.execute(statement)
            db.execute("INSERT INTO meta VALUES ('format', ?)", (_FORMAT,))
        found = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
        db.execute("COMMIT")
        if not found or found[0] != _FORMAT:
            db.close()
            raise sqlite3.DatabaseError("another format")
        return db

    def _meta(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def _follow(self, ledger: BinaryIO, start: int) -> tuple[int, int]:
        """Take in the whole lines from `start` on; how many were parsed, and where the last one ends."""
        db = self._db
        if start == 0:
            db.execute("CREATE TEMP TABLE IF NOT EXISTS present (n INTEGER PRIMARY KEY)")
            db.execute("DELETE FROM present")
        parsed = 0
        ledger.seek(start)
        at = start
        for line in ledger:
            if not line.endswith(b"\n"):
                break  # still being written
            text = line.rstrip()
            digest = sha256(text).digest()
            row = db.execute("SELECT n FROM record WHERE digest = ?", (digest,)).fetchone()
            if row:
                n = row[0]
                db.execute("UPDATE record SET start = ? WHERE n = ?", (at, n))
            else:
                parsed += 1
                n = self._take(text, digest, at)
            if n and start == 0:
                db.execute("INSERT OR IGNORE INTO present VALUES (?)", (n,))
            at += len(line)
        if start == 0:
            gone = "(SELECT n FROM record WHERE n NOT IN (SELECT n FROM present))"
            if db.execute(f"SELECT count(*) FROM {gone}").fetchone()[0]:  # noqa: S608
                for table in ("gram", "file", "record"):
                    db.execute(f"DELETE FROM {table} WHERE n NOT IN (SELECT n FROM present)")  # noqa: S608
        return parsed, at

    def _take(self, text: bytes, digest: bytes, at: int) -> int:
        """Index one line; 0 when it is no record."""
        try:
            record = json.loads(text)
            if not is_sound(record):
                return 0
            kept = own(record)
            made = _seconds(record["timestamp"])
            vcs = record.get("vcs") or {}
            values = (
                str(record["id"]),
                str(kept.get("journal", "")),
                int(kept.get("seq", 0)),
                str(kept.get("tree", "")),
                made,
                str(vcs.get("revision", "")),
            )
            paths = {str(path) for path in _paths(record, kept)}
            keys = set(_grams(kept))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            return 0  # not a record: `ledger.verify` reports it
        cursor = self._db.execute(
            "INSERT INTO record VALUES (NULL,?,?,?,?,?,?,?,?,?)", (digest, *values, at, len(text))
        )
        n = int(cursor.lastrowid or 0)
        self._db.executemany("INSERT OR IGNORE INTO file VALUES (?,?,?)", [(path, made, n) for path in paths])
        self._db.executemany("INSERT OR IGNORE INTO gram VALUES (?,?)", [(key, n) for key in keys])
        return n


_COLUMNS: Final = "n, id, journal, seq, tree, record.at, revision"


def _mark(ledger: BinaryIO, end: int) -> str:
    """What the ledger holds just before a position, to tell appending from rewriting."""
    ledger.seek(max(0, end - _TAIL))
    return sha256(ledger.read(min(end, _TAIL))).hexdigest()


def _seconds(timestamp: str) -> float:
    moment = datetime.fromisoformat(timestamp)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _paths(record: dict[str, Any], kept: dict[str, Any]) -> Iterator[str]:
    for file in record["files"]:
        yield file["path"]
    for file in kept.get("files", ()):
        if file.get("moved_from"):
            yield file["moved_from"]


def _grams(kept: dict[str, Any]) -> Iterator[int]:
    for file in kept.get("files", ()):
        for _, packed in file.get("lines", ()):
            marks = unpack(packed)
            for at in range(1, len(marks) - 1):
                yield gram(marks[at - 1], marks[at], marks[at + 1])
