"""`.orchestration/active_intents.yaml` → intents, or every problem at once with its line and column.

The file is a list of intents, bare or under `active_intents:` (or `intents:`). An intent needs `id`, `name`,
`status` and `owned_scope`; `constraints`, `acceptance_criteria`, `owner`, `related`, `parent`, `created` and
`updated` are optional. A criterion is a sentence; or a command, written `$ pytest -q`, `run: pytest -q`, or
`text: …` with `command: …`. A child's scope must lie inside its parent's for as long as the child may write.
"""

from __future__ import annotations

import re

from tether.control.containment import LIMIT, Effort, contains
from tether.control.intents import LIST_FIELDS, LIVE, STATUSES, TEXT_FIELDS, is_id
from tether.control.scope import MAX_PATTERNS, compile_scope, parse_pattern
from tether.control.yaml_nodes import Malformed, Node, describe, is_text, read, show
from tether.errors import TetherError
from tether.types import Criterion, Intent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

NAME = ".orchestration/active_intents.yaml"
MAX_BYTES = 1 << 20
MAX_INTENTS = 1_000
KEYS = (
    "id",
    "name",
    "status",
    "owner",
    "owned_scope",
    "constraints",
    "acceptance_criteria",
    "related",
    "parent",
    "created",
    "updated",
)
REQUIRED = ("id", "name", "status", "owned_scope")
TOP = ("active_intents", "intents")

# Controls, lone surrogates, line separators, and what reverses the direction a reader sees.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# What other trackers call it; the message names ours, the file stays the person's to correct.
_KIN = {
    "in_progress": "active",
    "open": "active",
    "started": "active",
    "todo": "draft",
    "planned": "draft",
    "new": "draft",
    "blocked": "paused",
    "on_hold": "paused",
    "closed": "done",
    "complete": "done",
    "finished": "done",
    "completed": "done",
    "cancelled": "abandoned",
    "canceled": "abandoned",
    "rejected": "abandoned",
}


def parse(text: str, name: str = NAME) -> tuple[Intent, ...]:
    """The intents of the file; INTENTS_MALFORMED with every problem rather than a guess."""
    return load(text, name)[0]


def load(text: str, name: str = NAME) -> tuple[tuple[Intent, ...], Node | None]:
    """The intents, and the document they were read from, for edits that keep the rest as it is."""
    problems = _Problems(name)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        problems.add(0, 0, f"at most {MAX_BYTES} bytes", f"{size}")
        problems.settle()
    nodes: list[Node] = []
    root: Node | None = None
    try:
        root = read(text)
    except Malformed as error:
        problems.add(error.line, error.column, error.expected, error.found)
    if root is not None:
        _, rows = _listing(root, problems)
        nodes = rows.items if rows is not None else []
        if rows is not None and len(nodes) > MAX_INTENTS:
            problems.at(rows, f"at most {MAX_INTENTS} intents", f"{len(nodes)}")
            problems.settle()
    intents = [_intent(node, problems) for node in nodes]
    _relate(intents, nodes, problems)
    problems.settle()
    return tuple(intents), root


def locate(root: Node) -> tuple[Node | None, Node | None]:
    """The key that the list of intents stands under, and the list, in a document read without problem."""
    return _listing(root, _Problems(""))


class _Problems:
    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[dict[str, Any]] = []

    def add(self, line: int, column: int, expected: str, found: str) -> None:
        self.found.append(
            {"file": self.file, "line": line + 1, "column": column + 1, "expected": expected, "found": found}
        )

    def at(self, node: Node, expected: str, found: str = "") -> None:
        self.add(node.line, node.column, expected, found or describe(node))

    def settle(self) -> None:
        """Raise if anything was found, in the order a reader meets it."""
        if not self.found:
            return
        self.found.sort(key=lambda problem: (problem["line"], problem["column"]))
        lines = [
            f"{p['file']}:{p['line']}:{p['column']}: expected {p['expected']}, found {p['found']}"
            for p in self.found
        ]
        if len(lines) > 20:
            lines[20:] = [f"… and {len(lines) - 20} more"]
        raise TetherError("INTENTS_MALFORMED", "\n".join(lines), problems=self.found)


