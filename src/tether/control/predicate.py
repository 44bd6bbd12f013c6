"""A small language for conditions over a plan, without eval: parsed once, then evaluated over plain data. Pure.

    expr       := or [ "implies" expr ]
    or         := and { "or" and }          and := not { "and" not }          not := [ "not" ] atom
    atom       := "(" expr ")" | quantified | operand [ op operand ]
    quantified := ("every" | "some" | "no") KIND "(" expr ")"
                | "count" KIND "(" expr ")" compare NUMBER
    KIND       := node | change | validate | escalate | side_effect
    op         := = | != | < | <= | > | >= | in | contains | matches | mentions
    operand    := "text" | 'text' | NUMBER | true | false | [ operand, … ] | field.field…

A field is looked up in the node at hand, then in the plan; `plan.x` and `signature.x` say which. A field of a
list of objects is the list of their fields. A field that is not there compares false with everything.
`matches` takes a path and a glob or list of globs as intents have them; `mentions` looks for whole words in a
text or in any text of a list, whatever their case; `contains` for an element of a list or a part of a text.
`after` is the list of kinds of everything a node comes after. Quantifiers do not nest.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tether.control.scope import compile_scope
from tether.errors import TetherError
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Test = Callable[["World"], Any]

MAX_TEXT = 4_096
MAX_TOKENS = 512
MAX_DEPTH = 32
KINDS = ("node", "change", "validate", "escalate", "side_effect")
OPS = ("=", "!=", "<", "<=", ">", ">=", "in", "contains", "matches", "mentions")
WORDS = frozenset(("and or not implies every some no count in contains matches mentions true false").split())
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d+(?:\.\d+)?)|(?P<text>"[^"]*"|'[^']*')|(?P<op><=|>=|!=|=|<|>)|(?P<mark>[()\[\],])"""
    r"""|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*))"""
)


class _Absent:
    """A field that is not there."""

    def __bool__(self) -> bool:
        return False


ABSENT = _Absent()


@noun
class World:
    """What a condition is about: the plan's document, its nodes, the signature, and the node at hand."""

    plan: dict[str, Any]
    nodes: tuple[dict[str, Any], ...] = ()
    signature: dict[str, Any] = {}  # noqa: RUF012
    node: dict[str, Any] | None = None


@lru_cache(maxsize=512)
def compile_predicate(text: str) -> Callable[[World], bool]:
    """A condition ready to be asked; BAD_ARGUMENTS says what is wrong with its text and where."""
    parser = _Parser(text)
    test = parser.parse()
    return lambda world: bool(test(world))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.quantified = False
        if len(text) > MAX_TEXT:
            self._fail(f"is longer than {MAX_TEXT} characters")
        self.tokens = self._read()

    def _read(self) -> list[tuple[str, str, int]]:
        tokens: list[tuple[str, str, int]] = []
        place = 0
        end = len(self.text.rstrip())
        while place < end:
            match = _TOKEN.match(self.text, place)
            if match is None:
                self._fail(f"has something unknown at `{self.text[place : place + 20].strip()}`")
            tokens.append((match.lastgroup or "", match[match.lastgroup or 0], match.start()))
            place = match.end()
            if len(tokens) > MAX_TOKENS:
                self._fail(f"has over {MAX_TOKENS} words")
        return tokens

    def parse(self) -> Test:
        if not self.tokens:
            self._fail("is empty")
        test = self._implies(0)
        if self.at < len(self.tokens):
            self._fail(f"goes on with `{self.tokens[self.at][1][:20]}` where it should end")
        return test

    def _peek(self) -> str:
        kind, text, _ = self.tokens[self.at] if self.at < len(self.tokens) else ("", "", 0)
        return "" if kind == "text" else text

    def _take(self, wanted: str) -> bool:
        if self._peek() == wanted:
            self.at += 1
            return True
        return False

    def _need(self, wanted: str) -> None:
        if not self._take(wanted):
            found = self.tokens[self.at][1][:20] if self.at < len(self.tokens) else "its end"
            self._fail(f"needs `{wanted}` before `{found}`")

    def _fail(self, why: str) -> NoReturn:
        raise TetherError(
            "BAD_ARGUMENTS",
            f"the condition `{self.text[:80]}` {why}",
            action="Write it as the documentation of plans describes conditions",
        )

    def _implies(self, depth: int) -> Test:
        if depth > MAX_DEPTH:
            self._fail("is nested too deeply")
        left = self._or(depth)
        if not self._take("implies"):
            return left
        right = self._implies(depth + 1)
        return lambda world: not left(world) or bool(right(world))

    def _or(self, depth: int) -> Test:
        parts = [self._and(depth)]
        while self._take("or"):
            parts.append(self._and(depth))
        return parts[0] if len(parts) == 1 else lambda world: any(part(world) for part in parts)

    def _and(self, depth: int) -> Test:
        parts = [self._not(depth)]
        while self._take("and"):
            parts.append(self._not(depth))
        return parts[0] if len(parts) == 1 else lambda world: all(part(world) for part in parts)

    def _not(self, depth: int) -> Test:
        if depth > MAX_DEPTH:
            self._fail("is nested too deeply")
        if self._take("not"):
            inner = self._not(depth + 1)
            return lambda world: not inner(world)
        return self._atom(depth)

    def _atom(self, depth: int) -> Test:
        if self._take("("):
            inner = self._implies(depth + 1)
            self._need(")")
            return inner
        if self._peek() in ("every", "some", "no", "count"):
            return self._quantified(depth)
        left = self._operand(depth)
        op = self._peek()
        if op not in OPS:
            return left
        self.at += 1
        right = self._operand(depth)
        compare = _COMPARE[op]
        return lambda world: compare(left(world), right(world))

    def _quantified(self, depth: int) -> Test:
        word = self.tokens[self.at][1]
        self.at += 1
        kind = self._peek()
        if kind not in KINDS:
            self._fail(f"needs a kind of node after `{word}`: {', '.join(KINDS)}")
        self.at += 1
        if self.quantified:  # a plan may have thousands of nodes
            self._fail("has a quantifier inside another")
        self.quantified = True
        self._need("(")
        inner = self._implies(depth + 1)
        self._need(")")
        self.quantified = False

        def holding(world: World) -> int:
            return sum(bool(inner(_at(world, node))) for node in _of_kind(world, kind))

        if word == "count":
            op = self._peek()
            if op not in OPS[:6]:
                self._fail("needs a comparison after `count`")
            self.at += 1
            right = self._operand(depth)
            compare = _COMPARE[op]
            return lambda world: compare(holding(world), right(world))
        if word == "every":
            return lambda world: all(inner(_at(world, node)) for node in _of_kind(world, kind))
        wanted = word == "some"
        return lambda world: any(inner(_at(world, node)) for node in _of_kind(world, kind)) is wanted

    def _operand(self, depth: int) -> Test:
        if self.at >= len(self.tokens):
            self._fail("ends too early")
        kind, text, _ = self.tokens[self.at]
        if kind == "mark" and text == "[":
            return self._list(depth)
        self.at += 1
        if kind == "text":
            return _constant(text[1:-1])
        if kind == "number":
            return _constant(float(text) if "." in text else int(text))
        if kind == "name" and text in ("true", "false"):
            return _constant(text == "true")
        if kind != "name" or text in WORDS:
            self._fail(f"has `{text[:20]}` where a value should be")
        steps = text.split(".")
        return lambda world: _look_up(world, steps)

    def _list(self, depth: int) -> Test:
        self.at += 1
        items: list[Test] = []
        if depth > MAX_DEPTH:
            self._fail("is nested too deeply")
        while not self._take("]"):
            if items:
                self._need(",")
            items.append(self._operand(depth + 1))
        return lambda world: [item(world) for item in items]


