"""JavaScript, TypeScript and TSX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tether.source.languages.rules import (
    Found,
    Parent,
    Reader,
    Rules,
    Taken,
    child_of,
    define,
    first_of,
    get,
    text,
    unquote,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_NOT_EXPORTED = frozenset({"private", "protected"})


def _read_variable(node: Node, data: bytes) -> Iterable[Found]:
    at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if at is None or at.type != "identifier" or any(_import_by_variable(node, data)):
        return ()
    return (_valued("constant", at, value, node, data),)


def _valued(kind: str, at: Node, value: Node | None, node: Node, data: bytes) -> Found:
    """A name given a value: what it is depends on the value."""
    name = text(at, data)
    if value is not None and value.type in _FUNCTIONS:
        return Found("function", name, node, value.child_by_field_name("body"), at)
    if value is not None and value.type == "class":
        return Found("class", name, node, value.child_by_field_name("body"), at)
    return Found(kind, name, node, None, at)


def _read_method(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    if at is None:
        return ()
    name = text(at, data)
    kind = "constructor" if name == "constructor" else "method"
    return (Found(kind, name, node, node.child_by_field_name("body"), at),)


def _read_field(name: str) -> Reader:
    def read(node: Node, data: bytes) -> Iterable[Found]:
        at, value = node.child_by_field_name(name), node.child_by_field_name("value")
        return () if at is None else (_valued("property", at, value, node, data),)

    return read


def _read_member_assignment(node: Node, data: bytes) -> Iterable[Found]:
    """`exports.f = …`, `Type.prototype.m = …`: a definition when the value is a function or a class."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or value is None or left.type != "member_expression":
        return ()
    at, owner = left.child_by_field_name("property"), left.child_by_field_name("object")
    if at is None or owner is None or value.type not in (*_FUNCTIONS, "class"):
        return ()
    found = _valued("function", at, value, node, data)
    scope = text(owner, data).removesuffix(".prototype")
    if (
        scope in ("exports", "module.exports", "module", "this", "window", "globalThis")
        or not scope.isidentifier()
    ):
        return (found,)
    return (Found("method", found.name, node, found.body, at, owner=scope),)


def _read_pair(node: Node, data: bytes) -> Iterable[Found]:
    """A function under a key of an object is a method of that object."""
    at, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if at is None or value is None or at.type != "property_identifier" or value.type not in _FUNCTIONS:
        return ()
    return (Found("method", text(at, data), node, value.child_by_field_name("body"), at),)


def _import(node: Node, data: bytes) -> Iterable[Taken]:
    source = node.child_by_field_name("source")
    if source is None:
        require = get(node, "#import_require_clause/source")
        local = tuple(text(n, data) for n in _below(node, "identifier"))
        return () if require is None else (Taken(unquote(text(require, data)), (), local[:1]),)
    module = unquote(text(source, data))
    clause = child_of(node, "import_clause")
    names: list[str] = []
    bound: list[str] = []
    for part in clause.named_children if clause is not None else ():
        if part.type == "identifier":
            names.append("default")
            bound.append(text(part, data))
        elif part.type == "namespace_import":
            names.append("*")
            bound.extend(text(n, data) for n in part.named_children)
        else:
            for item in part.named_children:
                name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
                if name is not None:
                    names.append(text(name, data))
                    bound.append(text(alias or name, data))
    return (Taken(module, tuple(names), tuple(bound)),)


def _import_from_export(node: Node, data: bytes) -> Iterable[Taken]:
    """`export … from "m"` takes names from a module too."""
    source = node.child_by_field_name("source")
    if source is None:
        return ()
    clause = child_of(node, "export_clause")
    items = clause.named_children if clause is not None else ()
    names = [text(n, data) for n in (i.child_by_field_name("name") for i in items) if n is not None]
    return (Taken(unquote(text(source, data)), tuple(names) or ("*",), ()),)


def _import_by_call(node: Node, data: bytes) -> Iterable[Taken]:
    """`require("m")` and `import("m")`."""
    called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is None or arguments is None or arguments.named_child_count != 1:
        return ()
    if called.end_byte - called.start_byte > 7 or text(called, data) not in ("require", "import"):
        return ()
    module = arguments.named_children[0]
    return (Taken(unquote(text(module, data)), (), ()),) if module.type == "string" else ()


