"""Connect a coding agent to Tether, through its hooks or as an MCP server, or disconnect it.

The agent's project settings are edited, nothing else in them is changed, a backup is kept beside the state,
and the difference is shown first. Running it again changes nothing.
"""

from __future__ import annotations

import difflib
import os
import sys
import time
from typing import TYPE_CHECKING

from tether.cli.output import confirm, dump, printable, say
from tether.cli.person import require_person
from tether.edges.hooks import settings as hooks
from tether.edges.mcp import clients
from tether.project import open_project, replace_file

if TYPE_CHECKING:
    import argparse

    from tether.edges.settings import Plan

DESCRIPTIONS = {
    "install": __doc__,
    "uninstall": "Disconnect a coding agent: removes Tether's hooks, or its MCP server, from its project "
    "settings, and nothing else.",
}
EXAMPLES = {
    "install": "  tether install claude-code\n  tether install gemini --yes\n  tether install cline --dry-run\n"
    "  tether install claude-code --mcp\n  tether install cursor",
    "uninstall": "  tether uninstall claude-code\n  tether uninstall claude-code --mcp",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which agent."""
    parser.add_argument(
        "agent", choices=sorted({*hooks.AGENTS, *clients.CLIENTS}), help="the agent to connect"
    )
    parser.add_argument(
        "--mcp",
        action="store_true",
        help="connect it to `tether mcp` instead of by its hooks (cursor, vscode and zed know no other way)",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show the difference and change nothing")


def run(args: argparse.Namespace) -> int:
    """Shows the difference, asks, keeps a backup, writes."""
    if not args.dry_run:
        require_person(args.command)
    project = open_project(args.project)
    way = clients if args.mcp or args.agent not in hooks.AGENTS else hooks
    planned = (way.plan_install if args.command == "install" else way.plan_uninstall)(
        args.agent, project.path, sys.executable
    )
    changed = [plan for plan in planned if plan.before != plan.after]
    if not args.json:
        for plan in changed:
            say(_difference(plan))
    if not changed or args.dry_run:
        state = "nothing to change" if not changed else "dry run: nothing changed"
        dump({"ok": True, "changed": [], "planned": [p.path for p in changed]}) if args.json else say(state)
        return 0
    if not args.yes and not confirm("write this?", default=False):
        say("nothing changed; `--yes` writes without asking")
        return 1
    backups = []
    for plan in changed:
        path = os.path.join(project.path, plan.path)
        if plan.before is not None:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            backup = os.path.join(project.folder("backups"), f"{plan.path.replace('/', '__')}.{stamp}")
            replace_file(backup, plan.before.encode())
            backups.append(backup)
        if plan.after is None:
            os.unlink(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, plan.after.encode())
        if plan.executable:
            os.chmod(path, 0o755)  # noqa: S103  the agent runs it
    project.journal.append(args.command + "ed", {"agent": args.agent, "files": [p.path for p in changed]})
    if args.json:
        dump({"ok": True, "changed": [p.path for p in changed], "backups": backups})
        return 0
    for backup in backups:
        say(f"backup   {backup}")
    say(
        f"{args.command}ed {args.agent}"
        + (": its next session is governed" if args.command == "install" else "")
    )
    return 0


def _difference(plan: Plan) -> str:
    lines = difflib.unified_diff(
        (plan.before or "").splitlines(),
        (plan.after or "").splitlines(),
        fromfile=plan.path if plan.before is not None else "(absent)",
        tofile=plan.path if plan.after is not None else "(removed)",
        lineterm="",
    )
    return "\n".join(printable(line) for line in lines)
