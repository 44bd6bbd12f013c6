"""Whether one scope lies inside another, and where two meet: proved over every possible path, with a witness.

Each glob is an automaton over characters; scopes run side by side, breadth first, over an alphabet reduced to
the characters the globs can tell apart. A search that grows past its limit proves nothing, and says so.
"""

from __future__ import annotations

from tether.control.scope import Pattern, Token, compile_scope
from tether.errors import TetherError
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMIT = 100_000  # character steps of one search: about a second at worst

_REST = 1  # bit 0 of every automaton's state: a directory matched, so all below it does
_NICE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_SLASH = Token("char", "/")
_NAME_CHAR = Token("any")
_ANY_CHAR = Token("star")


@noun
class Containment:
    """`ok` only when proved. Otherwise a glob that reaches outside and a path it reaches, or `undecided`."""

    ok: bool
    offending: str = ""
    witness: str = ""
    undecided: bool = False


def contains(parent: Sequence[str], child: Sequence[str], limit: int = LIMIT) -> Containment:
    """Whether every path the child's globs own is owned by the parent's."""
    outer, inner = _Machine(parent), _Machine(child)
    try:
        path = _search(inner, outer, lambda mine, theirs: mine and not theirs, lambda mine, _: mine, limit)
    except _LimitError:
        return Containment(ok=False, undecided=True)
    if path is None:
        return Containment(ok=True)
    return Containment(ok=False, offending=compile_scope(child).why(path), witness=path)


def overlap(a: Sequence[str], b: Sequence[str], limit: int = LIMIT) -> str | None:
    """A path both scopes own, or None when it is proved that there is none; an error when neither is."""
    try:
        return _search(
            _Machine(a),
            _Machine(b),
            lambda mine, theirs: mine and theirs,
            lambda mine, theirs: mine and theirs,
            limit,
        )
    except _LimitError:
        raise TetherError(
            "TOO_LARGE",
            f"cannot tell whether {_show(a)} and {_show(b)} overlap",
            action="Write the scopes with fewer wildcards",
        ) from None


def _show(globs: Sequence[str]) -> str:
    return ", ".join(f"`{glob}`" for glob in globs[:4]) + (" …" if len(globs) > 4 else "")


class _LimitError(Exception):
    pass


