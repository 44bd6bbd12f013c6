"""Rust's scopes: what is local, what may move, and what is the same in other words."""

from __future__ import annotations

import re
from typing import Final

from tether.record.form import MEMBER, Dialect, Form, Item, Name

# Macros that only format or collect their arguments: a name in them is an ordinary use.
_PLAIN_MACROS: Final = frozenset(
    {"eprint", "eprintln", "format", "format_args", "panic", "print", "println", "vec", "write", "writeln"}
)
_CAPTURED: Final = re.compile(r"\{\s*([A-Za-z_]\w*)|(?:[$:.])([A-Za-z_]\w*)\$")
_HARMLESS: Final = frozenset({"allow", "expect", "warn", "deny", "inline", "cold", "must_use", "doc", "cfg"})
_ITEMS: Final = frozenset(
    {
        "const_item",
        "enum_item",
        "foreign_mod_item",
        "function_item",
        "function_signature_item",
        "impl_item",
        "mod_item",
        "static_item",
        "struct_item",
        "trait_item",
        "type_item",
        "union_item",
        "associated_type",
        "use_declaration",
    }
)
_GENERIC: Final = frozenset(
    {
        "enum_item",
        "function_item",
        "function_signature_item",
        "impl_item",
        "struct_item",
        "trait_item",
        "type_item",
        "union_item",
    }
)
_OPAQUE: Final = frozenset(
    {"attribute_item", "inner_attribute_item", "label", "use_declaration", "macro_definition"}
)


class _Scope:
    def __init__(self, parent: _Scope | None) -> None:
        self.parent = parent
        self.names: dict[str, Name] = {}
        self.level: int = parent.level + 1 if parent is not None else 0

    def find(self, text: str) -> Name | None:
        """What this text means here; None for an item or anything from elsewhere."""
        here: _Scope | None = self
        while here is not None:
            if text in here.names:
                return here.names[text]
            here = here.parent
        return None


