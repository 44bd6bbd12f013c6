"""C, C++, Go and Zig."""

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
    get,
    leaf_of,
    no_words_before,
    text,
    unquote,
)

if TYPE_CHECKING:
    from tree_sitter import Node

# ── C and C++ ────────────────────────────────────────────────────────────────

_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "operator_name", "destructor_name", "operator_cast"}
)


def _declared(node: Node) -> tuple[Node | None, Node | None]:
    """The name a declarator declares, and its function part if it declares a function."""
    function: Node | None = None
    here: Node | None = node
    while here is not None and here.type not in _NAMES and here.type != "qualified_identifier":
        if here.type == "function_declarator":
            inner = here.child_by_field_name("declarator")
            # `int (*callback)(int)` declares a variable, not a function
            function = None if inner is not None and inner.type == "parenthesized_declarator" else here
        named = here.named_children
        here = here.child_by_field_name("declarator") or (named[-1] if named else None)
    return here, function


def _split(at: Node, data: bytes) -> tuple[Node, str]:
    """A possibly qualified name as its last part and the owner before it."""
    last = leaf_of(at, "name") if at.type == "qualified_identifier" else at
    owner = data[at.start_byte : last.start_byte].decode("utf-8", "replace").strip(":").replace("::", ".")
    return last, owner


def _read_c_function(node: Node, data: bytes) -> Iterable[Found]:
    declarator = node.child_by_field_name("declarator")
    at, _ = _declared(declarator) if declarator is not None else (None, None)
    if at is None:
        return ()
    last, owner = _split(at, data)
    name = text(last, data)
    kind = "method" if owner else "function"
    if name == owner.rpartition(".")[2] and owner:
        kind = "constructor"
    return (Found(kind, name, node, node.child_by_field_name("body"), last, owner=owner),)


def _read_declaration(kind: str) -> Reader:
    def read(node: Node, data: bytes) -> Iterable[Found]:
        declarators = node.children_by_field_name("declarator")
        for declarator in declarators:
            at, function = _declared(declarator)
            if at is not None and at.type != "qualified_identifier":
                yield Found("function" if function is not None else kind, text(at, data), node, None, at)

    return read


def _read_typedef(node: Node, data: bytes) -> Iterable[Found]:
    given = node.child_by_field_name("type")
    body = given.child_by_field_name("body") if given is not None else None
    anonymous = given is not None and body is not None and given.child_by_field_name("name") is None
    kind = "type"
    if anonymous and given is not None:
        kind = "enum" if given.type == "enum_specifier" else "struct"
    for declarator in node.children_by_field_name("declarator"):
        at, _ = _declared(declarator)
        if at is not None:
            yield Found(kind, text(at, data), node, body, at, holds=anonymous)


def _read_tagged(kind: str) -> Reader:
    """A struct, union or enum that is defined here, not merely named."""

    def read(node: Node, data: bytes) -> Iterable[Found]:
        at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if at is None or body is None:
            return ()
        last, owner = _split(at, data)
        return (Found(kind, text(last, data), node, body, last, owner=owner),)

    return read


