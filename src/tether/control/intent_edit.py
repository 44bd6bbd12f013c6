"""Edits of the intents file, text in and text out: comments, order, quotes and blank lines stay.

Each edit replaces or inserts only the characters it must, at the places the parser reports, and is then read
back. INVARIANT: what is returned parses to exactly the intents meant, or nothing is returned.

A delegated intent is named after its parent: `INT-001` has the children `INT-001-a`, `INT-001-b`, …, then
`INT-001-aa`. Its parent's constraints hold for it without being copied.
"""

from __future__ import annotations

import re

from tether.control.containment import contains, overlap
from tether.control.intent_file import KEYS, REQUIRED, load, locate, nearest, parse
from tether.control.intents import LIVE, STATUSES, children, find
from tether.control.yaml_nodes import Node
from tether.control.yaml_text import field_flow, field_lines, flow_list, item_lines, scalar, stated
from tether.errors import TetherError
from tether.types import Criterion, Intent, noun, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Values = Sequence[str | Criterion]


@noun
class Overlap:
    """A sibling that owns a path the new intent owns too; no path means that it cannot be ruled out."""

    intent: str
    path: str = ""


def next_id(intents: Sequence[Intent], prefix: str = "INT") -> str:
    """The first number above every one taken, written as wide as they are."""
    numbers = [
        m[1] for intent in intents if (m := re.fullmatch(re.escape(prefix) + r"-(\d+)(?:-.*)?", intent.id))
    ]
    width = max((len(number) for number in numbers), default=3)
    return f"{prefix}-{max(map(int, numbers), default=0) + 1:0{width}d}"


def child_id(intents: Sequence[Intent], parent_id: str) -> str:
    """The first free letter below the parent."""
    taken = {intent.id for intent in intents}
    number = 0
    while (name := f"{parent_id}-{_letters(number)}") in taken:
        number += 1
    return name


def _letters(number: int) -> str:
    letters = ""
    while True:
        letters = chr(97 + number % 26) + letters
        number = number // 26 - 1
        if number < 0:
            return letters


def add(text: str, intent: Intent) -> str:
    """The file with one more intent at the end of its list."""
    intents, root = load(text)
    if find(intents, intent.id) is not None:
        raise TetherError(
            "ALREADY_EXISTS", f"intent `{intent.id}` is already there", action="Choose another id"
        )
    intent = _normal(intent)
    key, rows = locate(root) if root is not None else (None, None)
    draft = _Draft(text)
    if rows is None:
        start = text + (draft.newline if text and not text.endswith("\n") else "")
        lines = ["active_intents:", *_lines(intent, 2)]
        return _settle(start + draft.join(lines) + draft.newline, (*intents, intent))
    if rows.kind == "list" and rows.items and rows.flow:
        draft.put(
            rows.items[-1].end,
            ", {" + ", ".join(field_flow(*f) for f in stated(intent, KEYS, REQUIRED)) + "}",
        )
    elif rows.kind == "list" and rows.items:
        dash = draft.dash(rows.items[0])
        loose = len(rows.items) > 1 and draft.follows_blank(rows.items[-1].start)
        draft.put(
            draft.past_comments(draft.line_end(rows.end), dash),
            draft.newline * (2 if loose else 1) + draft.join(_lines(intent, dash)),
        )
    elif key is None:
        draft.swap(rows.start, rows.end, draft.join(_lines(intent, 0)))
    else:
        colon = text.index(":", key.end) + 1
        if rows.kind == "list" or rows.value:
            draft.swap(colon, rows.end, "")
        draft.put(draft.line_end(colon), draft.newline + draft.join(_lines(intent, key.column + 2)))
    return _settle(draft.done(), (*intents, intent))


def set_fields(text: str, intent_id: str, changes: Mapping[str, Any]) -> str:
    """The file with some fields of one intent changed; all else stays, character for character."""
    intents, root = load(text)
    intent = find(intents, intent_id)
    if intent is None or root is None:
        raise TetherError("NOT_FOUND", f"no intent `{intent_id}`", action="See `tether intent list`")
    for name in changes:
        if name not in KEYS or name == "id":
            raise TetherError(
                "BAD_ARGUMENTS", f"`{name}` cannot be set; did you mean `{nearest(name, KEYS[1:])}`?"
            )
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    changed = _normal(replace(intent, **values))
    rows = locate(root)[1]
    assert rows is not None
    node = rows.items[[other.id for other in intents].index(intent_id)]
    draft = _Draft(text)
    for name in KEYS:
        was, now = getattr(intent, name), getattr(changed, name)
        if was != now:
            _change(draft, node, name, was, now)
    return _settle(draft.done(), tuple(changed if other is intent else other for other in intents))


