"""Haskell and Elixir."""

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
    first_of,
    get,
    text,
    unquote,
)

if TYPE_CHECKING:
    from tree_sitter import Node

# ── Haskell ──────────────────────────────────────────────────────────────────


def _read_equation(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    if at is None:
        return ()
    return (Found("function", text(at, data), node, node.child_by_field_name("match"), at),)


def _read_instance(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    types = node.child_by_field_name("patterns")
    if at is None:
        return ()
    name = f"{text(at, data)} {text(types, data)}" if types is not None else text(at, data)
    return (Found("impl", name, node, node.child_by_field_name("declarations"), at),)


def _read_constructor(node: Node, data: bytes) -> Iterable[Found]:
    at = get(node, "constructor/name") or node.child_by_field_name("name")
    return () if at is None else (Found("property", text(at, data), node, None, at),)


def _haskell_import(node: Node, data: bytes) -> Iterable[Taken]:
    module, alias = node.child_by_field_name("module"), node.child_by_field_name("alias")
    if module is None:
        return ()
    listed = node.child_by_field_name("names")
    names = [text(n, data) for n in listed.children_by_field_name("name")] if listed is not None else ["*"]
    bound = (text(alias, data),) if alias is not None else tuple(n for n in names if n != "*")
    return (Taken(text(module, data), tuple(names), bound),)


def _haskell_exports(root: Node, data: bytes) -> frozenset[str] | None:
    listed = get(root, "#header/exports")
    if listed is None:
        return None
    names: set[str] = set()
    for item in listed.named_children:
        at = item.child_by_field_name("variable") or item.child_by_field_name("type")
        names.update(() if at is None else (text(at, data),))
    return frozenset(names)


HASKELL = Rules(
    markers=(b"--",),
    definitions={
        "function": _read_equation,
        "bind": _read_equation,
        # a signature defines by itself only in a class; elsewhere it belongs to the equation after it
        "signature": define("signature", "name", ""),
        "data_type": define("type", "name", "constructors"),
        "newtype": define("type", "name", "constructor"),
        "data_constructor": _read_constructor,
        "newtype_constructor": _read_constructor,
        "class": define("trait", "name", "declarations"),
        "instance": _read_instance,
        "type_synonym": define("type", "name", ""),
    },
    comments=frozenset({"comment", "haddock"}),
    attributes=frozenset({"signature"}),
    equations=True,
    imports={"import": _haskell_import},
    exports=_haskell_exports,
    calls={"apply": "function"},
    names=frozenset({"variable", "name", "constructor"}),
    types=frozenset({"name"}),
)

# ── Elixir ───────────────────────────────────────────────────────────────────

_ELIXIR_NOTES = frozenset(
    {
        "doc",
        "moduledoc",
        "typedoc",
        "spec",
        "impl",
        "type",
        "typep",
        "opaque",
        "callback",
        "macrocallback",
        "behaviour",
        "derive",
        "deprecated",
        "dialyzer",
        "compile",
        "on_load",
        "before_compile",
        "after_compile",
        "enforce_keys",
        "optional_callbacks",
        "since",
        "tag",
    }
)
_ELIXIR = {
    "defmodule": "module",
    "defprotocol": "interface",
    "defimpl": "impl",
    "def": "function",
    "defp": "function",
    "defmacro": "macro",
    "defmacrop": "macro",
    "defguard": "macro",
    "defguardp": "macro",
    "defdelegate": "function",
    "defstruct": "struct",
    "test": "function",
}


def _read_elixir_call(node: Node, data: bytes) -> Iterable[Found]:
    target = node.child_by_field_name("target")
    kind = _ELIXIR.get(text(target, data)) if target is not None and target.type == "identifier" else None
    arguments = child_of(node, "arguments")
    if kind is None or target is None or arguments is None or not arguments.named_children:
        return ()
    body = child_of(node, "do_block")
    if kind == "struct":
        return (Found(kind, "__struct__", node, None, target),)
    at: Node = arguments.named_children[0]
    while at.type in ("call", "binary_operator"):
        inner = at.child_by_field_name("target") or at.child_by_field_name("left")
        if inner is None:
            break
        at = inner
    return (Found(kind, unquote(text(at, data)), node, body or _keyword_body(arguments, data), at),)


def _keyword_body(arguments: Node, data: bytes) -> Node | None:
    """The value of `do:`."""
    keywords = child_of(arguments, "keywords")
    for pair in keywords.named_children if keywords is not None else ():
        key = pair.child_by_field_name("key")
        if key is not None and text(key, data).strip() == "do:":
            return pair
    return None


def _read_elixir_attribute(node: Node, data: bytes) -> Iterable[Found]:
    """`@limit 10` names a constant; `@doc`, `@spec` and their kin speak of what follows."""
    at = get(node, "operand/target")
    if at is None or data[node.start_byte : node.start_byte + 1] != b"@" or text(at, data) in _ELIXIR_NOTES:
        return ()
    return (Found("constant", f"@{text(at, data)}", node, None, at),)


def _elixir_docstring(node: Node, data: bytes) -> Node | None:
    """`@moduledoc`, the first thing in a module."""
    block = child_of(node, "do_block")
    first = first_of(block) if block is not None else None
    if first is None or not data.startswith(b"@moduledoc", first.start_byte):
        return None
    return get(first, "operand/#arguments/#string")


def _elixir_import(node: Node, data: bytes) -> Iterable[Taken]:
    target, arguments = node.child_by_field_name("target"), child_of(node, "arguments")
    if target is None or arguments is None or text(target, data) not in ("alias", "import", "use", "require"):
        return ()
    first = arguments.named_children[0] if arguments.named_children else None
    if first is None:
        return ()
    if first.type == "dot":
        left, right = first.child_by_field_name("left"), first.child_by_field_name("right")
        if left is not None and right is not None and right.type == "tuple":
            names = tuple(text(n, data) for n in right.named_children)
            return (Taken(text(left, data), names, names),)
    if first.type not in ("alias", "dot"):
        return ()
    module = text(first, data)
    keywords = child_of(arguments, "keywords")
    bound = (module.rsplit(".", 1)[-1],)
    names_: tuple[str, ...] = ("*",) if text(target, data) in ("import", "use") else ()
    for pair in keywords.named_children if keywords is not None else ():
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        word = text(key, data).strip() if key is not None else ""
        if word == "as:" and value is not None:
            bound = (text(value, data),)
        if word == "only:" and value is not None:
            inner = child_of(value, "keywords")
            keys = [p.child_by_field_name("key") for p in inner.named_children] if inner is not None else []
            names_ = tuple(text(k, data).strip().rstrip(":") for k in keys if k is not None)
    return (Taken(module, names_, names_ if names_ and names_ != ("*",) else bound),)


def _elixir_exported(_name: str, head: str, _parent: Parent | None) -> bool:
    return not {"defp", "defmacrop", "defguardp"}.intersection(head.split())


ELIXIR = Rules(
    markers=(b"#",),
    uncalled=frozenset(_ELIXIR) | _ELIXIR_NOTES,
    definitions={"call": _read_elixir_call, "unary_operator": _read_elixir_attribute},
    attributes=frozenset({"unary_operator"}),
    imports={"call": _elixir_import},
    exported=_elixir_exported,
    docstring=_elixir_docstring,
    doc_attribute=b"@doc ",
    calls={"call": "target"},
    names=frozenset({"identifier", "alias"}),
    types=frozenset({"alias"}),
    expressions=frozenset({"call"}),
)
