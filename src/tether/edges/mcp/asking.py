"""Asking a person through their client: the form, what counts as an answer, and a state no one can forge."""

from __future__ import annotations

import hmac
import json
import os
import time
from hashlib import sha256
from typing import Any

from tether.edges.mcp.protocol import INVALID_PARAMS, Fault
from tether.source.person import agent_mark, name
from tether.types import Decision, noun

WAIT_SECONDS = 120  # how long a call stays open for an answer; the approval itself lives longer
SHOWN = 4000  # characters of a call that a form can show: what cannot be shown whole is not asked about here
REASON = 500

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Decision",
            "description": "approve: the agent may do exactly this, once",
            "enum": ["approve", "reject"],
        },
        "reason": {
            "type": "string",
            "title": "Reason",
            "description": "told to the agent",
            "maxLength": REASON,
        },
    },
    "required": ["decision"],
}


@noun
class Answer:
    """What the person chose."""

    state: str  # approved | rejected
    reason: str
    by: str


def may_ask() -> bool:
    """Whether a client's word can be a person's: not where an agent itself started this server."""
    return not agent_mark()


def form(
    approval_id: str, decision: Decision, verb: str, args: dict[str, Any], session: str
) -> dict[str, Any] | None:
    """The question, or None when the call is too long to be shown whole."""
    shown = printable(json.dumps(args, ensure_ascii=False, indent=1))
    if len(shown) > SHOWN:
        return None
    intent = f" for intent {decision.intent}" if decision.intent else ""
    message = (
        f"Tether: an agent asks to run `{verb}`{intent} (approval {approval_id}, session {session}).\n"
        f"Why you are asked: {printable(decision.message)[:SHOWN]}\n"
        f"The call, in the agent's words:\n{shown}"
    )
    return {"mode": "form", "message": message, "requestedSchema": SCHEMA}


def read_answer(result: Any, client: str) -> Answer | None:
    """The person's choice. Accepting the form carries it, declining rejects, anything else leaves it pending."""
    if not isinstance(result, dict):
        return None
    by = f"{name()} (asked through {client or 'an MCP client'})"
    if result.get("action") == "decline":
        return Answer("rejected", "declined", by)
    content = result.get("content")
    if result.get("action") != "accept" or not isinstance(content, dict):
        return None
    state = {"approve": "approved", "reject": "rejected"}.get(str(content.get("decision")))
    if state is None:
        return None
    reason = content.get("reason")
    return Answer(state, printable(reason)[:REASON] if isinstance(reason, str) else "", by)


class Seal:
    """States handed to a client and taken back, each bound to one approval of one exact call."""

    def __init__(self) -> None:
        self._key = os.urandom(32)

    def close(self, approval_id: str, expires: float, *call: Any) -> str:
        """The state that comes back with the answer."""
        body = f"{approval_id}.{int(expires)}"
        return f"{body}.{self._sign(body, call)}"

    def open(self, state: Any, *call: Any) -> str:
        """The approval a state is about; Fault when it was not made here, for this call, or is too old."""
        body, _, signature = state.rpartition(".") if isinstance(state, str) else ("", "", "")
        approval_id, _, expires = body.partition(".")
        known = hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign(body, call).encode())
        # INVARIANT: nothing of the state is used before its signature has been checked
        if not known or int(expires) < time.time():
            raise Fault(
                INVALID_PARAMS, "`requestState` is not one of this server's for this call; call again without"
            )
        return approval_id

    def _sign(self, body: str, call: tuple[Any, ...]) -> str:
        told = json.dumps([body, *call], sort_keys=True).encode()
        return hmac.new(self._key, told, sha256).hexdigest()


def printable(text: str) -> str:
    """Text that cannot rearrange what a person reads: no control or direction characters but newlines."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in text)
