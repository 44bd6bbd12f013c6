"""Run one verb through the gate, as an agent would.

The call is judged, recorded and settled exactly as one that came over MCP or a hook. Exit code 3 means
refused, 4 means it waits for a person: retry the same call after `tether approve`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from tether.cli import frame
from tether.cli.output import dump, printable, printable_lines, say, table
from tether.errors import TetherError
from tether.types import Agent, Call, Outcome, plain

if TYPE_CHECKING:
    import argparse

    from tether.admit import Verdict
    from tether.types import Approval, Pending
    from tether.workspace import Workspace

EXAMPLES = """\
  tether call --list
  tether call select_active_intent '{"intent_id": "INT-001"}' --session s1
  tether call read_file '{"path": "src/app.py"}' --session s1
  tether call write_file '{"path": "src/new.py", "content": "x = 1\\n"}' --session s1
  echo '{"command": "pytest -q"}' | tether call run_command - --session s1 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb, its arguments and who calls."""
    parser.add_argument("verb", nargs="?", help="the verb, such as `write_file`")
    parser.add_argument("args", nargs="?", default="{}", help="its arguments as JSON, `-` for standard input")
    parser.add_argument("--list", action="store_true", help="list the verbs and their arguments")
    parser.add_argument(
        "--session",
        default=os.environ.get("TETHER_SESSION", "cli"),
        help="the calling agent's session (default: cli)",
    )
    parser.add_argument("--intent", default="", help="select this intent first")
    parser.add_argument("--agent", default="", help="the agent's name, for the record")
    parser.add_argument("--model", default="", help="the model's id, for the record")
    parser.add_argument("--conversation", default="", help="a URL of the conversation, for the record")
    parser.add_argument(
        "--deadline", type=float, default=None, metavar="SECONDS", help="give up after this long"
    )


def run(args: argparse.Namespace) -> int:
    """Submits the call and tells what came of it."""
    from tether.workspace import open_workspace

    workspace = open_workspace(args.project)
    try:
        if args.list or not args.verb:
            return _list(workspace, as_json=args.json)
        text = sys.stdin.read() if args.args == "-" else args.args
        try:
            given = json.loads(text)
        except json.JSONDecodeError as error:
            raise TetherError(
                "BAD_ARGUMENTS", f"arguments are not JSON: {error.msg} at {error.pos}"
            ) from None
        if not isinstance(given, dict):
            raise TetherError("BAD_ARGUMENTS", "arguments must be a JSON object")
        agent = Agent(args.session, name=args.agent, model=args.model, conversation=args.conversation)
        if args.intent:
            chosen = submit(workspace, agent, "select_active_intent", {"intent_id": args.intent})
            if not isinstance(chosen, Outcome) or not chosen.ok:
                return tell(chosen, as_json=args.json)
        return tell(submit(workspace, agent, args.verb, given, args.deadline), as_json=args.json)
    finally:
        workspace.close()


def submit(
    workspace: Workspace, agent: Agent, verb: str, given: dict[str, Any], deadline: float | None = None
) -> Outcome | Pending:
    """One call from this process."""
    from tether.gate import submit as gate

    call = Call(os.urandom(8).hex(), verb, given, agent)
    return asyncio.run(gate(workspace, call, ask=_prompt(workspace), deadline=deadline))


def _prompt(workspace: Workspace) -> Any:
    """Asks on the terminal, when there is a person at one."""
    from tether.cli.approval import prompt
    from tether.cli.person import AGENT_MARKS, name
    from tether.tools.approvals import answer

    if not (sys.stdin.isatty() and sys.stderr.isatty()) or any(os.environ.get(mark) for mark in AGENT_MARKS):
        return None

    async def ask(approval: Approval, verdict: Verdict) -> bool | None:
        say(f"{approval.id}: {printable(verdict.decision.message)}")
        reply = prompt("[a]pprove, [r]eject, [l]ater? ")
        if not reply.startswith(("a", "r")):
            return None
        state = "approved" if reply.startswith("a") else "rejected"
        answer(workspace.project, approval.id, state, name(), "")
        return state == "approved"

    return ask


def tell(result: Outcome | Pending, *, as_json: bool) -> int:
    """The answer for a person or a program, and the exit code."""
    if isinstance(result, Outcome):
        if as_json:
            dump({k: v for k, v in plain(result).items() if v not in (None, [], "")} | {"ok": result.ok})
        elif result.ok:
            text = (
                result.value if isinstance(result.value, str) else json.dumps(plain(result.value), indent=2)
            )
            say(printable_lines(text))
            for note in result.notes:
                sys.stderr.write(f"note: {printable(note)}\n")
        else:
            error = result.error or {}
            sys.stderr.write(
                f"{error['error_code']}: {printable(error['message'])}\n  → {error['required_action']}\n"
            )
        if result.ok:
            return frame.OK
        return frame.REFUSED if result.decision and result.decision.verdict == "deny" else frame.FAILED
    if as_json:
        dump({"ok": False, "pending": plain(result)})
    else:
        sys.stderr.write(
            f"{result.decision.code}: {printable(result.decision.message)}\n"
            f"  → a person runs `tether approve {result.approval_id}`, then retry the same call\n"
        )
    return frame.PENDING


def _list(workspace: Workspace, *, as_json: bool) -> int:
    verbs = workspace.verbs.values()
    if as_json:
        dump(
            [
                {"name": v.name, "summary": v.summary, "mutating": v.mutating, "schema": v.schema}
                for v in verbs
            ]
        )
        return 0
    rows = [
        (v.name, "changes" if v.mutating else "reads", v.summary, ", ".join(v.schema["properties"]))
        for v in verbs
    ]
    table(("verb", "", "what it does", "arguments"), rows, empty="no verbs")
    return 0
