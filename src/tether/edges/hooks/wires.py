"""Each agent's hook contract: its JSON in, an Event; a Reply, its JSON and exit code out."""

from __future__ import annotations

import json

from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


@noun
class Event:
    """One thing an agent tells: it starts, is about to use a tool, or has used it."""

    agent: str
    phase: str  # start | before | after | failed | other
    session: str
    cwd: str
    tool: str = ""
    input: dict[str, Any] = {}  # noqa: RUF012
    tool_use: str = ""
    model: str = ""
    name: str = ""  # the agent's own name of the event


@noun
class Reply:
    """What Tether answers: nothing (no opinion), a refusal, or something to tell the agent."""

    deny: str = ""
    problem: str = ""  # after the fact: what the agent must look at
    context: str = ""


class ClaudeCode:
    """Claude Code: PreToolUse, PostToolUse, PostToolUseFailure, SessionStart."""

    agent = "claude-code"
    phases: Final = {
        "PreToolUse": "before",
        "PostToolUse": "after",
        "PostToolUseFailure": "failed",
        "SessionStart": "start",
    }

    def read(self, data: bytes) -> Event:
        """An event from the agent's JSON."""
        body = _object(json.loads(data))
        name = _text(body, "hook_event_name")
        return Event(
            agent=self.agent,
            phase=_phase(self.phases, name),
            session=_session(_text(body, "session_id")),
            cwd=_folder(_text(body, "cwd")),
            tool=_text(body, "tool_name"),
            input=_object(body.get("tool_input") or {}),
            tool_use=_text(body, "tool_use_id") or _identify(body, "tool_name", "tool_input"),
            model=_model(body.get("model")),
            name=name,
        )

    def write(self, event: Event, reply: Reply) -> tuple[str, int]:
        """The agent's JSON and exit code."""
        if reply.deny:
            return self._specific(
                event.name, permissionDecision="deny", permissionDecisionReason=reply.deny
            ), 0
        if reply.problem:
            return json.dumps({"decision": "block", "reason": reply.problem}), 0
        if reply.context:
            return self._specific(event.name, additionalContext=reply.context), 0
        return "", 0

    def fail(self, phase: str, reason: str) -> tuple[str, int]:
        """An answer that blocks whatever the agent was about to do."""
        if phase in ("after", "failed"):
            return json.dumps({"decision": "block", "reason": reason}), 0
        if phase == "start":
            return self._specific("SessionStart", additionalContext=reason), 0
        return self._specific("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason), 0

    def _specific(self, event: str, **fields: str) -> str:
        return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})


class Codex(ClaudeCode):
    """Codex: the same JSON as Claude Code; it has no `ask`, which Tether never answers."""

    agent = "codex"


class Gemini:
    """Gemini CLI: BeforeTool, AfterTool, SessionStart."""

    agent = "gemini"
    phases: Final = {"BeforeTool": "before", "AfterTool": "after", "SessionStart": "start"}

    def read(self, data: bytes) -> Event:
        """An event from the agent's JSON."""
        body = _object(json.loads(data))
        name = _text(body, "hook_event_name")
        response = body.get("tool_response")
        failed = name == "AfterTool" and isinstance(response, dict) and bool(response.get("error"))
        return Event(
            agent=self.agent,
            phase="failed" if failed else _phase(self.phases, name),
            session=_session(_text(body, "session_id")),
            cwd=_folder(_text(body, "cwd")),
            tool=_text(body, "tool_name"),
            input=_object(body.get("tool_input") or {}),
            tool_use=_text(body, "tool_call_id") or _identify(body, "tool_name", "tool_input"),
            model=_model(body.get("model")),
            name=name,
        )

    def write(self, event: Event, reply: Reply) -> tuple[str, int]:
        """The agent's JSON and exit code."""
        if reply.deny:
            return json.dumps({"decision": "deny", "reason": reply.deny}), 0
        if reply.problem:
            return json.dumps({"decision": "block", "reason": reply.problem}), 0
        if reply.context:
            return json.dumps(
                {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": reply.context}}
            ), 0
        return "", 0

    def fail(self, phase: str, reason: str) -> tuple[str, int]:
        """An answer that blocks whatever the agent was about to do."""
        return json.dumps({"decision": "deny" if phase == "before" else "block", "reason": reason}), 0


class Cline:
    """Cline: executables under `.clinerules/hooks/`, one per event."""

    agent = "cline"
    phases: Final = {
        "PreToolUse": "before",
        "PostToolUse": "after",
        "TaskStart": "start",
        "TaskResume": "start",
    }

    def read(self, data: bytes) -> Event:
        """An event from the agent's JSON."""
        body = _object(json.loads(data))
        name = _text(body, "hookName")
        inner = _object(body.get("preToolUse") or body.get("postToolUse") or {})
        phase = _phase(self.phases, name)
        if phase == "after" and inner.get("success") is False:
            phase = "failed"
        roots = body.get("workspaceRoots")
        given = inner.get("parameters")
        parameters = json.loads(given) if isinstance(given, str) else given
        return Event(
            agent=self.agent,
            phase=phase,
            session=_session(_text(body, "taskId")),
            cwd=_folder(roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""),
            tool=_text(inner, "toolName") or _text(inner, "tool"),
            input=_object(parameters or {}),
            tool_use=_identify({**inner, "parameters": parameters}, "toolName", "parameters"),
            model=_model(
                _object(body.get("model") or {}).get("slug") if isinstance(body.get("model"), dict) else ""
            ),
            name=name,
        )

    def write(self, event: Event, reply: Reply) -> tuple[str, int]:
        """The agent's JSON and exit code."""
        if reply.deny:
            return json.dumps(
                {"cancel": True, "errorMessage": reply.deny, "contextModification": reply.deny}
            ), 0
        return json.dumps({"cancel": False, "contextModification": reply.problem or reply.context}), 0

    def fail(self, phase: str, reason: str) -> tuple[str, int]:
        """An answer that blocks whatever the agent was about to do."""
        return json.dumps(
            {"cancel": phase == "before", "errorMessage": reason, "contextModification": reason}
        ), 0


WIRES: Final[dict[str, ClaudeCode | Gemini | Cline]] = {
    "claude-code": ClaudeCode(),
    "gemini": Gemini(),
    "codex": Codex(),
    "cline": Cline(),
}


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("expected an object")
    return value


def _phase(phases: dict[str, str], name: str) -> str:
    """INVARIANT: an event without a name is not one that may be passed over: it could be a tool about to run."""
    if not name:
        raise ValueError("the event has no name")
    return phases.get(name, "other")


def _folder(path: str) -> str:
    """Where the agent is: relative to nothing that is known here, a relative folder says nothing."""
    if path and not path.startswith("/"):
        raise ValueError("the event's folder is not absolute")
    return path


def _identify(body: dict[str, Any], *keys: str) -> str:
    """What stands for a tool use that its agent gives no id: the tool and what it was given."""
    from hashlib import sha256

    held = json.dumps([body.get(key) for key in keys], sort_keys=True)
    return "~" + sha256(held.encode()).hexdigest()[:32]


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    return value if isinstance(value, str) else ""


def _model(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("id")
    return value[:200] if isinstance(value, str) else ""


def _session(text: str) -> str:
    """A session must have a name: calls without one would share their intents and limits."""
    if not text or len(text) > 200 or not text.isprintable():
        raise ValueError("the event names no session")
    return text