def set_status(text: str, intent_id: str, status: str, now: str) -> str:
    """The file with one intent's status changed, and the date beside it."""
    if status not in STATUSES:
        raise TetherError(
            "BAD_ARGUMENTS", f"`{status}` is no status; did you mean `{nearest(status, STATUSES)}`?"
        )
    return set_fields(text, intent_id, {"status": status, "updated": now})


def delegate(
    text: str,
    parent_id: str,
    to: str,
    scope: Sequence[str],
    now: str,
    *,
    name: str = "",
    status: str = "",
    constraints: Sequence[str] = (),
    acceptance_criteria: Sequence[Criterion] = (),
) -> tuple[str, Intent, tuple[Overlap, ...]]:
    """The file with a child intent owned by the worker, the child, and the siblings whose scope it meets.

    Unless told otherwise, the child has its parent's status.
    """
    intents = parse(text)
    parent = find(intents, parent_id)
    if parent is None:
        raise TetherError("NOT_FOUND", f"no intent `{parent_id}`", action="See `tether intent list`")
    if parent.status not in LIVE:
        raise TetherError(
            "INTENT_INVALID", f"intent `{parent_id}` is {parent.status}; nothing of it can be delegated"
        )
    answer = contains(parent.owned_scope, scope)
    if answer.undecided:
        raise TetherError(
            "SCOPE_VIOLATION",
            f"cannot prove that the scope lies inside that of `{parent_id}`",
            action="Write the scope with fewer wildcards",
        )
    if not answer.ok:
        raise TetherError(
            "SCOPE_VIOLATION",
            f"`{answer.offending}` also owns `{answer.witness}`, which `{parent_id}` does not own",
            action="Narrow the scope to what the parent owns",
        )
    child = Intent(
        id=child_id(intents, parent_id),
        name=name or f"{parent.name} ({to})",
        status=status or parent.status,
        owned_scope=tuple(scope),
        constraints=tuple(constraints),
        acceptance_criteria=tuple(acceptance_criteria),
        owner=to,
        parent=parent_id,
        created=now,
        updated=now,
    )
    met = (_meeting(other, child) for other in children(intents, parent_id) if other.status in LIVE)
    return add(text, child), _normal(child), tuple(overlap for overlap in met if overlap is not None)


def _meeting(other: Intent, child: Intent) -> Overlap | None:
    try:
        path = overlap(other.owned_scope, child.owned_scope)
    except TetherError:
        return Overlap(other.id)
    return Overlap(other.id, path) if path is not None else None


def _normal(intent: Intent) -> Intent:
    """The intent as it will be read back."""
    return replace(
        intent,
        acceptance_criteria=tuple(
            Criterion(c.text or c.command, c.command) for c in intent.acceptance_criteria
        ),
    )


def _lines(intent: Intent, indent: int) -> list[str]:
    lines = [line for field in stated(intent, KEYS, REQUIRED) for line in field_lines(*field, indent + 2)]
    return [" " * indent + "- " + lines[0].lstrip(), *lines[1:]]


def _settle(text: str, meant: tuple[Intent, ...]) -> str:
    try:
        found = parse(text)
    except TetherError as error:
        what = "; ".join(f"expected {p['expected']}, found {p['found']}" for p in error.data["problems"])
        raise TetherError("BAD_ARGUMENTS", f"the intents file would not be valid: {what}") from error
    if found != meant:
        raise TetherError(
            "BAD_ARGUMENTS",
            "the intents file is written in a way this edit would disturb",
            action="Make the change in .orchestration/active_intents.yaml by hand",
        )
    return text


