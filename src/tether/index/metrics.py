"""What the index has done in this process: how fast it answered, how often it was right, how much it re-read."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import Final

from tether.types import noun

BUCKETS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # milliseconds; one more holds the rest


@noun
class Measured:
    """One look at the metrics."""

    searches: int
    latency_ms: dict[str, int]  # upper bound of each bucket → how many searches
    latency_p50_ms: float  # upper bound of the bucket that holds it
    latency_p99_ms: float
    index_hit_rate: float  # hits that were fresh in the index, of all
    reindexed_files: int
    reindexed_per_hour: float
    embedding_latency_ms: float | None  # a text, mean of the last runs
    pending_embeddings: int = 0


class Metrics:
    """Counters of one process."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._counts = [0] * (len(BUCKETS) + 1)
        self._hits = 0
        self._fresh = 0
        self._reindexed = 0

    def note_search(self, milliseconds: float, hits: int, fresh: int) -> None:
        self._counts[bisect_left(BUCKETS, milliseconds)] += 1
        self._hits += hits
        self._fresh += fresh

    def note_reindexed(self, files: int) -> None:
        self._reindexed += files

    def look(self, embedding: list[float] | None = None, pending: int = 0) -> Measured:
        """The metrics now; `embedding` are the last latencies of the models, in milliseconds."""
        hours = max(1e-9, (time.monotonic() - self._began) / 3600)
        names = [*(str(bound) for bound in BUCKETS), "more"]
        return Measured(
            sum(self._counts),
            dict(zip(names, self._counts, strict=True)),
            self._quantile(0.5),
            self._quantile(0.99),
            self._fresh / self._hits if self._hits else 1.0,
            self._reindexed,
            self._reindexed / hours,
            sum(embedding) / len(embedding) if embedding else None,
            pending,
        )

    def _quantile(self, share: float) -> float:
        total, seen = sum(self._counts), 0
        for bound, count in zip((*BUCKETS, float("inf")), self._counts, strict=True):
            seen += count
            if total and seen >= share * total:
                return float(bound)
        return 0.0
