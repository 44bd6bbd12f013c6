"""`.orchestration/intent_map.md`: which files and symbols each intent shaped, for people to read.

The rule: the map is updated when a change is an INTENT_EVOLUTION, or when an intent's scope changes; a
refactor leaves it as it is. Rows are merged into what the section already holds: a symbol touched again gets
its new lines, others keep theirs, and what a person wrote between the markers is kept. Sections are ordered
by intent, rows by path, anchors by line, so that the same facts always give the same text.
"""

from __future__ import annotations

import re

from tether.control.intents import is_id
from tether.errors import TetherError
from tether.record.marked import lines, splice
from tether.types import noun, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAME = "intent-map"
MAX_ANCHORS = 60

_COLUMNS = ("file", "anchors", "class", "record", "updated")
_ENTITY = re.compile(r"&#(\d{1,7});")
_HEADING = re.compile(r"#{1,6} +([A-Z][A-Z0-9]*-[A-Za-z0-9_-]+)(?::? *(.*?))?(?: *\((\w*)\))?\s*")
_ANCHOR = re.compile(r"(?:([^`\s()]+) )?(`[^`]*`|[^`\s()]+)(?: \((\d+)(?:[–-](\d+))?\))?")
_MORE = re.compile(r"and (\d+) more")
_SCOPE = "Scope: "


@noun
class Anchor:
    """A named piece of a file's syntax tree and its lines; `raw` is what a person wrote instead."""

    symbol: str
    kind: str = ""
    start: int = 0
    end: int = 0
    raw: str = ""


@noun
class Entry:
    """One intent's touch of one file. Without a path it updates the intent's name, status and scope alone."""

    intent: str
    name: str = ""
    status: str = ""
    path: str = ""
    anchors: tuple[Anchor, ...] = ()
    record: str = ""
    mutation_class: str = ""
    date: str = ""
    scope: tuple[str, ...] | None = None
    deleted: bool = False


@noun
class _Row:
    path: str
    anchors: tuple[Anchor, ...] = ()
    more: int = 0  # anchors that were too many to list
    mutation_class: str = ""
    record: str = ""
    date: str = ""


class _Section:
    def __init__(self, intent: str) -> None:
        self.intent = intent
        self.name = self.status = self.scope = ""
        self.notes: list[str] = []
        self.rows: dict[str, _Row] = {}


def calls_for_update(mutation_class: str, scope_changed: bool = False) -> bool:
    """Whether a change belongs in the map: what an intent means moved, or what it owns."""
    return scope_changed or mutation_class == "INTENT_EVOLUTION"


def update(text: str, entries: Iterable[Entry]) -> str:
    """The file with these entries merged into its marked section, and nothing else changed."""
    preamble, sections = _read(lines(text, NAME))
    for entry in entries:
        if not is_id(entry.intent):
            raise TetherError("BAD_ARGUMENTS", f"`{entry.intent:.80}` is no intent's id")
        section = sections.setdefault(entry.intent, _Section(entry.intent))
        section.name = entry.name.strip() or section.name
        section.status = re.sub(r"\W", "_", entry.status) or section.status
        if entry.scope is not None:
            section.scope = ", ".join(_code(glob) for glob in entry.scope if glob) or "nothing"
        if entry.deleted:
            section.rows.pop(entry.path, None)
        elif entry.path:
            section.rows[entry.path] = _merge(section.rows.get(entry.path) or _Row(entry.path), entry)
    return splice(text or "# Intent map\n", NAME, _write(preamble, sections))


def _merge(row: _Row, entry: Entry) -> _Row:
    late = entry.date < row.date  # an entry replayed out of order adds what is missing and overrides nothing
    new = tuple(_normal(anchor) for anchor in entry.anchors if anchor.symbol)
    first, second = (new, row.anchors) if late else (row.anchors, new)
    found = {(anchor.symbol, anchor.kind, anchor.raw): anchor for anchor in (*first, *second)}
    row = replace(row, anchors=tuple(found.values()))
    if late:
        return row
    return replace(row, mutation_class=entry.mutation_class, record=entry.record, date=entry.date)


def _normal(anchor: Anchor) -> Anchor:
    """The anchor as it will be read back."""
    start = max(anchor.start, 0)
    return Anchor(anchor.symbol, anchor.kind, start, max(anchor.end, start) if start else 0)


# ── text that cannot act as Markdown ─────────────────────────────────────────


def _code(text: str) -> str:
    """The text as a code span, or, where one could not hold it, with every odd character as an entity."""
    if text and text == text.strip() and text.isprintable() and not set(text) & set("`\\<>&|"):
        return f"`{text}`"
    return _entities(text, "/.-_")


def _entities(text: str, keep: str) -> str:
    return "".join(c if c.isprintable() and (c.isalnum() or c in keep) else f"&#{ord(c)};" for c in text)


def _prose(text: str) -> str:
    """A name as Markdown prose: readable, but unable to be anything else."""
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]<>&#|~" or not c.isprintable() else c for c in text)


