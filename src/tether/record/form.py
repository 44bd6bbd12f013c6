"""A file's behaviour-bearing form: a string that layout, comments, local names and free order leave alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# Deeper trees are not compared at all: what follows recurses.
MAX_DEPTH: Final = 200

DIRECTIVE: Final = re.compile(
    rb"^#!|^(?:\#|//|/\*)\s*(?:type:|noqa|pragma|pylint|mypy|pyright|ruff|fmt:|isort|yapf|flake8|-\*-|coding[:=]"
    rb"|@ts-|@jsx|@flow|@vite|@preserve|@license|eslint|tslint|prettier|biome|istanbul|c8\s|v8\s|jshint|global\s"
    rb"|globals\s|webpack|turbopack|\+build|nosec|nosonar|nolint|lint:|sourcery|deno-)|^//go:|^//#|^///\s*<"
    rb"|[@#]__(?:PURE|NO_SIDE_EFFECTS|INLINE|NOINLINE|KEY)__|webpackChunkName|webpackIgnore|@vite-ignore",
    re.IGNORECASE,
)


class Name:
    """What a local name is bound to. A fixed one is compared by its text, any other by its place."""

    __slots__ = ("fixed", "label", "text")

    def __init__(self, text: str, *, fixed: bool = False, label: str = "") -> None:
        self.text, self.fixed, self.label = text, fixed, label


MEMBER: Final = Name("", fixed=True)  # an attribute, key or keyword: a name that others look up by text


class Item:
    """One node of the tree, light enough to be walked several times."""

    __slots__ = ("field", "kids", "kind", "name", "named", "text")

    def __init__(self, kind: str, field: str, text: str, named: bool) -> None:
        self.kind, self.field, self.text, self.named = kind, field, text, named
        self.kids: list[Item] = []
        self.name: Name | None = None

    def get(self, field: str) -> Item | None:
        """The child under a field."""
        return next((kid for kid in self.kids if kid.field == field), None)

    def of(self, *kinds: str) -> list[Item]:
        """The children of these kinds."""
        return [kid for kid in self.kids if kid.kind in kinds]

    def has(self, token: str) -> bool:
        """Whether one of the children is this token."""
        return any(kid.kind == token for kid in self.kids)

    def below(self, skip: frozenset[str] = frozenset()) -> Iterator[Item]:
        """Every item from this one down, not entering those of `skip`."""
        stack = [self]
        while stack:
            item = stack.pop()
            yield item
            if item is self or item.kind not in skip:
                stack.extend(reversed(item.kids))


def build(tree: Tree, data: bytes, dialect: Dialect) -> Item | None:
    """The tree without its comments, directives excepted; None when it is too deep to compare."""
    cursor = tree.walk()
    root = Item("", "", "", True)
    path = [root]
    while True:
        node = cursor.node
        assert node is not None
        whole = data[node.start_byte : node.end_byte]
        if node.type in dialect.comments:
            if DIRECTIVE.search(whole):
                said = " ".join(whole.decode("utf-8", "replace").split())
                path[-1].kids.append(Item("directive", "", said, True))
            descend = False
        else:
            is_leaf = node.child_count == 0 or node.type in dialect.leaves
            raw = whole if is_leaf else _gaps(node, data, node.type in dialect.verbatim)
            item = Item(
                node.type, cursor.field_name or "", raw.decode("utf-8", "surrogateescape"), node.is_named
            )
            path[-1].kids.append(item)
            descend = not is_leaf and cursor.goto_first_child()
            if descend:
                path.append(item)
                if len(path) > MAX_DEPTH:
                    return None
        if descend:
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return root.kids[0]
            path.pop()


def _gaps(node: Node, data: bytes, verbatim: bool) -> bytes:
    """Text of a node that none of its children covers: part of a string, for instance."""
    gaps, at = [], node.start_byte
    for child in node.children:
        gaps.append(data[at : child.start_byte])
        at = child.end_byte
    gaps.append(data[at : node.end_byte])
    return b"\0".join(gaps) if verbatim or any(gap.strip() for gap in gaps) else b""


@dataclass(frozen=True)
class Dialect:
    """What a language adds to the plain form."""

    comments: frozenset[str]
    # gives every identifier its Name; says which texts of the two versions must keep their spelling
    resolve: Callable[[Item, frozenset[str]], None]
    kept: Callable[[Item], frozenset[str]]
    # top-level names no other file can see, in the order of their definitions
    private: Callable[[Item], list[str]]
    dynamic: Callable[[Item], str]  # why local names cannot be told apart here, or ""
    special: Mapping[str, Callable[[Form, Item], str | None]]
    units: frozenset[str]  # nodes that start a scope of local names
    lists: frozenset[str]  # nodes whose children may be put in another order
    # what a child's freedom to move is: a group to which it belongs and a key, or None when it must stay
    movable: Callable[[Item, Item], tuple[str, str] | None]
    leaves: frozenset[str] = frozenset()  # nodes taken as their whole text
    verbatim: frozenset[str] = frozenset()  # nodes in which every space counts
    exact: frozenset[str] = frozenset()  # nodes in which every token counts
    dropped: frozenset[str] = frozenset({"(", ")", "[", "]", "{", "}", ":"})
    identifiers: frozenset[str] = frozenset({"identifier"})
    unwrap: Callable[[Item], Item | None] = lambda _item: None


@dataclass
class Form:
    """One writing of one version."""

    dialect: Dialect
    renamed: Mapping[str, str] = field(default_factory=dict)
    keeps_docs: bool = False
    _numbers: dict[Name, int] = field(default_factory=dict)
    _depth: int = 0

    def write(self, item: Item) -> str:
        """The form of an item and all below it."""
        dialect = self.dialect
        while (inner := dialect.unwrap(item)) is not None:
            item = inner
        is_unit = item.kind in dialect.units
        if is_unit:
            # local names count from zero in every outermost scope, so that scopes may change places
            if self._depth == 0:
                self._numbers = {}
            self._depth += 1
        special = dialect.special.get(item.kind)
        said = special(self, item) if special is not None else None
        if said is None:
            said = self.group(item) if item.kids else self._leaf(item)
        self._depth -= is_unit
        return said

    def group(self, item: Item) -> str:
        """An item as its kind and its parts: plain brackets and last commas left out, free parts sorted."""
        own = f" {item.text!r}" if item.text else ""
        kept = [kid for at, kid in enumerate(item.kids) if not self._is_noise(item, at)]
        if item.kind in self.dialect.lists:
            return f"({item.kind}{own} {' '.join(self._sorted(item, kept))})"
        parts = []
        for kid in kept:  # written out here, and not by `labelled`, to spare the stack
            said = self.write(kid)
            parts.append(f"{kid.field}={said}" if kid.field else said)
        return f"({item.kind}{own} {' '.join(parts)})"

    def labelled(self, kid: Item) -> str:
        """A child's form with the field it fills."""
        return f"{kid.field}={self.write(kid)}" if kid.field else self.write(kid)

    def _sorted(self, item: Item, kids: list[Item]) -> list[str]:
        said: list[str] = []
        run: list[tuple[tuple[str, str], str]] = []
        group = ""
        for kid in kids:
            move = self.dialect.movable(item, kid)
            if move is None or move[0] != group:
                said.extend(self._settled(run))
                run = []
            group = move[0] if move is not None else ""
            if move is None:
                said.append(self.labelled(kid))
            else:
                run.append(((move[0], self.renamed.get(move[1], move[1])), self.labelled(kid)))
        said.extend(self._settled(run))
        return said

    @staticmethod
    def _settled(run: list[tuple[tuple[str, str], str]]) -> Iterable[str]:
        # INVARIANT: the sort is stable and by name alone where there is a name: overloads, and later
        # definitions that replace earlier ones, keep their order.
        return [
            text for _, text in sorted(run, key=lambda pair: pair[0] if pair[0][1] else (*pair[0], pair[1]))
        ]

    def _is_noise(self, item: Item, at: int) -> bool:
        kid = item.kids[at]
        if kid.named or item.kind in self.dialect.exact:
            return False
        if kid.kind in self.dialect.dropped:
            return True
        if kid.kind != ",":
            return False
        after = item.kids[at + 1].kind if at + 1 < len(item.kids) else ""
        before = item.kids[at - 1].kind if at else ""
        return after in (")", "]", "}", ">", "|") and before not in (",", "(", "[", "{", "<", "")

    def _leaf(self, item: Item) -> str:
        if not item.named:
            return " ".join(item.text.split())
        if item.kind in self.dialect.identifiers:
            return self.say(item)
        return f"{item.kind}:{item.text!r}"

    def say(self, item: Item) -> str:
        """A name: by its place when it is local, by its text when anyone else may look it up."""
        name = item.name
        if name is None:
            return f"id:{self.renamed.get(item.text, item.text)!r}"
        if name.fixed:
            return f"id:{item.text!r}"
        if name.label:
            return f"id:{name.label}"
        number = self._numbers.setdefault(name, len(self._numbers))
        return f"id:${number}"
