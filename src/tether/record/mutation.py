"""The class of a change: does a file still do what it did, or something else?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Final

from tether.record.form import Dialect, Form, Item, build
from tether.source.syntax import attempt

AST_REFACTOR: Final = "AST_REFACTOR"
INTENT_EVOLUTION: Final = "INTENT_EVOLUTION"

LANGUAGES: Final = frozenset({"javascript", "python", "rust", "tsx", "typescript"})

_MAX_BYTES: Final = 1_000_000
_MAX_RENAMED: Final = 8  # names of a module changed at once; more are a rewrite


@dataclass(frozen=True, slots=True)
class Mutation:
    """AST_REFACTOR or INTENT_EVOLUTION, and why."""

    kind: str
    reason: str


def classify(before: bytes | None, after: bytes | None, language: str | None) -> Mutation:
    """AST_REFACTOR only where both versions certainly behave alike; what is unsure is INTENT_EVOLUTION."""
    if before is None or after is None:
        return Mutation(INTENT_EVOLUTION, "created" if before is None else "deleted")
    if before == after:
        return Mutation(AST_REFACTOR, "the same bytes")
    if language not in LANGUAGES:
        return Mutation(INTENT_EVOLUTION, f"no rule for `{language}`" if language else "no known language")
    old, reason = _read(before, language, "before")
    if old is None:
        return Mutation(INTENT_EVOLUTION, reason)
    new, reason = _read(after, language, "after")
    if new is None:
        return Mutation(INTENT_EVOLUTION, reason)
    try:
        return _compare(old, new, _dialect(language))
    except RecursionError:  # called from deep down a stack: the depth limit leaves room, but not for everyone
        return Mutation(INTENT_EVOLUTION, "nested too deeply to compare")


def _dialect(language: str) -> Dialect:
    if language == "python":
        from tether.record.names.python import PYTHON

        return PYTHON
    if language == "rust":
        from tether.record.names.rust import RUST

        return RUST
    from tether.record.names.script import SCRIPT

    return SCRIPT


def _read(data: bytes, language: str, which: str) -> tuple[Item | None, str]:
    try:
        data.decode()
    except UnicodeDecodeError:
        return None, f"not UTF-8 {which}"
    parsed = attempt(data, language, max_bytes=_MAX_BYTES)
    if parsed.tree is None:
        return None, f"not parsed {which}: {parsed.reason}"
    if parsed.tree.root_node.has_error:
        return None, f"syntax errors {which}"
    root = build(parsed.tree, data, _dialect(language))
    return (root, "") if root is not None else (None, f"nested too deeply to compare {which}")


def _compare(old: Item, new: Item, dialect: Dialect) -> Mutation:
    docs = any(item.text == "__doc__" for root in (old, new) for item in root.below())
    plain = Form(dialect, keeps_docs=docs).write(old)
    if plain == Form(dialect, keeps_docs=docs).write(new):
        return Mutation(AST_REFACTOR, "only layout, comments, or the order of definitions and imports")
    dynamic = dialect.dynamic(old) or dialect.dynamic(new)
    if dynamic:
        return Mutation(INTENT_EVOLUTION, f"the syntax tree differs, and {dynamic}")
    kept = dialect.kept(old) | dialect.kept(new)
    dialect.resolve(old, kept)
    dialect.resolve(new, kept)
    form = Form(dialect, keeps_docs=docs).write(old)
    if form == Form(dialect, keeps_docs=docs).write(new):
        return Mutation(AST_REFACTOR, "only local names changed")
    for renamed in _renamings(dialect.private(old), dialect.private(new)):
        if form == Form(dialect, renamed=renamed, keeps_docs=docs).write(new):
            names = ", ".join(f"`{was}` to `{now}`" for now, was in renamed.items() if was.isidentifier())
            return Mutation(AST_REFACTOR, f"only names private to the file changed: {names}")
    return Mutation(INTENT_EVOLUTION, "the behaviour-bearing tree differs")


def _renamings(old: list[str], new: list[str]) -> list[dict[str, str]]:
    """Ways in which the private names of one version may be those of the other: new name → old name."""
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    if not gone or len(gone) != len(come) or len(gone) > _MAX_RENAMED:
        return []
    orders = permutations(gone) if len(gone) <= 3 else [tuple(gone)]
    # INVARIANT: one to one. A use of the old name that is left behind must not pass for the renamed one.
    left_behind = {name: f"{name} left behind" for name in gone}
    return [{**left_behind, **dict(zip(come, order, strict=True))} for order in orders]
