"""Which paths a list of gitignore-style globs owns. HOOK PATH.

One pattern matches as git's own ignore patterns do: `*`, `?` and `[a-z]` stay inside a name, `**` as a whole
name spans directories, a leading or inner `/` anchors at the project's root, a trailing `/` means a
directory, and a pattern that matches a directory matches everything below it.

A list is read as ownership: **the last pattern that matches the path, or any directory above it, decides**;
`!` takes away. So `src/`, `!src/secret/` leaves `src/secret/key` unowned (git, which never looks below an
ignored directory, would keep it), and a later `src/secret/README` gives that one file back. Whatever such a
list owns git would ignore too; without negation the two are the same. Characters are code points, not bytes.
"""

from __future__ import annotations

from functools import lru_cache

from tether.errors import TetherError
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

MAX_PATTERN = 512
MAX_PATTERNS = 256

_NOT_NAMES = frozenset(("", ".", ".."))

# The character classes of POSIX, over ASCII as git has them.
_NAMED: dict[str, tuple[tuple[int, int], ...]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}


@noun
class Token:
    """One step of a name's pattern: a character, any character, a class, or a star."""

    kind: str  # char | any | class | star
    char: str = ""
    ranges: tuple[tuple[int, int], ...] = ()
    negated: bool = False

    def accepts(self, char: str) -> bool:
        """Whether this step can consume the character, which is never `/`."""
        if self.kind == "char":
            return char == self.char
        if self.kind == "class":
            code = ord(char)
            return any(low <= code <= high for low, high in self.ranges) is not self.negated
        return True


class Name:
    """The pattern of one path component, matched in time linear in the name's length."""

    __slots__ = ("_any", "_chars", "_classes", "_literal", "_prefix", "_stars", "_suffix", "tokens")

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = tokens
        kinds = [token.kind for token in tokens]
        text = [token.char for token in tokens]
        self._literal: str | None = None
        self._prefix: str | None = None
        self._suffix = ""
        if kinds.count("char") == len(kinds):
            self._literal = "".join(text)
        elif kinds.count("char") == len(kinds) - 1 and "star" in kinds:
            star = kinds.index("star")
            self._prefix, self._suffix = "".join(text[:star]), "".join(text[star + 1 :])
        # Bit i of a mask stands for "about to match token i", so one step moves every possibility at once.
        self._stars = self._any = 0
        self._chars: dict[str, int] = {}
        self._classes: list[tuple[int, Token]] = []
        for at, token in enumerate(tokens):
            if token.kind == "star":
                self._stars |= 1 << at
            elif token.kind == "any":
                self._any |= 1 << at
            elif token.kind == "char":
                self._chars[token.char] = self._chars.get(token.char, 0) | 1 << at
            else:
                self._classes.append((1 << at, token))

    def matches(self, name: str) -> bool:
        """Whether the whole name fits."""
        if self._literal is not None:
            return name == self._literal
        if self._prefix is not None:
            return (
                len(name) >= len(self._prefix) + len(self._suffix)
                and name.startswith(self._prefix)
                and name.endswith(self._suffix)
            )
        stars = self._stars
        known: dict[str, int] = {}
        states = 1 | (1 & stars) << 1
        for char in name:
            step = known.get(char)
            if step is None:
                step = known[char] = self._takers(char)
            states = (states & step) << 1 | states & stars
            # INVARIANT: no two stars are adjacent, so one shift passes over all that match nothing.
            states |= (states & stars) << 1
            if not states:
                return False
        return bool(states >> len(self.tokens) & 1)

    def _takers(self, char: str) -> int:
        """The tokens, as bits, that can consume the character."""
        takers = self._chars.get(char, 0) | self._any
        for bit, token in self._classes:
            if token.accepts(char):
                takers |= bit
        return takers


