"""Ignore rules as git reads them, matched in linear time however hostile the patterns are."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PATTERN = 4096  # git itself takes longer ones; no honest ignore file has them

_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class Rules:
    """The rules of one ignore file, in their order."""

    __slots__ = ("_gate", "_names", "_ordered", "_suffixes")

    def __init__(self, lines: Iterable[str]) -> None:
        # INVARIANT: a later rule beats an earlier one, so every bucket keeps the position of its rules.
        self._names: dict[str, list[tuple[int, bool, bool]]] = {}
        self._suffixes: dict[str, list[tuple[int, bool, bool]]] = {}
        self._ordered: list[tuple[int, bool, bool, re.Pattern[str]]] = []
        for position, line in enumerate(lines):
            parsed = _parse(line)
            if parsed is None:
                continue
            pattern, keep, only_dirs, anchored = parsed
            verdict = (position, not keep, only_dirs)
            if not anchored and not _is_glob(pattern):
                self._names.setdefault(pattern, []).append(verdict)
            elif not anchored and pattern.startswith("*.") and not _is_glob(pattern[1:]):
                self._suffixes.setdefault(pattern[1:], []).append(verdict)
            else:
                source = _translate(pattern if anchored else "**/" + pattern)
                if source is not None:
                    self._ordered.append((*verdict, re.compile(source, re.DOTALL)))
        # Most paths match nothing: one alternation says so before any rule is tried on its own.
        self._gate = (
            re.compile("|".join(f"(?:{rule[3].pattern})" for rule in self._ordered), re.DOTALL)
            if self._ordered
            else None
        )

    def __bool__(self) -> bool:
        return bool(self._names or self._suffixes or self._ordered)

    def decide(self, path: str, name: str, is_dir: bool) -> bool | None:
        """What the last rule that matches `path`, relative to the rules' own directory, says of it.

        True: ignored. False: kept by a `!` rule. None: no rule speaks of it.
        """
        best, answer = -1, None
        for position, ignored, only_dirs in self._names.get(name, ()):
            if position > best and (is_dir or not only_dirs):
                best, answer = position, ignored
        if self._suffixes:
            dot = name.find(".")
            while dot != -1:
                for position, ignored, only_dirs in self._suffixes.get(name[dot:], ()):
                    if position > best and (is_dir or not only_dirs):
                        best, answer = position, ignored
                dot = name.find(".", dot + 1)
        if self._gate is not None and self._gate.match(path):
            for position, ignored, only_dirs, pattern in reversed(self._ordered):
                if position < best:
                    break
                if (is_dir or not only_dirs) and pattern.match(path):
                    answer = ignored
                    break
        return answer


def read_rules(data: bytes) -> Rules:
    """The rules of an ignore file's bytes, whatever they are."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return Rules(line.removesuffix("\r") for line in text.split("\n"))


def _is_glob(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[\\")


def _parse(line: str) -> tuple[str, bool, bool, bool] | None:
    """(pattern, keep, only_dirs, anchored) of one line, or None when it states no rule."""
    if not line or line[0] == "#" or len(line) > MAX_PATTERN:
        return None
    keep = line[0] == "!"
    if keep:
        line = line[1:]
    while line.endswith(" ") and not _escaped(line):
        line = line[:-1]
    only_dirs = line.endswith("/")
    if only_dirs:
        line = line[:-1]
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line:
        return None
    while line.startswith("**/") and "/" not in line[3:] and line[3:]:
        line, anchored = line[3:], False
    return line, keep, only_dirs, anchored


def _escaped(line: str) -> bool:
    """Whether the last character of `line` is preceded by an odd run of backslashes."""
    body = line[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


def _translate(pattern: str) -> str | None:
    """A regular expression for a whole path, or None for a pattern that can match nothing.

    INVARIANT: no backtracking beyond one star. A run between two stars is taken at its first place, which
    is never wrong for a glob, and an atomic group forbids trying another.
    """
    segments = pattern.split("/")
    pieces: list[str] = []
    held = ""  # segments since the last `**`
    open_stars = False
    last = len(segments) - 1
    for index, segment in enumerate(segments):
        if len(segment) > 1 and not segment.strip("*"):
            if index == last:
                # `a/**` is what lies inside `a`, not `a` itself.
                return "".join(pieces) + _group(held, open_stars) + r"[^/].*\Z"
            if open_stars and not held:
                continue
            pieces.append(_group(held, open_stars))
            held, open_stars = "", True
            continue
        translated = _segment(segment)
        if translated is None:
            return None
        held += translated + ("/" if index != last else "")
    if open_stars:
        # The last group must end the path, so it alone may be tried at every directory.
        return "".join(pieces) + r"(?:[^/]*+/)*?" + held + r"\Z"
    return "".join(pieces) + held + r"\Z"


def _group(held: str, open_stars: bool) -> str:
    if not held:
        return ""
    return rf"(?>(?:[^/]*+/)*?{held})" if open_stars else held


def _segment(segment: str) -> str | None:
    """One path component; fixed-length runs joined by stars."""
    runs: list[str] = [""]
    index, end = 0, len(segment)
    while index < end:
        char = segment[index]
        if char == "*":
            while index < end and segment[index] == "*":
                index += 1
            runs.append("")
            continue
        if char == "?":
            runs[-1] += "[^/]"
            index += 1
        elif char == "[":
            found = _bracket(segment, index)
            if found is None:
                return None
            text, index = found
            runs[-1] += text
        elif char == "\\":
            if index + 1 >= end:
                return None
            runs[-1] += re.escape(segment[index + 1])
            index += 2
        else:
            runs[-1] += re.escape(char)
            index += 1
    if len(runs) == 1:
        return runs[0]
    middle = "".join(f"(?>[^/]*?{run})" for run in runs[1:-1] if run)
    return runs[0] + middle + ("[^/]*" + runs[-1] if runs[-1] else "[^/]*+")


def _bracket(text: str, start: int) -> tuple[str, int] | None:
    """A bracket expression at `start` as (regex, index after it), or None when it is never closed."""
    index, end = start + 1, len(text)
    negated = index < end and text[index] in "!^"
    if negated:
        index += 1
    items: list[str] = []
    first = True
    while index < end and (first or text[index] != "]"):
        first = False
        if text.startswith("[:", index):
            close = text.find(":]", index + 2)
            if close != -1:
                named = _POSIX.get(text[index + 2 : close])
                if named is None:
                    return None
                items.append(named)
                index = close + 2
                continue
        low, index = _bracket_char(text, index)
        if text.startswith("-", index) and index + 1 < end and text[index + 1] != "]":
            high, index = _bracket_char(text, index + 1)
            if low <= high:
                items.append(f"{_in_class(low)}-{_in_class(high)}")
            continue
        items.append(_in_class(low))
    if index >= end:
        return None
    inside = "".join(items)
    if negated:
        return f"[^/{inside}]", index + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), index + 1


def _bracket_char(text: str, index: int) -> tuple[str, int]:
    if text[index] == "\\" and index + 1 < len(text):
        return text[index + 1], index + 2
    return text[index], index + 1


def _in_class(char: str) -> str:
    return "\\" + char if char in "\\]^-[&~|" else char
