"""A file cut into fragments: one definition each where the grammar knows one, windows of lines where not."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import add
from typing import TYPE_CHECKING, Final

from tether.types import noun

if TYPE_CHECKING:
    from tether.source.outline import Outline, Statement, Symbol

LONGEST_ROWS: Final = 60  # a longer definition is split at its inner borders
LONGEST_CHARS: Final = 6_000
WINDOW: Final = 40  # rows of a fragment where nothing better is known
ROW_CHARS: Final = 2_000  # a longer line counts as several rows
PASSAGE_ROWS: Final = 40  # neighbours are scored together up to this size
GROUP_ROWS: Final = 16  # one-line neighbours (constants, bare statements) share a fragment up to this size

CALLABLE: Final = frozenset({"function", "method", "constructor", "macro"})
_CLOSING: Final = re.compile(r"[\s)\]};,]*(?:end\b[\s)\]};,]*)*")


@noun
class Fragment:
    """A piece of one file. Lines count from 1, both ends included; characters from 0, end excluded."""

    start_line: int
    end_line: int
    start_char: int
    end_char: int
    level: int = 0  # 1 symbol, 2 block, 3 expression, 0 text no grammar gave a meaning to
    kind: str = "text"
    name: str = ""
    parent_symbol: str = ""  # `class User`
    signature: str = ""  # of the definition a fragment belongs to, also on its later pieces
    doc: str = ""


@noun
class Cuts:
    """A file's fragments, and which runs of them are scored together: passage `i` begins at `passages[i]`."""

    fragments: tuple[Fragment, ...]
    passages: tuple[int, ...]


def cut_file(text: str, outline: Outline | None = None, data: bytes | None = None) -> Cuts:
    """The fragments of a text, in order, without overlap; only blank and closing rows may be left out.

    `outline` is of `data`, the UTF-8 form of the text.
    """
    rows = _Rows(text)
    if not rows.starts:
        return Cuts((), ())
    if outline is None or outline.tree is None or not (outline.symbols or outline.statements):
        pieces = _cut_evenly(rows)
    else:
        pieces = _cut_by_outline(rows, outline, text.encode() if data is None else data)
    return Cuts(tuple(pieces), _group(rows, pieces))