class Pattern:
    """One glob of a scope. `chunks` are the runs of names between `**`; the first is anchored at the root."""

    __slots__ = ("chunks", "dir_only", "negated", "text")

    def __init__(
        self, text: str, negated: bool, dir_only: bool, chunks: tuple[tuple[Name, ...], ...]
    ) -> None:
        self.text = text
        self.negated = negated
        self.dir_only = dir_only
        self.chunks = chunks

    def matches(self, names: Sequence[str], is_dir: bool = False) -> bool:
        """Whether the path made of these names, or a directory above it, fits."""
        end = len(names) if is_dir or not self.dir_only else len(names) - 1
        first = self.chunks[0]
        if len(first) > end:
            return False
        for at, pattern in enumerate(first):
            if not pattern.matches(names[at]):
                return False
        at = len(first)
        # Taking each run at its first place leaves the most for the next, so nothing is ever tried twice.
        for chunk in self.chunks[1:]:
            lead = chunk[0].matches
            for start in range(at, end - len(chunk) + 1):
                if not lead(names[start]):
                    continue
                if len(chunk) == 1 or all(
                    pattern.matches(names[start + i]) for i, pattern in enumerate(chunk)
                ):
                    at = start + len(chunk)
                    break
            else:
                return False
        return True


class Scope:
    """A compiled list of globs."""

    __slots__ = ("_last_first", "globs", "patterns")

    def __init__(self, globs: tuple[str, ...], patterns: tuple[Pattern, ...]) -> None:
        self.globs = globs
        self.patterns = patterns
        self._last_first = patterns[::-1]

    def deciding(self, path: str) -> Pattern | None:
        """The last pattern that matches the path or a directory above it."""
        is_dir = path.endswith("/")
        names = (path[:-1] if is_dir else path).split("/")
        # INVARIANT: what is not a plain path below the root has no owner, whatever the globs say.
        if not _NOT_NAMES.isdisjoint(names) or "\0" in path:
            return None
        for pattern in self._last_first:
            if pattern.matches(names, is_dir):
                return pattern
        return None

    def owns(self, path: str) -> bool:
        """Whether the root-relative path belongs to this scope; a trailing `/` says it is a directory."""
        pattern = self.deciding(path)
        return pattern is not None and not pattern.negated

    def why(self, path: str) -> str:
        """The glob that decided, as written; empty when none matches."""
        pattern = self.deciding(path)
        return pattern.text if pattern is not None else ""


def compile_scope(globs: Sequence[str]) -> Scope:
    """The scope of a list of globs; an invalid glob is an error, never skipped."""
    if isinstance(globs, str):
        raise TetherError("BAD_ARGUMENTS", f"scope `{globs:.80}` is one text; give a list of globs")
    for glob in globs:
        if not isinstance(glob, str):
            raise TetherError("BAD_ARGUMENTS", f"scope glob `{glob!r:.80}` is not text; quote it")
    return _compile(tuple(globs))


@lru_cache(maxsize=512)
def _compile(globs: tuple[str, ...]) -> Scope:
    if len(globs) > MAX_PATTERNS:
        raise TetherError("BAD_ARGUMENTS", f"a scope of {len(globs)} globs; the most is {MAX_PATTERNS}")
    return Scope(globs, tuple(parse_pattern(glob) for glob in globs))


