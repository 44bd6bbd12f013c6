"""Whether an instruction is plain enough for a weak model to carry out without guessing. Pure.

Each rule has an id, so that a refusal says which one to mend:
  short         fewer than four words
  vague         leaves what to do to the reader: `as needed`, `etc`, `appropriate`, `clean up`, …
  choice        leaves a choice open: `either`, `and/or`, `maybe`, `should probably`, …
  elsewhere     points at text the reader does not have: `as above`, `as discussed`, `same as before`
  placeholder   leaves a gap: `...`, `<name>`, `TODO`, `TBD`, `xxx`
  unnamed       names neither the file nor one of the target symbols
"""

from __future__ import annotations

import re
from functools import lru_cache

from tether.source.pattern import lazy

VAGUE = (
    "as needed", "as necessary", "if needed", "if necessary", "where needed", "where appropriate", "as appropriate",
    "appropriate", "appropriately", "properly", "somehow", "some kind of", "or similar", "and similar", "etc",
    "and so on", "and so forth", "clean up", "cleanup", "tidy up", "make it work", "fix it", "fix things",
    "fix everything", "improve things", "handle edge cases", "all edge cases", "whatever", "anything else",
    "various", "misc", "miscellaneous", "stuff", "things like", "best practices", "and more", "refactor as",
)  # fmt: skip
CHOICE = (
    "either", "and/or", "maybe", "perhaps", "possibly", "probably", "might want", "could also", "alternatively",
    "or else", "optionally", "up to you", "your choice", "if you want", "if possible", "ideally", "preferably",
)  # fmt: skip
ELSEWHERE = (
    "as above", "see above", "as before", "same as before", "same as above", "as discussed", "as described above",
    "as mentioned", "like last time", "like the other", "as usual", "the above", "previously discussed",
)  # fmt: skip
PLACEHOLDER = r"\.\.\.|…|<[a-z][\w -]{0,40}>|\b(?:todo|tbd|fixme|xxx+|tba|placeholder)\b|\?\?+"
# more than one edit in one instruction
_SEVERAL = lazy(
    r"\b(?:and then|then also|after that|afterwards|as well as then|next,)\b|;\s*(?:then|also|and)\b"
)
_LISTED = lazy(r"(?:^|\n)[ \t]*(?:\d+[.)]|[-*•])[ \t]+\S")

HINTS = {
    "short": "say what to do to what, in a whole sentence",
    "vague": "say exactly what to do instead",
    "choice": "decide, and say only what was decided",
    "elsewhere": "repeat what is meant: the reader sees this node alone",
    "placeholder": "fill the gap",
    "unnamed": "name the symbol or the file that is to change",
}


def _phrases(words: tuple[str, ...]) -> str:
    return r"(?<![\w/])(?:" + "|".join(re.escape(word) for word in words) + r")(?![\w/])"


_RULES = (("vague", lazy(_phrases(VAGUE))), ("choice", lazy(_phrases(CHOICE))),
          ("elsewhere", lazy(_phrases(ELSEWHERE))), ("placeholder", lazy(PLACEHOLDER)))  # fmt: skip
# INVARIANT: a text that has none of these words and marks breaks no rule but `short`; most texts have none
_KEYS = frozenset(
    max(reversed(phrase.split(" ")), key=len) for phrase in (*VAGUE, *CHOICE, *ELSEWHERE) if "/" not in phrase
) | frozenset(("todo", "tbd", "fixme", "tba", "placeholder"))
_MARKS = lazy(r"\.\.\.|…|<|xxx|\?\?|and/or")
_WORD = lazy(r"\w+")


@lru_cache(maxsize=4096)
def find_ambiguities(text: str) -> tuple[tuple[str, str], ...]:
    """(rule, the words at fault) for each rule the wording breaks."""
    lowered = text.lower()
    words = _WORD.findall(lowered)
    found = []
    if len(words) < 4:
        found.append(("short", text.strip()[:60]))
    if _KEYS.isdisjoint(words) and not _MARKS.search(lowered):
        return tuple(found)
    for rule, pattern in _RULES:
        match = pattern.search(lowered)
        if match:
            found.append((rule, match[0]))
    return tuple(found)


def names_target(text: str, file: str, symbols: tuple[str, ...]) -> bool:
    """Whether an instruction names the file or one of the symbols it is about."""
    lowered = text.lower()
    base = file.rpartition("/")[2].lower()
    names = {base, base.partition(".")[0], *(_last(symbol.lower()) for symbol in symbols)} - {""}
    return any(_stands_in(lowered, name) for name in names)


def _stands_in(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole word."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False


def _last(symbol: str) -> str:
    """The last name of a dotted one."""
    for mark in (":", "#"):
        symbol = symbol.replace(mark, ".")
    return symbol.rpartition(".")[2]


@lru_cache(maxsize=4096)
def find_several(text: str) -> str:
    """The words that show an instruction to be several edits; "" when it is one."""
    lowered = text.lower()
    if any(key in lowered for key in ("then", "after", "next,", ";")):
        match = _SEVERAL.search(lowered)
        if match:
            return str(match[0])
    if "\n" not in text:
        return ""
    listed = _LISTED.findall(text)
    return f"{len(listed)} list items" if len(listed) > 1 else ""
