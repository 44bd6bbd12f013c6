"""What regular expressions can tell of a file: the little a truncation summary says about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Summary:
    """Names found in a file, in order of appearance, each once."""

    language: str
    category: str
    classes: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()


_NAME = r"([A-Za-z_$][\w$]*)"
_RULES: Final[dict[str, dict[str, str]]] = {
    "python": {
        "classes": rf"^\s*class\s+{_NAME}",
        "functions": rf"^\s*(?:async\s+)?def\s+{_NAME}",
        "imports": r"^(?:from\s+([\w.]+)\s+import|import\s+([\w.]+))",
        "entry_points": r"^(if\s+__name__\s*==\s*['\"]__main__['\"])",
    },
    "javascript": {
        "classes": rf"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+{_NAME}",
        "functions": rf"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*{_NAME}"
        rf"|^\s*(?:export\s+)?(?:const|let)\s+{_NAME}\s*=\s*(?:async\s*)?(?:\([^)\n]*\)|\w+)\s*=>",
        "imports": r"^\s*import\s[^\n]*?from\s+['\"]([^'\"\n]+)|require\(\s*['\"]([^'\"\n]+)",
        "entry_points": r"^(export\s+default)|^(module\.exports)",
    },
    "rust": {
        "classes": rf"^\s*(?:pub(?:\([^)\n]*\))?\s+)?(?:struct|enum|trait)\s+{_NAME}",
        "functions": rf"^\s*(?:pub(?:\([^)\n]*\))?\s+)?(?:async\s+)?fn\s+{_NAME}",
        "imports": r"^\s*use\s+([\w:]+)",
        "entry_points": r"^\s*(fn\s+main)\s*\(",
    },
    "bash": {
        "functions": rf"^\s*(?:function\s+)?{_NAME}\s*\(\)",
        "imports": r"^\s*(?:source|\.)\s+(\S+)",
    },
    "markdown": {"classes": r"^#{1,2}\s+([^\n]+)"},
    "json": {"classes": r"^\s{0,4}\"([^\"\n]+)\"\s*:"},
    "yaml": {"classes": r"^([\w.-]+)\s*:"},
}
_ALIASES: Final = {"typescript": "javascript", "tsx": "javascript"}
_MARKER = re.compile(r"(?:#|//|/\*|--)\s*((?:TO" r"DO|FIX" r"ME|HACK|XXX|NOTE)\b)")


def family(language: str) -> str:
    """The language whose rules apply: TypeScript and its kin go by JavaScript's."""
    return _ALIASES.get(language, language)


def _collect(pattern: str, text: str) -> tuple[str, ...]:
    names = (next(g for g in m.groups() if g) for m in re.finditer(pattern, text, re.MULTILINE))
    return tuple(dict.fromkeys(names))


def categorise(path: str, language: str) -> str:
    """test | documentation | config | script | application | library."""
    name = path.rsplit("/", 1)[-1].lower()
    parts = path.lower().split("/")[:-1]
    if name.startswith("test_") or re.search(r"[._-](?:test|spec)\.", name) or {"test", "tests"} & set(parts):
        return "test"
    if language == "markdown":
        return "documentation"
    if language in ("json", "yaml", "toml", "hcl"):
        return "config"
    if language == "bash":
        return "script"
    return "application" if name.split(".")[0] in ("main", "app", "server", "index", "cli") else "library"


def summarise(text: str, path: str, language: str) -> Summary:
    """A file's names, as far as one look by pattern shows them."""
    rules = _RULES.get(family(language), {})
    found = {key: _collect(pattern, text) for key, pattern in rules.items()}
    marks = tuple(dict.fromkeys(m.group(1) for m in _MARKER.finditer(text)))
    return Summary(language, categorise(path, language), markers=marks, **found)