def _import_by_variable(node: Node, data: bytes) -> Iterable[Taken]:
    """`const x = require("m")`, `const { a, b: c } = require("m")`."""
    at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    while value is not None and value.type == "await_expression":
        value = first_of(value)
    if at is None or value is None or value.type != "call_expression":
        return ()
    taken = next(iter(_import_by_call(value, data)), None)
    if taken is None:
        return ()
    if at.type == "identifier":
        return (Taken(taken.module, (), (text(at, data),)),)
    names, bound = [], []
    for item in at.named_children:
        key, local = item.child_by_field_name("key"), item.child_by_field_name("value")
        names.append(text(key or item, data))
        bound.append(text(local or item, data))
    return (Taken(taken.module, tuple(names), tuple(bound)),)


def _below(node: Node, kind: str) -> list[Node]:
    return [inner for child in node.named_children for inner in child.named_children if inner.type == kind]


def _exports(root: Node, data: bytes) -> frozenset[str] | None:
    """Names that a later `export { a, b }`, `export default a` or `module.exports = { a }` gives away."""
    names: set[str] = set()
    for statement in root.named_children:
        if statement.type == "export_statement" and statement.child_by_field_name("source") is None:
            clause = child_of(statement, "export_clause")
            for item in clause.named_children if clause is not None else ():
                name = item.child_by_field_name("name")
                names.update(() if name is None else (text(name, data),))
            value = statement.child_by_field_name("value")
            names.update((text(value, data),) if value is not None and value.type == "identifier" else ())
        elif statement.type == "expression_statement" and statement.named_child_count == 1:
            names |= _exports_of_assignment(statement.named_children[0], data)
    return frozenset(names)


def _exports_of_assignment(node: Node, data: bytes) -> set[str]:
    if node.type != "assignment_expression":
        return set()
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or not text(left, data).startswith(("module.exports", "exports.")):
        return set()
    if right.type == "object":
        return {text(n, data) for n in right.named_children if n.type == "shorthand_property_identifier"}
    return {text(right, data)} if right.type == "identifier" else set()


def _read_enum(node: Node, data: bytes) -> Iterable[Found]:
    for member in node.named_children:
        at = member.child_by_field_name("name") if member.type == "enum_assignment" else member
        if at is not None and member.type != "comment":
            yield Found("property", text(at, data), member, None, at)


def _exported(name: str, head: str, parent: Parent | None) -> bool:
    words = head.split()
    if parent is not None and parent.kind not in ("module", "function", "method"):
        return parent.exported and not name.startswith("#") and _NOT_EXPORTED.isdisjoint(words)
    return "export" in words or head.lstrip().startswith(("exports.", "module.exports."))


_JAVASCRIPT = {
    "function_declaration": define("function"),
    "generator_function_declaration": define("function"),
    "class_declaration": define("class"),
    "method_definition": _read_method,
    "field_definition": _read_field("property"),
    "variable_declarator": _read_variable,
    "assignment_expression": _read_member_assignment,
    "pair": _read_pair,
}

_TYPESCRIPT = {
    **{kind: reader for kind, reader in _JAVASCRIPT.items() if kind != "field_definition"},
    "abstract_class_declaration": define("class"),
    "abstract_method_signature": define("method"),
    "enum_body": _read_enum,
    "enum_declaration": define("enum"),
    "function_signature": define("function"),
    "interface_declaration": define("interface"),
    "internal_module": define("module"),
    "method_signature": define("method"),
    "module": define("module"),
    "property_signature": define("property", "name", ""),
    "public_field_definition": _read_field("name"),
    "type_alias_declaration": define("type", "name", "value"),
}


def _rules(definitions: dict[str, Reader]) -> Rules:
    return Rules(
        definitions=definitions,
        attributes=frozenset({"decorator"}),
        opaque=frozenset(
            {
                "string",
                "import_statement",
                "type_annotation",
                "type_arguments",
                "generic_type",
                "member_expression",
                "decorator",
                "jsx_text",
            }
        ),
        wrappers=frozenset(
            {
                "export_statement",
                "lexical_declaration",
                "variable_declaration",
                "ambient_declaration",
                "expression_statement",
            }
        ),
        imports={
            "import_statement": _import,
            "export_statement": _import_from_export,
            "variable_declarator": _import_by_variable,
            "call_expression": _import_by_call,
        },
        exported=_exported,
        exports=_exports,
        exports_all=False,
        calls={
            "call_expression": "function",
            "new_expression": "constructor",
            "jsx_opening_element": "name",
            "jsx_self_closing_element": "name",
            "decorator": "#identifier",
        },
        names=frozenset(
            {
                "identifier",
                "property_identifier",
                "shorthand_property_identifier",
                "private_property_identifier",
                "type_identifier",
            }
        ),
        types=frozenset({"type_identifier"}),
    )


JAVASCRIPT = _rules(_JAVASCRIPT)
TYPESCRIPT = _rules(_TYPESCRIPT)
