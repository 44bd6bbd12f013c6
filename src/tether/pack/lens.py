"""Lenses: which files a reader of one kind wants, in which order, and how much of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tether.errors import TetherError
from tether.pack.glob import is_ignored, matches, matches_any

NEUTRAL: Final = 50
MODES: Final = ("", "full", "simple", "smart", "structure")


@dataclass(frozen=True, slots=True)
class Group:
    """Files that match one pattern. An empty mode, or no limit, leaves it to the lens."""

    pattern: str
    priority: int
    mode: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Lens:
    """A way to look at a repository. `include` empty = everything; `limit` 0 = no line limit."""

    name: str
    description: str = ""
    mode: str = "full"
    limit: int = 0
    sort_by: str = "name"  # name | mtime | ctime
    sort_order: str = "asc"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    fallback: int = NEUTRAL
    fallback_mode: str = ""


@dataclass(frozen=True, slots=True)
class Priority:
    """How much a file matters, and why: `value` is `static` until something was learned about the file."""

    value: int
    static: int
    rule: str  # the pattern that gave `static`, or `fallback`
    utility: float | None = None
    learned_from: str = ""

    def explain(self) -> str:
        """One line: where each part of the number comes from."""
        said = f"priority {self.value}: `{self.rule}` gives {self.static}"
        if self.utility is None:
            return said + ", nothing learned"
        return (
            f"{said}, {self.learned_from} {self.utility:.3f}: "
            f"round(0.7 × {self.static} + 30 × {self.utility:.3f}) = {self.value}"
        )


PLAIN: Final = Lens("none", "Everything, in full")


def find_group(lens: Lens, path: str) -> Group | None:
    """The matching group of highest priority; the first of equals."""
    best: Group | None = None
    for group in lens.groups:
        if (best is None or group.priority > best.priority) and matches(group.pattern, path):
            best = group
    return best


def rank(lens: Lens, path: str) -> Priority:
    """The static priority of a path."""
    group = find_group(lens, path)
    value = lens.fallback if group is None else group.priority
    return Priority(value, value, "fallback" if group is None else group.pattern)


def learn(priority: Priority, utility: float, source: str) -> Priority:
    """Seven parts what the lens says, three parts what was learned."""
    # Half up, as people round, not half to even.
    value = int(0.7 * priority.static + 30 * utility + 0.5)
    return Priority(value, priority.static, priority.rule, utility, source)


def choose_mode(lens: Lens, path: str) -> tuple[str, int]:
    """How this lens shows a file: mode and line limit."""
    group = find_group(lens, path)
    if group is None:
        return lens.fallback_mode or lens.mode, lens.limit
    return group.mode or lens.mode, lens.limit if group.limit is None else group.limit


def admits(lens: Lens, path: str) -> bool:
    """Whether the lens shows the file at all; excluding beats including."""
    if is_ignored(lens.exclude, path):
        return False
    return not lens.include or matches_any(lens.include, path)


_KEYS: Final = frozenset(
    {
        *("description", "mode", "limit", "truncate_mode", "truncate", "sort_by", "sort_order"),
        *("include", "exclude", "groups", "fallback"),
    }
)


def parse_lens(name: str, table: Mapping[str, Any]) -> Lens:
    """A lens from configuration, or a refusal that names the offending key."""

    def refuse(what: str) -> TetherError:
        return TetherError("CONFIG_INVALID", f"lens `{name}`: {what}")

    if not isinstance(table, Mapping):
        raise refuse("must be a table")
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise refuse(f"unknown key `{unknown[0]}`: choose among {', '.join(sorted(_KEYS))}")

    def text(key: str, default: str, allowed: tuple[str, ...] = ()) -> str:
        value = table.get(key, default)
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise refuse(f"`{key}` is `{value}`: give {' | '.join(a for a in allowed if a) or 'a string'}")
        return value

    def number(holder: Mapping[str, Any], key: str, default: int, most: int) -> int:
        value = holder.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise refuse(f"`{key}` is `{value}`: give a whole number from 0 to {most}")
        return value

    def patterns(key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            raise refuse(f"`{key}` must be a list of patterns")
        return tuple(value)

    groups = []
    for group in table.get("groups", []):
        if not isinstance(group, Mapping) or not isinstance(group.get("pattern"), str):
            raise refuse("each group needs a `pattern` and a `priority`")
        mode = group.get("mode", group.get("truncate_mode", ""))
        if mode not in MODES:
            raise refuse(f"group mode `{mode}`: give {' | '.join(MODES[1:])}")
        key = "limit" if "limit" in group else "truncate"
        limit = number(group, key, 0, 10_000_000) if key in group else None
        groups.append(Group(group["pattern"], number(group, "priority", NEUTRAL, 100), mode, limit))
    fallback = table.get("fallback", {})
    if not isinstance(fallback, Mapping):
        fallback = {"priority": fallback}
    fallback_mode = fallback.get("mode", fallback.get("truncate_mode", ""))
    if fallback_mode not in MODES:
        raise refuse(f"fallback mode `{fallback_mode}`: give {' | '.join(MODES[1:])}")
    key = "limit" if "limit" in table else "truncate"
    return Lens(
        name,
        text("description", ""),
        text("mode", text("truncate_mode", "full", MODES), MODES) or "full",
        number(table, key, 0, 10_000_000),
        text("sort_by", "name", ("name", "mtime", "ctime")),
        text("sort_order", "asc", ("asc", "desc")),
        patterns("include"),
        patterns("exclude"),
        tuple(groups),
        number(fallback, "priority", NEUTRAL, 100),
        fallback_mode,
    )
