"""The scopes of JavaScript and TypeScript: what is local, what may move, what is the same in other words."""

from __future__ import annotations

import re
from typing import Final

from tether.record.form import MEMBER, Dialect, Form, Item, Name

_FUNCTIONS: Final = frozenset(
    {
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)
_BLOCKS: Final = frozenset(
    {
        "statement_block",
        "for_statement",
        "for_in_statement",
        "catch_clause",
        "switch_body",
        "class_static_block",
    }
)
_CLASSES: Final = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_HOISTED: Final = frozenset({"function_declaration", "generator_function_declaration"})
_TYPED: Final = frozenset({"interface_declaration", "type_alias_declaration"})
_CHAINED: Final = frozenset(
    {"call_expression", "member_expression", "non_null_expression", "subscript_expression"}
)
_PATTERNS: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})


class _Scope:
    def __init__(self, parent: _Scope | None, *, fixed: bool = False) -> None:
        self.parent, self.fixed = parent, fixed
        self.names: dict[str, Name] = {}
        self.types: dict[str, Name] = {}
        self.level: int = parent.level + 1 if parent is not None else 0

    def find(self, text: str) -> Name | None:
        """The local that this text means here; None for a module's or a global name."""
        here: _Scope | None = self
        while here is not None:
            if text in here.names:
                return here.names[text]
            here = here.parent
        return None

    def find_type(self, text: str) -> Name | None:
        """The type parameter that this text means here."""
        here: _Scope | None = self
        while here is not None:
            if text in here.types:
                return here.types[text]
            here = here.parent
        return None


class _Resolver:
    def __init__(self, kept: frozenset[str]) -> None:
        self.kept = kept

    def resolve(self, item: Item, scope: _Scope) -> None:
        kind = item.kind
        if kind in ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"):
            item.name = scope.find(item.text)
            return
        if kind == "type_identifier":
            item.name = scope.find_type(item.text) or scope.find(item.text)
            return
        if kind in ("nested_type_identifier", "import_specifier", "export_specifier"):
            self._names_elsewhere(item, scope)
            return
        if kind in ("jsx_opening_element", "jsx_closing_element", "jsx_self_closing_element"):
            name = item.get("name")
            if name is not None and name.kind == "identifier" and name.text[:1].islower():
                name.name = MEMBER
                self._all([kid for kid in item.kids if kid is not name], scope)
                return
        if kind in _FUNCTIONS:
            self._function(item, scope)
        elif kind in _BLOCKS:
            self._block(item, scope)
        elif kind in ("internal_module", "module"):
            inner = _Scope(scope, fixed=True)
            for kid in item.kids:
                self._declare(kid, inner)
            self._all(item.kids, inner)
        elif item.of("type_parameters"):
            inner = _Scope(scope)
            self._type_parameters(item, inner)
            self._all(item.kids, inner)
        else:
            self._all(item.kids, scope)

    def _names_elsewhere(self, item: Item, scope: _Scope) -> None:
        """`ns.Type`, `{ theirs as ours }`, `{ ours as theirs }`: one side is another module's word."""
        alias = item.get("alias")
        theirs = alias if item.kind == "export_specifier" else item.get("name")
        for kid in item.kids:
            if kid is theirs and (alias is not None or item.kind == "nested_type_identifier"):
                kid.name = MEMBER
            else:
                self.resolve(kid, scope)

    def _all(self, items: list[Item], scope: _Scope) -> None:
        for item in items:
            self.resolve(item, scope)

    def _type_parameters(self, item: Item, scope: _Scope) -> None:
        for place, parameter in enumerate(
            p for t in item.of("type_parameters") for p in t.of("type_parameter")
        ):
            name = parameter.get("name")
            if name is not None:
                scope.types[name.text] = Name(name.text, label=f"T{scope.level}.{place}")

    def _function(self, item: Item, scope: _Scope) -> None:
        outer = scope
        name = item.get("name")
        if name is not None and item.kind in ("function_expression", "generator_function"):
            outer = _Scope(scope)
            self._bind(name.text, outer)
        if name is not None:
            self.resolve(name, outer)
        heads = _Scope(outer)
        self._type_parameters(item, heads)
        for parameters in item.of("formal_parameters"):
            for parameter in parameters.kids:
                # `constructor(private x)` makes a property
                property_ = bool(parameter.of("accessibility_modifier", "override_modifier"))
                property_ = property_ or parameter.has("readonly") or parameter.has("override")
                self._bind_pattern(parameter.get("pattern") or parameter, heads, fixed=property_)
        single = item.get("parameter")
        if single is not None:
            self._bind_pattern(single, heads)
        body = item.get("body")
        inner = _Scope(heads)
        if body is not None:
            self._hoist(body, inner, heads)
        for kid in item.kids:
            if kid is body and kid.kind == "statement_block":
                self._all(kid.kids, inner)
            elif kid is not name:
                self.resolve(kid, heads)

    def _hoist(self, body: Item, scope: _Scope, heads: _Scope) -> None:
        """`var` anywhere in a function, and what the body itself declares."""
        for item in body.below(_FUNCTIONS | _CLASSES):
            declares = item.kind == "variable_declaration" and item.has("var")
            if item.kind == "for_in_statement" and item.has("var"):
                self._bind_var(item.get("left"), scope, heads)
            for declarator in item.of("variable_declarator") if declares else ():
                self._bind_var(declarator.get("name"), scope, heads)
        if body.kind == "statement_block":
            for kid in body.kids:
                self._declare(kid, scope, functions_fixed=False)

    def _bind_var(self, target: Item | None, scope: _Scope, heads: _Scope) -> None:
        for found in _targets(target) if target is not None else ():
            if found.text not in heads.names:
                self._bind(found.text, scope)

    def _block(self, item: Item, scope: _Scope) -> None:
        inner = _Scope(scope)
        if item.kind == "for_in_statement" and (item.has("let") or item.has("const")):
            self._bind_pattern(item.get("left"), inner)
        if item.kind == "catch_clause":
            self._bind_pattern(item.get("parameter"), inner)
        for kid in item.kids:
            self._declare(kid, inner)
            if item.kind == "switch_body":
                for statement in kid.kids:
                    self._declare(statement, inner)
        self._all(item.kids, inner)

    def _declare(self, item: Item, scope: _Scope, *, functions_fixed: bool = True) -> None:
        """What one statement declares in its block. In a nested block a function's name may escape it."""
        if item.kind == "export_statement":
            for kid in item.kids:
                self._declare(kid, scope)
        elif item.kind == "lexical_declaration":
            for declarator in item.of("variable_declarator"):
                self._bind_pattern(declarator.get("name"), scope)
        else:
            name = item.get("name")
            if name is not None and (item.kind in _HOISTED or item.kind in _CLASSES or item.kind in _TYPED):
                self._bind(name.text, scope, fixed=item.kind not in _HOISTED or functions_fixed)

    def _bind_pattern(self, pattern: Item | None, scope: _Scope, *, fixed: bool = False) -> None:
        for target in _targets(pattern) if pattern is not None else ():
            self._bind(target.text, scope, fixed=fixed)

    def _bind(self, text: str, scope: _Scope, *, fixed: bool = False) -> None:
        fixed = fixed or scope.fixed or text in self.kept or text.startswith("$") or text == "arguments"
        if text not in scope.names:
            scope.names[text] = Name(text, fixed=fixed)
        elif fixed:
            scope.names[text].fixed = True


