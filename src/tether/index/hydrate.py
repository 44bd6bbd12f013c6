"""Context for an agent's turn: fragments as they are on disk now and what is around them, in a budget."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from typing import Final

from tether.index.code import CodeIndex
from tether.index.freshness import Changes
from tether.index.reading import SetAsideError, read_bytes, read_text, take_apart
from tether.index.results import Hit
from tether.source.redact import redact
from tether.types import noun

TOKENS: Final = 8_000  # a turn
AROUND: Final = 2  # lines before and after a fragment
HITS: Final = 5
MANY_STALE: Final = 3  # more stale hits than this mean that their folders are behind altogether

Count = Callable[[str], int]

_PIECE: Final = re.compile(r"[^\W\d_]+|\d|_+|[^\w\s]|\n+|[^\S\n]+")


@noun
class Piece:
    """One fragment as it goes into the context."""

    file_path: str
    start_line: int  # with the lines around it
    end_line: int
    text: str
    tokens: int
    name: str = ""
    relevance_score: float = 0.0
    stale: bool = False
    cut: bool = False  # shortened to fit


@noun
class Context:
    """What an agent is given for one question."""

    text: str
    tokens: int
    pieces: tuple[Piece, ...]
    left_out: int = 0
    stale: int = 0
    notes: tuple[str, ...] = ()


def count_tokens(text: str) -> int:
    """An estimate that errs upwards: words by fours, digits and marks one each, other scripts by bytes.

    Common tokenizers make less of real code; give an exact `count` where the exact number matters.
    """
    total = 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece.isspace():
            total += 1 if piece[0] != "\n" else (len(piece) + 3) // 4
        elif piece.isascii():
            total += (len(piece) + 3) // 4
        else:
            total += len(piece.encode("utf-8", "replace"))
    return total


def build_context(
    index: CodeIndex,
    text: str,
    *,
    k: int = HITS,
    budget: int = TOKENS,
    count: Count = count_tokens,
    language: str = "",
    path: str = "",
    speaking: str = "",
) -> Context:
    """Search, check each hit against the disk, and lay out what fits the budget.

    INVARIANT: `count(context.text) <= budget`, whatever was found.
    """
    answer = index.search(text, k, language=language, path=path, speaking=speaking)
    notes = list(answer.notes)
    stale = [hit for hit in answer.hits if hit.stale]
    if stale:
        notes += catch_up(index, stale)
    pieces: list[Piece] = []
    said = ""
    used = 0
    shown: set[str] = set()
    for hit in answer.hits:
        piece = _lay_out(index, hit, shown)
        if piece is None:
            continue
        fitted = _fit(piece, said, budget, count)
        if fitted is None:
            continue
        said += fitted.text
        used = count(said)
        shown.add(hit.file_path)
        pieces.append(fitted)
    left = len(answer.hits) - len(pieces)
    if left:
        notes.append(f"{left} more did not fit {budget} tokens")
    return Context(said, used, tuple(pieces), left, len(stale), tuple(notes))


def catch_up(index: CodeIndex, stale: Sequence[Hit]) -> list[str]:
    """Index again what was found stale: the files, or their folders when more than three were."""
    if not index.lease.take():
        return ["stale files are being indexed by another process"]
    try:
        paths = {hit.file_path for hit in stale}
        if len(stale) > MANY_STALE:
            store = index.store()
            folders = {os.path.dirname(path) for path in paths}
            known = store.known() if store is not None else {}
            paths |= {path for path in known if os.path.dirname(path) in folders}
        index.apply(Changes(changed=tuple(sorted(paths))))
    finally:
        index.lease.release()
    if len(stale) > MANY_STALE:
        return [f"more than {MANY_STALE} fragments were stale: their folders were indexed again"]
    return []


def _lay_out(index: CodeIndex, hit: Hit, shown: set[str]) -> Piece | None:
    """A hit with its imports and the lines around it, as the file is now."""
    try:
        data, digest, _ = read_bytes(index.root, hit.file_path)
        text = read_text(data, hit.file_path)
    except SetAsideError:
        return None
    lines = text.split("\n")
    low = max(1, hit.start_line - AROUND)
    high = min(len(lines), hit.end_line + AROUND)
    imports: list[str] = []
    if hit.file_path not in shown:
        for first, last in _import_lines(index, hit, text, digest, len(data)):
            if last < low or first > high:
                imports += lines[first - 1 : last]
    head = f"── {hit.file_path}:{low}-{high}"
    if hit.name:
        head += f"  {hit.kind} {hit.name}"
    if hit.parent_symbol:
        head += f"  in {hit.parent_symbol}"
    body = "\n".join([head, *imports, *(["…"] if imports else []), *lines[low - 1 : high], ""])
    body = redact(body).text
    return Piece(hit.file_path, low, high, body, 0, hit.name, hit.relevance_score, hit.stale)


def _import_lines(index: CodeIndex, hit: Hit, text: str, digest: str, size: int) -> list[tuple[int, int]]:
    store = index.store()
    row = store.file(hit.file_path) if store is not None else None
    if row is not None and row.hash == digest:
        found = json.loads(row.imports)
    else:
        found = take_apart(hit.file_path, text, digest, size, 0, index.lexicon).imports
    return sorted({(first, last) for _, first, last in found})


def _fit(piece: Piece, before: str, budget: int, count: Count) -> Piece | None:
    """A piece shortened at its end until all that is said so far fits; None when not even its head does."""
    lines = piece.text.split("\n")
    low, high = 0, len(lines)
    while low < high:  # the most lines that fit
        middle = (low + high + 1) // 2
        if count(before + _joined(lines, middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    if low < min(len(lines), 3):
        return None
    text = _joined(lines, low)
    return Piece(
        piece.file_path,
        piece.start_line,
        piece.end_line if low == len(lines) else min(piece.end_line, piece.start_line + low),
        text,
        count(text),
        piece.name,
        piece.relevance_score,
        piece.stale,
        low < len(lines),
    )


def _joined(lines: Sequence[str], many: int) -> str:
    if many >= len(lines):
        return "\n".join(lines)
    return "\n".join([*lines[:many], "… (cut to fit)", ""])
