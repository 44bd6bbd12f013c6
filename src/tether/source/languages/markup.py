"""Markdown, HTML and CSS."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tether.source.languages.rules import Found, Rules, Taken, child_of, get, text, unquote, walk

if TYPE_CHECKING:
    from tree_sitter import Node

# ── Markdown ─────────────────────────────────────────────────────────────────


def _read_headings(node: Node, data: bytes) -> Iterable[Found]:
    """Each heading and all below it, up to the next heading of its level or above."""
    headings = []
    for _, heading in walk(node, into=frozenset({"document", "section"})):
        content = heading.child_by_field_name("heading_content")
        if content is not None and heading.type in ("atx_heading", "setext_heading"):
            marker = next((c.type for c in heading.named_children if "_h" in c.type), "")
            level = next((int(letter) for letter in marker if letter.isdigit()), 1)
            headings.append((heading, content, level))
    ends = [node.end_byte] * len(headings)
    above: list[int] = []
    for place, (heading, _, level) in enumerate(headings):
        while above and headings[above[-1]][2] >= level:
            ends[above.pop()] = heading.start_byte
        above.append(place)
    for (heading, content, level), end in zip(headings, ends, strict=True):
        title = " ".join(text(content, data).strip().rstrip("#").split())
        body = heading.next_sibling if heading.end_byte < end else None
        yield Found("section", title, heading, body, content, level=level, end=end, to_end=True)


MARKDOWN = Rules(
    definitions={"document": _read_headings},
    comments=frozenset(),
    names=frozenset(),
    expressions=frozenset(),
)

# ── HTML ─────────────────────────────────────────────────────────────────────


def _attribute(tag: Node, wanted: str, data: bytes) -> Node | None:
    for attribute in tag.named_children:
        name = child_of(attribute, "attribute_name") if attribute.type == "attribute" else None
        if name is not None and text(name, data).lower() == wanted:
            value = get(attribute, "#quoted_attribute_value/#attribute_value")
            return value or child_of(attribute, "attribute_value")
    return None


def _read_element(node: Node, data: bytes) -> Iterable[Found]:
    """An element that carries an `id`."""
    tag = child_of(node, "start_tag", "self_closing_tag")
    at = _attribute(tag, "id", data) if tag is not None else None
    if tag is None or at is None:
        return ()
    following = tag.next_sibling
    body = following if following is not None and following.type != "end_tag" else None
    return (Found("element", text(at, data), node, body, at, to_end=True),)


def _html_source(node: Node, data: bytes) -> Iterable[Taken]:
    """What a page loads: scripts, and style sheets by `<link>`."""
    tag = child_of(node, "start_tag", "self_closing_tag")
    name = child_of(tag, "tag_name") if tag is not None else None
    if tag is None or name is None:
        return ()
    word = text(name, data).lower()
    at = _attribute(tag, "href", data) if word == "link" else None
    at = _attribute(tag, "src", data) if word == "script" else at
    return () if at is None else (Taken(text(at, data)),)


HTML = Rules(
    definitions={"element": _read_element, "script_element": _read_element, "style_element": _read_element},
    opaque=frozenset({"start_tag", "end_tag", "self_closing_tag"}),
    imports={"script_element": _html_source, "element": _html_source},
    names=frozenset(),
    expressions=frozenset(),
)

# ── CSS ──────────────────────────────────────────────────────────────────────


def _read_rule(node: Node, data: bytes) -> Iterable[Found]:
    body = child_of(node, "block", "keyframe_block_list")
    if body is None:
        return ()
    head = data[node.start_byte : body.start_byte].decode("utf-8", "replace")
    at = child_of(node, "selectors", "keyframes_name")
    name = head if node.type != "keyframes_statement" or at is None else f"@keyframes {text(at, data)}"
    return (Found("rule", " ".join(name.split()), node, body, at),)


def _css_import(node: Node, data: bytes) -> Iterable[Taken]:
    value = child_of(node, "string_value") or get(node, "#call_expression/#arguments/#string_value")
    if value is None:
        value = get(node, "#call_expression/#arguments/#plain_value")
    return () if value is None else (Taken(unquote(text(value, data))),)


CSS = Rules(
    definitions={
        "rule_set": _read_rule,
        "media_statement": _read_rule,
        "supports_statement": _read_rule,
        "keyframes_statement": _read_rule,
        "at_rule": _read_rule,
    },
    opaque=frozenset({"selectors", "declaration", "string_value"}),
    imports={"import_statement": _css_import},
    names=frozenset({"class_name", "id_name"}),
    expressions=frozenset(),
)
