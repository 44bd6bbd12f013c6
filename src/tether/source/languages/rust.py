"""Rust."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tether.source.languages.rules import Found, Parent, Rules, Taken, define, leaf_of, text

if TYPE_CHECKING:
    from tree_sitter import Node


def _read_impl(node: Node, data: bytes) -> Iterable[Found]:
    target = node.child_by_field_name("type")
    if target is None:
        return ()
    at = leaf_of(target, "type", "name")
    return (Found("impl", text(at, data), node, node.child_by_field_name("body"), at),)


def _use(node: Node, data: bytes) -> Iterable[Taken]:
    argument = node.child_by_field_name("argument")
    if argument is None:
        return
    pending: list[tuple[str, Node]] = [("", argument)]
    while pending:
        prefix, part = pending.pop()
        if part.type == "scoped_use_list":
            path, inner = part.child_by_field_name("path"), part.child_by_field_name("list")
            here = _join(prefix, "" if path is None else text(path, data))
            pending.extend(
                (here, item) for item in reversed(inner.named_children if inner is not None else ())
            )
        elif part.type == "use_list":
            pending.extend((prefix, item) for item in reversed(part.named_children))
        elif part.type == "use_wildcard":
            yield Taken(_join(prefix, text(part, data).removesuffix("*").removesuffix("::")), ("*",), ())
        elif part.type == "use_as_clause":
            path, alias = part.child_by_field_name("path"), part.child_by_field_name("alias")
            if path is not None and alias is not None:
                yield from _take(_join(prefix, text(path, data)), text(alias, data))
        elif part.type not in ("line_comment", "block_comment"):
            yield from _take(_join(prefix, text(part, data)), "")


def _take(path: str, alias: str) -> Iterator[Taken]:
    module, _, name = path.rpartition("::")
    if name == "self":
        module, _, name = module.rpartition("::")
    yield Taken(module or name, (name,) if module else (), (alias or name,))


def _join(prefix: str, rest: str) -> str:
    return f"{prefix}::{rest}" if prefix and rest else prefix or rest


def _crate(node: Node, data: bytes) -> Iterable[Taken]:
    name = node.child_by_field_name("name")
    return () if name is None else (Taken(text(name, data), (), (text(name, data),)),)


def _module(node: Node, data: bytes) -> Iterable[Taken]:
    """`mod name;` takes another file in."""
    name = node.child_by_field_name("name")
    if name is None or node.child_by_field_name("body") is not None:
        return ()
    return (Taken(f"self::{text(name, data)}", (), (text(name, data),)),)


def _exported(_name: str, head: str, parent: Parent | None) -> bool:
    words = head.replace("(", " ").split()
    if parent is not None and parent.kind in ("trait", "enum", "property"):
        return parent.exported
    if parent is not None and parent.kind == "impl" and "for" in parent.head.split():
        return True
    return "pub" in words or "#[macro_export]" in words or head.lstrip().startswith(("impl", "unsafe impl"))


RUST = Rules(
    definitions={
        "function_item": define("function"),
        "function_signature_item": define("function"),
        "struct_item": define("struct"),
        "union_item": define("struct"),
        "enum_item": define("enum"),
        "enum_variant": define("property"),
        "field_declaration": define("property", "name", ""),
        "trait_item": define("trait"),
        "impl_item": _read_impl,
        "mod_item": define("module"),
        "const_item": define("constant", "name", ""),
        "static_item": define("constant", "name", ""),
        "type_item": define("type", "name", ""),
        "associated_type": define("type", "name", ""),
        "macro_definition": define("macro", "name", ""),
    },
    comments=frozenset({"line_comment", "block_comment"}),
    attributes=frozenset({"attribute_item"}),
    opaque=frozenset(
        {
            "attribute_item",
            "field_expression",
            "generic_type",
            "match_pattern",
            "parameters",
            "reference_type",
            "scoped_identifier",
            "scoped_type_identifier",
            "string_literal",
            "token_tree",
            "type_arguments",
            "use_declaration",
            "where_clause",
        }
    ),
    imports={"use_declaration": _use, "extern_crate_declaration": _crate, "mod_item": _module},
    exported=_exported,
    calls={"call_expression": "function", "macro_invocation": "macro"},
    names=frozenset({"identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"}),
    types=frozenset({"type_identifier"}),
)