def _constant(value: Any) -> Test:
    return lambda world: value


def _at(world: World, node: dict[str, Any]) -> World:
    return World(world.plan, world.nodes, world.signature, node)


def _of_kind(world: World, kind: str) -> list[dict[str, Any]]:
    return [node for node in world.nodes if kind == "node" or node.get("kind") == kind]


def _look_up(world: World, steps: list[str]) -> Any:
    first = steps[0]
    if first == "plan":
        return _walk(world.plan, steps[1:])
    if first == "signature":
        return _walk(world.signature, steps[1:])
    if world.node is not None and first in world.node:
        return _walk(world.node, steps)
    return _walk(world.plan, steps)


def _walk(value: Any, steps: list[str]) -> Any:
    for n, step in enumerate(steps):
        if isinstance(value, list):
            found = [_walk(item, steps[n:]) for item in value]
            return [item for item in found if item is not ABSENT]
        if not isinstance(value, dict) or step not in value:
            return ABSENT
        value = value[step]
    return value


# ── comparisons: what cannot be compared is not so ───────────────────────────


def _equal(left: Any, right: Any) -> bool:
    if left is ABSENT or right is ABSENT or isinstance(left, bool) is not isinstance(right, bool):
        return False
    return bool(left == right)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (left, right))
        texts = isinstance(left, str) and isinstance(right, str)
        return (numbers or texts) and test(left, right)

    return compare


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, list):
        return any(_equal(item, right) for item in left)
    return isinstance(left, str) and isinstance(right, str) and right in left


def _matches(left: Any, right: Any) -> bool:
    globs = [right] if isinstance(right, str) else right
    if not isinstance(globs, list) or not globs or not all(isinstance(glob, str) for glob in globs):
        return False
    scope = compile_scope(tuple(globs))
    paths = left if isinstance(left, list) else [left]
    return any(isinstance(path, str) and path != "" and scope.owns(path) for path in paths)


def _mentions(left: Any, right: Any) -> bool:
    if not isinstance(right, str) or not right.strip():
        return False
    texts = left if isinstance(left, list) else [left]
    word = re.compile(rf"(?<!\w){re.escape(right)}(?!\w)", re.IGNORECASE)
    return any(isinstance(text, str) and word.search(text) is not None for text in texts)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": _equal,
    "!=": lambda left, right: left is not ABSENT and right is not ABSENT and not _equal(left, right),
    "<": _ordered(lambda a, b: a < b),
    "<=": _ordered(lambda a, b: a <= b),
    ">": _ordered(lambda a, b: a > b),
    ">=": _ordered(lambda a, b: a >= b),
    "in": lambda left, right: _contains(right, left),
    "contains": _contains,
    "matches": _matches,
    "mentions": _mentions,
}