class _Resolver:
    def __init__(self, kept: frozenset[str]) -> None:
        self.kept = kept

    def resolve(self, item: Item, scope: _Scope) -> None:
        """Names are seen from where they are bound onward: children are taken in the order of the text."""
        kind = item.kind
        if kind == "identifier":
            item.name = scope.find(item.text)
        elif kind == "type_identifier":
            item.name = scope.find(f"<{item.text}>")
        elif kind == "lifetime":
            for kid in item.kids:
                kid.name = scope.find(f"'{kid.text}")
        elif kind in _OPAQUE:
            return
        elif kind in ("scoped_identifier", "scoped_type_identifier"):
            self._path(item, scope)
        elif kind == "token_tree":
            self._tokens(item, scope)
        elif kind in _GENERIC:
            self._item(item, scope)
        elif kind == "closure_expression":
            self._closure(item, _Scope(scope))
        elif kind == "block":
            self._all(item.kids, _Scope(scope))
        elif kind in ("let_declaration", "let_condition"):
            self._all([kid for kid in item.kids if kid.field != "pattern"], scope)
            self._bind(item.get("pattern"), scope)
        elif kind in ("if_expression", "while_expression"):
            inner = _Scope(scope)
            self._all([kid for kid in item.kids if kid.field != "alternative"], inner)
            self._all([kid for kid in item.kids if kid.field == "alternative"], scope)
        elif kind == "for_expression":
            inner = _Scope(scope)
            self._all([kid for kid in item.kids if kid.field == "value"], scope)
            self._bind(item.get("pattern"), inner)
            self._all([kid for kid in item.kids if kid.field not in ("value", "pattern")], inner)
        elif kind == "match_arm":
            self._arm(item, _Scope(scope))
        else:
            self._all(item.kids, scope)

    def _all(self, items: list[Item], scope: _Scope) -> None:
        for item in items:
            self.resolve(item, scope)

    def _path(self, item: Item, scope: _Scope) -> None:
        """`a::b`: the last part is looked up elsewhere; the first may be a type parameter."""
        for kid in item.kids:
            if kid.field == "name" or kid.kind == "identifier":
                kid.name = scope.find(f"<{kid.text}>") if kid.field == "path" else MEMBER
            else:
                self.resolve(kid, scope)

    def _item(self, item: Item, scope: _Scope) -> None:
        # an item sees the type parameters around it, never the locals
        inner = _Scope(None)
        inner.level = scope.level + 1
        here: _Scope | None = scope
        while here is not None:
            for text, name in here.names.items():
                if text[0] in "<'":
                    inner.names.setdefault(text, name)
            here = here.parent
        place = 0
        for parameters in item.of("type_parameters"):
            for parameter in parameters.kids:
                name_item = parameter.get("name")
                if name_item is None:
                    continue
                prefix = {"lifetime_parameter": "'", "type_parameter": "<"}.get(parameter.kind)
                if prefix is not None:
                    word = name_item.kids[-1].text if prefix == "'" else name_item.text
                    key = f"'{word}" if prefix == "'" else f"<{word}>"
                    inner.names[key] = Name(word, label=f"G{inner.level}.{place}")
                    place += 1
        for kid in item.kids:
            if kid.field == "name":
                kid.name = None if item.kind != "impl_item" else kid.name
            elif kid.kind == "parameters":
                for parameter in kid.kids:
                    self._all([part for part in parameter.kids if part.field == "type"], inner)
                    self._bind(parameter.get("pattern"), inner)
                    if parameter.kind == "self_parameter":
                        self._all(parameter.kids, inner)
            else:
                self.resolve(kid, inner)

    def _closure(self, item: Item, inner: _Scope) -> None:
        for kid in item.kids:
            if kid.kind == "closure_parameters":
                for parameter in kid.kids:
                    if parameter.kind == "parameter":
                        self._all([part for part in parameter.kids if part.field == "type"], inner)
                        self._bind(parameter.get("pattern"), inner)
                    else:
                        self._bind(parameter, inner)
            else:
                self.resolve(kid, inner)

    def _arm(self, item: Item, inner: _Scope) -> None:
        for kid in item.kids:
            if kid.field == "pattern":
                self._bind(kid, inner)
                self._all([part for part in kid.kids if part.field == "condition"], inner)
            else:
                self.resolve(kid, inner)

    def _bind(self, pattern: Item | None, scope: _Scope) -> None:
        """Bind the names of a pattern: one name for one text, whichever side of `|` it is on."""
        if pattern is None:
            return
        fresh: dict[str, Name] = {}
        stack = [pattern]
        while stack:
            item = stack.pop()
            if item.kind in ("identifier", "shorthand_field_identifier"):
                # INVARIANT: only a lower-case name can bind. `None` and `MAX` are looked up, not bound.
                if item.text[:1].islower() or item.text.startswith("_"):
                    name = fresh.setdefault(item.text, Name(item.text, fixed=item.text in self.kept))
                    item.name = name
            elif item.kind in (
                "scoped_identifier",
                "macro_invocation",
                "token_tree",
                "const_block",
                "range_pattern",
            ):
                self.resolve(item, scope)
            else:
                stack.extend(kid for kid in item.kids if kid.field not in ("type", "condition"))
                self._all([kid for kid in item.kids if kid.field == "type" and kid.kids], scope)
        scope.names.update(fresh)

    def _tokens(self, item: Item, scope: _Scope) -> None:
        for at, kid in enumerate(item.kids):
            before = item.kids[at - 1].text if at else ""
            after = item.kids[at + 1].text if at + 1 < len(item.kids) else ""
            if kid.kind == "identifier":
                member = before in (".", "::") or after in ("::", ":", "=", "!")
                kid.name = MEMBER if member else scope.find(kid.text)
            else:
                self.resolve(kid, scope)


def _resolve(root: Item, kept: frozenset[str]) -> None:
    _Resolver(kept).resolve(root, _Scope(None))


def _kept(root: Item) -> frozenset[str]:
    """Names that a macro may see by their text, and lower-case constants that a pattern may mean."""
    kept: set[str] = set()
    for item in root.below():
        if item.kind == "macro_invocation":
            macro = item.get("macro")
            plain = macro is not None and macro.text in _PLAIN_MACROS
            for deep in item.below():
                if deep.kind == "identifier" and not plain:
                    kept.add(deep.text)
                elif deep.kind in ("string_literal", "raw_string_literal"):
                    kept.update(
                        word for match in _CAPTURED.finditer(deep.text) for word in match.groups() if word
                    )
        elif item.kind in (
            "const_item",
            "static_item",
            "attribute_item",
            "macro_definition",
            "const_parameter",
        ):
            kept.update(deep.text for deep in item.below() if deep.kind in ("identifier", "metavariable"))
    return frozenset(kept)


