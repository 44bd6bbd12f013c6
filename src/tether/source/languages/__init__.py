"""Per-language tables: how each grammar's tree is read."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tether.source.languages.rules import Rules

# language → the module that holds its table. Imported when first needed.
_MODULES: Final = {
    "bash": "scripts",
    "c": "systems",
    "cpp": "systems",
    "csharp": "objects",
    "css": "markup",
    "elixir": "functional",
    "go": "systems",
    "haskell": "functional",
    "html": "markup",
    "java": "objects",
    "javascript": "web",
    "json": "records",
    "kotlin": "objects",
    "lua": "scripts",
    "markdown": "markup",
    "php": "scripts",
    "python": "python",
    "ruby": "scripts",
    "rust": "rust",
    "scala": "objects",
    "sql": "records",
    "swift": "objects",
    "toml": "records",
    "tsx": "web",
    "typescript": "web",
    "yaml": "records",
    "zig": "systems",
}


@cache
def rules_of(language: str) -> Rules | None:
    """The table of a language, or None when there is none."""
    module = _MODULES.get(language)
    if module is None:
        return None
    name = "TYPESCRIPT" if language == "tsx" else language.upper()
    rules: Rules = getattr(import_module(f"tether.source.languages.{module}"), name)
    return rules
