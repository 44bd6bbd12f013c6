"""What a client may read beside the tools: intents and trace as resources, and how to begin as a prompt."""

from __future__ import annotations

import json
import os
from collections import deque
from typing import TYPE_CHECKING, Any

from tether.edges.mcp.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Fault
from tether.types import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tether.project import Project

RECENT = 50
JSON = "application/json"
INTENTS, TRACE = "tether://intents", "tether://trace"

TEMPLATES: list[dict[str, Any]] = [
    {
        "uriTemplate": f"{INTENTS}/{{intent_id}}",
        "name": "intent",
        "title": "One intent",
        "description": "its scope, constraints and acceptance criteria, and what was done for it lately",
        "mimeType": JSON,
    },
    {
        "uriTemplate": f"{TRACE}/{{record_id}}",
        "name": "trace-record",
        "title": "One trace record",
        "description": "what one change did, for which intent, in Agent Trace form",
        "mimeType": JSON,
    },
]
PROMPTS: list[dict[str, Any]] = [
    {
        "name": "start-governed-task",
        "title": "Start a governed task",
        "description": "how to work in this project: select the intent, stay in its scope, mind refusals",
        "arguments": [
            {"name": "intent_id", "description": "the intent to work for, such as INT-001", "required": False}
        ],
    }
]


def list_resources(project: Project) -> list[dict[str, Any]]:
    """The intents, each of them, and the recent trace."""
    project.refresh()
    listed = [
        {"uri": INTENTS, "name": "intents", "title": "Intents", "mimeType": JSON},
        {"uri": f"{TRACE}/recent", "name": "recent-trace", "title": "Recent trace records", "mimeType": JSON},
    ]
    listed += [
        {"uri": f"{INTENTS}/{i.id}", "name": i.id, "title": i.name, "description": i.status, "mimeType": JSON}
        for i in project.intents
    ]
    return listed


def read_resource(project: Project, params: dict[str, Any], *, modern: bool) -> dict[str, Any]:
    """The contents of one resource."""
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise Fault(INVALID_PARAMS, "`resources/read` needs `uri` (a string)")
    found = _find(project, uri)
    if found is None:
        code = INVALID_PARAMS if modern else RESOURCE_NOT_FOUND
        raise Fault(code, f"no resource `{ascii(uri[:200])[1:-1]}`; see `resources/list`", {"uri": uri[:200]})
    text = json.dumps(found, ensure_ascii=False)
    return {"contents": [{"uri": uri, "mimeType": JSON, "text": text}]}


def _find(project: Project, uri: str) -> Any:
    project.refresh()
    if uri == INTENTS:
        problem = {"problem": project.intents_problem} if project.intents_problem else {}
        return {"intents": [plain(i) for i in project.intents], **problem}
    kind, _, name = uri.rpartition("/")
    if kind == INTENTS:
        from tether.tools.intents import intent_context

        for intent in project.intents:
            if intent.id == name:
                return {**plain(intent), "context": intent_context(project, name)}
    if kind == TRACE:
        project.drain()
        if name == "recent":
            return {"records": list(deque(_records(project), RECENT))[::-1]}
        return next((record for record in _records(project) if record["id"] == name), None)
    return None


def _records(project: Project) -> Iterator[dict[str, Any]]:
    from tether.project import LEDGER_FILE
    from tether.record import ledger

    path = os.path.join(project.path, LEDGER_FILE)
    seen = set()
    for _, record in ledger.read(path) if os.path.exists(path) else ():
        if record["id"] not in seen:
            seen.add(record["id"])
            yield record


def get_prompt(project: Project, params: dict[str, Any]) -> dict[str, Any]:
    """The prompt's text for this project as it is now."""
    name, args = params.get("name"), params.get("arguments") or {}
    if name != PROMPTS[0]["name"]:
        raise Fault(INVALID_PARAMS, f"no prompt `{ascii(str(name)[:60])[1:-1]}`; see `prompts/list`")
    chosen = args.get("intent_id", "") if isinstance(args, dict) else None
    if not isinstance(chosen, str):
        raise Fault(INVALID_PARAMS, "argument `intent_id` must be a string")
    text = _guide(project, chosen)
    return {
        "description": PROMPTS[0]["description"],
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


def _guide(project: Project, chosen: str) -> str:
    from tether.tools.intents import intent_context

    project.refresh()
    active = {i.id: i.name for i in project.intents if i.status == "active"}
    lines = ["Work in this project through Tether's tools."]
    if chosen and chosen in active:
        lines.append(f"1. Call `select_active_intent` with `intent_id` = `{chosen}`.")
    elif chosen:
        raise Fault(
            INVALID_PARAMS,
            f"no active intent `{ascii(chosen[:60])[1:-1]}`; active: {', '.join(active) or 'none'}",
        )
    elif active:
        lines.append("1. Choose the intent the task belongs to and call `select_active_intent` with its id:")
        lines += [f"   - {key}: {name}" for key, name in active.items()]
    else:
        lines.append(
            "1. No intent is active: ask a person to run `tether intent new` or `tether intent activate`."
        )
    lines += [
        "2. Read what you need; change files only inside the intent's owned scope.",
        "3. A refusal names `error_code` and `required_action`: do that instead of trying another way round.",
        "4. A call that waits for a person (`pending`) is retried unchanged once they have approved.",
    ]
    if chosen:
        lines += ["", intent_context(project, chosen)]
    return "\n".join(lines)
