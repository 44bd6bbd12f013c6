"""Answer what agents ask: list waiting calls, approve or reject them."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from tether.cli.output import dump, printable, say, table
from tether.cli.person import require_person
from tether.errors import TetherError
from tether.project import Project, open_project
from tether.tools.approvals import answer

if TYPE_CHECKING:
    import argparse

DESCRIPTIONS = {
    "approvals": "List the calls that wait for a person; `--watch` asks about each as it comes.",
    "approve": "Approve one waiting call. The agent retries the same call; the approval is used once.",
    "reject": "Reject one waiting call and tell the agent why.",
}
EXAMPLES = {
    "approvals": "  tether approvals\n  tether approvals --watch\n  tether approvals --all --json",
    "approve": "  tether approve A-1f0c9a2b77",
    "reject": '  tether reject A-1f0c9a2b77 --reason "use a migration instead"',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the three commands."""
    name = parser.get_default("command")
    if name == "approvals":
        parser.add_argument("--all", action="store_true", help="answered, used and expired ones too")
        parser.add_argument(
            "--watch", action="store_true", help="stay and ask about each one on this terminal"
        )
        return
    parser.add_argument("id", metavar="ID", help="the approval's id, as `tether approvals` shows it")
    parser.add_argument("--reason", default="", help="told to the agent")


def run(args: argparse.Namespace) -> int:
    """Lists or answers."""
    if args.command != "approvals":
        who = require_person(args.command)
        project = open_project(args.project)
        state = "approved" if args.command == "approve" else "rejected"
        approval = answer(project, args.id, state, who, args.reason)
        if args.json:
            dump({"ok": True, "approval": approval})
        else:
            say(
                f"{state}: {args.id}"
                + ("; the agent may now retry the same call" if state == "approved" else "")
            )
        return 0
    project = open_project(args.project)
    if args.watch:
        require_person("approvals --watch")
        return watch(project)
    rows = waiting(project, everything=args.all)
    if args.json:
        dump(rows)
        return 0
    table(
        ("id", "state", "agent", "expires in", "call", "why"),
        [(r["id"], r["state"], r["session"], _left(r), r["call"], r["message"]) for r in rows],
        empty="nothing waits for a person",
    )
    return 0


def waiting(project: Project, *, everything: bool = False) -> list[dict[str, Any]]:
    """Approvals with the call each one is about."""
    now = time.time()
    rows = []
    for held in project.journal.facts("approval").values():
        if held["state"] == "pending" and now >= held["expires"]:
            held = {**held, "state": "expired"}
        if everything or held["state"] == "pending":
            rows.append(held)
    asked = {e.body["approval"]["id"]: e for e in project.journal.entries(kinds=("asked",))}
    for row in rows:
        entry = asked[row["id"]]
        row.update(
            asked_at=entry.at,
            verb=entry.body["verb"],
            call=_described(entry.body),
            message=entry.body["message"],
            rules=entry.body["rules"],
            intent=entry.body["intent"],
        )
    return sorted(rows, key=lambda row: row["asked_at"])


def watch(project: Project) -> int:
    """Asks about each waiting call on this terminal until interrupted."""
    who = require_person("approvals --watch")
    if not sys.stdin.isatty():
        raise TetherError("BAD_ARGUMENTS", "`--watch` needs a terminal", action="Use `tether approve ID`")
    say("waiting for calls that need a person; Ctrl-C ends this")
    passed: set[str] = set()
    while True:
        for row in waiting(project):
            if row["id"] in passed:
                continue
            say()
            say(f"{row['id']}  agent {printable(row['session'])}  intent {row['intent'] or '—'}")
            say(f"  {printable(row['call'])}")
            say(f"  {printable(row['message'])}")
            reply = prompt("  [a]pprove, [r]eject, [l]ater? ")
            if reply.startswith("a"):
                _try_answer(project, row["id"], "approved", who, "")
            elif reply.startswith("r"):
                _try_answer(project, row["id"], "rejected", who, prompt("  reason: "))
            else:
                passed.add(row["id"])
        time.sleep(0.5)


def prompt(question: str) -> str:
    """One line from the terminal; an ended input is an interrupt."""
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip().lower() if question.lstrip().startswith("[") else line.strip()


def _try_answer(project: Project, approval_id: str, state: str, who: str, reason: str) -> None:
    try:
        answer(project, approval_id, state, who, reason)
        say(f"  {state}")
    except TetherError as error:
        say(f"  {error.message}")


def _described(body: dict[str, Any]) -> str:
    for effect in body["effects"]:
        if effect["kind"] in ("run", "delete", "external"):
            return f"{effect['kind']} {effect['target']}"
    return str(body["verb"])


def _left(row: dict[str, Any]) -> str:
    return f"{max(0, int(row['expires'] - time.time()))} s" if row["state"] == "pending" else "—"
