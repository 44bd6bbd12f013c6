"""Let an agent go on that the loop breaker halted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tether.cli.output import dump, say
from tether.cli.person import require_person
from tether.errors import TetherError
from tether.project import open_project

if TYPE_CHECKING:
    import argparse

EXAMPLES = "  tether reset session-42\n  tether reset --all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which agent."""
    parser.add_argument(
        "session", nargs="?", default="", help="the halted agent's session, as `tether status` shows"
    )
    parser.add_argument("--all", action="store_true", help="every halted agent")


def run(args: argparse.Namespace) -> int:
    """Lifts the halt."""
    who = require_person("reset")
    project = open_project(args.project)
    halted = project.journal.scopes("session:", "halted")
    chosen = list(halted) if args.all else [args.session]
    if not args.all and args.session not in halted:
        raise TetherError("NOT_FOUND", f"`{args.session}` is not halted", action="See `tether status`")
    for session in chosen:
        project.journal.append("reset", {"by": who}, run=session)
    if args.json:
        dump({"ok": True, "reset": chosen})
    else:
        say(f"reset: {', '.join(chosen)}" if chosen else "no agent is halted")
    return 0
