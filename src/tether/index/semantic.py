"""The semantic lane: embed what has no vector yet, and find what lies near a question."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from tether.embed.chain import Chain
from tether.errors import TetherError
from tether.index.indexer import Progress
from tether.index.store import FileRow, Store
from tether.index.vectors import VectorStore
from tether.types import noun

if TYPE_CHECKING:
    from tether.embed.model import Embedder

BATCH: Final = 32
MOST_CHARS: Final = 4_000
SPARE: Final = 60  # vectors looked at beyond that, for some may be of code that is gone
SAME: Final = 5  # places of one content that are told
CANDIDATES: Final = 20  # the seed's number, before re-ranking


@noun
class Embedded:
    """What an embedding run did."""

    done: int = 0
    postponed: int = 0
    left: int = 0
    models: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    seconds: float = 0.0


@noun
class Spot:
    """A fragment near a question."""

    file: FileRow
    ordinal: int
    cos: float
    model: str


class Semantic:
    """The vectors of one index and the models that make them."""

    def __init__(self, folder: str, chain: Chain) -> None:
        self.vectors = VectorStore(folder)
        self.chain = chain
        self.latencies: list[float] = []  # milliseconds a text, of the last runs

    def close(self) -> None:
        self.vectors.close()

    def fill(
        self, store: Store, *, listen: Callable[[Progress], None] | None = None, files: int = 0
    ) -> Embedded:
        """Embed every fragment that has no vector of the preferred model; what fails is kept for later."""
        began = time.monotonic()
        preferred = self.chain.models(files)
        if not preferred:
            return Embedded(reasons=("no embedding model is set up",))
        first = preferred[0]
        waiting = self.vectors.postponed()
        lacking = self.vectors.missing(first.name, first.dimension, self._contents(store))
        todo = [digest for digest in lacking if digest not in waiting]
        done = put_off = 0
        models: dict[str, None] = {}
        reasons: dict[str, None] = {}
        for at in range(0, len(todo), BATCH):
            part = todo[at : at + BATCH]
            texts = [self._text(store, digest) for digest in part]
            clock = time.perf_counter()
            try:
                model, rows, why = self.chain.embed(texts, files)
            except TetherError as error:
                self.vectors.postpone(part, error.message)
                put_off += len(part)
                reasons[error.message] = None
                continue
            self.latencies = [*self.latencies[-255:], (time.perf_counter() - clock) * 1000 / len(part)]
            self.vectors.put(model.name, part, rows)
            if not done:
                self.vectors.wake()
            done += len(part)
            models[model.name] = None
            reasons.update(dict.fromkeys(why))
            if listen is not None:
                listen(Progress(at + len(part), len(todo), "embeddings", time.monotonic() - began))
        left = self.vectors.count_pending()
        if not left and not put_off:
            self._retire(preferred[0], store)
        return Embedded(done, put_off, left, tuple(models), tuple(reasons), time.monotonic() - began)

    def _retire(self, preferred: Embedder, store: Store) -> None:
        """Once the preferred model covers everything, what others left is no longer needed."""
        if self.vectors.missing(preferred.name, preferred.dimension, self._contents(store)):
            return
        for model in self.vectors.models():
            if (model.name, model.dimension) != (preferred.name, preferred.dimension):
                self.vectors.drop(model)

    def _contents(self, store: Store) -> Iterator[bytes]:
        for (digest,) in store.db.execute("SELECT DISTINCT hash FROM fragment ORDER BY file, ord"):
            yield digest

    def _text(self, store: Store, digest: bytes) -> str:
        """What is embedded: where a fragment belongs, its signature, its own text."""
        row = store.db.execute(
            "SELECT f.path, g.parent_symbol, g.signature, g.file, g.start_char, g.end_char FROM fragment g"
            " JOIN file f ON f.id = g.file WHERE g.hash = ? LIMIT 1",
            (digest,),
        ).fetchone()
        if row is None:
            return ""
        path, parent, signature, file, start, end = row
        body = store.text(file)[start:end]
        head = "" if body.lstrip().startswith(signature[:20]) else signature
        return "\n".join(filter(None, (path, parent, head, body)))[:MOST_CHARS]

    def near(self, store: Store, text: str, k: int = CANDIDATES) -> list[list[Spot]]:
        """For each model with vectors here, the fragments nearest to a question, nearest first."""
        lists = []
        by_name = {(model.name, model.dimension): model for model in self.chain.models()}
        for table in self.vectors.models():
            model = by_name.get((table.name, table.dimension))
            if model is None or not table.rows:
                continue
            try:
                query = model.embed([text], query=True)
            except TetherError:
                continue  # the other lanes answer; `fill` reports what is wrong with the model
            spots: list[Spot] = []
            found = list(self.vectors.scan(table, query, k + SPARE))
            for at in range(0, len(found), k):
                spots += self._spots(store, {near.hash: near.cos for near in found[at : at + k]}, table.name)
                if len(spots) >= k:
                    break
            lists.append(spots[:k])
        return lists

    def _spots(self, store: Store, found: dict[bytes, float], model: str) -> list[Spot]:
        """Where these contents stand, nearest first; of one content a few places at most."""
        marks = ",".join("?" * len(found))
        places: dict[bytes, list[tuple[int, int]]] = {digest: [] for digest in found}
        for digest, file, ordinal in store.db.execute(
            f"SELECT hash, file, ord FROM fragment WHERE hash IN ({marks}) ORDER BY file, ord",  # noqa: S608
            tuple(found),
        ):
            if len(places[digest]) < SAME:
                places[digest].append((file, ordinal))
        rows = store.files({file for spots in places.values() for file, _ in spots})
        return [
            Spot(rows[file], ordinal, found[digest], model)
            for digest, spots in places.items()
            for file, ordinal in spots
            if file in rows
        ]
