"""Accept the configuration that came with a repository.

Until then its files may tighten security, never loosen it, and none of its commands are run, those that
acceptance criteria name included. A later change to them needs a new `tether trust`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tether.cli.output import confirm, dump, printable, say
from tether.cli.person import require_person
from tether.project import CONFIG_FILES, Project, find_root

if TYPE_CHECKING:
    import argparse

EXAMPLES = "  tether trust            # shows what would take effect, then asks\n  tether trust --yes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Whether to ask."""
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--adopt-journal",
        action="store_true",
        help="also accept a journal that was begun elsewhere as one's own",
    )


def run(args: argparse.Namespace) -> int:
    """Shows what would take effect and remembers the person's word outside the project."""
    who = require_person("trust")
    project = Project(find_root(args.project))
    if not args.adopt_journal:
        project.require_own_journal()
    effects = list(project.ignored)
    if not args.json:
        for name in CONFIG_FILES:
            if os.path.exists(os.path.join(project.path, name)):
                say(f"{name}:")
                with open(os.path.join(project.path, name), encoding="utf-8", errors="replace") as file:
                    for line in file.read(20_000).splitlines():
                        say("  " + printable(line))
        for line in effects:
            say("would take effect: " + printable(line))
        for command in project.criteria():
            if not project.accepts(command):
                say("would be run by `tether intent check`: " + printable(command))
    if not args.yes and not confirm("trust these files as they are now?"):
        say("nothing changed; `--yes` trusts without asking")
        return 1
    project.trust(commands=True)
    project.journal.append("trusted", {"by": who, "config": project.config_digest})
    if args.json:
        dump({"ok": True, "config": project.config_digest, "took_effect": effects})
    else:
        say("trusted; a later change to these files needs a new `tether trust`")
    return 0