def _targets(pattern: Item) -> list[Item]:
    """The identifiers that a pattern binds: not its defaults, keys or types."""
    found, stack = [], [pattern]
    while stack:
        item = stack.pop()
        if item.kind in _PATTERNS:
            found.append(item)
        elif item.kind not in ("type_annotation", "computed_property_name", "decorator", "member_expression"):
            stack.extend(
                kid for kid in item.kids if kid.field not in ("right", "key", "value") or _binds(item, kid)
            )
    return found


def _binds(item: Item, kid: Item) -> bool:
    return item.kind == "pair_pattern" and kid.field == "value"


def _resolve(root: Item, kept: frozenset[str]) -> None:
    resolver = _Resolver(kept)
    scope = _Scope(None)
    for kid in root.kids:
        resolver.resolve(kid, scope)


def _kept(_root: Item) -> frozenset[str]:
    return frozenset()


def _private(root: Item) -> list[str]:
    """Top-level names of a module that it does not export. A script's top level is everyone's."""
    names: dict[str, None] = {}
    exported: set[str] = set()
    is_module = False
    for statement in root.kids:
        if statement.kind in ("import_statement", "export_statement"):
            is_module = True
        if statement.kind == "export_statement":
            exported.update(deep.text for deep in statement.below(_FUNCTIONS | _CLASSES) if not deep.kids)
            for kid in statement.kids:
                name = kid.get("name")
                exported.update((name.text,) if name is not None else ())
        names.update(dict.fromkeys(_declared(statement)))
    text = [item.text for item in root.below() if item.kind == "identifier"]
    if not is_module and not {"require", "module", "exports"}.intersection(text):
        return []
    for item in root.below():
        if item.kind == "assignment_expression":
            left, right = item.get("left"), item.get("right")
            if left is not None and right is not None and _is_exports(left):
                exported.update(deep.text for deep in right.below(_FUNCTIONS) if not deep.kids)
    return [name for name in names if name not in exported and not name.startswith("$")]


def _is_exports(left: Item) -> bool:
    first = next((deep for deep in left.below() if deep.kind == "identifier"), None)
    return first is not None and first.text in ("module", "exports")


def _declared(statement: Item) -> list[str]:
    names: list[str] = []
    if statement.kind in ("lexical_declaration", "variable_declaration"):
        for declarator in statement.of("variable_declarator"):
            target = declarator.get("name")
            if target is not None and target.kind == "identifier":
                names.append(target.text)
    elif statement.kind in _HOISTED | _TYPED:
        name = statement.get("name")
        names.extend((name.text,) if name is not None else ())
    elif statement.kind == "import_statement":
        for clause in statement.of("import_clause"):
            names.extend(kid.text for kid in clause.kids if kid.kind == "identifier")
            for part in clause.of("namespace_import"):
                names.extend(kid.text for kid in part.kids if kid.kind == "identifier")
    return names


