"""Ruby, PHP, Lua and Bash."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tether.source.languages.rules import (
    Found,
    Parent,
    Rules,
    Taken,
    child_of,
    define,
    get,
    no_words_before,
    text,
    unquote,
)

if TYPE_CHECKING:
    from tree_sitter import Node

# ── Ruby ─────────────────────────────────────────────────────────────────────


def _read_ruby_method(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    if at is None:
        return ()
    name = text(at, data)
    kind = "constructor" if name == "initialize" else "method"
    return (Found(kind, name, node, node.child_by_field_name("body"), at),)


def _read_ruby_module(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    if at is None:
        return ()
    kind = "class" if node.type == "class" else "module"
    name = text(at, data).replace("::", ".")
    return (Found(kind, name, node, node.child_by_field_name("body"), at),)


def _read_ruby_constant(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("left")
    if at is None or at.type != "constant":
        return ()
    return (Found("constant", text(at, data), node, None, at),)


def _read_ruby_accessors(node: Node, data: bytes) -> Iterable[Found]:
    """`attr_reader :x` defines `x`."""
    called = node.child_by_field_name("method")
    if called is None or not data.startswith(b"attr_", called.start_byte):
        return
    arguments = node.child_by_field_name("arguments")
    for at in arguments.named_children if arguments is not None else ():
        if at.type == "simple_symbol":
            yield Found("property", text(at, data).lstrip(":"), at, None, at)


def _ruby_require(node: Node, data: bytes) -> Iterable[Taken]:
    called = node.child_by_field_name("method")
    if called is None or text(called, data) not in ("require", "require_relative", "load", "autoload"):
        return ()
    content = get(node, "arguments/#string/#string_content")
    if content is None or node.child_by_field_name("receiver") is not None:
        return ()
    relative = "./" if text(called, data) == "require_relative" else ""
    return (Taken(relative + text(content, data)),)


RUBY = Rules(
    markers=(b"#",),
    definitions={
        "method": _read_ruby_method,
        "singleton_method": _read_ruby_method,
        "class": _read_ruby_module,
        "module": _read_ruby_module,
        "assignment": _read_ruby_constant,
        "call": _read_ruby_accessors,
    },
    imports={"call": _ruby_require},
    exported=no_words_before("private", "protected", "private_class_method"),
    calls={"call": "method"},
    names=frozenset({"identifier", "constant"}),
    types=frozenset({"constant"}),
    expressions=frozenset({"call", "identifier", "assignment", "binary"}),
)

# ── PHP ──────────────────────────────────────────────────────────────────────


def _read_php_method(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    if at is None:
        return ()
    name = text(at, data)
    kind = "constructor" if name == "__construct" else "method"
    return (Found(kind, name, node, node.child_by_field_name("body"), at),)


def _read_php_namespace(node: Node, data: bytes) -> Iterable[Found]:
    at, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if at is None or body is None:
        return ()
    return (Found("module", text(at, data).replace("\\", "."), node, body, at),)


def _php_use(node: Node, data: bytes) -> Iterable[Taken]:
    prefix_node = child_of(node, "namespace_name")
    prefix = text(prefix_node, data) + "\\" if prefix_node is not None else ""
    group = node.child_by_field_name("body")
    for clause in (group or node).named_children:
        path = child_of(clause, "qualified_name", "name") if clause.type == "namespace_use_clause" else None
        if path is None:
            continue
        module, _, name = (prefix + text(path, data)).rpartition("\\")
        alias = clause.child_by_field_name("alias")
        yield Taken(module, (name,), (text(alias, data) if alias is not None else name,))


def _php_include(node: Node, data: bytes) -> Iterable[Taken]:
    content = get(node, "#string/#string_content") or get(
        node, "#parenthesized_expression/#string/#string_content"
    )
    return () if content is None else (Taken(text(content, data)),)


PHP = Rules(
    definitions={
        "namespace_definition": _read_php_namespace,
        "class_declaration": define("class"),
        "interface_declaration": define("interface"),
        "trait_declaration": define("trait"),
        "enum_declaration": define("enum"),
        "enum_case": define("property", "name", ""),
        "function_definition": define("function"),
        "method_declaration": _read_php_method,
        "property_element": define("property", "name/#name", ""),
        "property_promotion_parameter": define("property", "name/#name", ""),
        "const_element": define("constant", "#name", ""),
    },
    attributes=frozenset({"attribute_list"}),
    wrappers=frozenset({"property_declaration", "const_declaration"}),
    imports={
        "namespace_use_declaration": _php_use,
        "require_expression": _php_include,
        "require_once_expression": _php_include,
        "include_expression": _php_include,
        "include_once_expression": _php_include,
    },
    exported=no_words_before("private", "protected"),
    calls={
        "function_call_expression": "function",
        "member_call_expression": "name",
        "nullsafe_member_call_expression": "name",
        "scoped_call_expression": "name",
        "object_creation_expression": "#name",
    },
    names=frozenset({"name"}),
    type_roots=frozenset({"named_type", "base_clause", "class_interface_clause"}),
)

# ── Lua ──────────────────────────────────────────────────────────────────────


def _read_lua_function(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    return () if at is None else (_lua_found(at, node, node, data),)


def _lua_found(at: Node, node: Node, function: Node, data: bytes) -> Found:
    last = at.child_by_field_name("field") or at.child_by_field_name("method") or at
    owner = data[at.start_byte : last.start_byte].decode("utf-8", "replace").strip(".: ")
    kind = "method" if at.type == "method_index_expression" else "function"
    return Found(kind, text(last, data), node, function.child_by_field_name("body"), last, owner=owner)


def _read_lua_assignment(node: Node, data: bytes) -> Iterable[Found]:
    names, values = child_of(node, "variable_list"), child_of(node, "expression_list")
    targets = names.named_children if names is not None else []
    given = values.named_children if values is not None else []
    for place, at in enumerate(targets):
        value = given[place] if place < len(given) else None
        if value is not None and value.type == "function_definition":
            yield _lua_found(at, node, value, data)
        elif at.type == "identifier" and not (value is not None and _lua_module(value, data)):
            yield Found("constant", text(at, data), node, None, at)


def _lua_module(node: Node, data: bytes) -> str:
    called = node.child_by_field_name("name") if node.type == "function_call" else None
    if called is None or text(called, data) != "require":
        return ""
    content = get(node, "arguments/#string/content")
    return text(content, data) if content is not None else ""


def _lua_require(node: Node, data: bytes) -> Iterable[Taken]:
    module = _lua_module(node, data)
    return (Taken(module),) if module else ()


LUA = Rules(
    markers=(b"--",),
    definitions={"function_declaration": _read_lua_function, "assignment_statement": _read_lua_assignment},
    wrappers=frozenset({"variable_declaration"}),
    imports={"function_call": _lua_require},
    exported=no_words_before("local"),
    calls={"function_call": "name"},
    expressions=frozenset({"function_call"}),
)

# ── Bash ─────────────────────────────────────────────────────────────────────


def _bash_source(node: Node, data: bytes) -> Iterable[Taken]:
    name, argument = node.child_by_field_name("name"), node.child_by_field_name("argument")
    if name is None or argument is None or text(name, data) not in ("source", "."):
        return ()
    return (Taken(unquote(text(argument, data))),)


def _bash_exported(name: str, head: str, _parent: Parent | None) -> bool:
    return not name.startswith("_") and "local" not in head.split()


BASH = Rules(
    markers=(b"#",),
    definitions={
        "function_definition": define("function"),
        "variable_assignment": define("constant", "name", ""),
    },
    wrappers=frozenset({"declaration_command"}),
    imports={"command": _bash_source},
    exported=_bash_exported,
    calls={"command": "name/#word"},
    names=frozenset({"variable_name"}),
    expressions=frozenset({"command", "pipeline", "list", "redirected_statement"}),
)
