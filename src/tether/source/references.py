"""What a file mentions: every name that is called, used as a type, or merely used, and from where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tether.source.languages import rules_of
from tether.source.languages.rules import get
from tether.source.outline import Lines, Outline, Symbol, outline
from tether.source.syntax import MAX_BYTES, TIMEOUT_MS, kind_ids

if TYPE_CHECKING:
    from tree_sitter import Node

    from tether.source.languages.rules import Rules


@dataclass(frozen=True, slots=True)
class Ref:
    """One mention of a name."""

    name: str
    kind: str  # call | type | use
    start_byte: int
    end_byte: int
    line: int
    enclosing: str  # the qualified name of the innermost definition around it, or ""


def references(
    data: bytes,
    language: str,
    within: Outline | None = None,
    *,
    timeout_ms: float = TIMEOUT_MS,
    max_bytes: int = MAX_BYTES,
) -> list[Ref]:
    """Every mention of a name in `data`, less its definitions and imports, in the order of the text.

    Give the file's outline if it is already there: its tree is then used again.
    """
    rules = rules_of(language)
    shape = within or outline(data, language, timeout_ms=timeout_ms, max_bytes=max_bytes)
    if rules is None or shape.tree is None:
        return []
    found = _mentions(language, rules, shape)
    return _placed(found, data, shape, rules.uncalled)


def _mentions(language: str, rules: Rules, shape: Outline) -> list[tuple[int, int, str]]:
    """Start, end and kind of each name, in the order of the text."""
    wanted = rules.names | rules.type_roots | frozenset(rules.calls)
    kinds = kind_ids(language, wanted)
    called: dict[int, int] = {}  # start → end of the names that calls call
    found: list[tuple[int, int, str]] = []
    type_end = 0
    assert shape.tree is not None
    cursor = shape.tree.walk()
    while True:
        node = cursor.node
        kind = kinds.get(node.kind_id) if node is not None else None
        if kind is not None and node is not None:
            start, end = node.start_byte, node.end_byte
            if kind in rules.calls:
                callee = get(node, rules.calls[kind])
                # a call of a call's result is told by the inner one, which is visited on its own
                if callee is not None and callee.type in rules.calls:
                    callee = None
                last = _last_name(callee, rules) if callee is not None else None
                if last is not None:
                    called[last.start_byte] = last.end_byte
                    if last.type not in rules.names:
                        found.append((last.start_byte, last.end_byte, "call"))
            if kind in rules.type_roots:
                type_end = max(type_end, end)
            if kind in rules.names:
                is_type = kind in rules.types or start < type_end
                if not is_type and rules.type_fields:
                    is_type = cursor.field_name in rules.type_fields
                found.append(
                    (start, end, "call" if called.get(start) == end else "type" if is_type else "use")
                )
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return sorted(found)


def _last_name(callee: Node, rules: Rules) -> Node | None:
    """The name by which something is called: `c` of `a.b.c`."""
    here = callee
    while here.named_child_count and here.type not in rules.names:
        for field in (
            "name",
            "property",
            "field",
            "attribute",
            "member",
            "suffix",
            "right",
            "method",
            "function",
        ):
            below = here.child_by_field_name(field)
            if below is not None:
                break
        else:
            children = here.named_children
            below = next((c for c in reversed(children) if c.type in rules.names), None)
            below = below or (children[0] if len(children) == 1 else None)
        if below is None:
            return None
        here = below
    return here if here.type in rules.names or here.type in ("word", "command_name") else None


def _placed(
    found: list[tuple[int, int, str]], data: bytes, shape: Outline, uncalled: frozenset[str]
) -> list[Ref]:
    """Each mention with its line and the innermost symbol around it."""
    lines = Lines(data)
    defined = {symbol.name_range for symbol in shape.symbols}
    imports = sorted((taken.start_byte, taken.end_byte) for taken in shape.imports)
    import_at = 0
    symbols = sorted(shape.symbols, key=lambda symbol: (symbol.start_byte, -symbol.end_byte))
    open_: list[Symbol] = []
    at = 0
    refs = []
    for start, end, kind in found:
        while import_at < len(imports) and imports[import_at][1] <= start:
            import_at += 1
        name = data[start:end].decode("utf-8", "replace")
        imported = import_at < len(imports) and imports[import_at][0] <= start
        if imported or (start, end) in defined or (kind == "call" and name in uncalled):
            continue
        while at < len(symbols) and symbols[at].start_byte <= start:
            open_.append(symbols[at])
            at += 1
        while open_ and open_[-1].end_byte <= start:
            open_.pop()
        # a neighbour that ended earlier may lie under one that is still open
        around = next((s for s in reversed(open_) if s.end_byte > start), None)
        refs.append(Ref(name, kind, start, end, lines.at(start), around.qualified if around else ""))
    return refs
