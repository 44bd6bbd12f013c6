"""How many tokens a text costs: exactly, offline, and only once for the same text."""

from __future__ import annotations

import hashlib
import os
import sqlite3

from tether.errors import TetherError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Protocol

    class Tokenizer(Protocol):
        """Counts the tokens of a text, under a name that pins the way of counting."""

        @property
        def name(self) -> str: ...

        def count(self, text: str) -> int: ...


EXACT: Final = ("o200k_base", "cl100k_base")
NAMES: Final = (*EXACT, "estimate")
DEFAULT: Final = "o200k_base"


def tokenizer(name: str = DEFAULT) -> Tokenizer:
    """The tokenizer of this name; an exact one loads its vocabulary at its first count."""
    if name in EXACT:
        return Exact(name)
    if name == "estimate":
        return Estimate()
    raise TetherError("BAD_ARGUMENTS", f"unknown tokenizer `{name}`; choose one of {', '.join(NAMES)}")


class Exact:
    """Counts as the vocabulary's own models do. Special tokens in a text are text like any other."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoding: Any = None

    def count(self, text: str) -> int:
        """The exact number of tokens."""
        if self._encoding is None:
            from rs_bpe import openai

            self._encoding = getattr(openai, self.name)()
        try:
            return int(self._encoding.count(text))
        except UnicodeEncodeError:
            # Bytes that were no text stand as lone surrogates; a model is sent replacement characters.
            return int(self._encoding.count(text.encode("utf-8", "replace").decode()))


class Estimate:
    """Counts without a vocabulary, the same everywhere: for browsers, and where a guess will do.

    A quarter of the ASCII characters, half of the accented and other alphabetic ones, one for each character
    of scripts written without spaces and one and a half for each symbol outside the basic plane; rounded up.
    """

    name = "estimate"

    def count(self, text: str) -> int:
        """The estimated number of tokens: 0 only for the empty text."""
        size = len(text)
        narrow = len(text.encode("ascii", "ignore"))
        if narrow == size:
            return (size + 3) // 4
        # How many characters take two, three and four bytes of UTF-8, without looking at each in Python.
        astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - size
        extra = len(text.encode("utf-8", "surrogatepass")) - size
        unspaced = extra - 3 * astral - (size - narrow - astral)
        alphabetic = size - narrow - astral - unspaced
        # In twelfths, so that no rounding depends on floating point.
        return (3 * narrow + 6 * alphabetic + 12 * unspaced + 18 * astral + 11) // 12


class TokenCache:
    """Counts already made, by content hash, shared by many processes. Losing it costs only time."""

    LIMIT = 500_000  # rows; about 40 MB

    def __init__(self, path: str, limit: int = LIMIT) -> None:
        self.path = path
        self._limit = limit
        self._database: sqlite3.Connection | None = None

    def count(self, text: str, counter: Tokenizer) -> int:
        """What `counter` says of `text`, asked only once for the same text."""
        return self.count_many([text], counter)[0]

    def count_many(self, texts: list[str], counter: Tokenizer) -> list[int]:
        """`count` for many texts, in their order."""
        keys = [_key(text, counter.name) for text in texts]
        known = self._look_up(keys)
        fresh: dict[bytes, int] = {}
        counts: list[int] = []
        for text, key in zip(texts, keys, strict=True):
            count = known.get(key, fresh.get(key))
            if count is None:
                count = fresh[key] = counter.count(text)
            counts.append(count)
        self._keep(fresh)
        return counts

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection | None:
        if self._database is None:
            try:
                os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
                self._database = _connect(self.path)
            except (OSError, sqlite3.OperationalError):
                return None  # busy, or nowhere to write: count without it
            except sqlite3.DatabaseError:
                # A damaged cache is worth nothing: start again with an empty one.
                _remove(self.path)
                try:
                    self._database = _connect(self.path)
                except sqlite3.Error:
                    return None
        return self._database

    def _look_up(self, keys: list[bytes]) -> dict[bytes, int]:
        database = self._open()
        found: dict[bytes, int] = {}
        if database is None:
            return found
        try:
            for at in range(0, len(keys), 500):
                part = keys[at : at + 500]
                marks = ",".join("?" * len(part))
                rows = database.execute(f"SELECT key, tokens FROM counts WHERE key IN ({marks})", part)  # noqa: S608
                found.update(rows)
        except sqlite3.OperationalError:
            return found  # busy: what is not found is counted again
        except sqlite3.Error:
            self._drop()
        return found

    def _keep(self, fresh: dict[bytes, int]) -> None:
        database = self._open() if fresh else None
        if database is None:
            return
        try:
            with database:
                database.executemany("INSERT OR IGNORE INTO counts VALUES (?, ?)", fresh.items())
                (last,) = database.execute("SELECT coalesce(max(rowid), 0) FROM counts").fetchone()
                database.execute("DELETE FROM counts WHERE rowid <= ?", (last - self._limit,))
        except sqlite3.OperationalError:
            return  # another process is writing: these counts are made again next time
        except sqlite3.Error:
            self._drop()

    def _drop(self) -> None:
        """Forget a file that turned out damaged."""
        self.close()
        _remove(self.path)


def _key(text: str, name: str) -> bytes:
    digest = hashlib.blake2b(name.encode() + b"\0", digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _connect(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=2, isolation_level="IMMEDIATE", check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=OFF")
        database.execute("CREATE TABLE IF NOT EXISTS counts (key BLOB PRIMARY KEY, tokens INTEGER NOT NULL)")
        database.execute("SELECT key, tokens FROM counts LIMIT 1").fetchone()
        database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database


def _remove(path: str) -> None:
    for name in (path, f"{path}-wal", f"{path}-shm"):
        try:
            os.unlink(name)
        except OSError:
            pass
