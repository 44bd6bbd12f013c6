"""The journal: append-only, hash-chained, shared by every process of one project.

Facts are read and entries appended inside one write transaction (`Journal.turn`), so a single-use
approval, a budget or a reservation cannot be spent twice by two processes deciding at once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from _thread import RLock
from hashlib import sha256

from tether.errors import TetherError
from tether.record.projection import project
from tether.types import Entry, Head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

GENESIS = "0" * 64
BUSY_SECONDS = 5.0
PAGE = 1000

# INVARIANT: `INSERT OR REPLACE` deletes without firing delete triggers, so the insert trigger
# itself demands that every row continues the chain.
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, val TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, run TEXT NOT NULL, call TEXT NOT NULL,
  body TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL UNIQUE);
CREATE INDEX entry_run ON entry (run, seq);
CREATE INDEX entry_call ON entry (call, seq);
CREATE INDEX entry_kind ON entry (kind, seq);
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER entry_chained BEFORE INSERT ON entry
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entry)
  OR NEW.prev IS NOT coalesce((SELECT hash FROM entry ORDER BY seq DESC LIMIT 1), printf('%064d', 0))
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TABLE fact (scope TEXT NOT NULL, key TEXT NOT NULL, val TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (scope, key)) WITHOUT ROWID;
CREATE TABLE touch (tree TEXT NOT NULL, path TEXT NOT NULL, seq INTEGER NOT NULL, n INTEGER NOT NULL,
  change TEXT NOT NULL, PRIMARY KEY (tree, path, seq, n)) WITHOUT ROWID;
"""


