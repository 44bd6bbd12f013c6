"""Python's scopes: what is local, what may move, and what is the same in other words."""

from __future__ import annotations

import ast
import warnings
from typing import Final

from tether.record.form import MEMBER, Dialect, Form, Item, Name

_FUNCTIONS: Final = frozenset({"function_definition", "lambda"})
_COMPREHENSIONS: Final = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
_SCOPES: Final = _FUNCTIONS | _COMPREHENSIONS | {"class_definition"}
_IMPORTS: Final = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_DYNAMIC: Final = frozenset({"locals", "vars", "eval", "exec", "globals", "dir", "_getframe", "currentframe"})
_LITERALS: Final = frozenset(
    {"integer", "float", "string", "true", "false", "none", "ellipsis", "unary_operator"}
)

_BUILTIN_TYPES: Final = frozenset(
    {"bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple"}
)


class _Scope:
    def __init__(self, kind: str, parent: _Scope | None) -> None:
        self.kind, self.parent = kind, parent
        self.names: dict[str, Name] = {}

    def find(self, text: str) -> Name | None:
        """The local name that this text means here; None for a module's or a built-in one."""
        here: _Scope | None = self
        while here is not None and here.kind != "module":
            # a class's own names are seen in its body, not in its methods
            if text in here.names and (here.kind != "class" or here is self):
                return here.names[text]
            here = here.parent
        return None

    @property
    def is_local(self) -> bool:
        """Whether a function encloses this scope, or is it."""
        here: _Scope | None = self
        while here is not None:
            if here.kind == "function":
                return True
            here = here.parent
        return False


