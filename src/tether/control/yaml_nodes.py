"""A YAML text as nodes that know where they stand: one document, no anchors, aliases, tags or depth.

Built from the parser's events, so that nothing is constructed or expanded that was not written.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_DEPTH = 8
MAX_NODES = 20_000  # reading is slow, and a file of intents is small


class Node:
    """A scalar, list or map, with the span of text it covers. Lines and columns count from 0."""

    __slots__ = ("column", "end", "entries", "flow", "items", "kind", "line", "start", "style", "value")

    def __init__(
        self, kind: str, mark: Any, end: int, *, value: str = "", style: str = "", flow: bool = False
    ) -> None:
        self.kind = kind  # scalar | list | map
        self.value = value
        self.style = style  # of a scalar: "" | ' | " | "|" | >
        self.flow = flow
        self.items: list[Node] = []
        self.entries: list[tuple[Node, Node]] = []
        self.start: int = mark.index
        self.line: int = mark.line
        self.column: int = mark.column
        self.end = end  # of a block list or map: where its last scalar ends

    @property
    def is_empty(self) -> bool:
        """Nothing written, or one of YAML's spellings of nothing."""
        return self.kind == "scalar" and not self.style and self.value in ("", "~", "null", "Null", "NULL")


class Malformed(Exception):  # noqa: N818 - it carries what was expected and found, for the caller to report
    """The text is not YAML of the kind accepted here."""

    def __init__(self, line: int, column: int, expected: str, found: str) -> None:
        super().__init__(f"{line}:{column}: expected {expected}, found {found}")
        self.line, self.column, self.expected, self.found = line, column, expected, found


def read(text: str) -> Node | None:
    """The document's root, or None when there is nothing but comments; Malformed otherwise."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    events = YAML(typ="safe", pure=True).parse(text)
    try:
        return _document(events)
    except ReaderError as error:
        before = text[: error.position]
        raise Malformed(
            before.count("\n"),
            error.position - before.rfind("\n") - 1,
            "printable text",
            f"the character U+{ord(text[error.position]):04X}",
        ) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context or "malformed text").replace("\0", "the end")
        if "'\\t'" in problem:
            raise Malformed(mark.line, mark.column, "spaces for indentation", "a tab") from error
        raise Malformed(
            mark.line if mark else 0, mark.column if mark else 0, "valid YAML", problem
        ) from error
    except YAMLError as error:
        raise Malformed(0, 0, "valid YAML", str(error).splitlines()[0]) from error
    finally:
        events.close()


def _document(events: Iterator[Any]) -> Node | None:
    root: Node | None = None
    documents = 0
    for event in events:
        name = type(event).__name__
        mark = event.start_mark
        if name == "DocumentStartEvent":
            documents += 1
            if documents > 1:
                raise Malformed(mark.line, mark.column, "a single document", "another one after `---`")
            if event.tags:
                raise Malformed(mark.line, mark.column, "no directives", "a `%TAG` directive")
        elif name not in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
            root = _node(event, _counted(events), 0)
    return root if root is None or not root.is_empty else None


def _counted(events: Iterator[Any]) -> Iterator[Any]:
    for number, event in enumerate(events):
        if number >= MAX_NODES:
            mark = event.start_mark
            raise Malformed(mark.line, mark.column, f"at most {MAX_NODES} values", "one more")
        yield event


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    name = type(event).__name__
    mark = event.start_mark
    if name == "AliasEvent":
        raise Malformed(mark.line, mark.column, "a value written out", f"the alias `*{event.anchor}`")
    if event.anchor:
        raise Malformed(mark.line, mark.column, "a value without anchor", f"the anchor `&{event.anchor}`")
    if event.ctag is not None:
        raise Malformed(mark.line, mark.column, "a value without tag", f"the tag `{event.ctag}`")
    if name == "ScalarEvent":
        return Node("scalar", mark, event.end_mark.index, value=event.value, style=event.style or "")
    if depth >= MAX_DEPTH:
        raise Malformed(mark.line, mark.column, f"at most {MAX_DEPTH} levels", "a deeper one")
    node = Node(
        "list" if name == "SequenceStartEvent" else "map", mark, event.end_mark.index, flow=event.flow_style
    )
    parts: list[Node] = []
    for inner in events:
        if type(inner).__name__ in ("SequenceEndEvent", "MappingEndEvent"):
            if node.flow:
                node.end = inner.end_mark.index
            elif parts:
                # A block's own end mark lies past the comments and blank lines that follow it, and so does
                # that of a value left out.
                left_out = node.kind == "map" and parts[-1].is_empty and not parts[-1].value
                node.end = parts[-2 if left_out else -1].end
            break
        parts.append(_node(inner, events, depth + 1))
    if node.kind == "list":
        node.items = parts
    else:
        node.entries = list(zip(parts[::2], parts[1::2], strict=True))
    return node


def describe(node: Node) -> str:
    """What a node is, in words, for `found …`."""
    if node.kind != "scalar":
        return f"a {node.kind}"
    if node.is_empty:
        return "nothing"
    if not node.style:
        if node.value.lower() in ("true", "false"):
            return f"the truth value `{node.value}`"
        if _is_number(node.value):
            return f"the number `{show(node.value)}`"
    return f"`{show(node.value)}`" if node.value else "an empty text"


def is_text(node: Node) -> bool:
    """Whether YAML reads the node as text: not nothing, not a truth value, not a number."""
    return node.kind == "scalar" and not describe(node).startswith(("nothing", "the "))


def _is_number(value: str) -> bool:
    bare = value.lstrip("+-").lower()
    if bare.startswith(("0x", "0o", "0b")) or bare in (".inf", ".nan"):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return bare[:1].isdigit() or bare[:1] == "."


def show(text: str, most: int = 80) -> str:
    """The text on one line, its unprintable characters spelled out, cut to a length."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)