def canonical(value: Any) -> str:
    """The one spelling of a JSON value that hashes are taken of."""
    return storable(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def storable(text: str) -> str:
    """Text that can be stored and hashed: half characters, as in names that are no UTF-8, are escaped.

    INVARIANT: no file name and no agent's argument can keep an entry from being written. In JSON the escape
    stands for the very character it replaces.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def chain_hash(prev: str, seq: int, at: str, kind: str, run: str, call: str, body: str) -> str:
    """The hash that ties an entry to all before it."""
    return sha256("\n".join((prev, str(seq), at, kind, run, call, body)).encode()).hexdigest()


def timestamp(now: float) -> str:
    """RFC 3339 in UTC, to the microsecond."""
    whole = int(now)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int((now - whole) * 1e6):06d}Z"


class Turn:
    """One write transaction: what is read in it stays true until what is appended in it is committed."""

    def __init__(self, db: sqlite3.Connection, head: Head, now: float) -> None:
        self._db = db
        self.head = head
        self.now = now

    def fact(self, scope: str, key: str) -> Any:
        """One projected fact, or None."""
        return _fact(self._db, scope, key)

    def facts(self, scope: str) -> dict[str, Any]:
        """All facts of a scope."""
        rows = self._db.execute("SELECT key, val FROM fact WHERE scope=?", (storable(scope),))
        return {key: json.loads(val) for key, val in rows}

    def entry(self, seq: int) -> Entry | None:
        """The entry at a position."""
        row = self._db.execute("SELECT * FROM entry WHERE seq=?", (seq,)).fetchone()
        return _entry(row) if row else None

    def append(self, kind: str, body: dict[str, Any], *, run: str = "", call: str = "") -> Entry:
        """Adds one entry and what it projects to."""
        seq = self.head.seq + 1
        at = timestamp(self.now)
        text = canonical(body)
        run, call = storable(run), storable(call)
        digest = chain_hash(self.head.hash, seq, at, kind, run, call, text)
        self._db.execute(
            "INSERT INTO entry VALUES (?,?,?,?,?,?,?,?)",
            (seq, at, kind, run, call, text, self.head.hash, digest),
        )
        entry = Entry(seq, at, kind, run, call, body, self.head.hash, digest)
        _apply(self._db, entry)
        self.head = Head(seq, digest)
        return entry


class Transaction:
    """`with journal.turn() as turn`: commits at the end, rolls back on any exception."""

    __slots__ = ("_durable", "_journal", "_now")

    def __init__(self, journal: Journal, durable: bool, now: float | None) -> None:
        self._journal = journal
        self._durable = durable
        self._now = now

    def __enter__(self) -> Turn:
        self._journal.lock.acquire()
        db = self._journal.db
        try:
            self._journal.require_in_place()
            db.execute("PRAGMA synchronous=" + ("FULL" if self._durable else "NORMAL"))
            db.execute("BEGIN IMMEDIATE")
            return Turn(db, _head(db), time.time() if self._now is None else self._now)
        except BaseException as error:
            _roll_back(db)
            self._journal.lock.release()
            if isinstance(error, sqlite3.DatabaseError):
                raise _unavailable(self._journal.path, error) from error
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        db = self._journal.db
        try:
            if error is None:
                db.execute("COMMIT")
        except sqlite3.DatabaseError as failed:
            raise _unavailable(self._journal.path, failed) from failed
        finally:
            _roll_back(db)
            self._journal.lock.release()
        if isinstance(error, sqlite3.DatabaseError):
            raise _unavailable(self._journal.path, error) from error


class Journal:
    """One project's journal, open in this process."""

    def __init__(self, path: str, db: sqlite3.Connection, identity: str) -> None:
        self.path = path
        self.id = identity
        self.key = _meta(db, "key")  # unlike the id, which every ledger line tells, known to this file alone
        self.db = db
        about = os.stat(path)
        self._place = (about.st_dev, about.st_ino)
        self.lock = RLock()  # one connection serves every thread of this process, one at a time

    @classmethod
    def open(cls, path: str, *, create_id: str = "") -> Journal:
        """Opens the journal; with `create_id` an absent one is begun under that identity."""
        if not create_id and not os.path.exists(path):
            raise TetherError("NOT_A_PROJECT", f"no journal at `{path}`")
        try:
            db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            db.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
            identity = _identity(db)
            if not identity:
                identity = _create(db, create_id)
        except sqlite3.DatabaseError as error:
            raise _unavailable(path, error) from error
        return cls(path, db, identity)

    def require_in_place(self) -> None:
        """INVARIANT: what is written to a file that was removed or replaced is recorded nowhere."""
        try:
            found = os.stat(self.path)
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._place:
            raise TetherError(
                "JOURNAL_UNAVAILABLE",
                f"the journal `{self.path}` was removed or replaced while it was in use",
            )

    def close(self) -> None:
        """Closes this process's connection; others are not disturbed."""
        self.db.close()

    def turn(self, *, durable: bool = False, now: float | None = None) -> Transaction:
        """A write transaction. `durable` survives power loss, not only a killed process."""
        return Transaction(self, durable, now)

    def append(
        self, kind: str, body: dict[str, Any], *, run: str = "", call: str = "", durable: bool = False
    ) -> Entry:
        """Adds one entry that depends on no other."""
        with self.turn(durable=durable) as turn:
            return turn.append(kind, body, run=run, call=call)

    def head(self) -> Head:
        """Where the journal ends now."""
        with self.lock:
            return _head(self.db)

    def fact(self, scope: str, key: str) -> Any:
        """One projected fact outside any turn."""
        rows = self._rows("SELECT val FROM fact WHERE scope=? AND key=?", (scope, key))
        return json.loads(rows[0][0]) if rows else None

    def facts(self, scope: str) -> dict[str, Any]:
        """All facts of a scope outside any turn."""
        return {
            key: json.loads(val)
            for key, val in self._rows("SELECT key, val FROM fact WHERE scope=?", (scope,))
        }

    def scopes(self, prefix: str, key: str) -> dict[str, Any]:
        """One fact of every scope that begins so, by the rest of the scope's name."""
        rows = self._rows(
            "SELECT scope, val FROM fact WHERE scope >= ? AND scope < ? AND key=?",
            (prefix, prefix + "\U0010ffff", key),
        )
        return {scope.removeprefix(prefix): json.loads(val) for scope, val in rows}

    def entries(
        self, after: int = 0, *, kinds: tuple[str, ...] = (), run: str = "", call: str = "", limit: int = -1
    ) -> Iterator[Entry]:
        """Entries in order, filtered."""
        where, values = _where(kinds, run, call)
        while limit != 0:
            page = PAGE if limit < 0 else min(limit, PAGE)
            sql = f"SELECT * FROM entry WHERE seq > ?{where} ORDER BY seq LIMIT ?"  # noqa: S608
            rows = self._rows(sql, (after, *values, page))
            yield from map(_entry, rows)
            if len(rows) < page:
                return
            after = rows[-1][0]
            limit -= page if limit > 0 else 0

    def recent(self, limit: int, *, kinds: tuple[str, ...] = (), run: str = "") -> list[Entry]:
        """The last entries, newest first."""
        where, values = _where(kinds, run, "")
        sql = f"SELECT * FROM entry WHERE 1{where} ORDER BY seq DESC LIMIT ?"  # noqa: S608
        return [_entry(row) for row in self._rows(sql, (*values, limit))]

    def has_after(self, seq: int, kinds: tuple[str, ...]) -> bool:
        """Whether there are entries of these kinds beyond a position."""
        where, values = _where(kinds, "", "")
        return bool(self._rows(f"SELECT 1 FROM entry WHERE seq > ?{where} LIMIT 1", (seq, *values)))  # noqa: S608

    def entry(self, seq: int) -> Entry | None:
        """The entry at a position."""
        rows = self._rows("SELECT * FROM entry WHERE seq=?", (seq,))
        return _entry(rows[0]) if rows else None

    def touches(self, tree: str, path: str, after: int = 0) -> list[dict[str, Any]]:
        """The changes of one path, in order, as `types.Change` fields."""
        sql = "SELECT change FROM touch WHERE tree=? AND path=? AND seq>? ORDER BY seq, n"
        return [json.loads(row[0]) for row in self._rows(sql, (tree, path, after))]

    def touched(self, tree: str) -> list[str]:
        """Every path with a recorded change."""
        return [row[0] for row in self._rows("SELECT DISTINCT path FROM touch WHERE tree=?", (tree,))]

    def _rows(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        with self.lock:
            try:
                held = [storable(value) if isinstance(value, str) else value for value in values]
                return self.db.execute(sql, held).fetchall()
            except sqlite3.DatabaseError as error:
                raise _unavailable(self.path, error) from error


def _where(kinds: tuple[str, ...], run: str, call: str) -> tuple[str, tuple[str, ...]]:
    parts, values = "", kinds
    if kinds:
        parts += f" AND kind IN ({','.join('?' * len(kinds))})"
    if run:
        parts += " AND run = ?"
        values = (*values, run)
    if call:
        parts += " AND call = ?"
        values = (*values, call)
    return parts, values


def _identity(db: sqlite3.Connection) -> str:
    try:
        return _meta(db, "id")
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return ""
        raise


def _meta(db: sqlite3.Connection, key: str) -> str:
    row = db.execute("SELECT val FROM meta WHERE key=?", (key,)).fetchone()
    return str(row[0]) if row else ""


def _create(db: sqlite3.Connection, identity: str) -> str:
    if not identity:
        raise TetherError("JOURNAL_BROKEN", "the journal file holds no journal")
    mode = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise TetherError(
            "JOURNAL_UNAVAILABLE", f"the file system does not support WAL (it answered `{mode}`)"
        )
    db.execute("BEGIN IMMEDIATE")
    try:
        # another process may have created it between our look and our lock
        found = _identity(db)
        if not found:
            for statement in _statements(_SCHEMA):
                db.execute(statement)
            values = (identity, os.urandom(16).hex())
            db.execute("INSERT INTO meta VALUES ('id', ?), ('key', ?), ('version', '1')", values)
        db.execute("COMMIT")
    except BaseException:
        _roll_back(db)
        raise
    return found or identity


def _statements(script: str) -> Iterator[str]:
    # executescript would commit the transaction the tables must be created in
    held = ""
    for part in script.split(";"):
        held += part + ";"
        if sqlite3.complete_statement(held):
            yield held
            held = ""


def _head(db: sqlite3.Connection) -> Head:
    row = db.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(row[0], row[1]) if row else Head(0, GENESIS)


def _entry(row: tuple[Any, ...]) -> Entry:
    return Entry(row[0], row[1], row[2], row[3], row[4], json.loads(row[5]), row[6], row[7])


def _apply(db: sqlite3.Connection, entry: Entry) -> None:
    def get(scope: str, key: str) -> Any:
        return _fact(db, scope, key)

    for scope, key, val in project(entry, get):
        scope, key = storable(scope), storable(key)
        if key == "*" and val is None:
            db.execute("DELETE FROM fact WHERE scope=?", (scope,))
        elif val is None:
            db.execute("DELETE FROM fact WHERE scope=? AND key=?", (scope, key))
        else:
            db.execute(
                "INSERT OR REPLACE INTO fact VALUES (?,?,?,?)", (scope, key, canonical(val), entry.seq)
            )
    tree = entry.body.get("tree", "")
    for n, change in enumerate(entry.body.get("changes", ())):
        stored = canonical({**change, "seq": entry.seq, "at": entry.at})
        for path in (change["path"], change.get("moved_from")):
            if path:
                row = (tree, storable(path), entry.seq, n, stored)
                db.execute("INSERT INTO touch VALUES (?,?,?,?,?)", row)


def _fact(db: sqlite3.Connection, scope: str, key: str) -> Any:
    where = (storable(scope), storable(key))
    row = db.execute("SELECT val FROM fact WHERE scope=? AND key=?", where).fetchone()
    return json.loads(row[0]) if row else None


def _roll_back(db: sqlite3.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")


def _unavailable(path: str, error: sqlite3.DatabaseError) -> TetherError:
    text = str(error)
    if "malformed" in text or "not a database" in text or "append-only" in text:
        return TetherError("JOURNAL_BROKEN", f"the journal `{path}` cannot be used: {text}")
    return TetherError("JOURNAL_UNAVAILABLE", f"the journal `{path}` cannot be written: {text}")