def parse_pattern(glob: str) -> Pattern:
    """One glob, checked; TetherError says what is wrong with it and how to write it instead."""
    if len(glob) > MAX_PATTERN:
        _refuse(glob[:80] + "…", f"is longer than {MAX_PATTERN} characters; split it")
    for char, what in (("\0", "a NUL"), ("\n", "a line break"), ("\r", "a line break")):
        if char in glob:
            _refuse(glob, f"holds {what}; no path does")
    body = _trim(glob)
    if body.startswith("#"):
        _refuse(glob, "starts with `#`, a comment in ignore files; write `\\#` for a name that starts so")
    negated = body.startswith("!")
    if negated:
        body = body[1:]
    dir_only = body.endswith("/")
    if dir_only:
        body = body[:-1]
    if not body.strip("/"):
        _refuse(glob, "names nothing; write `**` for everything")
    if body == "~" or body.startswith("~/") or (body[1:3] in (":/", ":\\") and body[0].isalpha()):
        _refuse(glob, "leads outside the project; scopes are relative to the project's root")
    floating = "/" not in body
    texts = _split(glob, body[1:] if body.startswith("/") else body)
    names = [None if _is_globstar(text) else Name(_tokens(glob, text)) for text in texts]
    if floating and names != [None]:
        names.insert(0, None)
    if names[-1] is None:
        # Owning reaches below, so "anything under here" and "any name here" are one.
        names.append(Name((Token("star"),)))
    chunks: list[list[Name]] = [[]]
    for at, name in enumerate(names):
        if name is not None:
            chunks[-1].append(name)
        elif at == 0 or names[at - 1] is not None:
            chunks.append([])
    return Pattern(glob, negated, dir_only, tuple(tuple(chunk) for chunk in chunks))


def _refuse(glob: str, why: str) -> NoReturn:
    raise TetherError("BAD_ARGUMENTS", f"scope glob `{glob}` {why}")


def _trim(glob: str) -> str:
    """The glob without trailing spaces, except one that a backslash keeps."""
    bare = glob.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if escapes % 2 and len(bare) < len(glob) else bare


def _is_globstar(text: str) -> bool:
    return len(text) > 1 and not text.strip("*")


def _split(glob: str, body: str) -> list[str]:
    texts = body.split("/")
    for text in texts:
        if not text:
            _refuse(glob, "holds an empty name; write a single `/` between names")
        if text in (".", ".."):
            _refuse(glob, f"holds `{text}`; scopes are plain paths from the project's root")
    return texts


def _tokens(glob: str, text: str) -> tuple[Token, ...]:
    """The steps of one name; runs of stars count as one."""
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "*":
            if not tokens or tokens[-1].kind != "star":
                tokens.append(Token("star"))
        elif char == "?":
            tokens.append(Token("any"))
        elif char == "[":
            token, at = _class(glob, text, at)
            tokens.append(token)
        elif char == "\\":
            if at == len(text):
                _refuse(glob, "has a backslash that escapes nothing; write `\\\\` for a backslash")
            tokens.append(Token("char", text[at]))
            at += 1
        else:
            tokens.append(Token("char", char))
    return tuple(tokens)


def _class(glob: str, text: str, at: int) -> tuple[Token, int]:
    """The bracket expression whose inside starts at `at`, and where it ends."""
    negated = text[at : at + 1] in ("!", "^")
    if negated:
        at += 1
    ranges: list[tuple[int, int]] = []
    first, before = True, -1  # `before`: the last single character, which a `-` may turn into a range
    while first or text[at : at + 1] != "]":
        first = False
        if at >= len(text):
            _refuse(glob, "has a `[` that is not closed in its name; write `\\[` for a bracket")
        char = text[at]
        if char == "[" and text[at + 1 : at + 2] == ":":
            end = text.find("]", at + 2)
            if end > 0 and text[end - 1] == ":" and end - 1 > at + 1:
                name = text[at + 2 : end - 1]
                if name not in _NAMED:
                    _refuse(glob, f"names the unknown class `[:{name}:]`; known are {', '.join(_NAMED)}")
                ranges.extend(_NAMED[name])
                at, before = end + 1, -1
                continue
        if char == "-" and before >= 0 and text[at + 1 : at + 2] not in ("", "]"):
            high, at = _literal(glob, text, at + 1)
            ranges.append((before, high))
            before = -1
            continue
        before, at = _literal(glob, text, at)
        ranges.append((before, before))
    return Token("class", "", tuple(ranges), negated), at + 1


def _literal(glob: str, text: str, at: int) -> tuple[int, int]:
    """The possibly escaped character at `at` of a class, and where the next one starts."""
    if text[at] == "\\":
        at += 1
        if at >= len(text):
            _refuse(glob, "has a `[` that is not closed in its name; write `\\[` for a bracket")
    return ord(text[at]), at + 1