def _private(root: Item) -> list[str]:
    """Items of the file that no other module can name: not `pub`, and no child module in another file."""
    if any(item.kind == "mod_item" and item.get("body") is None for item in root.below()):
        return []
    taboo: set[str] = {"main"}
    for item in root.below():
        if item.kind in ("token_tree", "use_declaration", "attribute_item"):
            taboo.update(deep.text for deep in item.below() if not deep.kids)
        elif item.kind in ("scoped_identifier", "scoped_type_identifier"):
            name = item.get("name")
            taboo.update((name.text,) if name is not None else ())
        elif item.kind in ("impl_item", "trait_item", "mod_item", "foreign_mod_item"):
            names = (deep.get("name") for deep in item.below() if deep is not item)
            taboo.update(name.text for name in names if name is not None)
    found = []
    attributed = False
    for item in root.kids:
        if item.kind == "attribute_item":
            attributed = attributed or not _is_harmless(item)
            continue
        name = item.get("name")
        private = not item.of("visibility_modifier") and not attributed
        attributed = False
        if name is None or not private or name.text in taboo:
            continue
        if item.kind in (
            "function_item",
            "const_item",
            "static_item",
            "type_item",
            "struct_item",
            "enum_item",
        ):
            found.append(name.text)
    return found


def _is_harmless(item: Item) -> bool:
    word = next((deep.text for deep in item.below() if deep.kind == "identifier"), "")
    return word in _HARMLESS


def _dynamic(_root: Item) -> str:
    return ""


# ── order ────────────────────────────────────────────────────────────────────


def _movable(parent: Item, kid: Item) -> tuple[str, str] | None:
    if kid.kind == "attributed":
        if any(deep.text == "macro_use" for deep in kid.below()):
            return None  # its macros are seen only below it
        kid = kid.kids[-1]
    if kid.kind not in _ITEMS or (
        kid.kind == "mod_item" and parent.kind == "source_file" and not kid.get("body")
    ):
        return None
    return ("item", "")


def _attach(form: Form, item: Item) -> str | None:
    """Put each item together with the attributes before it, so that they move as one."""
    kids: list[Item] = []
    waiting: list[Item] = []
    for kid in item.kids:
        if kid.kind in ("attribute_item", "directive") and item.kind != "attributed":
            waiting.append(kid)
            continue
        if waiting:
            both = Item("attributed", kid.field, "", True)
            both.kids = [*waiting, kid]
            kid, waiting = both, []
        kids.append(kid)
    again = Item(item.kind, item.field, item.text, True)
    again.kids = [*kids, *waiting]
    return form.group(again)


# ── other words for the same ─────────────────────────────────────────────────


def _field(form: Form, item: Item) -> str:
    """`S { x }` is `S { x: x }`."""
    value = item.kids[-1]
    said = [form.labelled(kid) for kid in item.kids[:-1]]
    said += [f"field=field_identifier:{value.text!r}", ":", f"value={form.say(value)}"]
    return f"(field_initializer {' '.join(said)})"


def _pattern(form: Form, item: Item) -> str | None:
    """`S { x }` as a pattern is `S { x: x }`."""
    name = item.get("name")
    if name is None or name.kind != "shorthand_field_identifier":
        return None
    said = [form.labelled(kid) for kid in item.kids if kid is not name]
    said += [f"name=field_identifier:{name.text!r}", ":", f"pattern={form.say(name)}"]
    return f"(field_pattern {' '.join(said)})"


def _uses(form: Form, item: Item) -> str:
    """Names of a `use` list, in any order."""
    return f"(use_list {' '.join(sorted(form.labelled(kid) for kid in item.kids if kid.named))})"


def _unwrap(item: Item) -> Item | None:
    """Brackets that only group: `(a.b)(c)` calls a field, `a.b(c)` a method."""
    if item.kind != "parenthesized_expression" or item.field == "function":
        return None
    inner = [kid for kid in item.kids if kid.named]
    if len(inner) != 1:
        return None
    inner[0].field = item.field
    return inner[0]


RUST: Final = Dialect(
    comments=frozenset({"line_comment", "block_comment"}),
    resolve=_resolve,
    kept=_kept,
    private=_private,
    dynamic=_dynamic,
    special={
        "declaration_list": _attach,
        "field_pattern": _pattern,
        "shorthand_field_initializer": _field,
        "source_file": _attach,
        "use_list": _uses,
    },
    units=frozenset({"function_item", "closure_expression", "block", "const_item", "static_item"}),
    lists=frozenset({"source_file", "declaration_list"}),
    movable=_movable,
    dropped=frozenset({"(", ")", "[", "]", "{", "}"}),
    identifiers=frozenset({"identifier", "shorthand_field_identifier", "type_identifier"}),
    unwrap=_unwrap,
    leaves=frozenset({"string_literal", "raw_string_literal", "char_literal"}),
    exact=frozenset({"token_tree", "tuple_expression", "tuple_pattern", "tuple_type"}),
)
