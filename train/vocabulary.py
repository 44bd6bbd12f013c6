"""Which words get a vector of their own: the letters all is made of, what several packages use, the teacher's words."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

from train.mine import Pair

ROWS = 32_000
LEAST_PACKAGES = 2
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def choose_words(
    pairs: Iterable[Pair], more: Iterable[str] = (), rows: int = ROWS
) -> tuple[list[str], dict[str, int]]:
    """The vocabulary, most widely used first, and how often each word occurs in all."""
    totals: Counter[str] = Counter()
    packages: dict[str, set[str]] = {}
    for pair in pairs:
        for word in _WORD.findall(f"{pair.query} {pair.path} {pair.holder} {pair.name} {pair.code}"):
            if not word.isascii() or len(word) > 64:
                continue
            for part in _PART.findall(word):
                low = part.lower()
                totals[low] += 1
                held = packages.setdefault(low, set())
                if len(held) < 200:
                    held.add(pair.package)
    basic = [*string.ascii_lowercase, *string.digits]
    wide = [
        word
        for word, held in packages.items()
        if len(held) >= LEAST_PACKAGES and 2 <= len(word) <= 24 and not (word.isdigit() and len(word) > 4)
    ]
    wide.sort(key=lambda word: (-len(packages[word]), -totals[word], word))
    known = [word for word in more if word.isascii() and word.isalpha() and len(word) > 1]
    return list(dict.fromkeys(basic + wide + known))[:rows], dict(totals)