class _Resolver:
    def __init__(self, kept: frozenset[str]) -> None:
        self.kept = kept

    def resolve(self, item: Item, scope: _Scope) -> None:
        kind = item.kind
        if kind == "identifier":
            item.name = scope.find(item.text)
        elif kind in _FUNCTIONS:
            self._function(item, scope)
        elif kind in _COMPREHENSIONS:
            self._comprehension(item, scope)
        elif kind == "class_definition":
            self._class(item, scope)
        elif kind == "decorated_definition":
            for kid in item.kids:
                if kid.kind == "function_definition":
                    self._function(kid, scope, decorated=True)
                else:
                    self.resolve(kid, scope)
        elif kind in ("attribute", "keyword_argument", "keyword_pattern"):
            self._member(item, scope)
        elif kind in _IMPORTS:
            return
        else:
            for kid in item.kids:
                self.resolve(kid, scope)

    def _member(self, item: Item, scope: _Scope) -> None:
        wanted = {"attribute": "attribute", "keyword_argument": "name"}.get(item.kind)
        for at, kid in enumerate(item.kids):
            if kid.kind == "identifier" and (kid.field == wanted if wanted else at == 0):
                kid.name = MEMBER
            else:
                self.resolve(kid, scope)

    def _function(self, item: Item, scope: _Scope, *, decorated: bool = False) -> None:
        inner = _Scope("function", scope)
        name = item.get("name")
        if name is not None:
            name.name = MEMBER if scope.kind == "class" else scope.find(name.text)
        private = name is not None and scope.kind == "module" and _is_private(name.text)
        # a decorator may hand the function to anyone, and read its parameters' names
        by_place = not decorated and (name is None or scope.is_local or private)
        parameters = item.get("parameters")
        if parameters is not None:
            self._parameters(parameters, inner, scope, by_place)
        body = item.get("body")
        if body is not None:
            self._collect(body, inner)
        for kid in item.kids:
            if kid.field not in ("name", "parameters"):
                self.resolve(kid, inner if kid.field == "body" else scope)

    def _parameters(self, parameters: Item, inner: _Scope, outer: _Scope, by_place: bool) -> None:
        separators = [at for at, kid in enumerate(parameters.kids) if kid.kind == "positional_separator"]
        last_positional = separators[0] if separators else -1
        keyword_only = False
        for at, kid in enumerate(parameters.kids):
            splat = kid.kind in ("list_splat_pattern", "dictionary_splat_pattern")
            target = next((deep for deep in kid.below() if deep.kind == "identifier"), None)
            if kid.kind == "typed_parameter" and kid.kids:
                splat = kid.kids[0].kind in ("list_splat_pattern", "dictionary_splat_pattern")
            keyword_only = keyword_only or kid.kind == "keyword_separator"
            if target is not None:
                free = splat or at < last_positional or (by_place and not keyword_only)
                keyword = not splat and at >= last_positional and f"={target.text}" in self.kept
                self._bind(inner, target.text, fixed=not free or keyword)
                target.name = inner.names[target.text]
            keyword_only = keyword_only or (splat and kid.kind != "dictionary_splat_pattern")
            for part in kid.kids:
                if part.field in ("value", "type"):
                    self.resolve(part, outer)

    def _comprehension(self, item: Item, scope: _Scope) -> None:
        inner = _Scope("comprehension", scope)
        clauses = item.of("for_in_clause")
        for clause in clauses:
            left = clause.get("left")
            for target in _targets(left) if left is not None else ():
                self._bind(inner, target.text)
        for kid in item.kids:
            if clauses and kid is clauses[0]:
                for part in kid.kids:  # the first iterable is evaluated outside
                    self.resolve(part, scope if part.field == "right" else inner)
            else:
                self.resolve(kid, inner)

    def _class(self, item: Item, scope: _Scope) -> None:
        inner = _Scope("class", scope)
        body = item.get("body")
        if body is not None:
            self._collect(body, inner)
        for text in inner.names:
            inner.names[text] = MEMBER
        for kid in item.kids:
            if kid.field == "name":
                kid.name = MEMBER if scope.kind == "class" else scope.find(kid.text)
            else:
                self.resolve(kid, inner if kid.field == "body" else scope)

    def _bind(self, scope: _Scope, text: str, *, fixed: bool = False) -> None:
        if text not in scope.names:
            fixed = fixed or text in self.kept or text.startswith("__")
            scope.names[text] = Name(text, fixed=fixed)
        elif fixed:
            scope.names[text].fixed = True

    def _collect(self, body: Item, scope: _Scope) -> None:
        """Everything the statements of one scope bind. What is missed here is compared by its text."""
        for item in body.below(_SCOPES):
            if item.kind in ("assignment", "augmented_assignment", "for_statement"):
                left = item.get("left")
                for target in _targets(left) if left is not None else ():
                    self._bind(scope, target.text)
            elif item.kind == "as_pattern_target":
                for target in _targets(item):
                    self._bind(scope, target.text)
            elif item.kind == "named_expression":
                name = item.get("name")
                if name is not None:
                    self._bind(scope, name.text)
            elif item.kind == "class_definition":
                self._bind_named(item, scope, fixed=True)
            elif item.kind == "function_definition":
                self._bind_named(item, scope, fixed=False)
            elif item.kind == "decorated_definition":
                for definition in item.of("function_definition", "class_definition"):
                    self._bind_named(definition, scope, fixed=True)
            elif item.kind in _IMPORTS or item.kind == "case_pattern" or item.kind == "delete_statement":
                for deep in item.below():
                    if deep.kind == "identifier":
                        self._bind(scope, deep.text, fixed=True)
        # a walrus inside a comprehension binds in the function around it
        for item in body.below(_FUNCTIONS | {"class_definition"}):
            if item.kind in _COMPREHENSIONS:
                for deep in item.below():
                    name = deep.get("name") if deep.kind == "named_expression" else None
                    if name is not None:
                        self._bind(scope, name.text, fixed=True)

    def _bind_named(self, item: Item, scope: _Scope, *, fixed: bool) -> None:
        name = item.get("name")
        if name is not None:
            self._bind(scope, name.text, fixed=fixed)


def _targets(left: Item) -> list[Item]:
    """The identifiers that a target binds: not those of `a.b` or `a[i]`."""
    return [
        item
        for item in left.below(frozenset({"attribute", "subscript", "call"}))
        if item.kind == "identifier"
    ]


def _is_private(text: str) -> bool:
    return text.startswith("_") and not text.startswith("__") and text != "_"


