"""Less of a file: its head, its ends, its shape. No cut ever leaves a file empty."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tether.pack.skeleton import Omitted, Shaper, shape_by_lines
from tether.pack.summary import Summary, family, summarise
from tether.pack.text import count_lines

RULE: Final = "=" * 70


@dataclass(frozen=True, slots=True)
class Cut:
    """A shortened text: `text` as kept, `note` as the Plus/Minus family appends it, `message` for XML."""

    text: str
    mode: str  # simple | smart | structure | signature
    lines: int  # of the original
    note: str
    message: str
    omitted: tuple[Omitted, ...] = ()
    parsed: bool = False


def _percent(kept: int, total: int) -> int:
    return (total - kept) * 100 // total


def _advise(path: str, command: str) -> str:
    return f'To get full content: --include "{path}" --truncate 0\n/* ZOOM_AFFORDANCE: {command} */\n{RULE}\n'


def cut_simple(text: str, path: str, limit: int, command: str) -> Cut | None:
    """The first lines; None when the file has no more than `limit`."""
    lines = text.split("\n")
    total = len(lines)
    if limit <= 0 or total <= limit:
        return None
    head = f"\n\n{RULE}\nTRUNCATED at line {limit}/{total} ({_percent(limit, total)}% reduced)\n"
    return Cut(
        "\n".join(lines[:limit]),
        "simple",
        total,
        head + _advise(path, command),
        f"File truncated: {total} lines → first {limit}",
    )


_SHARES: Final = {"python": (0.5, 0.15), "javascript": (0.45, 0.15), "json": (0.6, 0.1)}


def _choose_ranges(lines: list[str], language: str, limit: int) -> list[tuple[int, int]]:
    """Half-open line ranges that together make up about `limit` lines."""
    total = len(lines)
    if language == "markdown":
        return _choose_sections(lines, limit)
    head_share, tail_share = _SHARES.get(language, (0.4, 0.1))
    head = max(1, int(limit * head_share))
    tail = int(limit * tail_share)
    ranges = [(0, head)]
    if language == "python":
        starts = (i for i, line in enumerate(lines) if "__main__" in line and i >= head)
        ranges += [(max(0, i - 5), min(total, i + 21)) for i in starts]
    if tail:
        ranges.append((total - tail, total))
    return ranges


def _choose_sections(lines: list[str], limit: int) -> list[tuple[int, int]]:
    share = max(1, int(limit * 0.1))
    left = limit
    ranges = []
    for i, line in enumerate(lines):
        if re.match(r"#{1,2}\s", line):
            take = min(share, left, len(lines) - i)
            if take <= 0:
                break
            ranges.append((i, i + take))
            left -= take
    if left > 0:
        ranges.append((0, min(left, len(lines))))
    return ranges


def _merge(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def _list(title: str, names: tuple[str, ...], most: int, counted: bool = False) -> str:
    if not names:
        return ""
    more = f", ... (+{len(names) - most} more)" if counted and len(names) > most else ""
    label = f"{title} ({len(names)})" if counted else title
    return f"{label}: {', '.join(names[:most])}{more}\n"


def _describe(summary: Summary) -> str:
    return (
        f"Language: {summary.language}\nCategory: {summary.category}\n"
        + _list("Classes", summary.classes, 10, counted=True)
        + _list("Functions", summary.functions, 10, counted=True)
        + _list("Key imports", summary.imports, 8)
        + _list("Entry points", summary.entry_points, 5)
        + _list("Markers", summary.markers, 5)
    )


def cut_smart(text: str, path: str, language: str, limit: int, command: str) -> Cut | None:
    """The parts of a long file that say most, with the gaps between them counted."""
    lines = text.split("\n")
    total = len(lines)
    if limit <= 0 or total <= limit:
        return None
    kept = _merge(_choose_ranges(lines, family(language), limit))
    pieces: list[str] = []
    at = 0
    for start, end in kept:
        if pieces or start:
            pieces.append(f"\n... [{start - at} lines omitted] ...\n")
        pieces.append("\n".join(lines[start:end]))
        at = end
    if at < total:
        pieces.append(f"\n... [{total - at} lines omitted] ...\n")
    note = (
        f"\n\n{RULE}\nTRUNCATED at line {limit}/{total} ({_percent(limit, total)}% reduction)\n"
        + _describe(summarise(text, path, language))
        + "\n"
        + _advise(path, command)
    )
    shown = sum(end - start for start, end in kept)
    return Cut("".join(pieces), "smart", total, note, f"File truncated: {total} lines → {shown} chosen")


def cut_structure(
    text: str, path: str, language: str, command: str, shape: Shaper | None = None, *, brief: bool = False
) -> Cut | None:
    """Signatures without bodies, by parser where one knows the language, else by line patterns.

    None when nothing is recognised, or nothing would be saved: the caller keeps more, never less.
    """
    found = shape(text, path, language, brief) if shape else None
    if found is None:
        found = shape_by_lines(text, path, language, brief)
    if found is None or not found.text.strip() or len(found.text) >= len(text.rstrip("\n")):
        return None
    total = count_lines(text)
    note = (
        f"\n\n{RULE}\nSTRUCTURE MODE: Showing only signatures ({found.kept}/{total} lines)\n"
        f"Language: {language}\n\n"
        "Included: imports, class/function signatures, type definitions\n"
        "Excluded: function bodies, implementation details\n\n" + _advise(path, command)
    )
    how = "signatures only" if brief else "structure"
    return Cut(
        found.text,
        "signature" if brief else "structure",
        total,
        note,
        f"Bodies truncated: {total} lines → {found.kept} ({how})",
        found.omitted,
        found.parsed,
    )


def cut(
    text: str,
    path: str,
    language: str,
    mode: str,
    limit: int,
    command: str,
    shape: Shaper | None = None,
) -> Cut | None:
    """One file in one mode; structure falls back to smart, and smart without a limit to the full text."""
    if mode == "signature":
        return cut_structure(text, path, language, command, shape, brief=True)
    if mode == "structure":
        found = cut_structure(text, path, language, command, shape)
        return found or cut_smart(text, path, language, limit, command)
    if mode == "smart":
        return cut_smart(text, path, language, limit, command)
    if mode == "simple":
        return cut_simple(text, path, limit, command)
    return None