class _Automaton:
    """One glob as a nondeterministic automaton; a set of its states is an integer's bits."""

    def __init__(self, pattern: Pattern) -> None:
        self.negated = pattern.negated
        self.edges: list[list[tuple[Token, int]]] = [[(_ANY_CHAR, 0)]]
        self.skips: dict[int, int] = {}  # state → the one it may become without a character
        self._memo: dict[tuple[int, str], int] = {}
        start = at = last = self._state()
        for number, chunk in enumerate(pattern.chunks):
            if number:
                inside = self._state()
                self.edges[at].append((_NAME_CHAR, inside))
                self.edges[inside] += [(_NAME_CHAR, inside), (_SLASH, at)]
            for name in chunk:
                for token in name.tokens:
                    following = self._state()
                    if token.kind == "star":
                        self.skips[at] = following
                        self.edges[following].append((_NAME_CHAR, following))
                    else:
                        self.edges[at].append((token, following))
                    at = following
                last = at
                at = self._state()
                self.edges[last].append((_SLASH, at))
        # The state after the final `/` is where everything below begins.
        self.edges[last] = [(token, 0 if to == at else to) for token, to in self.edges[last]]
        self.accepting = _REST if pattern.dir_only else _REST | 1 << last
        self.initial = self._close(1 << start)

    def _state(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def _close(self, states: int) -> int:
        for state, following in self.skips.items():
            if states >> state & 1:
                states |= 1 << following
        return states

    def step(self, states: int, char: str) -> int:
        """The states after one more character."""
        if states == _REST or not states:
            return states
        key = (states, char)
        known = self._memo.get(key)
        if known is not None:
            return known
        after, rest, state = 0, states, 0
        while rest:
            if rest & 1:
                for token, to in self.edges[state]:
                    if _takes(token, char):
                        after |= 1 << to
            rest >>= 1
            state += 1
        after = _REST if after & _REST else self._close(after)
        self._memo[key] = after
        return after


def _takes(token: Token, char: str) -> bool:
    if char == "/":
        return token is _SLASH or token is _ANY_CHAR
    return token.accepts(char)


class _Machine:
    """A whole scope: its automata side by side."""

    def __init__(self, globs: Sequence[str]) -> None:
        patterns = compile_scope(globs).patterns
        self.automata = [_Automaton(pattern) for pattern in patterns]
        self.initial = tuple(automaton.initial for automaton in self.automata)
        self.tokens = {
            token for p in patterns for chunk in p.chunks for name in chunk for token in name.tokens
        }

    def step(self, state: tuple[int, ...], char: str) -> tuple[int, ...]:
        after = [automaton.step(states, char) for automaton, states in zip(self.automata, state, strict=True)]
        # What stands before a pattern that matches from here on can never decide again.
        if _REST in after:
            last = len(after) - 1 - after[::-1].index(_REST)
            after[:last] = [0] * last
        return tuple(after)

    def owns(self, state: tuple[int, ...]) -> bool:
        for automaton, states in zip(reversed(self.automata), reversed(state), strict=True):
            if states & automaton.accepting:
                return not automaton.negated
        return False

    def may_own(self, state: tuple[int, ...]) -> bool:
        return any(states and not a.negated for a, states in zip(self.automata, state, strict=True))


def _search(
    left: _Machine,
    right: _Machine,
    wanted: Callable[[bool, bool], bool],
    hopeful: Callable[[bool, bool], bool],
    limit: int,
) -> str | None:
    """The shortest path on which the two scopes answer as wanted, or None when no path is left to try."""
    alphabet = _alphabet(left.tokens | right.tokens)
    start = ("", left.initial, right.initial)
    came: dict[tuple[str, tuple[int, ...], tuple[int, ...]], tuple[object, str]] = {start: (None, "")}
    front = [start]
    steps = 0
    while front:
        reached = []
        for node in front:
            shape, mine, theirs = node
            for char in alphabet:
                steps += 1
                if steps > limit:
                    raise _LimitError
                after_shape = _shape(shape, char)
                if after_shape is None:
                    continue
                after = (after_shape, left.step(mine, char), right.step(theirs, char))
                if after in came or not hopeful(left.may_own(after[1]), right.may_own(after[2])):
                    continue
                came[after] = (node, char)
                if after_shape == "name" and wanted(left.owns(after[1]), right.owns(after[2])):
                    return _spell(came, after)
                reached.append(after)
        front = reached
    return None


def _spell(came: dict[tuple[str, tuple[int, ...], tuple[int, ...]], tuple[object, str]], node: object) -> str:
    letters: list[str] = []
    while node is not None:
        node, char = came[node]  # type: ignore[index]
        letters.append(char)
    return "".join(reversed(letters))


def _shape(shape: str, char: str) -> str | None:
    """How far a path has come: at a name's start, after `.` or `..`, or in a name. None: no path goes so."""
    if char == "/":
        return "" if shape == "name" else None
    if char == "." and shape in ("", "."):
        return shape + "."
    return "name"


def _alphabet(tokens: set[Token]) -> list[str]:
    """One character for each set of characters that no token tells apart, legible ones first."""
    cuts = {1, ord("."), ord(".") + 1, ord("/"), ord("/") + 1, 0xD800, 0xE000}
    for token in tokens:
        if token.kind == "char":
            cuts |= {ord(token.char), ord(token.char) + 1}
        for low, high in token.ranges:
            cuts |= {low, high + 1}
    bounds = sorted(cut for cut in cuts if 0 < cut <= 0x10FFFF)
    tests = [token for token in tokens if token.kind in ("char", "class")]
    found: dict[tuple[bool, ...], str] = {}
    for char in (*_NICE, *map(chr, bounds)):
        told = (char == "/", char == ".", *(char != "/" and token.accepts(char) for token in tests))
        found.setdefault(told, char)
    return list(found.values())