def _resolve(root: Item, kept: frozenset[str]) -> None:
    _Resolver(kept).resolve(root, _Scope("module", None))


def _kept(root: Item) -> frozenset[str]:
    kept: set[str] = set()
    for item in root.below():
        if item.kind == "keyword_argument":
            name = item.get("name")
            kept.update(() if name is None else (f"={name.text}",))
        elif item.kind in ("global_statement", "nonlocal_statement"):
            kept.update(kid.text for kid in item.kids if kid.kind == "identifier")
        elif item.kind == "interpolation" and item.has("="):
            # f"{x=}" writes the name itself
            kept.update(deep.text for deep in item.below() if deep.kind == "identifier")
    return frozenset(kept)


def _private(root: Item) -> list[str]:
    """Module-level functions and variables with a leading underscore, undecorated and not in `__all__`."""
    names: dict[str, None] = {}
    taboo: set[str] = set()
    for item in root.below():
        if item.kind in ("string_content", "dotted_name"):
            taboo.add(item.text)
        if item.kind in _IMPORTS or item.kind == "decorated_definition":
            taboo.update(deep.text for deep in item.below(frozenset({"block"})) if deep.kind == "identifier")
    for statement in root.kids:
        if statement.kind == "function_definition":
            name = statement.get("name")
            names.update({name.text: None} if name is not None else {})
        elif statement.kind == "expression_statement" and statement.kids:
            left = statement.kids[0].get("left") if statement.kids[0].kind == "assignment" else None
            names.update({left.text: None} if left is not None and left.kind == "identifier" else {})
    return [name for name in names if _is_private(name) and name not in taboo]


def _dynamic(root: Item) -> str:
    for item in root.below():
        if item.kind == "identifier" and item.text in _DYNAMIC:
            return f"`{item.text}` can see local names"
    return ""


# ── order ────────────────────────────────────────────────────────────────────


def _movable(parent: Item, kid: Item) -> tuple[str, str] | None:
    if kid.kind in ("import_statement", "import_from_statement"):
        mine = _bound(kid)
        others = [name for other in parent.kids if other is not kid for name in _bound(other)]
        return ("import", "") if mine and not set(mine).intersection(others) else None
    if kid.kind == "function_definition":
        name = kid.get("name")
        if name is None or not _is_inert_function(kid) or _names(parent).count(name.text) > 1:
            return None
        return ("definition", name.text)
    if kid.kind == "class_definition":
        name, bases, body = kid.get("name"), kid.get("superclasses"), kid.get("body")
        if name is None or bases is not None or body is None or _names(parent).count(name.text) > 1:
            return None
        return ("definition", name.text) if all(map(_is_inert, body.kids)) else None
    return None


def _bound(item: Item) -> list[str]:
    """The names that an import binds; none for a wildcard, whose names are unknown."""
    names = []
    for kid in item.kids if item.kind in _IMPORTS else ():
        if kid.field == "name":
            alias = kid.get("alias")
            words = [deep.text for deep in (alias or kid).below() if deep.kind == "identifier"]
            names.append(words[-1] if item.kind != "import_statement" or alias is not None else words[0])
    return names


def _names(parent: Item) -> list[str]:
    """What the statements of a body bind by definition or assignment."""
    names = []
    for kid in parent.kids:
        inner = kid.kids[-1] if kid.kind == "decorated_definition" else kid
        if inner.kind == "expression_statement" and inner.kids:
            inner = inner.kids[0]
        target = inner.get("name") or inner.get("left")
        names.extend([target.text] if target is not None else [])
    return names


def _is_inert(item: Item) -> bool:
    """Whether a class's statement does nothing but define: no call, no lookup."""
    if item.kind == "function_definition":
        return _is_inert_function(item)
    if item.kind == "expression_statement" and item.kids:
        return item.kids[0].kind == "string"
    return item.kind in ("pass_statement", "comment")


def _is_inert_function(item: Item) -> bool:
    """Whether defining the function evaluates nothing: its defaults and annotations are read then."""
    for part in (item.get("return_type"), item.get("parameters")):
        for deep in part.below() if part is not None else ():
            if deep.kind == "type" and not _is_builtin_type(deep):
                return False
            if deep.field == "value" and deep.kind not in _LITERALS:
                return False
    return True


