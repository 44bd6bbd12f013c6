"""Several ranked lists as one: the words lead, meaning adds what they miss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tether.index.freshness import days_old, decay
from tether.index.lexical import Candidate, penalty_of
from tether.index.semantic import Spot
from tether.types import noun

NEAR: Final = 400  # fragments near a question that are weighed
MEANING: Final = 0.3  # what the nearest by meaning counts, beside the best by words
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
    """Each file's score by words, as a share of the best, plus a part of its share by meaning.

    Shares, not ranks: a file that the words find far before all others stays first, whatever the meaning says.
    """
    by_words = {candidate.file.id: candidate for candidate in ranked}
    most = max((candidate.score for candidate in ranked), default=0.0) or 1.0
    votes = {file: max(0.0, candidate.score) / most for file, candidate in by_words.items()}
    ranks: dict[int, dict[str, float]] = {
        file: {"lexical_rank": place} for place, file in enumerate(votes, 1)
    }
    shares: dict[int, float] = {}
    nearest: dict[int, Spot] = {}
    for spots in lists:
        weighed = [(spot.cos * penalty_of(spot.file.traits, wants_tests), spot) for spot in spots]
        weighed.sort(key=lambda pair: -pair[0])
        best, least = (weighed[0][0], weighed[-1][0]) if weighed else (0.0, 0.0)
        seen: set[int] = set()
        for weight, spot in weighed:
            file = spot.file.id
            if file in seen:
                continue
            seen.add(file)
            share = (weight - least) / (best - least) if best > least else 1.0
            shares[file] = max(shares.get(file, 0.0), share)
            ranks.setdefault(file, {}).setdefault("semantic_rank", len(seen))
            held = nearest.get(file)
            if held is None or spot.cos > held.cos:
                nearest[file] = spot
    for file, share in shares.items():
        votes[file] = votes.get(file, 0.0) + MEANING * share
    order = sorted(votes, key=lambda file: (-votes[file], file))[:limit]
    whole = 1 + MEANING * bool(shares)
    return [
        Blended(votes[file] / whole, by_words.get(file), nearest.get(file), ranks[file]) for file in order
    ]


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
