"""Text to terms: whole identifiers, their camelCase and snake_case parts, stemmed; stop words dropped."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final

WORD: Final = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)*", re.UNICODE)
PART: Final = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+"
)  # `HTTPServer2Go` → HTTP Server 2 Go
CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")

STOP: Final = frozenset(
    (
        "a an and any are as at be been but by can could did do does done each for from get had has have how "
        "i if in into is it its me my no nor not of on or our out over shall should so some such than that "
        "the their them then there these they this those to too under up us use used uses using very was we "
        "were what when where which while who whose why will with within without would you your"
    ).split()
)
LONGEST: Final = 64  # a longer word is data (a hash, base64), not a name

_SUFFIXES: Final = (
    ("ization", "ize"), ("isation", "ize"), ("ational", "ate"), ("fulness", "ful"), ("iveness", "ive"),
    ("ousness", "ous"), ("ations", "ate"), ("ation", "ate"), ("ators", "ate"), ("ator", "ate"),
    ("ingly", ""), ("ments", "ment"), ("ities", "ity"), ("ness", ""), ("able", ""), ("ible", ""),
)  # fmt: skip
_LAST: Final = frozenset("sgdreynl")  # what a word must end in to have a suffix
_VOWEL: Final = re.compile(r"[aeiouy]")


def stem(word: str) -> str:
    """A light English stem: enough that `caching`, `caches` and `cached` meet, and cheap."""
    if len(word) < 4 or word[-1] not in _LAST or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("ses", "xes", "ches", "shes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is", "ias")):
        word = word[:-1]
    if len(word) > 6:
        for suffix, new in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 3:
                word = word[: -len(suffix)] + new
                break
    for suffix in ("ing", "ed", "er", "or"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if len(rest) >= 3 and _VOWEL.search(rest):
                if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz":
                    rest = rest[:-1]
                word = rest
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word


class Lexicon:
    """Remembers how each word splits: source text repeats the same few thousand words."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def split(self, word: str) -> tuple[str, ...]:
        """The terms of one word: itself whole, then the stems of its parts; nothing for a stop word."""
        terms = self._known.get(word)
        if terms is None:
            if len(self._known) > 500_000:  # a hostile tree must not fill the memory
                self._known.clear()
            terms = self._known[word] = _split(word)
        return terms

    def count(self, text: str) -> dict[str, int]:
        """How often each term occurs in a text."""
        counts: dict[str, int] = {}
        known = self._known
        for word, times in Counter(WORD.findall(text)).items():
            terms = known.get(word)
            for term in self.split(word) if terms is None else terms:
                counts[term] = counts.get(term, 0) + times
        return counts


def _split(word: str) -> tuple[str, ...]:
    if len(word) > LONGEST:
        return ()
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
        if CJK.search(word):
            return tuple(dict.fromkeys(word[i : i + 2] for i in range(max(1, len(word) - 1))))
        parts = [part.lower() for part in word.split("_") if part]
    else:
        parts = [part.lower() for part in PART.findall(word)]
    if len(parts) <= 1:
        low = word.lower().strip("_")
        return () if not low or low in STOP else (stem(low),)
    whole = "".join(parts)
    terms = [whole]
    terms += [stem(part) for part in parts if part not in STOP and (len(part) > 1 or part.isdigit())]
    return tuple(dict.fromkeys(terms))