def _is_builtin_type(item: Item) -> bool:
    leaves = [deep for deep in item.below() if not deep.kids and deep.named]
    return all(leaf.kind == "none" or leaf.text in _BUILTIN_TYPES for leaf in leaves)


# ── other words for the same ─────────────────────────────────────────────────


def _string(form: Form, item: Item) -> str | None:
    if any(kid.kind == "interpolation" for kid in item.kids):
        return _format_string(form, item)
    raw = "".join(deep.text for deep in item.below() if not deep.kids)
    start = next((kid.text for kid in item.kids if kid.kind == "string_start"), "")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(raw)
    except (SyntaxError, ValueError):
        return f"string:{start.lower()}{raw!r}"
    return f"string:{value!r}"


def _format_string(form: Form, item: Item) -> str:
    start = next((kid.text for kid in item.kids if kid.kind == "string_start"), "")
    prefix = "".join(sorted(letter for letter in start.lower() if letter.isalpha()))
    raw = "".join(kid.text for kid in item.of("string_content"))
    quote = start.lstrip("rRbBuUfFtT") if "\\" in raw else ""
    parts = [form.labelled(kid) for kid in item.kids if kid.kind not in ("string_start", "string_end")]
    return f"(fstring {prefix}{quote} {' '.join(parts)})"


def _body(form: Form, item: Item) -> str | None:
    """A block without its docstring."""
    first = next((kid for kid in item.kids if kid.kind != "directive"), None)
    if form.keeps_docs or first is None or item.field == "consequence":
        return None
    if first.kind != "expression_statement" or len(first.kids) != 1 or first.kids[0].kind != "string":
        return None
    if any(kid.kind == "interpolation" for kid in first.kids[0].kids):
        return None
    rest = Item(item.kind, item.field, item.text, item.named)
    rest.kids = [kid for kid in item.kids if kid is not first]
    if not any(kid.named and kid.kind != "directive" for kid in rest.kids) and item.kind == "block":
        rest.kids.append(Item("pass_statement", "", "pass", True))
    return form.group(rest)


def _imported(form: Form, item: Item) -> str:
    """One statement's names, in any order."""
    module = item.get("module_name")
    said = sorted(form.write(kid) for kid in item.kids if kid.field == "name")
    source = form.write(module) if module is not None else ""
    return f"({item.kind} {source} {' '.join(said)}{' *' if item.of('wildcard_import') else ''})"


def _dotted(_form: Form, item: Item) -> str:
    return "dotted:" + ".".join(deep.text for deep in item.below() if deep.kind == "identifier")


def _definition(form: Form, item: Item) -> str | None:
    del form
    body = item.get("body")
    if body is not None:
        body.kind = "block:definition"
    return None


def _unwrap(item: Item) -> Item | None:
    """Brackets that only group: not around an assignment's target, which they make no plain name."""
    if item.kind != "parenthesized_expression" or item.field == "left":
        return None
    inner = [kid for kid in item.kids if kid.named]
    if len(inner) != 1:
        return None
    inner[0].field = item.field
    return inner[0]


PYTHON: Final = Dialect(
    comments=frozenset({"comment", "line_continuation"}),
    resolve=_resolve,
    kept=_kept,
    private=_private,
    dynamic=_dynamic,
    special={
        "string": _string,
        "module": _body,
        "block:definition": _body,
        "function_definition": _definition,
        "class_definition": _definition,
        "import_statement": _imported,
        "import_from_statement": _imported,
        "dotted_name": _dotted,
    },
    units=_FUNCTIONS | _COMPREHENSIONS,
    lists=frozenset({"module", "block:definition"}),
    movable=_movable,
    dropped=frozenset({"(", ")", "[", "]", "{", "}", ":", ";"}),
    unwrap=_unwrap,
    leaves=frozenset({"string_content"}),
    verbatim=frozenset({"format_specifier"}),
    exact=frozenset({"slice", "subscript"}),
)