def nearest(word: str, among: Sequence[str]) -> str:
    """The closest of the valid words, however far."""
    from difflib import SequenceMatcher

    return max(among, key=lambda valid: SequenceMatcher(None, word[:64].lower(), valid).ratio())


def _listing(root: Node, problems: _Problems) -> tuple[Node | None, Node | None]:
    if root.kind == "list":
        return None, root
    if root.kind != "map":
        problems.at(root, "`active_intents:` with a list of intents")
        return None, None
    found: tuple[Node | None, Node | None] = (None, None)
    for key, value in _entries(root, problems):
        if key.value in TOP:
            if found[0] is not None:
                problems.at(key, "one list of intents", f"a second, `{key.value}`")
            found = key, value
            if value.kind != "list" and not value.is_empty:
                problems.at(value, "a list of intents")
        elif key.value == "version":
            if value.value != "1":
                problems.at(value, "version 1")
        else:
            problems.at(key, f"`{nearest(key.value, (*TOP, 'version'))}`")
    if found[0] is None:
        problems.at(root, "`active_intents:` with a list of intents", "no such key")
    return found


def _entries(node: Node, problems: _Problems) -> list[tuple[Node, Node]]:
    """The map's entries, each key once."""
    seen: set[str] = set()
    entries = []
    for key, value in node.entries:
        if key.kind != "scalar":
            problems.at(key, "a plain key")
        elif key.value in seen:
            problems.at(key, "each key once", f"`{show(key.value)}` again")
        else:
            seen.add(key.value)
            entries.append((key, value))
    return entries


def _intent(node: Node, problems: _Problems) -> Intent:
    """The intent at the node; whatever is wrong in it is reported and left at its default."""
    values: dict[str, Any] = {"id": "", "name": ""}
    if node.kind != "map":
        problems.at(node, "an intent, a map with `id`, `name`, `status` and `owned_scope`")
        return Intent(**values)
    entries = _entries(node, problems)
    for key, value in entries:
        if key.value == "acceptance_criteria":
            values[key.value] = tuple(_criterion(item, problems) for item in _items(value, problems))
        elif key.value in LIST_FIELDS:
            values[key.value] = tuple(_text(item, problems) for item in _items(value, problems))
        elif key.value in TEXT_FIELDS:
            values[key.value] = _text(value, problems, one_line=True, blank=key.value not in REQUIRED)
        else:
            problems.at(key, f"`{nearest(key.value, KEYS)}`", f"the unknown key `{show(key.value)}`")
            continue
        if key.value == "id":
            if values["id"] and not is_id(values["id"]):
                problems.at(value, "an id such as `INT-001`")
        elif key.value == "status":
            values["status"] = _status(value, values["status"], problems)
        elif key.value == "owned_scope":
            values["owned_scope"] = _scope(value, values["owned_scope"], problems)
    given = {key.value for key, _ in entries}
    for name in REQUIRED:
        if name not in given:
            problems.at(node, f"`{name}`", "an intent without it")
    return Intent(**values)


def _items(node: Node, problems: _Problems) -> list[Node]:
    if node.kind == "list":
        return node.items
    if not node.is_empty:
        problems.at(node, "a list")
    return []


def _text(node: Node, problems: _Problems, one_line: bool = False, blank: bool = False) -> str:
    if blank and node.is_empty:
        return ""
    if not is_text(node):
        found = describe(node)
        problems.at(
            node, "text", f"{found}, which needs quotes to be text" if found.startswith("the ") else found
        )
        return ""
    text = node.value if one_line else node.value.rstrip("\n")
    if not text.strip():
        if not blank:
            problems.at(node, "text", "an empty text")
        return ""
    unfit = _UNFIT.search(text) or (re.search(r"[\n\t]", text) if one_line else None)
    if unfit is not None:
        problems.at(node, "one line of text" if one_line else "text", f"the character U+{ord(unfit[0]):04X}")
        return ""
    return text


