"""Hunks: runs of lines to find and replace. They apply exactly, at another line if need be, or not at all."""

from __future__ import annotations

from typing import Any

from tether.tools.matches import find_nearest
from tether.types import noun

SHOWN_LINES = 12
SHOWN_NEAR = 10


@noun
class Hunk:
    """Old lines to find and new ones to put there; every line keeps its newline if it has one."""

    number: int  # of the hunk in its file, from 1, to name it in failures
    old: tuple[str, ...]
    new: tuple[str, ...]
    start: int | None = None  # where the patch says the old lines begin, from 0
    anchors: tuple[str, ...] = ()  # lines to pass first, one after the other
    at_end: bool = False


@noun
class FilePatch:
    """What a patch does to one file."""

    path: str
    kind: str = "update"  # update | create | delete
    hunks: tuple[Hunk, ...] = ()
    new_path: str = ""  # where it moves to
    mode: int | None = None
    copy: bool = False  # `new_path` is a copy, `path` stays
    problem: str = ""  # why this part can never be applied, whatever the file holds


def split_lines(text: str) -> list[str]:
    """Lines with their LF; only the last may lack one."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def apply_hunks(
    lines: list[str], hunks: tuple[Hunk, ...], near: int = SHOWN_NEAR
) -> tuple[list[str], list[dict[str, Any]]]:
    """The lines with every hunk applied, and a failure for each that did not fit.

    The first `near` failures show what comes nearest: finding that is slow.
    """
    done: list[str] = []
    failures: list[dict[str, Any]] = []
    cursor = 0  # INVARIANT: hunks apply in order and never twice to one line
    shift = 0
    for hunk in hunks:
        found = _locate(lines, hunk, cursor, shift)
        if isinstance(found, str):
            failures.append(_fail(lines, hunk, found, near=len(failures) < near))
            continue
        at, new = found
        if hunk.start is not None:
            shift = at - hunk.start
        done += lines[cursor:at]
        done += new
        cursor = at + len(hunk.old)
    done += lines[cursor:]
    return _join_open_line(done), failures


def _join_open_line(lines: list[str]) -> list[str]:
    """A line without newline can only be the last one: text put after it starts a line of its own."""
    return [
        line if line.endswith("\n") or n == len(lines) - 1 else line + "\n" for n, line in enumerate(lines)
    ]


def _locate(lines: list[str], hunk: Hunk, cursor: int, shift: int) -> tuple[int, tuple[str, ...]] | str:
    """Where the hunk applies and the lines to put there, or why it does not."""
    base = cursor
    for anchor in hunk.anchors:
        wanted = anchor.strip()
        at = next((n for n in range(base, len(lines)) if lines[n].strip() == wanted), None)
        if at is None:
            return f"the line `{anchor[:100]}` to start from was not found"
        base = at + 1
    if not hunk.old:
        if hunk.start is None:
            return (base if hunk.anchors else len(lines)), hunk.new
        at = min(max(hunk.start + shift, cursor), len(lines))
        return at, hunk.new
    old = list(hunk.old)
    if hunk.start is not None:
        expected = hunk.start + shift
        if expected >= cursor and lines[expected : expected + len(old)] == old:
            return expected, hunk.new
    exact = _find_places(lines, old, base)
    if hunk.at_end:
        exact = [at for at in exact if at + len(old) == len(lines)] or exact
    if exact:
        return _choose(hunk, exact, shift)
    # Whether the last line has a newline is often not known to whoever wrote the patch: the file decides.
    tail = len(lines) - len(old)
    if tail >= base and lines[tail:-1] == old[:-1] and lines[-1].rstrip("\n") == old[-1].rstrip("\n"):
        new = list(hunk.new)
        if new:
            new[-1] = new[-1].rstrip("\n") + ("\n" if lines[-1].endswith("\n") else "")
        return tail, tuple(new)
    passed = cursor > 0 and _find_places(lines[:cursor], old, 0)
    return "its lines stand before an earlier hunk's" if passed else "its lines were not found"


def _choose(hunk: Hunk, places: list[int], shift: int) -> tuple[int, tuple[str, ...]] | str:
    if hunk.start is not None:
        expected = hunk.start + shift
        return min(places, key=lambda at: (abs(at - expected), at)), hunk.new
    if len(places) > 1 and not hunk.anchors:
        shown = ", ".join(str(at + 1) for at in places[:20])
        return f"its lines occur {len(places)} times (lines {shown}): add lines around them"
    return places[0], hunk.new


def _find_places(lines: list[str], old: list[str], base: int) -> list[int]:
    places: list[int] = []
    at = base - 1
    last = len(lines) - len(old)
    while True:
        try:
            at = lines.index(old[0], at + 1, last + 1) if last >= at + 1 else -1
        except ValueError:
            return places
        if at < 0:
            return places
        if lines[at : at + len(old)] == old:
            places.append(at)


def _fail(lines: list[str], hunk: Hunk, reason: str, near: bool) -> dict[str, Any]:
    old = [line.rstrip("\n") for line in hunk.old]
    plain = [line.rstrip("\n") for line in lines] if near else []
    at = find_nearest(plain, old)
    failure: dict[str, Any] = {"hunk": hunk.number, "reason": reason, "expected": _clip(old)}
    if at is not None:
        failure["line"] = at + 1
        failure["found"] = _clip(plain[at : at + len(old)])
    return failure


def _clip(lines: list[str]) -> list[str]:
    shown = [line[:200] for line in lines[:SHOWN_LINES]]
    return [*shown, f"… {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else shown
