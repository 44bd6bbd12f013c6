"""The handshake: an agent selects the intent it works for and gets what it must know of it."""

from __future__ import annotations

from tether.control.intents import ancestors, find, siblings
from tether.errors import TetherError
from tether.tools.arguments import parse
from tether.types import Effect, Prepared, Verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tether.control.intent_context import Touch
    from tether.project import Project
    from tether.source.root import Root
    from tether.tools.work import Work
    from tether.types import Intent

RECENT = 20  # records looked at for the context

SCHEMA = {
    "type": "object",
    "properties": {
        "intent_id": {"type": "string", "description": "the id of an active intent, such as INT-001"}
    },
    "required": ["intent_id"],
    "additionalProperties": False,
}


def prepare(root: Root, args: dict[str, Any]) -> Prepared:
    """Selecting touches no file: it is written down and answered with the intent's context."""
    given = parse(SCHEMA, args)

    def run(work: Work) -> str:
        return select(work.project, work.call.agent.session, given["intent_id"])

    return Prepared(effects=(Effect("read", "."),), run=run)


VERBS = {
    "select_active_intent": Verb(
        name="select_active_intent",
        prepare=prepare,
        mutating=False,
        summary="select the intent this session works for; answers with its constraints, scope and recent trace",
        schema=SCHEMA,
    )
}


def select(project: Project, session: str, intent_id: str) -> str:
    """Validates, remembers for the session, and returns `<intent_context>…</intent_context>`."""
    project.reload()
    if project.intents_problem:
        raise TetherError("INTENTS_MALFORMED", project.intents_problem)
    intent = find(project.intents, intent_id)
    if intent is None:
        known = ", ".join(i.id for i in project.intents if i.status == "active") or "none"
        raise TetherError("INTENT_INVALID", f"intent `{intent_id}` does not exist; active ones: {known}")
    for step in (intent, *ancestors(project.intents, intent)):
        if step.status != "active":
            raise TetherError("INTENT_INVALID", f"intent `{step.id}` is {step.status}, not active")
    project.journal.append("selected", {"intent": intent.id, "policy": project.policy}, run=session)
    return _render(project, intent)


def intent_context(project: Project, intent_id: str) -> str:
    """The context of an intent, or nothing if there is no such intent."""
    intent = find(project.intents, intent_id)
    return _render(project, intent) if intent else ""


def _render(project: Project, intent: Intent) -> str:
    from tether.control.intent_context import render

    parents = ancestors(project.intents, intent)
    return render(
        intent,
        parents[0] if parents else None,
        recent(project, intent.id),
        siblings(project.intents, intent),
        budget_tokens=project.config.record.context_tokens,
        above=parents[1:],
    )


def recent(project: Project, intent_id: str) -> list[Touch]:
    """What was changed lately for an intent, newest first."""
    from tether.control.intent_context import Touch

    found: list[Touch] = []
    for entry in project.journal.recent(RECENT * 5, kinds=("settled",)):
        if entry.body.get("intent") != intent_id:
            continue
        found += [
            Touch(record=change["record"], at=entry.at, path=change["path"], author=change["author"])
            for change in entry.body["changes"]
        ]
        if len(found) >= RECENT:
            break
    return found[:RECENT]
