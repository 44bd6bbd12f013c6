"""Vectors of fragments: keyed by content, one mapped file a model, scanned exactly."""

from __future__ import annotations

import mmap
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tether.types import noun

if TYPE_CHECKING:
    from tether.embed.model import Vectors

RETRY_SECONDS: Final = 300
BLOCK: Final = 65_536  # rows compared at once: bounds the memory of a scan

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS model(id INTEGER PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER NOT NULL,
  rows INTEGER NOT NULL DEFAULT 0, UNIQUE(name, dimension));
CREATE TABLE IF NOT EXISTS vector(model INTEGER NOT NULL, hash BLOB NOT NULL, row INTEGER NOT NULL,
  PRIMARY KEY(model, hash)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending(hash BLOB PRIMARY KEY, tries INTEGER NOT NULL, due REAL NOT NULL,
  reason TEXT NOT NULL) WITHOUT ROWID;
"""


@noun
class Model:
    """One model's table: vectors of different models are never compared."""

    id: int
    name: str
    dimension: int
    rows: int


@noun
class Near:
    """A fragment's content that lies near a question."""

    hash: bytes
    cos: float


class VectorStore:
    """The vectors beside an index. They outlive it: content that comes back is not embedded again."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "vectors.db")
        try:
            self._open()
        except sqlite3.DatabaseError:
            # Vectors can be made again from the code; a damaged table is not worth a failed search.
            for name in os.listdir(folder):
                if name.startswith("vectors."):
                    os.unlink(os.path.join(folder, name))
            self._open()
        self._hashes: dict[int, tuple[int, list[bytes]]] = {}

    def _open(self) -> None:
        self.db = sqlite3.connect(self.path, timeout=5, isolation_level=None, check_same_thread=False)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=NORMAL")
        with self._transaction():
            for statement in filter(str.strip, SCHEMA.split(";")):
                self.db.execute(statement)

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    # ── models ───────────────────────────────────────────────────────────────

    def models(self) -> list[Model]:
        """Every model with vectors here."""
        rows = self.db.execute("SELECT id, name, dimension, rows FROM model ORDER BY id")
        return [Model(*row) for row in rows]

    def _model(self, name: str, dimension: int) -> Model:
        self.db.execute("INSERT OR IGNORE INTO model(name, dimension) VALUES(?, ?)", (name, dimension))
        row = self.db.execute(
            "SELECT id, name, dimension, rows FROM model WHERE name = ? AND dimension = ?", (name, dimension)
        ).fetchone()
        return Model(*row)

    def drop(self, model: Model) -> None:
        """Forget a model's vectors."""
        with self._transaction():
            self.db.execute("DELETE FROM vector WHERE model = ?", (model.id,))
            self.db.execute("DELETE FROM model WHERE id = ?", (model.id,))
        path = self._data_path(model)
        if os.path.exists(path):
            os.unlink(path)

    def _data_path(self, model: Model) -> str:
        plain = re.sub(r"[^A-Za-z0-9.-]", "_", model.name)[:60]
        return os.path.join(self.folder, f"vectors.{model.id}-{plain}-{model.dimension}.f32")

    # ── writing: only the holder of the lease ────────────────────────────────

    def put(self, name: str, hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Keep vectors under the hashes of what they stand for; what was pending is pending no more."""
        with self._transaction():
            model = self._model(name, int(vectors.shape[1]))
            fresh = [
                at
                for at, digest in enumerate(hashes)
                if not self.db.execute(
                    "SELECT 1 FROM vector WHERE model = ? AND hash = ?", (model.id, digest)
                ).fetchone()
            ]
            with open(self._data_path(model), "ab") as file:
                # INVARIANT: rows beyond `model.rows` do not exist: a killed writer's tail is written over.
                file.truncate(model.rows * model.dimension * 4)
                file.seek(0, os.SEEK_END)
                file.write(vectors[fresh].astype("float32").tobytes())
            self.db.executemany(
                "INSERT OR REPLACE INTO vector VALUES(?, ?, ?)",
                [(model.id, hashes[at], model.rows + place) for place, at in enumerate(fresh)],
            )
            self.db.execute("UPDATE model SET rows = rows + ? WHERE id = ?", (len(fresh), model.id))
            self.db.executemany("DELETE FROM pending WHERE hash = ?", [(digest,) for digest in hashes])

    def missing(self, name: str, dimension: int, hashes: Iterable[bytes]) -> list[bytes]:
        """Those of the hashes that have no vector of this model."""
        row = self.db.execute(
            "SELECT id FROM model WHERE name = ? AND dimension = ?", (name, dimension)
        ).fetchone()
        if row is None:
            return list(hashes)
        have = {h for (h,) in self.db.execute("SELECT hash FROM vector WHERE model = ?", row)}
        return [digest for digest in hashes if digest not in have]

    # ── what could not be embedded ───────────────────────────────────────────

    def postpone(self, hashes: Iterable[bytes], reason: str, now: float | None = None) -> None:
        """Try these again in five minutes."""
        due = (time.time() if now is None else now) + RETRY_SECONDS
        with self._transaction():
            self.db.executemany(
                "INSERT INTO pending VALUES(?, 1, ?, ?) ON CONFLICT(hash) DO UPDATE SET"
                " tries = tries + 1, due = excluded.due, reason = excluded.reason",
                [(digest, due, reason[:300]) for digest in hashes],
            )

    def postponed(self, now: float | None = None) -> set[bytes]:
        """What is not to be tried yet."""
        at = time.time() if now is None else now
        return {h for (h,) in self.db.execute("SELECT hash FROM pending WHERE due > ?", (at,))}

    def count_pending(self) -> int:
        found: int = self.db.execute("SELECT count(*) FROM pending").fetchone()[0]
        return found

    def wake(self) -> None:
        """A model answers again: everything that waits is due now."""
        self.db.execute("UPDATE pending SET due = 0")

    # ── reading ──────────────────────────────────────────────────────────────

    def scan(self, model: Model, query: Vectors, k: int) -> list[Near]:
        """The k contents nearest to a question, by exact comparison with every vector."""
        import numpy

        if model.rows == 0:
            return []
        hashes = self._hashes_of(model)
        width = model.dimension * 4
        try:
            with open(self._data_path(model), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < model.rows * width:
                    return []  # cut short: the words still answer, and embedding again mends it
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                    return _nearest(mapped, model, query.reshape(-1), hashes, k, numpy)
        except FileNotFoundError:
            return []

    def _hashes_of(self, model: Model) -> list[bytes]:
        known = self._hashes.get(model.id)
        if known is None or known[0] != model.rows:
            order: list[bytes] = [b""] * model.rows
            for digest, row in self.db.execute("SELECT hash, row FROM vector WHERE model = ?", (model.id,)):
                if row < model.rows:
                    order[row] = digest
            known = self._hashes[model.id] = (model.rows, order)
        return known[1]


def _nearest(
    mapped: mmap.mmap, model: Model, query: Vectors, hashes: list[bytes], k: int, numpy: Any
) -> list[Near]:
    rows = numpy.frombuffer(mapped, dtype=numpy.float32, count=model.rows * model.dimension)
    rows = rows.reshape(model.rows, model.dimension)
    best: list[tuple[float, int]] = []
    for at in range(0, model.rows, BLOCK):
        scores = rows[at : at + BLOCK] @ query
        top = numpy.argpartition(-scores, min(k, len(scores) - 1))[:k]
        best += [(float(scores[n]), at + int(n)) for n in top]
    del rows, scores  # views of the mapping must go before it can
    best.sort(key=lambda pair: (-pair[0], pair[1]))
    return [Near(hashes[row], score) for score, row in best[:k] if hashes[row]]
