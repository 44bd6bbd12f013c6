"""The documents people read: the intent map and the marked section of the shared brain.

Both follow from the journal, each from its own cursor, so that a killed process only delays them. What they
say of a place in the code is taken from the record, never from the agent's words.
"""

from __future__ import annotations

import os

from tether.errors import TetherError
from tether.record import brain, intent_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from tether.config import Record as Settings
    from tether.record.contents import Contents
    from tether.record.journal import Journal
    from tether.types import Entry, Intent

MAP = ".orchestration/intent_map.md"
DECISIONS, LESSONS, FAILURES = "decisions", "lessons", "failures"


def refresh(
    entries: Sequence[Entry],
    record_of: Callable[[Entry], dict[str, Any]],
    *,
    journal: Journal,
    contents: Contents,
    root: str,
    intents: Sequence[Intent],
    settings: Settings,
) -> list[str]:
    """Takes new journal entries into the documents; what could not be written, in words."""
    problems = []
    if settings.update_intent_map:
        rows = list(_map_entries(entries, record_of, contents, intents))
        problems += _rewrite(os.path.join(root, MAP), lambda text: intent_map.update(text, rows), bool(rows))
    if settings.update_brain:
        name = settings.brain or brain.choose(os.listdir(root))
        path = os.path.join(root, name)
        for section, items in _lessons(entries, journal, intents):
            problems += _rewrite(path, _adding(section, items), bool(items))
    return problems


def _adding(section: str, items: Sequence[str]) -> Callable[[str], str]:
    return lambda text: brain.update(text, section, items)


def _map_entries(
    entries: Sequence[Entry],
    record_of: Callable[[Entry], dict[str, Any]],
    contents: Contents,
    intents: Sequence[Intent],
) -> Iterator[intent_map.Entry]:
    known = {intent.id: intent for intent in intents}
    for entry in entries:
        intent = known.get(entry.body.get("intent", ""))
        if intent is None:
            continue
        if entry.kind == "intents":
            yield _about(intent)
        elif entry.kind == "settled" and entry.body.get("changes"):
            record = record_of(entry)
            kind = record["metadata"]["dev.tether"].get("class", "")
            if not intent_map.calls_for_update(kind):
                continue
            ranges = {
                file["path"]: [
                    (r["start_line"], r["end_line"]) for c in file["conversations"] for r in c["ranges"]
                ]
                for file in record["files"]
            }
            for change in entry.body["changes"]:
                if change["moved_from"]:
                    yield intent_map.Entry(
                        intent.id, path=change["moved_from"], deleted=True, date=entry.at[:10]
                    )
                yield intent_map.Entry(
                    intent.id,
                    intent.name,
                    intent.status,
                    change["path"],
                    _anchors(change, ranges.get(change["path"], []), contents),
                    record["id"],
                    kind,
                    entry.at[:10],
                    intent.owned_scope,
                    deleted=not change["after"],
                )


def _about(intent: Intent) -> intent_map.Entry:
    return intent_map.Entry(intent.id, intent.name, intent.status, scope=intent.owned_scope)


def _anchors(
    change: dict[str, Any], ranges: list[tuple[int, int]], contents: Contents
) -> tuple[intent_map.Anchor, ...]:
    from tether.source.outline import anchors
    from tether.source.syntax import language_of

    data = contents.get(change["after"]) if change["after"] else None
    language = language_of(change["path"])
    if data is None or language is None or not ranges:
        return ()
    return tuple(
        intent_map.Anchor(name, kind, start, end)
        for name, kind, start, end in anchors(data, language, ranges)
    )


def _lessons(
    entries: Sequence[Entry], journal: Journal, intents: Sequence[Intent]
) -> Iterator[tuple[str, list[str]]]:
    known = {intent.id: intent for intent in intents}
    decided: dict[str, None] = {}
    learned: dict[str, None] = {}
    for entry in entries:
        intent = known.get(entry.body.get("intent", ""))
        if entry.kind == "intents" and intent is not None and intent.status in ("active", "done"):
            for constraint in intent.constraints:
                decided[f"{intent.id} ({intent.name}): {constraint}"] = None
        elif entry.kind == "answered" and entry.body.get("state") == "rejected" and entry.body.get("reason"):
            asked = journal.fact("approval", entry.body["approval"])
            if asked:
                learned[f"rejected by {entry.body['by']}: {entry.body['reason']}"] = None
    yield DECISIONS, list(decided)
    yield LESSONS, list(learned)
    if any(entry.kind == "checked" for entry in entries):
        yield FAILURES, list(brain.recurring(_checks(journal)))


def _checks(journal: Journal) -> Iterator[brain.Check]:
    """Every quality check of late, as the brain wants them: failures by file, and the passes after them."""
    for entry in reversed(journal.recent(500, kinds=("checked",))):
        failed: set[str] = set()
        for finding in entry.body["findings"]:
            name = f"{finding['check']}:{finding['command']}"
            failed.add(name)
            yield brain.Check(name, finding["file"] or "", False, finding["message"])
        for path in entry.body.get("paths", ()):
            for name, passed in entry.body["results"].items():
                if passed:
                    yield brain.Check(name, path, True)


def _rewrite(path: str, edit: Callable[[str], str], wanted: bool) -> list[str]:
    """Applies an edit to a document people share; one they have broken is reported, not repaired."""
    if not wanted:
        return []
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        return [f"`{os.path.basename(path)}` cannot be read ({type(error).__name__})"]
    try:
        changed = edit(text)
    except TetherError as error:
        return [error.message]
    if changed != text:
        staged = f"{path}.{os.getpid()}.tether"
        with open(staged, "w", encoding="utf-8", newline="") as file:
            file.write(changed)
        os.replace(staged, path)
    return []
