"""The ways agents write patches, read into the same data: search/replace blocks, unified diff, envelope."""

from __future__ import annotations

import re

from tether.errors import TetherError
from tether.tools.hunks import FilePatch, Hunk
from tether.tools.unified import read_unified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SEARCH = re.compile(r"<{5,9} ?SEARCH\s*$")
_DIVIDER = re.compile(r"={5,9}\s*$")
_REPLACE = re.compile(r">{5,9} ?REPLACE\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_SECTION = re.compile(r"\*\*\* (Add File|Delete File|Update File|Move to): (.+?)\s*$")


def read_patch(patch: str, form: str = "auto", path: str = "") -> list[FilePatch]:
    """The files a patch changes; `path` names the file of parts that name none themselves."""
    if form == "auto":
        form = detect_format(patch)
    readers: dict[str, Callable[[str, str], list[FilePatch]]] = {
        "blocks": read_blocks,
        "unified": read_unified,
        "envelope": read_envelope,
    }
    patches = readers[form](patch, path)
    if not patches:
        raise TetherError("PATCH_FAILED", "the patch changes nothing")
    return patches


def detect_format(patch: str) -> str:
    """blocks | unified | envelope, by the first line that belongs to only one of them."""
    for line in patch.split("\n"):
        if line.startswith("*** Begin Patch") or _SECTION.match(line):
            return "envelope"
        if _SEARCH.match(line):
            return "blocks"
        if line.startswith(("diff --git ", "--- ", "@@ -")):
            return "unified"
    raise TetherError(
        "PATCH_FAILED",
        "the patch is in no known format",
        action="Send a unified diff, SEARCH/REPLACE blocks, or `*** Begin Patch`",
    )


def read_blocks(patch: str, path: str = "") -> list[FilePatch]:
    """A path line, then SEARCH and REPLACE around the old and new lines; an empty SEARCH creates a file.

    Each block is a patch of its own: they may come in any order, and one may build on another's result.
    """
    patches: list[FilePatch] = []
    lines = patch.split("\n")
    n = 0
    while n < len(lines):
        line = lines[n]
        if not _SEARCH.match(line):
            if line.strip() and not _FENCE.match(line):
                path = _clean_path(line)
            n += 1
            continue
        if not path:
            raise _malformed(n, "a SEARCH block has no path line before it")
        divider = _seek(lines, n + 1, _DIVIDER, "=======")
        end = _seek(lines, divider + 1, _REPLACE, ">>>>>>> REPLACE")
        old = tuple(text.removesuffix("\r") + "\n" for text in lines[n + 1 : divider])
        new = tuple(text.removesuffix("\r") + "\n" for text in lines[divider + 1 : end])
        hunk = Hunk(len(patches) + 1, old, new)
        patches.append(FilePatch(path, "update" if old else "create", (hunk,)))
        n = end + 1
    return patches


def read_envelope(patch: str, path: str = "") -> list[FilePatch]:
    """`*** Begin Patch`, then Add, Delete and Update sections, as Codex-style agents send them."""
    patches: list[FilePatch] = []
    lines = [line.removesuffix("\r") for line in patch.split("\n")]
    n = 0
    while n < len(lines):
        line = lines[n]
        section = _SECTION.match(line)
        n += 1
        if line.startswith("*** End Patch"):
            break
        if not section:
            if line.strip() and not line.startswith("*** Begin Patch") and not _FENCE.match(line):
                raise _malformed(n - 1, f"`{line[:80]}` belongs to no section")
            continue
        what, name = section[1], section[2]
        end = n
        while end < len(lines) and not _ends_section(lines[end]):
            end += 1
        body = lines[n:end]
        if what == "Add File":
            patches.append(FilePatch(name, "create", _read_added(body, n)))
        elif what == "Delete File":
            patches.append(FilePatch(name, "delete"))
        elif what == "Update File":
            target = _SECTION.match(body[0]) if body else None
            moved = target[2] if target else ""
            if target:
                body = body[1:]
            patches.append(FilePatch(name, "update", _read_chunks(body, n), moved))
        else:
            raise _malformed(n - 1, "`Move to` stands outside an Update File section")
        n = end
    return patches


def _ends_section(line: str) -> bool:
    if line.startswith(("*** End Patch", "*** Begin Patch")):
        return True
    section = _SECTION.match(line)
    return section is not None and section[1] != "Move to"


def _read_added(body: list[str], at: int) -> tuple[Hunk, ...]:
    for n, line in enumerate(body):
        if line and not line.startswith("+") and line != "*** End of File":
            raise _malformed(at + n, f"`{line[:80]}` does not begin with `+`")
    return (Hunk(1, (), tuple(line[1:] + "\n" for line in body if line.startswith("+")), 0),)


def _read_chunks(body: list[str], at: int) -> tuple[Hunk, ...]:
    hunks: list[Hunk] = []
    anchors: list[str] = []
    old: list[str] = []
    new: list[str] = []

    def close(at_end: bool = False) -> None:
        if old or new:
            hunks.append(Hunk(len(hunks) + 1, tuple(old), tuple(new), None, tuple(anchors), at_end))
            anchors.clear()
            old.clear()
            new.clear()

    while body and not body[-1]:
        body = body[:-1]  # the blank line before the next section is no context
    for n, line in enumerate(body):
        if line.startswith("@@"):
            close()
            anchor = line[2:].removesuffix("@@").strip()
            if anchor:
                anchors.append(anchor)
        elif line == "*** End of File":
            close(at_end=True)
        elif line[:1] in ("+", "-", " ", ""):
            if line[:1] != "+":
                old.append(line[1:] + "\n")
            if line[:1] != "-":
                new.append(line[1:] + "\n")
        else:
            raise _malformed(at + n, f"`{line[:80]}` begins with none of `+`, `-`, space and `@@`")
    close()
    return tuple(hunks)


def _clean_path(line: str) -> str:
    """A path line as models write it: with a comment sign, quotes, bold or a trailing colon around it."""
    text = line.strip().removeprefix("#").strip().removesuffix(":")
    for mark in ("**", "`", '"', "'"):
        if text.startswith(mark) and text.endswith(mark) and len(text) > 2 * len(mark):
            text = text[len(mark) : -len(mark)]
    return text.removesuffix(":").strip()


def _seek(lines: list[str], start: int, marker: re.Pattern[str], name: str) -> int:
    for n in range(start, len(lines)):
        if marker.match(lines[n]):
            return n
        if _SEARCH.match(lines[n]):
            break
    raise _malformed(start - 1, f"a block is not closed by `{name}`")


def _malformed(n: int, why: str) -> TetherError:
    return TetherError("PATCH_FAILED", f"the patch is malformed at its line {n + 1}: {why}", line=n + 1)
