"""The surface where each verb is a tool of its own: the same gate, the same answers as everywhere."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from tether.edges.mcp import answers, asking
from tether.edges.mcp.protocol import INVALID_PARAMS, Fault
from tether.errors import TetherError, to_wire
from tether.types import Agent, Call, Pending
from tether.workspace import VERBS

if TYPE_CHECKING:
    from tether.admit import Verdict
    from tether.edges.mcp.surface import Visit
    from tether.types import Approval, Verb
    from tether.workspace import Workspace

HANDLE = re.compile(r"mcp-[0-9a-f]{32}")
# the newer protocol has no session, so a call may name the one that selected its intent
SESSION = {
    "type": "string",
    "description": "the `session` that select_active_intent answered with; tells this task's calls from others'",
}


def describe(modern: bool) -> list[dict[str, Any]]:
    """Every verb as a tool."""
    return [_tool(verb, modern) for verb in VERBS.values()]


def _tool(verb: Verb, modern: bool) -> dict[str, Any]:
    schema = verb.schema
    if modern:
        schema = {**schema, "properties": {**schema["properties"], "session": SESSION}}
    hints: dict[str, Any] = {"readOnlyHint": not verb.mutating, "openWorldHint": verb.name == "run_command"}
    if verb.mutating:
        hints["destructiveHint"] = True
    return {
        "name": verb.name,
        "title": verb.name.replace("_", " ").capitalize(),
        "description": verb.summary,
        "inputSchema": schema,
        "outputSchema": answers.SHAPE,
        "annotations": hints,
    }


def expect(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool that is called and its arguments; Fault when there is no such tool."""
    name, args = params.get("name"), params.get("arguments")
    args = {} if args is None else args
    if not isinstance(name, str) or not isinstance(args, dict):
        raise Fault(INVALID_PARAMS, "`tools/call` needs `name` (a string) and `arguments` (an object)")
    if name not in VERBS:
        raise Fault(INVALID_PARAMS, f"unknown tool `{ascii(name)[1:61]}`; `tools/list` names {len(VERBS)}")
    return name, args


async def call(workspace: Workspace, params: dict[str, Any], visit: Visit) -> dict[str, Any]:
    """One tool's result: whatever the gate says is an answer."""
    name, args = expect(params)
    if not visit.client.modern:
        return answers.tell(await _submit(workspace, name, args, visit))
    args = dict(args)
    session = args.pop("session", visit.session)
    if not isinstance(session, str) or not HANDLE.fullmatch(session):
        error = TetherError(
            "BAD_ARGUMENTS", "argument `session` is not one that select_active_intent answered with"
        )
        return answers.fail(to_wire(error))
    return await _call_modern(workspace, params, name, args, _at(visit, session))


async def _call_modern(
    workspace: Workspace, params: dict[str, Any], name: str, args: dict[str, Any], visit: Visit
) -> dict[str, Any]:
    """The newer protocol asks by answering: the client calls again with what the person said."""
    asked = "requestState" in params
    if asked:
        approval_id = visit.seal.open(params["requestState"], name, args, visit.session)
        said = params.get("inputResponses")
        answer = asking.read_answer(
            said.get("approval") if isinstance(said, dict) else None, visit.client.name
        )
        if answer is not None and asking.may_ask():
            _write_down(workspace, approval_id, answer)
    result = await _submit(workspace, name, args, visit)
    if isinstance(result, Pending) and visit.client.forms and not asked and asking.may_ask():
        question = asking.form(result.approval_id, result.decision, name, args, visit.session)
        if question is not None:
            return {
                "resultType": "input_required",
                "inputRequests": {"approval": {"method": "elicitation/create", "params": question}},
                "requestState": visit.seal.close(
                    result.approval_id, result.expires, name, args, visit.session
                ),
            }
    return answers.tell(result, session=visit.session if name == "select_active_intent" else "")


async def _submit(workspace: Workspace, name: str, args: dict[str, Any], visit: Visit) -> Any:
    from tether.gate import submit

    agent = Agent(visit.session, name=visit.client.name, conversation=f"urn:mcp:session:{visit.session}")
    made = Call(os.urandom(8).hex(), name, args, agent, door="mcp")
    elicit = visit.elicit

    async def ask(approval: Approval, verdict: Verdict) -> bool | None:
        question = asking.form(approval.id, verdict.decision, name, args, visit.session)
        if question is None or elicit is None:
            return None
        answer = asking.read_answer(await elicit(question), visit.client.name)
        if answer is None:
            return None
        _write_down(workspace, approval.id, answer)
        return answer.state == "approved"

    return await submit(workspace, made, ask=ask if elicit and asking.may_ask() else None, emit=visit.emit)


def _write_down(workspace: Workspace, approval_id: str, answer: asking.Answer) -> None:
    """The person's answer, in the journal; one that came too late leaves the approval as it is."""
    from tether.tools.approvals import answer as write

    try:
        write(workspace.project, approval_id, answer.state, answer.by, answer.reason)
    except TetherError as error:
        # someone answered elsewhere, or it expired: the retry is judged on what the journal says now
        if error.code not in ("APPROVAL_EXPIRED", "NOT_FOUND"):
            raise


def _at(visit: Visit, session: str) -> Visit:
    from tether.types import replace

    return replace(visit, session=session)