class _Rows:
    """A text's lines, the over-long ones in several pieces."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        lengths = list(map(len, lines))
        self.starts = [0, *accumulate(length + 1 for length in lengths)][: len(lines)]
        self.ends = list(map(add, self.starts, lengths))
        self.lines: Sequence[int] = range(1, len(lines) + 1)
        if lengths and max(lengths) > ROW_CHARS:
            self._split_lines()

    def _split_lines(self) -> None:
        starts, ends, lines = self.starts, self.ends, self.lines
        rows = [
            (at, min(end, at + ROW_CHARS), line)
            for start, end, line in zip(starts, ends, lines, strict=True)
            for at in range(start, max(end, start + 1), ROW_CHARS)
        ]
        self.starts, self.ends = [row[0] for row in rows], [row[1] for row in rows]
        self.lines = [row[2] for row in rows]

    def __len__(self) -> int:
        return len(self.starts)

    def row(self, line: int) -> int:
        """The first row of a line."""
        if isinstance(self.lines, range):
            return min(len(self.lines), line - 1)
        return bisect_left(self.lines, line)

    def get(self, row: int) -> str:
        return self.text[self.starts[row] : self.ends[row]]

    def indent(self, row: int) -> int:
        """How far a row is indented; blank rows count as far."""
        line = self.get(row)
        bare = line.lstrip()
        return len(line) - len(bare) if bare else 1_000

    def shrink(self, low: int, high: int) -> tuple[int, int]:
        """Rows `low … high` without the blank ones at both ends."""
        while low < high and not self.get(low).strip():
            low += 1
        while high > low and not self.get(high - 1).strip():
            high -= 1
        return low, high

    def split(self, low: int, high: int, limit: int) -> list[tuple[int, int]]:
        """A long run in pieces that end where the text breathes: before the least indented row, best after a
        blank one."""
        pieces = []
        while high - low > limit or (high > low and self.ends[high - 1] - self.starts[low] > LONGEST_CHARS):
            top = min(high, low + limit)
            while top > low + 1 and self.ends[top - 1] - self.starts[low] > LONGEST_CHARS:
                top -= 1
            if top >= high:
                break
            bottom = max(low + 1, low + (top - low) // 2)
            best = min(
                range(bottom, top + 1),
                key=lambda row: (self.indent(row), bool(self.get(row - 1).strip()), -row),
            )
            pieces.append((low, best))
            low = best
        pieces.append((low, high))
        return pieces

    def join(self, pieces: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
        """Neighbouring pieces joined while they fit."""
        joined: list[tuple[int, int]] = []
        for low, high in pieces:
            first = joined[-1][0] if joined else low
            fits = high - first <= limit and self.ends[high - 1] - self.starts[first] <= LONGEST_CHARS
            if joined and fits:
                joined[-1] = (first, high)
            else:
                joined.append((low, high))
        return joined


def _cut_evenly(rows: _Rows) -> list[Fragment]:
    pieces = []
    for low, high in rows.split(0, len(rows), WINDOW):
        low, high = rows.shrink(low, high)
        if low < high:
            pieces.append(_make(rows, low, high))
    return pieces


def _make(rows: _Rows, low: int, high: int, **about: object) -> Fragment:
    return Fragment(rows.lines[low], rows.lines[high - 1], rows.starts[low], rows.ends[high - 1], **about)  # type: ignore[arg-type]


def _cut_by_outline(rows: _Rows, outline: Outline, data: bytes) -> list[Fragment]:
    items = _items(rows, outline, data)
    kinds = {symbol.qualified: symbol.kind for symbol in outline.symbols}
    pieces: list[Fragment] = []
    if not items or items[0][0] > 0:
        stop = items[0][0] if items else len(rows)
        pieces += _head(rows, 0, stop)
    free = len(rows)  # where the last definition ended
    for place, (low, end, item) in enumerate(items):
        following = items[place + 1][0] if place + 1 < len(items) else len(rows)
        # What stands between two definitions leads in to the second, but for what closes the first.
        if free < low:
            low = _skip_closing(rows, free, low)
        stop = min(end, following) if place + 1 < len(items) else len(rows)
        if stop == len(rows) and _CLOSING.fullmatch(rows.text, rows.starts[min(end, stop - 1)]):
            stop = max(low + 1, end)
        free = stop
        low, stop = rows.shrink(low, stop)
        if low < stop:
            pieces += _cut_item(rows, low, stop, item, outline, data, kinds)
    return pieces


def _skip_closing(rows: _Rows, low: int, high: int) -> int:
    """The first row that does more than close what is open."""
    while low < high and _CLOSING.fullmatch(rows.get(low)):
        low += 1
    return low


def _items(rows: _Rows, outline: Outline, data: bytes) -> list[tuple[int, int, Symbol | Statement]]:
    """Where fragments begin: every definition not inside a callable, every bare statement; the most specific
    wins where two begin on one row, and one-line neighbours are taken together."""
    lines = None
    found: dict[int, tuple[int, Symbol | Statement]] = {}
    shut = -1  # end of the callable we are in
    for symbol in outline.symbols:
        if symbol.start_byte < shut:
            continue
        if symbol.kind in CALLABLE:
            shut = symbol.end_byte
        first = symbol.start_line
        if symbol.doc is not None and symbol.doc.start_byte < symbol.start_byte:
            if lines is None:
                lines = _line_starts(data)
            first = min(first, bisect_right(lines, symbol.doc.start_byte))
        found[rows.row(first)] = (rows.row(symbol.end_line + 1), symbol)
    for statement in outline.statements:
        found.setdefault(rows.row(statement.start_line), (rows.row(statement.end_line + 1), statement))
    items = sorted((low, end, item) for low, (end, item) in found.items() if low < len(rows))
    kept: list[tuple[int, int, Symbol | Statement]] = []
    open_run = False  # the last kept item is small, or a run of small ones
    for low, end, item in items:
        small = end - low <= 2 and _bare(item)
        if small and open_run:
            before, until, last = kept[-1]
            if end - before <= GROUP_ROWS and low - until <= 1 and _parent(last) == _parent(item):
                kept[-1] = (before, end, last)
                continue
        kept.append((low, end, item))
        open_run = small
    return kept


def _bare(item: Symbol | Statement) -> bool:
    """Neither a callable nor a holder of others: a constant, a property, a statement."""
    return not hasattr(item, "qualified") or (item.body is None and item.kind not in CALLABLE)  # type: ignore[union-attr]


def _parent(item: Symbol | Statement) -> str:
    return getattr(item, "parent", "")


def _head(rows: _Rows, low: int, high: int) -> list[Fragment]:
    """What stands before the first definition: licence, imports, module comment."""
    low, high = rows.shrink(low, high)
    if low >= high:
        return []
    return [_make(rows, a, b, kind="header") for a, b in rows.split(low, high, LONGEST_ROWS)]


def _cut_item(
    rows: _Rows,
    low: int,
    high: int,
    item: Symbol | Statement,
    outline: Outline,
    data: bytes,
    kinds: dict[str, str],
) -> list[Fragment]:
    pieces = [(low, high)]
    if high - low > LONGEST_ROWS or rows.ends[high - 1] - rows.starts[low] > LONGEST_CHARS:
        inner = [
            row
            for symbol in outline.symbols
            if item.start_byte < symbol.start_byte < item.end_byte
            and low < (row := rows.row(symbol.start_line)) < high
        ]
        borders = [low, *sorted(set(inner)), high]
        parts = [part for a, b in pairwise(borders) for part in rows.split(a, b, LONGEST_ROWS)]
        pieces = rows.join(parts, LONGEST_ROWS)
    about = _about(item, data, kinds)
    return [_make(rows, a, b, **about) for a, b in (rows.shrink(*piece) for piece in pieces) if a < b]


def _about(item: Symbol | Statement, data: bytes, kinds: dict[str, str]) -> dict[str, object]:
    name = getattr(item, "qualified", None)
    if name is None:
        return {"level": item.level, "kind": item.kind}
    symbol: Symbol = item  # type: ignore[assignment]
    start, end = symbol.signature
    return {
        "level": 1,
        "kind": symbol.kind,
        "name": symbol.name,
        "parent_symbol": f"{kinds.get(symbol.parent, '')} {symbol.parent}".strip(),
        "signature": " ".join(data[start : min(end, start + 600)].decode("utf-8", "replace").split())[:400],
        "doc": symbol.doc.summary if symbol.doc else "",
    }


def _group(rows: _Rows, pieces: Sequence[Fragment]) -> tuple[int, ...]:
    """Where passages begin: small neighbours say more together than apart."""
    begins: list[int] = []
    first = 0
    for place, piece in enumerate(pieces):
        if not begins or piece.end_line - first >= PASSAGE_ROWS:
            begins.append(place)
            first = piece.start_line
    return tuple(begins)


def _line_starts(data: bytes) -> list[int]:
    return [0, *(match.end() for match in re.finditer(rb"\n", data))]