def _plain(cell: str) -> str:
    cell = cell.strip()
    if len(cell) > 1 and cell[0] == cell[-1] == "`":
        return cell[1:-1]
    return _ENTITY.sub(lambda found: chr(int(found[1])) if int(found[1]) < 0x110000 else found[0], cell)


# ── reading ──────────────────────────────────────────────────────────────────


def _read(rows: Sequence[str]) -> tuple[list[str], dict[str, _Section]]:
    """What stands before the first intent, and each intent's section."""
    preamble: list[str] = []
    sections: dict[str, _Section] = {}
    section: _Section | None = None
    for line in rows:
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            section = sections.setdefault(heading[1], _Section(heading[1]))
            section.name = section.name or _plain(heading[2] or "")
            section.status = section.status or heading[3] or ""
        elif section is None:
            preamble.append(line)
        elif line.startswith(_SCOPE) and not section.scope:
            section.scope = line[len(_SCOPE) :].strip()
        elif line.strip() and not _read_row(section, line):
            section.notes.append(line.rstrip())
    while preamble and not preamble[-1].strip():
        preamble.pop()
    return preamble, sections


def _read_row(section: _Section, line: str) -> bool:
    """Take a table row into the section; False when the line is none, and is to be kept as it is."""
    stripped = line.strip()
    if not stripped.startswith("|"):
        return False
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", stripped.strip("|"))]
    if tuple(cells) == _COLUMNS or not "".join(cells).strip("-: "):
        return True
    if len(cells) > len(_COLUMNS) or not cells[0]:
        return False
    path, anchors, mutation_class, record, date = [*cells, "", "", "", ""][: len(_COLUMNS)]
    found, more = _read_anchors(anchors)
    row = _Row(_plain(path), found, more, _plain(mutation_class), _plain(record), _plain(date))
    known = section.rows.get(row.path)
    if known is not None:
        older, newer = sorted((known, row), key=lambda each: each.date)
        merged = {(a.symbol, a.kind, a.raw): a for a in (*older.anchors, *newer.anchors)}
        row = replace(newer, anchors=tuple(merged.values()), more=max(known.more, row.more))
    section.rows[row.path] = row
    return True


def _read_anchors(cell: str) -> tuple[tuple[Anchor, ...], int]:
    anchors, more = [], 0
    for part in filter(None, (part.strip() for part in cell.split("<br>"))):
        counted, anchor = _MORE.fullmatch(part), _ANCHOR.fullmatch(part)
        if counted is not None:
            more = int(counted[1])
        elif (
            anchor is not None
            and _plain(anchor[2])
            and len(anchor[3] or "") < 10
            and len(anchor[4] or "") < 10
        ):
            start = int(anchor[3] or 0)
            anchors.append(
                _normal(Anchor(_plain(anchor[2]), _plain(anchor[1] or ""), start, int(anchor[4] or 0)))
            )
        else:
            anchors.append(Anchor("", raw=part))
    return tuple(anchors), more


# ── writing ──────────────────────────────────────────────────────────────────


def _write(preamble: Sequence[str], sections: dict[str, _Section]) -> list[str]:
    blocks = [list(preamble)]
    for section in sorted(sections.values(), key=lambda each: _natural(each.intent)):
        # Always with a status, or a name that ends in brackets would be read back as one.
        blocks.append([f"### {section.intent}: {_prose(section.name)} ({section.status or 'unknown'})"])
        blocks.append([_SCOPE + section.scope] if section.scope else [])
        blocks.append(section.notes)
        if section.rows:
            rows = [_write_row(section.rows[path]) for path in sorted(section.rows)]
            blocks.append([f"| {' | '.join(_COLUMNS)} |", f"|{' --- |' * len(_COLUMNS)}", *rows])
    return [line for block in blocks if block for line in ("", *block)][1:]


def _write_row(row: _Row) -> str:
    ordered = sorted(
        (a for a in row.anchors if a.symbol or a.raw), key=lambda a: (a.start, a.end, a.symbol, a.kind, a.raw)
    )
    parts = [_write_anchor(anchor) for anchor in ordered[:MAX_ANCHORS]]
    more = max(row.more, len(ordered) - MAX_ANCHORS)
    if more > 0:
        parts.append(f"and {more} more")
    record = _code(row.record) if row.record else ""
    cells = (
        _code(row.path),
        "<br>".join(parts),
        _entities(row.mutation_class, "_"),
        record,
        _entities(row.date, "-:."),
    )
    return "| " + " | ".join(cells) + " |"


def _write_anchor(anchor: Anchor) -> str:
    if anchor.raw:
        return anchor.raw
    kind = f"{_entities(anchor.kind, '_-')} " if anchor.kind else ""
    span = f"{anchor.start}" if anchor.end == anchor.start else f"{anchor.start}–{anchor.end}"
    return f"{kind}{_code(anchor.symbol)}" + (f" ({span})" if anchor.start else "")


def _natural(intent: str) -> list[tuple[int, str]]:
    """Numbers in order of size, so that INT-9 comes before INT-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", intent)]
