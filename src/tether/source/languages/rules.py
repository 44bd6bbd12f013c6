"""How a language's tree is read: the vocabulary in which every language table is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Found:
    """One definition as it stands in the tree, before it is given a place among the others."""

    kind: str
    name: str
    node: Node
    body: Node | None = None
    at: Node | None = None  # where the name stands
    owner: str = ""  # a parent the text names elsewhere: a receiver type, a class before `::`
    level: int = 0  # of a heading
    holds: bool = True  # what stands within belongs to it
    end: int = 0  # where it ends, if not where its node ends
    to_end: bool = False  # the body runs from where it starts to the end of the definition


@dataclass(frozen=True, slots=True)
class Taken:
    """One import as it stands in the tree. `bound` are the names the file then uses, beside `names`."""

    module: str
    names: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()


class Parent(NamedTuple):
    """What encloses a definition: its kind, the words before its name, and whether it is exported."""

    kind: str
    head: str
    exported: bool


Reader = Callable[["Node", bytes], Iterable[Found]]
Importer = Callable[["Node", bytes], Iterable[Taken]]
Exported = Callable[[str, str, "Parent | None"], bool]  # name, the words before it, what encloses it


def _always(_name: str, _head: str, _parent: Parent | None) -> bool:
    return True


@dataclass(frozen=True)
class Rules:
    """Everything the outline needs to know of one language."""

    definitions: Mapping[str, Reader]
    comments: frozenset[str] = frozenset({"comment"})
    # nodes that stand before a definition as siblings and belong to its signature
    attributes: frozenset[str] = frozenset()
    # nodes that hold one definition and belong to it: `export …`, `@decorated`, `template <…>`
    wrappers: frozenset[str] = frozenset()
    # nodes within which nothing is defined or imported: the walk passes them by
    opaque: frozenset[str] = frozenset()
    imports: Mapping[str, Importer] = field(default_factory=dict)
    exported: Exported = _always
    docstring: Callable[[Node, bytes], Node | None] | None = None
    doc_attribute: bytes = b""  # how an attribute that is the documentation begins
    constructors: bool = False  # a method named as its class makes it
    equations: bool = False  # neighbours of one name are one definition
    nesting: int = 0  # definitions nested deeper than this are data, not names
    markers: tuple[bytes, ...] = (b"//", b"/*")  # how a comment begins
    # names exported by a list somewhere in the file; None means there is no list
    exports: Callable[[Node, bytes], frozenset[str] | None] | None = None
    exports_all: bool = True  # that list names everything exported
    # call node → the field that holds what is called
    calls: Mapping[str, str] = field(default_factory=dict)
    uncalled: frozenset[str] = frozenset()  # what has the form of a call and is none
    names: frozenset[str] = frozenset({"identifier"})
    types: frozenset[str] = frozenset()  # leaves that name a type
    type_roots: frozenset[str] = frozenset()  # nodes whose every name is a type
    type_fields: frozenset[str] = frozenset()  # fields whose every name is a type
    # top-level statements that are worth a place of their own (everything else is an expression)
    expressions: frozenset[str] = frozenset({"expression_statement"})


def walk(node: Node, into: frozenset[str] | None = None) -> Iterator[tuple[int, Node]]:
    """Every node from `node` down with its depth, parents first; below only these kinds, if given."""
    # INVARIANT: no recursion. 100,000 nested brackets are a valid file.
    cursor = node.walk()
    depth = 0
    while True:
        here = cursor.node
        if here is not None:
            yield depth, here
        if (into is None or (here is not None and here.type in into)) and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if depth == 0 or not cursor.goto_parent():
                return
            depth -= 1


def text(node: Node, data: bytes) -> str:
    """The node's source text."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def get(node: Node, path: str) -> Node | None:
    """The node reached by a path of fields; `#kind` is the first named child of a kind, `0` the first."""
    here: Node | None = node
    for step in path.split("/"):
        if here is None:
            return None
        if step == "0":
            here = first_of(here)
        else:
            here = child_of(here, step[1:]) if step[0] == "#" else here.child_by_field_name(step)
    return here


def child_of(node: Node, *kinds: str) -> Node | None:
    """The first named child of one of these kinds."""
    for child in node.named_children:
        if child.type in kinds:
            return child
    return None


def first_of(node: Node) -> Node | None:
    """The first named child."""
    return node.named_child(0) if node.named_child_count else None


def leaf_of(node: Node, *fields: str) -> Node:
    """Follow the first of these fields that exists, again and again, down to where none does."""
    here = node
    while True:
        for name in fields:
            below = here.child_by_field_name(name)
            if below is not None:
                here = below
                break
        else:
            return here


def unquote(quoted: str) -> str:
    """A string literal's content, if it is quoted."""
    return quoted[1:-1] if len(quoted) > 1 and quoted[0] in "\"'`<" else quoted


def define(kind: str, name: str = "name", body: str = "body") -> Reader:
    """Read the usual shape: a name under one path, a body under another."""

    def read(node: Node, data: bytes) -> Iterable[Found]:
        at = get(node, name)
        if at is None:
            return ()
        return (Found(kind, text(at, data), node, get(node, body) if body else None, at),)

    return read


def define_each(kind: str, child: str, name: str = "name") -> Reader:
    """Read one statement that defines several names, each in a child of its own."""

    def read(node: Node, data: bytes) -> Iterable[Found]:
        found = []
        for part in node.named_children:
            at = get(part, name) if part.type == child else None
            if at is not None:
                found.append(Found(kind, text(at, data), part, None, at))
        return found

    return read


def words_before(*words: str) -> Exported:
    """Exported when one of these words stands before the name, or the parent is an interface."""
    wanted = frozenset(words)

    def test(_name: str, head: str, parent: Parent | None) -> bool:
        if parent is not None and parent.kind in ("interface", "trait", "enum"):
            return parent.exported
        words = head.split()
        return not wanted.isdisjoint(words) or "namespace" in words

    return test


def no_words_before(*words: str) -> Exported:
    """Exported unless one of these words stands before the name."""
    unwanted = frozenset(words)

    def test(_name: str, head: str, _parent: Parent | None) -> bool:
        return unwanted.isdisjoint(head.replace("(", " ( ").split())

    return test
