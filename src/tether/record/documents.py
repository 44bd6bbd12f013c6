"""The documents people read: the intent map and the marked section of the shared brain.

Both follow from the journal, each from its own cursor, so that a killed process only delays them. What they
say of a place in the code is taken from the record, never from the agent's words.
"""

from __future__ import annotations

import os
import stat

from tether.control.protected import NAMES, is_protected
from tether.errors import TetherError
from tether.record import brain, intent_map
from tether.source.root import Root, refusal

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
    with Root(root, protected=NAMES) as place:
        if settings.update_intent_map:
            rows = list(_map_entries(entries, record_of, contents, intents))
            problems += _rewrite(place, MAP, lambda text: intent_map.update(text, rows), bool(rows))
        if settings.update_brain:
            name = settings.brain or brain.choose(os.listdir(root))
            for section, items in _lessons(entries, journal, intents):
                problems += _rewrite(place, name, _adding(section, items), bool(items))
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


def _rewrite(root: Root, name: str, edit: Callable[[str], str], wanted: bool) -> list[str]:
    """Applies an edit to a document people share; one they have broken is reported, not repaired.

    INVARIANT: only a regular file inside the project is read or replaced: a link planted in a clone could lead
    a secret into the repository, or these words out of it.
    """
    if not wanted:
        return []
    try:
        path, data, mode = _read(root, name)
        text = data.decode("utf-8")
        changed = edit(text)
        if changed != text:
            _replace(root, path, changed.encode("utf-8", "replace"), mode)
    except UnicodeDecodeError:
        return [f"`{name}` is not UTF-8"]
    except TetherError as error:
        return [error.message]
    except OSError as error:
        return [f"`{name}` cannot be written ({error.strerror})"]
    return []


def _read(root: Root, name: str) -> tuple[str, bytes, int | None]:
    """Where a document really lies, its bytes and permissions; an absent one is empty."""
    spot = root.look(name, hash=False)
    if spot.problem:
        raise refusal(spot)
    if spot.path != MAP and is_protected(spot.path):
        raise TetherError("SECURITY_VIOLATION", f"`{name}` is no place for a shared document")
    if spot.kind == "absent":
        return spot.path, b"", None
    data, _ = root.read(spot.path, follow=False)
    parent, leaf = root.open_parent(spot.path)
    try:
        return spot.path, data, stat.S_IMODE(os.stat(leaf, dir_fd=parent, follow_symlinks=False).st_mode)
    finally:
        os.close(parent)


def _replace(root: Root, path: str, data: bytes, mode: int | None) -> None:
    parent, leaf = root.open_parent(path, create=True)
    staged = f".{leaf}.{os.urandom(6).hex()}"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(staged, flags, 0o666, dir_fd=parent), "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
        os.replace(staged, leaf, src_dir_fd=parent, dst_dir_fd=parent)
    finally:
        os.close(parent)
