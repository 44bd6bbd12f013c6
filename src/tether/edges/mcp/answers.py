"""What came of a call, as a tool's result: the answer, the refusal, or how to get a person's leave."""

from __future__ import annotations

import json
from typing import Any

from tether.types import Outcome, Pending, plain

# what every tool answers with
SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "value": {"description": "what the verb answered"},
        "error": {"type": "object", "description": "error_code, message, recoverable, required_action, …"},
        "pending": {"type": "object", "description": "approval_id, call_hash, expires: a person must answer"},
        "records": {"type": "array", "items": {"type": "string"}, "description": "ids of trace records"},
        "findings": {"type": "array", "items": {"type": "object"}},
        "notes": {"type": "array", "items": {"type": "string"}},
        "session": {"type": "string", "description": "pass it with later calls"},
    },
    "required": ["ok"],
}


def tell(result: Outcome | Pending, *, session: str = "") -> dict[str, Any]:
    """The tool's result; `session` is named where the protocol keeps none of its own."""
    if isinstance(result, Pending):
        told = {"ok": False, "error": _asked(result), "pending": _pending(result)}
    else:
        told = {"ok": result.ok}
        if result.value is not None:
            told["value"] = plain(result.value)
        if result.error is not None:
            told["error"] = plain(result.error)
        for name in ("records", "findings", "notes"):
            if getattr(result, name):
                told[name] = plain(getattr(result, name))
    if session:
        told["session"] = session
    return wrap(told)


def fail(error: dict[str, Any]) -> dict[str, Any]:
    """A refusal that came before the gate."""
    return wrap({"ok": False, "error": error})


def wrap(told: dict[str, Any]) -> dict[str, Any]:
    """The envelope and a text that says the same to a client that reads only text."""
    answer: dict[str, Any] = {
        "content": [{"type": "text", "text": _text(told)}],
        "structuredContent": told,
    }
    return answer if told["ok"] else {**answer, "isError": True}


def _text(told: dict[str, Any]) -> str:
    parts = []
    if "error" in told:
        error = told["error"]
        parts.append(f"{error['error_code']}: {error['message']}\n→ {error['required_action']}")
    if "value" in told:
        value = told["value"]
        parts.append(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    parts += [f"{f.get('check', 'check')}: {f.get('message', '')}" for f in told.get("findings", ())]
    parts += [f"note: {note}" for note in told.get("notes", ())]
    if "session" in told:
        parts.append(f"session: {told['session']}")
    return "\n".join(parts) or "done"


def _asked(pending: Pending) -> dict[str, Any]:
    decision = pending.decision
    return {
        "error_code": decision.code,
        "message": decision.message,
        "recoverable": True,
        "required_action": (
            f"A person runs `tether approve {pending.approval_id}` in a terminal (or `reject`); "
            "then retry exactly the same call"
        ),
        "approval_id": pending.approval_id,
        "rules": list(decision.rules),
        "policy": decision.policy,
    }


def _pending(pending: Pending) -> dict[str, Any]:
    return {
        "approval_id": pending.approval_id,
        "call_hash": pending.call_hash,
        "expires": pending.expires,
    }
