"""Several ranked lists as one: the words lead, meaning adds what they miss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tether.index.freshness import days_old, decay
from tether.index.lexical import Candidate, penalty_of
from tether.index.semantic import Spot
from tether.types import noun

RRF: Final = 60
MEANING: Final = 0.3  # what a semantic list counts, beside the lexical one
SAME_LANGUAGE: Final = 1.2


@noun
class Blended:
    """A file in the joined list: by its words, by its meaning, or both."""

    score: float  # 0 … 1
    candidate: Candidate | None
    spot: Spot | None
    ranks: dict[str, float]


def blend(
    ranked: Sequence[Candidate], lists: Sequence[Sequence[Spot]], *, wants_tests: bool, limit: int
) -> list[Blended]:
    """Reciprocal rank fusion over files: each list votes by rank, none by its own scale."""
    votes: dict[int, float] = {}
    ranks: dict[int, dict[str, float]] = {}
    by_words = {candidate.file.id: candidate for candidate in ranked}
    for place, file in enumerate(by_words, 1):
        votes[file] = 1 / (RRF + place)
        ranks[file] = {"lexical_rank": place}
    nearest: dict[int, Spot] = {}
    for spots in lists:
        seen: set[int] = set()
        weighed = sorted(spots, key=lambda spot: -spot.cos * penalty_of(spot.file.traits, wants_tests))
        for spot in weighed:
            if spot.file.id in seen:
                continue
            seen.add(spot.file.id)
            place = len(seen)
            votes[spot.file.id] = votes.get(spot.file.id, 0.0) + MEANING / (RRF + place)
            ranks.setdefault(spot.file.id, {})["semantic_rank"] = place
            held = nearest.get(spot.file.id)
            if held is None or spot.cos > held.cos:
                nearest[spot.file.id] = spot
    most = (1 + MEANING * max(1, len(lists))) / (RRF + 1)
    order = sorted(votes, key=lambda file: (-votes[file], file))[:limit]
    return [Blended(votes[file] / most, by_words.get(file), nearest.get(file), ranks[file]) for file in order]


def rank_by_seed(
    lists: Sequence[Sequence[Spot]], speaking: str, now: float | None = None
) -> list[tuple[float, Spot]]:
    """S(c, q) = cos × e^(-days_old / 30) × 1.2 for the asker's language, within 0 … 1, best first.

    Where several models answered, a fragment keeps its best score.
    """
    best: dict[tuple[int, int], tuple[float, Spot]] = {}
    for spots in lists:
        for spot in spots:
            boost = SAME_LANGUAGE if speaking and speaking == spot.file.language else 1.0
            score = min(1.0, max(0.0, spot.cos * decay(days_old(spot.file, now)) * boost))
            key = (spot.file.id, spot.ordinal)
            if key not in best or score > best[key][0]:
                best[key] = (score, spot)
    return sorted(best.values(), key=lambda pair: (-pair[0], pair[1].file.path, pair[1].ordinal))
