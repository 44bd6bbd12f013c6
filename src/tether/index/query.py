"""What a question holds as evidence: words, identifiers, paths, stack frames, module names."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from tether.index.terms import WORD, Lexicon
from tether.types import noun

LONG: Final = 40  # words; beyond that a question is a report, in which one name among many means little
MOST_TERMS: Final = 400  # a pasted log must not cost more than it can tell
MOST_CHARS: Final = 20_000

# A file named in the text, perhaps by an absolute path of another machine. Every repetition is bounded.
_PATH: Final = re.compile(
    r"(?<![\w@])(?:[A-Za-z]:)?[\w.\-/\\]{0,240}[\w\-]\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w/\\])"
)
_EXTENSIONS: Final = frozenset(
    (
        "py pyi pyx js jsx mjs cjs ts tsx mts cts go java kt kts rb rs cs scala sc swift c h cc cpp cxx "
        "hpp hh hxx m mm ex exs erl sh bash zsh hs lua zig php pl pm r jl ml mli fs clj dart groovy sql "
        "proto vue svelte html css scss json yaml yml toml md rst txt cfg ini xml gradle tf"
    ).split()
)
_DOTTED: Final = re.compile(r"(?<![\w./\\])[A-Za-z_]\w{0,80}(?:(?:\.|::)[A-Za-z_]\w{0,80}){1,8}")
_SPECIFIC: Final = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Z]{2,}[a-z]|^_+[a-z]")
_CALLED: Final = re.compile(r"([A-Za-z_]\w{0,80})\(\)|[.:#]([A-Za-z_]\w{1,80})|`([A-Za-z_]\w{0,80})`")
_TESTS: Final = re.compile(r"\b(?:tests?|specs?|fixtures?|testing|unittests?)\b", re.IGNORECASE)
_SYMBOL: Final = re.compile(r"[A-Za-z_$@][\w$]*(?:(?:\.|::|->|#|/|\\)[A-Za-z_$][\w$]*)*(?:\(\))?[?!]?")


@noun
class Query:
    """One question, taken apart."""

    text: str
    terms: dict[str, float]
    names: dict[str, float]  # identifiers that may be defined somewhere, and how sure the text makes us
    paths: tuple[str, ...]  # files the text names, "/"-separated
    modules: tuple[tuple[str, ...], ...]  # dotted names that may be modules
    wants_tests: bool
    is_symbol: bool  # the whole question is one name
    is_report: bool
    begins: tuple[str, ...]  # how the question's words begin, in lower case


def read_query(text: str, lexicon: Lexicon) -> Query:
    """Take a question apart."""
    text = text[:MOST_CHARS]
    words = WORD.findall(text)
    is_report = len(words) > LONG
    bare = text.strip()
    is_symbol = bool(bare) and _SYMBOL.fullmatch(bare) is not None
    counts = Counter(term for word in words for term in lexicon.split(word))
    terms = {term: 1 + math.log(count) / 2 for term, count in counts.most_common(MOST_TERMS)}
    if not terms:  # nothing but stop words: then they are what is asked for
        terms = {word.lower(): 1.0 for word in words[:MOST_TERMS]}
    return Query(
        text,
        terms,
        _names(text, words, is_symbol, is_report),
        _paths(text),
        _modules(text),
        bool(_TESTS.search(text)) and not is_report,
        is_symbol,
        is_report,
        _begins(terms),
    )


def _begins(terms: Iterable[str]) -> tuple[str, ...]:
    """A stem is how a word begins, but for the `i` that stands for a `y`."""
    return tuple({term.removesuffix("i") or term: None for term in terms})[:60]


def _names(text: str, words: list[str], is_symbol: bool, is_report: bool) -> dict[str, float]:
    names: dict[str, float] = {}
    if is_symbol and words:
        names[words[-1]] = 3.0
        words = words[:-1]
    scale = 0.15 if is_report else 1.0
    for place, word in enumerate(words):
        if _SPECIFIC.search(word):
            names[word] = max(names.get(word, 0), scale)
        elif place and word[0].isupper() and word[1:].islower():
            names[word] = max(names.get(word, 0), 0.6 * scale)
    if not is_report:
        for match in _CALLED.finditer(text):
            name = match[1] or match[2] or match[3]
            names[name] = max(names.get(name, 0), 0.7)
    return names


def _paths(text: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for match in _PATH.finditer(text):
        path = match[0].replace("\\", "/").lstrip("./")
        if path.rsplit(".", 1)[-1].lower() in _EXTENSIONS:
            found[path] = None
    return tuple(found)[:64]


def _modules(text: str) -> tuple[tuple[str, ...], ...]:
    found = dict.fromkeys(tuple(re.split(r"\.|::", match[0])) for match in _DOTTED.finditer(text))
    return tuple(found)[:64]
