"""What a bench reports, and how it measures on a noisy machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Row(NamedTuple):
    """One ratio against something measured in the same run."""

    what: str
    ratio: float
    against: str
    bound: float | None = None


def interleave(rounds: int, *jobs: Callable[[], object]) -> list[float]:
    """The best time of each job, run in turns so that load falls on all alike."""
    best = [float("inf")] * len(jobs)
    for _ in range(rounds):
        for n, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            best[n] = min(best[n], time.perf_counter() - start)
    return best


def interleave_medians(rounds: int, *jobs: Callable[[], object]) -> list[float]:
    """The median time of each job, run in turns."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds):
        for n, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            times[n].append(time.perf_counter() - start)
    return [sorted(t)[len(t) // 2] for t in times]
