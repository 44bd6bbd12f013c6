"""Java, Kotlin, Scala, C# and Swift."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tether.source.languages.rules import (
    Found,
    Rules,
    Taken,
    child_of,
    define,
    get,
    no_words_before,
    text,
    words_before,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCK_COMMENTS = frozenset({"line_comment", "block_comment", "multiline_comment", "comment"})

# ── Java ─────────────────────────────────────────────────────────────────────


def _dotted(node: Node, data: bytes) -> str:
    return "".join(text(node, data).split())


def _java_import(node: Node, data: bytes) -> Iterable[Taken]:
    path = child_of(node, "scoped_identifier", "identifier")
    if path is None:
        return ()
    full = _dotted(path, data)
    if child_of(node, "asterisk") is not None:
        return (Taken(full, ("*",)),)
    module, _, name = full.rpartition(".")
    return (Taken(module, (name,), (name,)),)


JAVA = Rules(
    definitions={
        "class_declaration": define("class"),
        "record_declaration": define("class"),
        "interface_declaration": define("interface"),
        "annotation_type_declaration": define("interface"),
        "enum_declaration": define("enum"),
        "enum_constant": define("property"),
        "constructor_declaration": define("constructor"),
        "compact_constructor_declaration": define("constructor"),
        "method_declaration": define("method"),
        "annotation_type_element_declaration": define("method", "name", ""),
        "variable_declarator": define("constant", "name", ""),
    },
    comments=_BLOCK_COMMENTS,
    opaque=frozenset({"formal_parameters", "modifiers", "type_arguments", "field_access", "generic_type"}),
    wrappers=frozenset({"field_declaration", "constant_declaration", "local_variable_declaration"}),
    imports={"import_declaration": _java_import},
    exported=words_before("public", "protected"),
    calls={"method_invocation": "name", "object_creation_expression": "type"},
    names=frozenset({"identifier", "type_identifier"}),
    types=frozenset({"type_identifier"}),
)

# ── Kotlin ───────────────────────────────────────────────────────────────────


def _read_kotlin_class(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name") or child_of(node, "identifier", "type_identifier")
    if at is None:
        return ()
    head = data[node.start_byte : at.start_byte].split()
    kind = "interface" if b"interface" in head else "enum" if b"enum" in head else "class"
    return (Found(kind, text(at, data), node, child_of(node, "class_body", "enum_class_body"), at),)


def _read_kotlin_object(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name") or child_of(node, "identifier", "type_identifier")
    return (Found("class", text(at, data) if at else "Companion", node, child_of(node, "class_body"), at),)


def _read_kotlin_function(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name") or child_of(node, "identifier", "simple_identifier")
    if at is None:
        return ()
    return (Found("function", text(at, data), node, child_of(node, "function_body"), at),)


def _read_kotlin_constructor(node: Node, data: bytes) -> Iterable[Found]:
    return (Found("constructor", "constructor", node, child_of(node, "block"), None),)


def _kotlin_import(node: Node, data: bytes) -> Iterable[Taken]:
    path = child_of(node, "qualified_identifier", "identifier")
    if path is None:
        return ()
    full = _dotted(path, data)
    rest = data[path.end_byte : node.end_byte].decode("utf-8", "replace").split()
    if rest and rest[0].startswith(".*"):
        return (Taken(full, ("*",)),)
    module, _, name = full.rpartition(".")
    return (Taken(module, (name,), (rest[1] if len(rest) > 1 and rest[0] == "as" else name,)),)


def _read_kotlin_parameter(node: Node, data: bytes) -> Iterable[Found]:
    """`class P(val x: Int)`: a parameter that is a property too."""
    at = child_of(node, "identifier")
    head = data[node.start_byte : at.start_byte].split() if at is not None else []
    if at is None or not {b"val", b"var"}.intersection(head):
        return ()
    return (Found("property", text(at, data), node, None, at),)


KOTLIN = Rules(
    definitions={
        "class_declaration": _read_kotlin_class,
        "object_declaration": _read_kotlin_object,
        "companion_object": _read_kotlin_object,
        "function_declaration": _read_kotlin_function,
        "secondary_constructor": _read_kotlin_constructor,
        "class_parameter": _read_kotlin_parameter,
        "property_declaration": define("constant", "#variable_declaration/#identifier", ""),
        "enum_entry": define("property", "#identifier", "#class_body"),
        "type_alias": define("type", "type", ""),
    },
    comments=_BLOCK_COMMENTS,
    imports={"import": _kotlin_import},
    exported=no_words_before("private", "internal", "protected"),
    calls={"call_expression": "0", "constructor_invocation": "#user_type"},
    names=frozenset({"identifier"}),
    type_roots=frozenset({"user_type"}),
)

# ── Scala ────────────────────────────────────────────────────────────────────


def _scala_import(node: Node, data: bytes) -> Iterable[Taken]:
    path = [text(part, data) for part in node.children_by_field_name("path") if part.type != "."]
    module = ".".join(part for part in path if part != ".")
    names, bound, wild = [], [], False
    for part in node.named_children:
        if part.type == "namespace_wildcard":
            wild = True
        if part.type != "namespace_selectors":
            continue
        for item in part.named_children:
            name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
            wild = wild or item.type == "namespace_wildcard"
            if item.type == "identifier" or name is not None:
                names.append(text(name or item, data))
                bound.append(text(alias or name or item, data))
    if wild:
        names.append("*")
    if not names and "." in module:
        module, _, name_ = module.rpartition(".")
        names, bound = [name_], [name_]
    return (Taken(module, tuple(names), tuple(bound)),)


SCALA = Rules(
    definitions={
        "class_definition": define("class"),
        "object_definition": define("class"),
        "trait_definition": define("trait"),
        "enum_definition": define("enum"),
        "simple_enum_case": define("property", "name", ""),
        "full_enum_case": define("property", "name", ""),
        "function_definition": define("function"),
        "function_declaration": define("function"),
        "given_definition": define("constant"),
        "val_definition": define("constant", "pattern", ""),
        "val_declaration": define("constant", "name", ""),
        "var_definition": define("constant", "pattern", ""),
        "var_declaration": define("constant", "name", ""),
        "type_definition": define("type", "name", ""),
    },
    comments=_BLOCK_COMMENTS,
    wrappers=frozenset({"enum_case_definitions"}),
    imports={"import_declaration": _scala_import},
    exported=no_words_before("private", "protected"),
    calls={"call_expression": "function", "instance_expression": "#type_identifier"},
    names=frozenset({"identifier", "type_identifier"}),
    types=frozenset({"type_identifier"}),
)

# ── C# ───────────────────────────────────────────────────────────────────────


def _csharp_using(node: Node, data: bytes) -> Iterable[Taken]:
    alias = node.child_by_field_name("name")
    path = next((c for c in reversed(node.named_children) if c != alias), None)
    if path is None:
        return ()
    return (Taken(_dotted(path, data), () if alias else ("*",), (text(alias, data),) if alias else ()),)


def _read_csharp_property(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    if at is None:
        return ()
    body = node.child_by_field_name("accessors") or node.child_by_field_name("value")
    return (Found("property", text(at, data), node, body, at),)


CSHARP = Rules(
    definitions={
        "namespace_declaration": define("module"),
        "class_declaration": define("class"),
        "record_declaration": define("class"),
        "struct_declaration": define("struct"),
        "interface_declaration": define("interface"),
        "enum_declaration": define("enum"),
        "enum_member_declaration": define("property", "name", ""),
        "constructor_declaration": define("constructor"),
        "destructor_declaration": define("method"),
        "method_declaration": define("method"),
        "local_function_statement": define("function"),
        "operator_declaration": define("method", "operator"),
        "property_declaration": _read_csharp_property,
        "variable_declarator": define("constant", "name", ""),
        "delegate_declaration": define("type", "name", ""),
    },
    wrappers=frozenset({"field_declaration", "event_field_declaration", "variable_declaration"}),
    imports={"using_directive": _csharp_using},
    exported=words_before("public", "protected"),
    calls={"invocation_expression": "function", "object_creation_expression": "type"},
    type_roots=frozenset({"base_list", "type_argument_list", "nullable_type", "array_type", "generic_name"}),
    type_fields=frozenset({"type", "returns"}),
)

# ── Swift ────────────────────────────────────────────────────────────────────

_SWIFT_KINDS = {"struct": "struct", "enum": "enum", "extension": "impl", "actor": "class", "class": "class"}


def _read_swift_class(node: Node, data: bytes) -> Iterable[Found]:
    at, word = node.child_by_field_name("name"), node.child_by_field_name("declaration_kind")
    if at is None:
        return ()
    kind = _SWIFT_KINDS.get(text(word, data) if word is not None else "class", "class")
    return (Found(kind, text(at, data), node, node.child_by_field_name("body"), at),)


def _read_swift_init(node: Node, data: bytes) -> Iterable[Found]:
    name = "deinit" if node.type == "deinit_declaration" else "init"
    kind = "method" if name == "deinit" else "constructor"
    return (Found(kind, name, node, node.child_by_field_name("body"), None),)


def _read_swift_property(node: Node, data: bytes) -> Iterable[Found]:
    at = get(node, "name/bound_identifier") or child_of(node, "pattern")
    if at is None:
        return ()
    return (Found("constant", text(at, data), node, node.child_by_field_name("computed_value"), at),)


def _read_swift_cases(node: Node, data: bytes) -> Iterable[Found]:
    for at in node.children_by_field_name("name"):
        yield Found("property", text(at, data), node, None, at)


def _swift_import(node: Node, data: bytes) -> Iterable[Taken]:
    path = child_of(node, "identifier")
    return () if path is None else (Taken(_dotted(path, data), ("*",)),)


SWIFT = Rules(
    definitions={
        "class_declaration": _read_swift_class,
        "protocol_declaration": define("interface"),
        "function_declaration": define("function"),
        "protocol_function_declaration": define("method", "name", ""),
        "init_declaration": _read_swift_init,
        "deinit_declaration": _read_swift_init,
        "property_declaration": _read_swift_property,
        "protocol_property_declaration": define("property", "name/bound_identifier", ""),
        "enum_entry": _read_swift_cases,
        "typealias_declaration": define("type", "name", ""),
        "associatedtype_declaration": define("type", "name", ""),
    },
    comments=_BLOCK_COMMENTS,
    imports={"import_declaration": _swift_import},
    exported=no_words_before("private", "fileprivate"),
    calls={"call_expression": "0"},
    names=frozenset({"simple_identifier", "type_identifier"}),
    types=frozenset({"type_identifier"}),
)