def _dynamic(root: Item) -> str:
    for item in root.below():
        if item.kind == "with_statement":
            return "`with` hides which names are local"
        if item.kind == "identifier" and item.text in ("eval", "Function"):
            return f"`{item.text}` can see local names"
    return ""


# ── order ────────────────────────────────────────────────────────────────────


def _movable(parent: Item, kid: Item) -> tuple[str, str] | None:
    if parent.kind == "class_body":
        name = kid.get("name")
        if kid.kind not in ("method_definition", "method_signature", "abstract_method_signature"):
            return None
        if name is None or name.kind == "computed_property_name" or parent.of("decorator"):
            return None
        return ("method", name.text)
    if kid.kind == "import_statement":
        return ("import", "") if kid.of("import_clause") else None
    inner = kid
    if kid.kind == "export_statement":
        declaration = kid.get("declaration")
        if declaration is None or kid.of("decorator") or kid.has("default"):
            return None
        inner = declaration
    name = inner.get("name")
    if name is not None and inner.kind in _HOISTED | _TYPED | {"function_signature"}:
        return ("definition", name.text)
    return None


# ── other words for the same ─────────────────────────────────────────────────

_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


def _string(_form: Form, item: Item) -> str:
    """A string by what it says: `'a'` and `"a"` are one."""
    inside = _ESCAPE.sub(lambda match: match[1] if match[1] in "'\"" else match[0], item.text[1:-1])
    return f"string:{inside!r}"


def _attribute(form: Form, item: Item) -> str:
    """In JSX a backslash is a backslash."""
    parts = [
        f"string:{kid.text[1:-1]!r}" if kid.kind == "string" else form.labelled(kid) for kid in item.kids
    ]
    return f"(jsx_attribute {' '.join(parts)})"


def _jsx_text(_form: Form, item: Item) -> str:
    """Text between tags: lines are trimmed and joined, as the language says."""
    lines = item.text.split("\n")
    if len(lines) > 1:
        lines = [lines[0].rstrip(), *(line.strip() for line in lines[1:-1]), lines[-1].lstrip()]
        return f"text:{' '.join(line for line in lines if line)!r}"
    return f"text:{item.text!r}"


def _shorthand(form: Form, item: Item) -> str:
    """`{a}` is `{a: a}`."""
    return f"(pair key=property_identifier:{item.text!r} value={form.say(item)})"


def _shorthand_pattern(form: Form, item: Item) -> str:
    return f"(pair_pattern key=property_identifier:{item.text!r} value={form.say(item)})"


def _shorthand_default(form: Form, item: Item) -> str | None:
    """`{a = 1}` is `{a: a = 1}`."""
    left, right = item.get("left"), item.get("right")
    if left is None or right is None:
        return None
    value = f"(assignment_pattern left={form.say(left)} = right={form.write(right)})"
    return f"(pair_pattern key=property_identifier:{left.text!r} value={value})"


def _arrow(form: Form, item: Item) -> str | None:
    """`x => x` is `(x) => x`."""
    single = item.get("parameter")
    if single is None:
        return None
    parameters = Item("formal_parameters", "parameters", "", True)
    plain = Item(single.kind, "", single.text, True)
    plain.name = single.name
    parameters.kids = [plain]
    again = Item(item.kind, item.field, item.text, True)
    again.kids = [parameters if kid is single else kid for kid in item.kids]
    return form.group(again)


def _clause(form: Form, item: Item) -> str:
    """Names of an import or export list, in any order."""
    return f"({item.kind} {' '.join(sorted(form.labelled(kid) for kid in item.kids if kid.named))})"


def _unwrap(item: Item) -> Item | None:
    """Brackets that only group. They end an optional chain, and make a directive a plain string."""
    if item.kind != "parenthesized_expression":
        return None
    inner = [kid for kid in item.kids if kid.named]
    if len(inner) != 1 or inner[0].kind in _CHAINED or inner[0].kind == "string":
        return None
    inner[0].field = item.field
    return inner[0]


SCRIPT: Final = Dialect(
    comments=frozenset({"comment", "html_comment"}),
    resolve=_resolve,
    kept=_kept,
    private=_private,
    dynamic=_dynamic,
    special={
        "arrow_function": _arrow,
        "export_clause": _clause,
        "jsx_attribute": _attribute,
        "jsx_text": _jsx_text,
        "named_imports": _clause,
        "object_assignment_pattern": _shorthand_default,
        "shorthand_property_identifier": _shorthand,
        "shorthand_property_identifier_pattern": _shorthand_pattern,
        "string": _string,
    },
    units=_FUNCTIONS | _BLOCKS,
    lists=frozenset({"program", "class_body"}),
    movable=_movable,
    dropped=frozenset({"(", ")", "[", "]", "{", "}", ":", ";"}),
    identifiers=frozenset({"identifier", "type_identifier"}),
    unwrap=_unwrap,
    leaves=frozenset({"string", "regex"}),
    verbatim=frozenset({"template_string"}),
)
