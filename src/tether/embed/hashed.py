"""The built-in baseline: words and their pieces hashed into a vector. No weights, no download, no surprises."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from zlib import crc32

from tether.embed.model import normalise

if TYPE_CHECKING:
    from tether.embed.model import Vectors

_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_a-zA-Z]+")
_COMMON: Final = frozenset("the a an of to in is and or for it as be on by with this that from".split())


class HashedModel:
    """Texts that share words, or pieces of words, point the same way."""

    name = "tether-hashed-1"
    local = True

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        import numpy

        rows = numpy.zeros((len(texts), self.dimension), dtype=numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for word, count in Counter(match.lower() for match in _WORD.findall(text)).items():
                if word in _COMMON or len(word) > 40:
                    continue
                weight = 1 + math.log(count)
                for place, share in _features(word, self.dimension):
                    row[place] += weight * share
        return normalise(rows)


@lru_cache(maxsize=65536)
def _features(word: str, dimension: int) -> tuple[tuple[int, float], ...]:
    """Where a word points: mostly its own way, a little the way of each of its three-letter pieces."""
    pieces = [(word, 1.0)]
    if len(word) > 3:
        framed = f"<{word}>"
        inner = [framed[at : at + 3] for at in range(len(framed) - 2)]
        pieces += [(piece, 0.6 / math.sqrt(len(inner))) for piece in inner]
    found = []
    for piece, weight in pieces:
        number = crc32(piece.encode())
        found.append((number % dimension, weight if number >> 31 else -weight))
    return tuple(found)
