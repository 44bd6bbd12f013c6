"""The outbox: what the journal holds and the ledger, the intent map and the shared brain do not have yet.

Whoever drains does it for everyone. Killed at any point, the next drain completes it: none lost, none doubled.
"""

from __future__ import annotations

import fcntl
import json
import os

from tether.record import ledger
from tether.record.trace import build
from tether.types import Agent, Change, Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from tether.config import Record as Settings
    from tether.record.contents import Contents
    from tether.record.journal import Journal
    from tether.types import Entry, Intent

CARRIERS = ("settled", "observed")
DOCUMENTED = ("settled", "checked", "answered", "intents")
LEDGER = ".orchestration/agent_trace.jsonl"


def drain(
    journal: Journal,
    contents: Contents,
    *,
    root: str,
    state: str,
    intents: Sequence[Intent],
    settings: Settings,
) -> int:
    """Exports every record the ledger lacks, then brings the derived documents up to date; how many records."""
    related = {intent.id: intent.related for intent in intents}
    made: dict[int, dict[str, Any]] = {}

    def record_of(entry: Entry) -> dict[str, Any]:
        if entry.seq not in made:
            made[entry.seq] = compose(entry, journal.id, contents, related)
        return made[entry.seq]

    def after(seq: int) -> Iterator[tuple[int, dict[str, Any]]]:
        for entry in journal.entries(seq, kinds=CARRIERS):
            if entry.body.get("changes"):
                yield entry.seq, record_of(entry)

    exported = ledger.export(os.path.join(root, LEDGER), journal.id, after, state=state)
    _refresh(journal, contents, record_of, root=root, state=state, intents=intents, settings=settings)
    return exported.count


def _refresh(
    journal: Journal,
    contents: Contents,
    record_of: Callable[[Entry], dict[str, Any]],
    *,
    root: str,
    state: str,
    intents: Sequence[Intent],
    settings: Settings,
) -> None:
    """Brings the documents up to date, one process at a time."""
    if not journal.has_after(cursor(state, "documents"), DOCUMENTED):
        return
    from tether.record.documents import refresh

    lock = os.open(os.path.join(state, "documents.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        entries = list(journal.entries(cursor(state, "documents"), kinds=DOCUMENTED))
        if entries:
            refresh(
                entries,
                record_of,
                journal=journal,
                contents=contents,
                root=root,
                intents=intents,
                settings=settings,
            )
            set_cursor(state, "documents", entries[-1].seq)
    finally:
        os.close(lock)


def compose(
    entry: Entry, journal_id: str, contents: Contents, related: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """The trace record of one journal entry."""
    body = entry.body
    changes = [Change(**change, seq=entry.seq, at=entry.at) for change in body["changes"]]
    decided = body.get("decision")
    decision = None
    if decided:
        decision = Decision(
            verdict=decided.get("verdict") or "allow",
            rules=tuple(decided.get("rules") or ()),
            policy=decided.get("policy") or "",
            approval=decided.get("consumes") or "",
            plan_node=decided.get("plan_node") or "",
        )
    intent = body.get("intent", "")
    agent = body.get("agent") or {"session": "unrecorded", "kind": "human"}
    return build(
        changes,
        contents.get,
        journal=journal_id,
        seq=entry.seq,
        at=entry.at,
        agent=Agent(**agent),
        decision=decision,
        intent=intent,
        related=related.get(intent, ()),
        revision=body.get("vcs", {}).get("revision", ""),
        tree=body.get("tree", ""),
        anchor=entry.hash,
        mutation_class=classify(changes, contents) if entry.kind == "settled" else "",
    )


def classify(changes: Sequence[Change], contents: Contents) -> str:
    """AST_REFACTOR only if every file of the mutation is one."""
    from tether.record.mutation import classify as judge
    from tether.source.syntax import language_of

    for change in changes:
        if change.moved_from and change.before == change.after:
            continue
        before = contents.get(change.before) if change.before else None
        after = contents.get(change.after) if change.after else None
        if before is None or after is None:
            return "INTENT_EVOLUTION"
        if judge(before, after, language_of(change.path)).kind != "AST_REFACTOR":
            return "INTENT_EVOLUTION"
    return "AST_REFACTOR"


def cursor(state: str, name: str) -> int:
    """How far a derived document has come."""
    try:
        with open(os.path.join(state, f"{name}.cursor"), encoding="ascii") as file:
            return int(json.load(file))
    except (OSError, ValueError, TypeError):
        return 0


def set_cursor(state: str, name: str, seq: int) -> None:
    """Remembers how far a derived document has come."""
    path = os.path.join(state, f"{name}.cursor")
    staged = f"{path}.{os.getpid()}"
    with open(staged, "w", encoding="ascii") as file:
        json.dump(seq, file)
    os.replace(staged, path)
