"""Unified diffs, as git, diff and difflib write them, and as models nearly do."""

from __future__ import annotations

import re

from tether.errors import TetherError
from tether.tools.hunks import FilePatch, Hunk

_RANGE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_EXTENDED = re.compile(
    r"(new file mode|deleted file mode|new mode|rename from|rename to|copy from|copy to) (.+)$"
)
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_LETTERS = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}
_ABSENT = "/dev/null"


class _Section:
    """One file's part while it is being read."""

    def __init__(self, old: str = "", new: str = "") -> None:
        self.old = old
        self.new = new
        self.header: dict[str, str] = {}
        self.hunks: list[Hunk] = []
        self.binary = False
        self.named = False  # by its own `---` and `+++` lines

    def close(self) -> FilePatch:
        header = self.header
        old = header.get("rename from") or header.get("copy from") or self.old
        new = header.get("rename to") or header.get("copy to") or self.new
        mode = header.get("new file mode") or header.get("new mode") or ""
        problem = ""
        if self.binary:
            problem = "binary patches are not applied"
        elif mode.startswith(("12", "16")) or header.get("deleted file mode", "")[:2] in ("12", "16"):
            problem = "symbolic links and submodules are not changed by patches"
        bits = {"100755": 0o755, "100644": 0o644}.get(mode)
        hunks = tuple(self.hunks)
        if "new file mode" in header or old == _ABSENT:
            return FilePatch(new, "create", hunks, mode=bits, problem=problem)
        if "deleted file mode" in header or new == _ABSENT:
            return FilePatch(old, "delete", hunks, problem=problem)
        moved = new if new != old else ""
        return FilePatch(old, "update", hunks, moved, bits, "copy from" in header, problem)


def read_unified(patch: str, path: str = "") -> list[FilePatch]:
    """Every file a unified diff changes; text before and between the parts is passed over."""
    lines = patch.split("\n")
    sections: list[_Section] = []
    n = 0
    while n < len(lines):
        line = lines[n].removesuffix("\r")
        if line.startswith("diff --git "):
            sections.append(_Section(*_read_git_line(line)))
        elif line.startswith("--- ") and n + 1 < len(lines) and lines[n + 1].startswith("+++ "):
            old, new = _strip_prefixes(_read_name(line[4:]), _read_name(lines[n + 1][4:]))
            if not sections or sections[-1].named or sections[-1].hunks:
                sections.append(_Section())
            sections[-1].old, sections[-1].new, sections[-1].named = old, new, True
            n += 1
        elif line.startswith("@@"):
            if not sections:
                if not path:
                    raise _malformed(n, "a hunk has no file named before it")
                sections.append(_Section(path, path))
            hunk, n = _read_hunk(lines, n, len(sections[-1].hunks) + 1)
            sections[-1].hunks.append(hunk)
            continue
        elif sections:
            extended = _EXTENDED.match(line)
            if extended:
                sections[-1].header[extended[1]] = _unquote(extended[2])
            elif line.startswith(("Binary files ", "GIT binary patch")):
                sections[-1].binary = True
        n += 1
    return [section.close() for section in sections]


def _read_hunk(lines: list[str], n: int, number: int) -> tuple[Hunk, int]:
    """A hunk and the line after it: by its counts where they are right, else by the marks of its lines."""
    found = _RANGE.match(lines[n])
    if found:
        start, old_count = int(found[1]), int(found[2] or 1)
        counts = (old_count, int(found[4] or 1))
        # An empty range names the line before it.
        place = start - 1 if old_count else start
        counted = _read_body(lines, n + 1, counts)
        if counted:
            old, new, end = counted
            return Hunk(number, tuple(old), tuple(new), place), end
        read = _read_body(lines, n + 1, None)
        anchors: tuple[str, ...] = ()
    else:
        place = None
        read = _read_body(lines, n + 1, None)
        anchor = lines[n].removesuffix("\r")[2:].removesuffix("@@").strip()
        anchors = (anchor,) if anchor and not anchor.startswith(("-", "+")) else ()
    if not read or not (read[0] or read[1]):
        raise _malformed(n, "the hunk is empty")
    return Hunk(number, tuple(read[0]), tuple(read[1]), place, anchors), read[2]


