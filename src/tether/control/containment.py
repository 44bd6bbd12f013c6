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

    State = tuple[int, ...]  # of one scope: for each glob, the set of states its automaton may be in
    Place = tuple[str, State, State]

LIMIT = 50_000  # character steps of one search: well under a second, and five times what real scopes need

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


class Effort:
    """How many more steps may be spent; many searches may share one."""

    __slots__ = ("left",)

    def __init__(self, steps: int = LIMIT) -> None:
        self.left = steps

    def spend(self) -> None:
        """Take one step, or stop the search."""
        if self.left <= 0:
            raise _SpentError
        self.left -= 1


class _SpentError(Exception):
    pass


def contains(parent: Sequence[str], child: Sequence[str], effort: Effort | None = None) -> Containment:
    """Whether every path the child's globs own is owned by the parent's."""
    outer, inner = _Machine(parent), _Machine(child)
    try:
        path = _search(
            inner,
            outer,
            wanted=lambda mine, theirs: inner.owns(mine) and not outer.owns(theirs),
            hopeful=lambda mine, theirs: inner.may_own(mine) and not outer.owns_rest(theirs),
            effort=effort or Effort(),
        )
    except _SpentError:
        return Containment(ok=False, undecided=True)
    if path is None:
        return Containment(ok=True)
    return Containment(ok=False, offending=compile_scope(child).why(path), witness=path)


def overlap(a: Sequence[str], b: Sequence[str], effort: Effort | None = None) -> str | None:
    """A path both scopes own, or None when it is proved that there is none; an error when neither is."""
    one, other = _Machine(a), _Machine(b)
    try:
        return _search(
            one,
            other,
            wanted=lambda mine, theirs: one.owns(mine) and other.owns(theirs),
            hopeful=lambda mine, theirs: one.may_own(mine) and other.may_own(theirs),
            effort=effort or Effort(),
        )
    except _SpentError:
        raise TetherError(
            "TOO_LARGE",
            f"cannot tell whether {_show(a)} and {_show(b)} overlap",
            action="Write the scopes with fewer wildcards",
        ) from None


def _show(globs: Sequence[str]) -> str:
    return ", ".join(f"`{glob}`" for glob in globs[:4]) + (" …" if len(globs) > 4 else "")


class _Automaton:
    """One glob as a nondeterministic automaton; a set of its states is an integer's bits."""

    def __init__(self, pattern: Pattern) -> None:
        self.negated = pattern.negated
        self.edges: list[list[tuple[Token, int]]] = [[(_ANY_CHAR, 0)]]
        self.skips: dict[int, int] = {}  # state → the one it may become without a character
        self._memo: dict[tuple[int, str], int] = {}
        self._moves: dict[str, list[int]] = {}
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
        moves = self._moves.get(char)
        if moves is None:
            moves = self._moves[char] = [self._after(edges, char) for edges in self.edges]
        after, rest = 0, states
        while rest:
            lowest = rest & -rest
            after |= moves[lowest.bit_length() - 1]
            rest ^= lowest
        after = _REST if after & _REST else after
        self._memo[key] = after
        return after

    def _after(self, edges: list[tuple[Token, int]], char: str) -> int:
        states = 0
        for token, to in edges:
            if _takes(token, char):
                states |= 1 << to
        return self._close(states)


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

    def step(self, state: State, char: str) -> State:
        after = [automaton.step(states, char) for automaton, states in zip(self.automata, state, strict=True)]
        # What stands before a pattern that matches from here on can never decide again.
        if _REST in after:
            last = len(after) - 1 - after[::-1].index(_REST)
            after[:last] = [0] * last
        return tuple(after)

    def owns(self, state: State) -> bool:
        for automaton, states in zip(reversed(self.automata), reversed(state), strict=True):
            if states & automaton.accepting:
                return not automaton.negated
        return False

    def owns_rest(self, state: State) -> bool:
        """Whether every path from here on is owned: what could take it away can no longer match."""
        for automaton, states in zip(reversed(self.automata), reversed(state), strict=True):
            if states and automaton.negated:
                return False
            if states == _REST:
                return True
        return False

    def may_own(self, state: State) -> bool:
        """Whether some path from here on may be owned."""
        return any(states and not a.negated for a, states in zip(self.automata, state, strict=True))


def _search(
    left: _Machine,
    right: _Machine,
    *,
    wanted: Callable[[State, State], bool],
    hopeful: Callable[[State, State], bool],
    effort: Effort,
) -> str | None:
    """The shortest path after which the two scopes stand as wanted, or None when no hope is left."""
    alphabet = _alphabet(left.tokens | right.tokens)
    start = ("", left.initial, right.initial)
    came: dict[Place, tuple[Place | None, str]] = {start: (None, "")}
    front = [start]
    while front:
        reached = []
        for place in front:
            shape, mine, theirs = place
            for char in alphabet:
                effort.spend()
                after_shape = _shape(shape, char)
                if after_shape is None:
                    continue
                after = (after_shape, left.step(mine, char), right.step(theirs, char))
                if after in came or not hopeful(after[1], after[2]):
                    continue
                came[after] = (place, char)
                if after_shape == "name" and wanted(after[1], after[2]):
                    return _spell(came, after)
                reached.append(after)
        front = reached
    return None


def _spell(came: dict[Place, tuple[Place | None, str]], place: Place | None) -> str:
    letters: list[str] = []
    while place is not None:
        place, char = came[place]
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