def _status(node: Node, text: str, problems: _Problems) -> str:
    status = text.lower()
    if status in STATUSES:
        return status
    if text:
        near = _KIN.get(status.replace("-", "_").replace(" ", "_")) or nearest(status, STATUSES)
        problems.at(node, f"`{near}` (one of {', '.join(STATUSES)})")
    return "draft"


def _scope(node: Node, globs: tuple[str, ...], problems: _Problems) -> tuple[str, ...]:
    good = []
    for item, glob in zip(_items(node, _Problems("")), globs, strict=True):
        if glob:
            try:
                parse_pattern(glob)
                good.append(glob)
            except TetherError as error:
                problems.at(item, "a glob below the project's root", error.message)
    if len(good) > MAX_PATTERNS:
        problems.at(node, f"at most {MAX_PATTERNS} globs", f"{len(good)}")
        return ()
    return tuple(good)


def _criterion(node: Node, problems: _Problems) -> Criterion:
    if node.kind != "map":
        text = _text(node, problems)
        if text.startswith("$ "):
            return Criterion(text[2:].strip(), text[2:].strip())
        return Criterion(text)
    values: dict[str, str] = {}
    for key, value in _entries(node, problems):
        name = "command" if key.value == "run" else key.value
        if name not in ("text", "command"):
            expected = nearest(key.value, ("text", "command", "run"))
            problems.at(key, f"`{expected}`", f"the unknown key `{show(key.value)}`")
        elif name in values:
            problems.at(key, "either `command` or `run`", "both")
        else:
            values[name] = _text(value, problems)
    if not node.entries:
        problems.at(node, "a criterion with `text`, `command` or `run`")
    command = values.get("command", "")
    return Criterion(values.get("text", "") or command, command)


def _relate(intents: list[Intent], nodes: list[Node], problems: _Problems) -> None:
    """Ids are unique, parents exist and do not cycle, and a living child stays inside its parent's scope."""
    first: dict[str, Node] = {}
    for intent, node in zip(intents, nodes, strict=True):
        if intent.id in first:
            problems.at(
                _value(node, "id"),
                "each id once",
                f"`{intent.id}`, first used in line {first[intent.id].line + 1}",
            )
        elif intent.id:
            first[intent.id] = node
    by_id = {intent.id: intent for intent in reversed(intents)}
    children = [(intent, node) for intent, node in zip(intents, nodes, strict=True) if intent.parent]
    effort = Effort(5 * LIMIT)
    for intent, node in children:
        parent = by_id.get(intent.parent)
        if parent is None:
            problems.at(_value(node, "parent"), "the id of an intent in this file")
        elif _circles(intent, by_id):
            problems.at(
                _value(node, "parent"), "a chain of parents that ends", f"`{intent.parent}`, in a circle"
            )
        elif intent.status in LIVE:
            _contain(parent, intent, _value(node, "owned_scope"), problems, effort)


def _circles(intent: Intent, by_id: dict[str, Intent]) -> bool:
    seen = set()
    above: Intent | None = intent
    while above is not None and above.id not in seen:
        seen.add(above.id)
        above = by_id.get(above.parent)
    return above is not None


def _contain(parent: Intent, child: Intent, node: Node, problems: _Problems, effort: Effort) -> None:
    answer = contains(parent.owned_scope, child.owned_scope, effort)
    if answer.ok:
        return
    expected = f"a scope inside that of its parent `{parent.id}`"
    if answer.undecided:
        problems.at(node, expected, "one too intricate to compare; write it with fewer wildcards")
        return
    globs = compile_scope(child.owned_scope).globs
    at = (
        node.items[globs.index(answer.offending)]
        if node.kind == "list" and len(node.items) == len(globs)
        else node
    )
    problems.at(at, expected, f"`{show(answer.offending)}`, which also owns `{show(answer.witness)}`")


def _value(node: Node, name: str) -> Node:
    """The value of a key, or the intent's own node when it has no such key."""
    if node.kind == "map":
        for key, value in node.entries:
            if key.value == name:
                return value
    return node