def _read_body(
    lines: list[str], n: int, counts: tuple[int, int] | None
) -> tuple[list[str], list[str], int] | None:
    """Old lines, new lines and where they end; None when the counts do not fit the lines."""
    old: list[str] = []
    new: list[str] = []
    while n < len(lines):
        line = lines[n]
        mark = line[:1]
        if mark == "\\":
            _open_last(lines[n - 1][:1], old, new)
            n += 1
            continue
        if counts and len(old) == counts[0] and len(new) == counts[1]:
            break
        if not counts and _begins_part(lines, n):
            break
        if mark not in ("+", "-", " ", "", "\r"):
            if counts:
                return None
            break
        if mark == "" and n == len(lines) - 1:
            break  # the end of the patch's own last line
        text = "" if mark == "" else "\r" if line == "\r" else line[1:]
        if mark != "+":
            old.append(text + "\n")
        if mark != "-":
            new.append(text + "\n")
        n += 1
    if counts and (len(old), len(new)) != counts:
        return None
    if not counts:
        # Blank lines between parts are not context.
        while old and new and old[-1] == new[-1] == "\n" and lines[n - 1] == "":
            old.pop()
            new.pop()
            n -= 1
    return old, new, n


def _open_last(mark: str, old: list[str], new: list[str]) -> None:
    """`\\ No newline at end of file` speaks of the line before it, on its side or both."""
    if mark != "+" and old:
        old[-1] = old[-1].removesuffix("\n")
    if mark != "-" and new:
        new[-1] = new[-1].removesuffix("\n")


def _begins_part(lines: list[str], n: int) -> bool:
    line = lines[n]
    if line.startswith(("@@", "diff --git ")):
        return True
    return line.startswith("--- ") and n + 1 < len(lines) and lines[n + 1].startswith("+++ ")


def _read_git_line(line: str) -> tuple[str, str]:
    """Both names of a `diff --git` line; two empty strings when they cannot be told apart."""
    rest = line[len("diff --git ") :]
    if rest.startswith('"'):
        end = re.match(r'"(?:[^"\\]|\\.)*"', rest)
        if end and rest[end.end() : end.end() + 1] == " ":
            return _strip_prefixes(_unquote(end[0]), _unquote(rest[end.end() + 1 :]))
    elif rest.endswith('"') and ' "' in rest:
        cut = rest.index(' "')
        return _strip_prefixes(rest[:cut], _unquote(rest[cut + 1 :]))
    # Unquoted names may hold spaces: without a rename both are the same, so they meet in the middle.
    half = len(rest) // 2
    if rest[half : half + 1] == " ":
        old, new = _strip_prefixes(rest[:half], rest[half + 1 :])
        if old == new:
            return old, new
    if rest.count(" ") == 1:
        old, _, new = rest.partition(" ")
        return _strip_prefixes(old, new)
    return "", ""


def _read_name(text: str) -> str:
    text = text.removesuffix("\r")
    if text.startswith('"'):
        return _unquote(text)
    return text.split("\t", 1)[0].rstrip()


def _strip_prefixes(old: str, new: str) -> tuple[str, str]:
    """git's `a/` and `b/`, or its mnemonic letters, taken off where they are prefixes and not directories."""
    pair = re.compile(r"[abciow]/")
    if old == _ABSENT:
        return old, new[2:] if pair.match(new) and new[0] != "a" else new
    if new == _ABSENT:
        return old[2:] if pair.match(old) and old[0] != "b" else old, new
    if pair.match(old) and pair.match(new) and old[0] != new[0]:
        return old[2:], new[2:]
    return old, new


def _unquote(name: str) -> str:
    """A name as git quotes it, `"caf\\303\\251"`, read back."""
    name = name.removesuffix("\r")
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    data = bytearray()
    at = 1
    while at < len(name) - 1:
        found = _ESCAPE.match(name, at)
        if not found:
            data += name[at].encode("utf-8", "surrogatepass")
            at += 1
            continue
        code = found[1]
        if len(code) == 3:
            data.append(int(code, 8) & 0xFF)
        else:
            data += bytes((_LETTERS[code],)) if code in _LETTERS else code.encode("utf-8", "surrogatepass")
        at = found.end()
    return data.decode("utf-8", "surrogateescape")


def _malformed(n: int, why: str) -> TetherError:
    return TetherError("PATCH_FAILED", f"the patch is malformed at its line {n + 1}: {why}", line=n + 1)