class _Draft:
    """A text and the edits to make in it, at positions of the original."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self._edits: list[tuple[int, int, str]] = []

    def put(self, at: int, new: str) -> None:
        self._edits.append((at, at, new))

    def swap(self, start: int, end: int, new: str) -> None:
        self._edits.append((start, end, new))

    def done(self) -> str:
        pieces, at = [], 0
        # The sort is stable: edits at one place follow each other as they were asked for.
        for start, end, new in sorted(self._edits, key=lambda edit: edit[0]):
            pieces += [self.text[at:start], new]
            at = max(at, end)
        return "".join([*pieces, self.text[at:]])

    def join(self, lines: Sequence[str]) -> str:
        return self.newline.join(lines)

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def follows_blank(self, at: int) -> bool:
        """Whether the line above is blank."""
        start = self.line_start(at)
        return not self.text[self.line_start(max(start - 1, 0)) : start].strip()

    def line_end(self, at: int) -> int:
        """Where the line of what ends here ends; a block scalar ends at its last line that says something."""
        if self.text[at - 1 : at] == "\n":
            at = len(self.text[:at].rstrip())
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[end - 1 : end] == "\r" else end

    def past_comments(self, end: int, dash: int) -> int:
        """The end of the last of the comment lines that follow, indented deeper than the dash."""
        while (following := re.compile(r"\r?\n( *)#[^\n]*").match(self.text, end)) and len(
            following[1]
        ) > dash:
            end = self.line_end(following.end())
        return end

    def dash(self, item: Node) -> int:
        """The column of the dash that introduces an item."""
        start = self.line_start(item.start)
        return self.text.rfind("-", start, item.start) - start


def _change(draft: _Draft, node: Node, name: str, was: str | Values, now: str | Values) -> None:
    """Note the edits that turn one field of the intent at the node into its new value."""
    entry = next((entry for entry in node.entries if entry[0].value == name), None)
    if entry is None:
        _insert(draft, node, name, now)
        return
    key, value = entry
    colon = draft.text.index(":", key.end) + 1
    if value.is_empty and not value.value:
        if node.flow or isinstance(now, str) or not now:
            new = " " + (scalar(now) if isinstance(now, str) else flow_list(now))
            draft.put(colon, new)
        else:
            lines = field_lines(name, now, key.column)[1:]
            draft.put(draft.line_end(colon), draft.newline + draft.join(lines))
    elif isinstance(now, str):
        end = value.end
        if value.style in ("|", ">"):
            end = len(draft.text[:end].rstrip())
        draft.swap(value.start, end, scalar(now, value.style))
    elif value.kind == "list" and not value.flow:
        assert not isinstance(was, str)
        _change_list(draft, value, colon, was, now)
    elif value.kind == "list" and value.items and now[: len(was)] == was:
        draft.put(value.items[-1].end, ", " + flow_list(now[len(was) :])[1:-1])
    else:
        draft.swap(value.start, value.end, flow_list(now))


def _insert(draft: _Draft, node: Node, name: str, now: str | Values) -> None:
    """A field that was not there, after the nearest one that comes before it."""
    if node.flow:
        key, value = node.entries[-1]
        draft.put(
            max(key.end, value.end if value.value or value.kind != "scalar" else 0),
            ", " + field_flow(name, now),
        )
        return
    before = [
        entry for entry in node.entries if KEYS.index(entry[0].value) < KEYS.index(name)
    ] or node.entries
    key, value = max(before, key=lambda entry: KEYS.index(entry[0].value))
    end = draft.line_end(key.end if value.is_empty and not value.value else value.end)
    draft.put(end, draft.newline + draft.join(field_lines(name, now, node.entries[0][0].column)))


def _change_list(draft: _Draft, rows: Node, colon: int, was: Values, now: Values) -> None:
    """Touch only the items that differ, so that comments beside and between the others stay."""
    from difflib import SequenceMatcher

    items, dash = rows.items, draft.dash(rows.items[0])
    if not now:
        draft.put(colon, " []")
    for what, i, i_end, j, j_end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        new = [line for value in now[j:j_end] for line in item_lines(value, dash)]
        if what == "insert" and i == 0:
            draft.put(draft.line_start(items[0].start), draft.join(new) + draft.newline)
        elif what == "insert":
            draft.put(draft.line_end(items[i - 1].end), draft.newline + draft.join(new))
        elif what in ("replace", "delete"):
            for at in range(i, i_end):
                start, end = draft.line_start(items[at].start), draft.line_end(items[at].end)
                if new and at == i:
                    draft.swap(start, end, draft.join(new))
                else:
                    # With the line goes the break before it, which is the one sure to be there.
                    draft.swap(draft.line_end(start - 1), end, "")
