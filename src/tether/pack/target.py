"""What to zoom into: `function=NAME`, `class=NAME`, `module=NAME`, `file=PATH:10-40`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from tether.errors import TetherError
from tether.pack.escape import restore

TYPES: Final = ("function", "class", "module", "file")
DEPTHS: Final = ("signature", "implementation", "full")
_ALIASES: Final = {"fn": "function", "struct": "class", "mod": "module"}
_RANGE = re.compile(r"L?([0-9]{1,9})(?:-L?([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Target:
    """One thing to see; lines count from 1, both ends included, 0 = the whole."""

    type: str
    name: str
    start: int = 0
    end: int = 0

    def spell(self) -> str:
        """The target as it is written on a command line."""
        lines = f":{self.start}-{self.end}" if self.start else ""
        return f"{self.type}={self.name}{lines}"


def parse_lines(text: str) -> tuple[int, int]:
    """`10`, `10-40`, `L10-L40` → first and last line."""
    match = _RANGE.fullmatch(text)
    start = int(match.group(1)) if match else 0
    end = int(match.group(2) or start) if match else 0
    if not 0 < start <= end:
        raise TetherError("BAD_ARGUMENTS", f"lines `{text}`: give a range such as 10-40")
    return start, end


def parse_target(text: str, lines: str = "") -> Target:
    """A target as people and affordances write it."""
    kind, equals, name = text.partition("=")
    kind = _ALIASES.get(kind, kind)
    if not equals or kind not in TYPES or not name:
        raise TetherError(
            "BAD_ARGUMENTS",
            f"target `{text}`: give function=NAME, class=NAME, module=NAME or file=PATH:10-40",
        )
    name = restore(name)
    found = Target(kind, name)
    if kind == "file":
        path, colon, span = name.rpartition(":")
        if colon and path and _RANGE.fullmatch(span):
            found = Target(kind, path, *parse_lines(span))
    if lines:
        if kind != "file":
            raise TetherError("BAD_ARGUMENTS", "lines belong to a file: give file=PATH --lines=10-40")
        start, end = parse_lines(lines)
        found = replace(found, start=start, end=end)
    return found


def read_arguments(args: dict[str, Any]) -> tuple[Target, str, int | None]:
    """The arguments of `zoom_context`, its older names included → target, depth, budget."""
    kind = args.get("type", args.get("target_type"))
    name = args.get("target", args.get("target_name"))
    if not isinstance(kind, str) or not isinstance(name, str):
        raise TetherError("BAD_ARGUMENTS", "zoom_context needs `type` and `target`, both strings")
    lines = args.get("line_range", "")
    if isinstance(lines, (list, tuple)) and len(lines) == 2:
        lines = f"{lines[0]}-{lines[1]}"
    if not isinstance(lines, str):
        raise TetherError("BAD_ARGUMENTS", f"line_range `{lines}`: give a string such as 10-40")
    depth = args.get("depth", "implementation")
    if depth not in DEPTHS:
        raise TetherError("BAD_ARGUMENTS", f"depth `{depth}`: choose {', '.join(DEPTHS)}")
    budget = args.get("budget")
    if budget is not None and (
        isinstance(budget, bool) or not isinstance(budget, (int, float)) or budget < 1
    ):
        raise TetherError("BAD_ARGUMENTS", f"budget `{budget}`: give a number of tokens")
    return parse_target(f"{kind}={name}", lines), depth, None if budget is None else int(budget)
