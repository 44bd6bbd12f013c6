"""The rules of intents, and looking them up, without any YAML. HOOK PATH.

A hook reads intents from a snapshot (`to_plain`, `from_plain`) kept beside the hash of the file's bytes;
`intent_file.parse` is what makes them from the file itself.
"""

from __future__ import annotations

import re

from tether.errors import TetherError
from tether.source.pattern import lazy
from tether.types import Criterion, Intent, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

STATUSES = ("draft", "active", "paused", "done", "abandoned")
LIVE = frozenset(("draft", "active", "paused"))  # may still write, now or later
TEXT_FIELDS = ("id", "name", "status", "owner", "parent", "created", "updated")
LIST_FIELDS = ("owned_scope", "constraints", "related")

_ID = lazy(r"[A-Z][A-Z0-9]*-[A-Za-z0-9_-]+", re.ASCII)


def is_id(text: str) -> bool:
    """Whether the text has the form of an intent's id, such as `INT-001`."""
    return len(text) <= 64 and _ID.fullmatch(text) is not None


def find(intents: Iterable[Intent], intent_id: str) -> Intent | None:
    """The intent with this id."""
    for intent in intents:
        if intent.id == intent_id:
            return intent
    return None


def children(intents: Iterable[Intent], intent_id: str) -> tuple[Intent, ...]:
    """The intents delegated from this one."""
    return tuple(intent for intent in intents if intent.parent and intent.parent == intent_id)


def siblings(intents: Iterable[Intent], intent: Intent) -> tuple[Intent, ...]:
    """The other intents of the same parent that may still write."""
    return tuple(
        other for other in children(intents, intent.parent) if other.id != intent.id and other.status in LIVE
    )


def ancestors(intents: Sequence[Intent], intent: Intent) -> tuple[Intent, ...]:
    """The chain of parents, nearest first; it ends where a parent is missing or seen before."""
    chain: list[Intent] = []
    seen = {intent.id}
    above = find(intents, intent.parent)
    while above is not None and above.id not in seen:
        chain.append(above)
        seen.add(above.id)
        above = find(intents, above.parent)
    return tuple(chain)


def stopped_by(intents: Sequence[Intent], intent: Intent) -> Intent | None:
    """The intent itself, or the nearest above it, that is not active; None when all are, and it may write."""
    for each in (intent, *ancestors(intents, intent)):
        if each.status != "active":
            return each
    return None


def to_plain(intents: Iterable[Intent]) -> list[dict[str, Any]]:
    """The intents as JSON-ready data."""
    return [plain(intent) for intent in intents]


def from_plain(data: Any) -> tuple[Intent, ...]:
    """The intents `to_plain` wrote; anything else is an error, for a guess would decide what is allowed."""
    if not isinstance(data, list):
        raise _unreadable("not a list")
    intents = []
    seen = set()
    for item in data:
        intent = _intent(item)
        if intent.id in seen:
            raise _unreadable(f"`{intent.id}` twice")
        seen.add(intent.id)
        intents.append(intent)
    return tuple(intents)


def _intent(item: Any) -> Intent:
    if not isinstance(item, dict) or not item.keys() <= set(Intent.__fields__):  # type: ignore[attr-defined]
        raise _unreadable("an entry that is no intent")
    values = dict(item)
    for name in TEXT_FIELDS:
        if not isinstance(values.get(name, ""), str):
            raise _unreadable(f"`{name}` is not text")
    for name in LIST_FIELDS:
        texts = values.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise _unreadable(f"`{name}` is not a list of texts")
        values[name] = tuple(texts)
    criteria = values.get("acceptance_criteria", [])
    if not isinstance(criteria, list):
        raise _unreadable("`acceptance_criteria` is not a list")
    values["acceptance_criteria"] = tuple(_criterion(criterion) for criterion in criteria)
    if (
        not is_id(values.get("id", ""))
        or values.get("status", "draft") not in STATUSES
        or "name" not in values
    ):
        raise _unreadable("an intent without a valid id, name and status")
    return Intent(**values)


def _criterion(item: Any) -> Criterion:
    if (
        not isinstance(item, dict)
        or item.keys() - {"text", "command"}
        or not isinstance(item.get("text"), str)
        or not isinstance(item.get("command", ""), str)
    ):
        raise _unreadable("a criterion that is no criterion")
    return Criterion(**item)


def _unreadable(what: str) -> TetherError:
    return TetherError(
        "INTENTS_MALFORMED", f"the stored copy of the intents holds {what}", action="Run `tether doctor`"
    )