def _read_namespace(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    name = text(at, data).replace("::", ".") if at is not None else ""
    return (Found("module", name, node, node.child_by_field_name("body"), at),)


def _include(node: Node, data: bytes) -> Iterable[Taken]:
    path = node.child_by_field_name("path")
    return () if path is None else (Taken(unquote(text(path, data))),)


def _using(node: Node, data: bytes) -> Iterable[Taken]:
    at = child_of(node, "qualified_identifier", "identifier")
    if at is None:
        return ()
    module, _, name = text(at, data).rpartition("::")
    if "namespace" in text(node, data).split():
        return (Taken(text(at, data), ("*",)),)
    return (Taken(module, (name,), (name,)),)


_C: dict[str, Reader] = {
    "function_definition": _read_c_function,
    "declaration": _read_declaration("constant"),
    "field_declaration": _read_declaration("property"),
    "type_definition": _read_typedef,
    "struct_specifier": _read_tagged("struct"),
    "union_specifier": _read_tagged("struct"),
    "enum_specifier": _read_tagged("enum"),
    "enumerator": define("property", "name", ""),
    "preproc_def": define("macro", "name", "value"),
    "preproc_function_def": define("macro", "name", "value"),
}

_C_NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier"})

C = Rules(
    definitions=_C,
    imports={"preproc_include": _include},
    exported=no_words_before("static"),
    opaque=frozenset({"compound_statement", "parameter_list", "initializer_list"}),
    calls={"call_expression": "function"},
    names=_C_NAMES,
    types=frozenset({"type_identifier"}),
    wrappers=frozenset({"declaration", "type_definition"}),
)

CPP = Rules(
    definitions={
        **_C,
        "class_specifier": _read_tagged("class"),
        "namespace_definition": _read_namespace,
        "alias_declaration": define("type", "name", ""),
        "concept_definition": define("type", "name", ""),
    },
    opaque=frozenset({"parameter_list", "argument_list", "initializer_list", "expression_statement"}),
    imports={"preproc_include": _include, "using_declaration": _using},
    exported=no_words_before("static"),
    constructors=True,
    wrappers=frozenset({"template_declaration", "declaration", "type_definition"}),
    calls={"call_expression": "function", "new_expression": "type"},
    names=_C_NAMES,
    types=frozenset({"type_identifier"}),
)

# ── Go ───────────────────────────────────────────────────────────────────────


def _read_go_method(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    receiver = get(node, "receiver/#parameter_declaration/type")
    if at is None or receiver is None:
        return ()
    target = receiver if receiver.type != "pointer_type" else (receiver.named_children or [receiver])[0]
    owner = text(leaf_of(target, "type"), data)
    return (Found("method", text(at, data), node, node.child_by_field_name("body"), at, owner=owner),)


def _read_go_type(node: Node, data: bytes) -> Iterable[Found]:
    at, value = node.child_by_field_name("name"), node.child_by_field_name("type")
    if at is None or value is None:
        return ()
    kind = {"struct_type": "struct", "interface_type": "interface"}.get(value.type, "type")
    body = child_of(value, "field_declaration_list") if kind == "struct" else None
    if kind == "interface":
        body = next((child for child in value.children if child.type == "{"), None)
    return (Found(kind, text(at, data), node, body, at, to_end=True),)


def _read_go_names(kind: str) -> Reader:
    def read(node: Node, data: bytes) -> Iterable[Found]:
        for at in node.children_by_field_name("name"):
            if at.is_named:
                yield Found(kind, text(at, data), node, None, at)

    return read


def _go_import(node: Node, data: bytes) -> Iterable[Taken]:
    path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
    if path is None:
        return ()
    module = unquote(text(path, data))
    if name is not None and name.type == "dot":
        return (Taken(module, ("*",)),)
    bound = text(name, data) if name is not None else module.rsplit("/", 1)[-1]
    return (Taken(module, (), () if bound == "_" else (bound,)),)


def _go_exported(name: str, _head: str, _parent: Parent | None) -> bool:
    return name[:1].isupper()


GO = Rules(
    definitions={
        "function_declaration": define("function"),
        "method_declaration": _read_go_method,
        "method_elem": define("method", "name", ""),
        "type_spec": _read_go_type,
        "type_alias": define("type", "name", ""),
        "field_declaration": _read_go_names("property"),
        "const_spec": _read_go_names("constant"),
        "var_spec": _read_go_names("constant"),
    },
    wrappers=frozenset({"type_declaration", "const_declaration", "var_declaration"}),
    opaque=frozenset({"block", "parameter_list", "literal_value"}),
    imports={"import_spec": _go_import},
    exported=_go_exported,
    calls={"call_expression": "function"},
    names=frozenset({"identifier", "field_identifier", "type_identifier", "package_identifier"}),
    types=frozenset({"type_identifier"}),
)

# ── Zig ──────────────────────────────────────────────────────────────────────

_ZIG_CONTAINERS = {
    "struct_declaration": "struct",
    "union_declaration": "struct",
    "opaque_declaration": "struct",
    "enum_declaration": "enum",
    "error_set_declaration": "enum",
}


def _zig_module(node: Node, data: bytes) -> str | None:
    """The module of `@import("m")`, however its fields are then picked."""
    here = node
    while here.type == "field_expression":
        inner = here.child_by_field_name("object")
        if inner is None:
            return None
        here = inner
    if here.type != "builtin_function" or not text(here, data).startswith(("@import", "@cImport")):
        return None
    content = get(here, "#arguments/#string")
    return unquote(text(content, data)) if content is not None else None


def _read_zig_variable(node: Node, data: bytes) -> Iterable[Found]:
    at = child_of(node, "identifier")
    value = node.named_children[-1] if node.named_child_count > 1 else None
    if at is None or (value is not None and _zig_module(value, data) is not None):
        return ()
    kind = _ZIG_CONTAINERS.get(value.type, "constant") if value is not None else "constant"
    body = next((c for c in value.children if c.type == "{"), None) if value is not None else None
    return (Found(kind, text(at, data), node, body if kind != "constant" else None, at, to_end=True),)


def _read_zig_test(node: Node, data: bytes) -> Iterable[Found]:
    at = child_of(node, "string", "identifier")
    if at is None:
        return ()
    return (Found("function", f"test {unquote(text(at, data))}", node, child_of(node, "block"), at),)


def _zig_import(node: Node, data: bytes) -> Iterable[Taken]:
    at = child_of(node, "identifier")
    value = node.named_children[-1] if node.named_child_count > 1 else None
    module = _zig_module(value, data) if value is not None else None
    if at is None or value is None or module is None:
        return ()
    member = value.child_by_field_name("member")
    names = (text(member, data),) if member is not None else ()
    return (Taken(module, names, (text(at, data),)),)


def _zig_exported(_name: str, head: str, parent: Parent | None) -> bool:
    if parent is not None and not head.strip():
        return parent.exported  # a field
    return "pub" in head.split()


ZIG = Rules(
    definitions={
        "function_declaration": define("function"),
        "variable_declaration": _read_zig_variable,
        "container_field": define("property", "name", ""),
        "test_declaration": _read_zig_test,
    },
    opaque=frozenset({"call_expression", "initializer_list", "parameters"}),
    imports={"variable_declaration": _zig_import},
    exported=_zig_exported,
    calls={"call_expression": "function"},
    type_fields=frozenset({"type"}),
)
