"""A file's shape without its bodies: from a parser where there is one, else from the first words of lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tether.pack.summary import family


@dataclass(frozen=True, slots=True)
class Omitted:
    """A definition whose body a skeleton leaves out: what a reader may zoom into."""

    kind: str  # function | class
    name: str
    start: int  # lines, from 1
    end: int


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The kept lines, and what was left out."""

    text: str
    kept: int
    omitted: tuple[Omitted, ...] = ()
    parsed: bool = False  # by a parser, not by patterns


# (text, path, language, signatures only) → a skeleton, or None where this parser does not know the language.
Shaper = Callable[[str, str, str, bool], "Skeleton | None"]

_STARTS: Final[dict[str, tuple[str, ...]]] = {
    "python": ("import ", "from ", "class ", "def ", "async def ", "@"),
    "javascript": (
        "import ",
        "export ",
        "from ",
        "class ",
        "function ",
        "async function ",
        "interface ",
        "type ",
        "enum ",
    ),
}
_PATTERNS: Final[dict[str, re.Pattern[str]]] = {
    "bash": re.compile(r"#!|[\w-]+\s*\(\)\s*\{|source\s|\.\s"),
    "rust": re.compile(r"(?:pub(?:\([^)]*\))?\s+)?(?:use|mod|struct|fn|async fn|trait|impl)\b"),
}
_NAMED = re.compile(
    r"(?:pub(?:\([^)]*\))?\s+|export\s+|default\s+|async\s+)*"
    r"(class|struct|trait|interface|enum|def|fn|function)\s+([A-Za-z_]\w*)"
)
_IMPORTS: Final = ("import ", "from ", "use ", "pub use ", "mod ", "source ", ". ", "#!", "@")


def _keeps(language: str, line: str, number: int) -> bool:
    word = line.strip()
    if word.startswith(_STARTS.get(language, ("\0",))):
        return True
    if language == "python":
        return number <= 10 and word.startswith(('"""', "'''"))
    if language == "javascript":
        return word.startswith("const ") and "=>" in word
    pattern = _PATTERNS.get(language)
    if not pattern or not pattern.match(word):
        return False
    return number == 1 or not word.startswith("#!")


def shape_by_lines(text: str, path: str, language: str, brief: bool) -> Skeleton | None:
    """Whole lines that begin like a signature or an import; None if the language or the file has none."""
    known = family(language)
    if known not in _STARTS and known not in _PATTERNS:
        return None
    kept: list[str] = []
    omitted: list[Omitted] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not _keeps(known, line, number):
            continue
        if brief and (line[:1].isspace() or line.startswith(_IMPORTS)):
            continue
        kept.append(line)
        named = _NAMED.match(line.strip())
        if named:
            kind = "function" if named.group(1) in ("def", "fn", "function") else "class"
            omitted.append(Omitted(kind, named.group(2), number, number))
    if not kept:
        return None
    return Skeleton("\n".join(kept), len(kept), tuple(omitted))
