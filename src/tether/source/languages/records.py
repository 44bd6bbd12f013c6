"""JSON, YAML, TOML and SQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tether.source.languages.rules import Found, Reader, Rules, child_of, text, unquote

if TYPE_CHECKING:
    from tree_sitter import Node

# A key is worth a name when a person would look for it: deeper, or in a list, it is data.
_NESTING = 3


def _read_key(*mappings: str) -> Reader:
    """A key of the outer levels of a mapping; `table` when its value is itself a mapping."""

    def read(node: Node, data: bytes) -> Iterable[Found]:
        at, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        if at is None:
            return ()
        inner = value
        while inner is not None and inner.type in ("block_node", "flow_node") and inner.named_child_count:
            inner = inner.named_child(inner.named_child_count - 1)
        kind = "table" if inner is not None and inner.type in mappings else "property"
        body = value if kind == "table" else None
        return (Found(kind, unquote(text(at, data).strip()), node, body, at),)

    return read


JSON = Rules(
    definitions={"pair": _read_key("object")},
    opaque=frozenset({"array", "string"}),
    nesting=_NESTING,
    names=frozenset(),
    expressions=frozenset(),
)

YAML = Rules(
    opaque=frozenset({"block_sequence", "flow_sequence", "plain_scalar"}),
    definitions={
        "block_mapping_pair": _read_key("block_mapping", "flow_mapping"),
    },
    nesting=_NESTING,
    names=frozenset({"alias_name"}),
    expressions=frozenset(),
)

# ── TOML ─────────────────────────────────────────────────────────────────────


def _toml_key(node: Node, data: bytes) -> tuple[Node | None, str]:
    at = child_of(node, "bare_key", "quoted_key", "dotted_key")
    return at, text(at, data).replace('"', "").replace("'", "") if at is not None else ""


def _read_toml_table(node: Node, data: bytes) -> Iterable[Found]:
    at, name = _toml_key(node, data)
    body = child_of(node, "pair")
    return () if at is None else (Found("table", name, node, body, at, to_end=True),)


def _read_toml_pair(node: Node, data: bytes) -> Iterable[Found]:
    at, name = _toml_key(node, data)
    return () if at is None else (Found("property", name, node, None, at),)


TOML = Rules(
    definitions={
        "table": _read_toml_table,
        "table_array_element": _read_toml_table,
        "pair": _read_toml_pair,
    },
    opaque=frozenset({"array", "inline_table", "string", "dotted_key"}),
    nesting=_NESTING,
    names=frozenset(),
    expressions=frozenset(),
)

# ── SQL ──────────────────────────────────────────────────────────────────────


def _read_sql(kind: str, body_kind: str = "") -> Reader:
    def read(node: Node, data: bytes) -> Iterable[Found]:
        at = child_of(node, "object_reference") or node.child_by_field_name("column")
        if at is None:
            return ()
        name = ".".join(unquote(part.strip()) for part in text(at, data).split("."))
        return (Found(kind, name, node, child_of(node, body_kind) if body_kind else None, at),)

    return read


def _read_sql_column(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("name")
    return () if at is None else (Found("property", unquote(text(at, data)), node, None, at),)


def _read_sql_index(node: Node, data: bytes) -> Iterable[Found]:
    at = node.child_by_field_name("column") or child_of(node, "identifier")
    return () if at is None else (Found("property", unquote(text(at, data)), node, None, at),)


SQL = Rules(
    markers=(b"--", b"/*"),
    definitions={
        "create_table": _read_sql("table", "column_definitions"),
        "create_view": _read_sql("table", "create_query"),
        "create_materialized_view": _read_sql("table", "create_query"),
        "create_function": _read_sql("function", "function_body"),
        "create_trigger": _read_sql("function"),
        "create_type": _read_sql("type"),
        "create_schema": _read_sql("module"),
        "create_index": _read_sql_index,
        "column_definition": _read_sql_column,
    },
    comments=frozenset({"comment", "marginalia"}),
    wrappers=frozenset({"statement"}),
    calls={"invocation": "#object_reference"},
    type_roots=frozenset({"relation"}),
    expressions=frozenset(),
)
