"""Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tether.source.languages.rules import Found, Parent, Rules, Taken, child_of, define, text

if TYPE_CHECKING:
    from tree_sitter import Node


def _read_assignment(node: Node, data: bytes) -> Iterable[Found]:
    left = node.child_by_field_name("left")
    if left is None or left.type != "identifier":
        return ()
    return (Found("constant", text(left, data), node, None, left),)


def _docstring(node: Node, _data: bytes) -> Node | None:
    body = node.child_by_field_name("body") if node.type != "module" else node
    for child in body.named_children if body is not None else ():
        if child.type == "comment":
            continue
        if child.type == "expression_statement" and child.named_child_count == 1:
            return child_of(child, "string", "concatenated_string")
        return None
    return None


def _import(node: Node, data: bytes) -> Iterable[Taken]:
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None and alias is not None:
                yield Taken(text(name, data), (), (text(alias, data),))
        else:
            module = text(child, data)
            yield Taken(module, (), (module.split(".", 1)[0],))


def _import_from(node: Node, data: bytes) -> Iterable[Taken]:
    module = node.child_by_field_name("module_name")
    names, bound = [], []
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None and alias is not None:
                names.append(text(name, data))
                bound.append(text(alias, data))
        else:
            names.append(text(child, data))
            bound.append(text(child, data))
    if child_of(node, "wildcard_import") is not None:
        names.append("*")
    source = "__future__" if module is None else text(module, data)
    yield Taken(source, tuple(names), tuple(bound))


def _exports(root: Node, data: bytes) -> frozenset[str] | None:
    """`__all__`, where it is a plain list of strings."""
    for statement in root.named_children:
        target = statement.named_children[0] if statement.type == "expression_statement" else None
        left = (
            target.child_by_field_name("left") if target is not None and target.type == "assignment" else None
        )
        if target is None or left is None or text(left, data) != "__all__":
            continue
        right = target.child_by_field_name("right")
        if right is None or right.type not in ("list", "tuple"):
            return None
        if any(item.type != "string" for item in right.named_children if item.type != "comment"):
            return None
        contents = (child_of(item, "string_content") for item in right.named_children)
        return frozenset(text(content, data) for content in contents if content is not None)
    return None


def _exported(name: str, _head: str, _parent: Parent | None) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


PYTHON = Rules(
    definitions={
        "function_definition": define("function"),
        "class_definition": define("class"),
        "assignment": _read_assignment,
        "type_alias_statement": define("type", "left", ""),
    },
    # an expression defines nothing that has a name
    opaque=frozenset(
        {
            "argument_list",
            "assert_statement",
            "assignment",
            "attribute",
            "augmented_assignment",
            "binary_operator",
            "boolean_operator",
            "call",
            "comparison_operator",
            "decorator",
            "dictionary",
            "import_from_statement",
            "list",
            "parameters",
            "raise_statement",
            "return_statement",
            "string",
            "subscript",
            "tuple",
            "type",
        }
    ),
    wrappers=frozenset({"decorated_definition", "expression_statement"}),
    imports={
        "import_statement": _import,
        "import_from_statement": _import_from,
        "future_import_statement": _import_from,
    },
    exported=_exported,
    exports=_exports,
    docstring=_docstring,
    markers=(b"#",),
    calls={"call": "function", "decorator": "#identifier"},
    type_roots=frozenset({"type"}),
)
