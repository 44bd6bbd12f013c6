"""What is set up, selected, pending and halted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tether.cli.approval import waiting
from tether.cli.output import dump, printable, say
from tether.project import open_project

if TYPE_CHECKING:
    import argparse

EXAMPLES = "  tether status\n  tether status --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> int:
    """Tells the state of the project."""
    project = open_project(args.project)
    journal = project.journal
    head = journal.head()
    state = {
        "project": project.path,
        "preset": project.config.governance.preset,
        "write_enabled": project.write_enabled(),
        "policy": project.policy,
        "trusted": project.trusted,
        "ignored": list(project.ignored),
        "intents": [{"id": i.id, "name": i.name, "status": i.status} for i in project.intents],
        "intents_problem": project.intents_problem,
        "sessions": journal.scopes("session:", "intent"),
        "halted": journal.scopes("session:", "halted"),
        "pending": [row["id"] for row in waiting(project)],
        "open": list(journal.facts("open")),
        "journal": {"id": journal.id, "entries": head.seq, "head": head.hash},
    }
    if args.json:
        dump(state)
        return 0
    say(f"project   {project.path}")
    say(
        f"preset    {state['preset']}, writes {'on' if state['write_enabled'] else 'off'}, policy {project.policy}"
    )
    say(f"journal   {head.seq} entries, head {head.hash[:12]}")
    if project.intents_problem:
        say(f"intents   UNUSABLE, changes are blocked: {printable(project.intents_problem)}")
    for intent in project.intents:
        say(f"intent    {intent.id:<10} {intent.status:<9} {printable(intent.name)}")
    for session, intent_id in journal.scopes("session:", "intent").items():
        say(f"agent     {printable(session)} works for {intent_id}")
    for session, reason in journal.scopes("session:", "halted").items():
        say(f"HALTED    {printable(session)}: {printable(reason)}  → tether reset {printable(session)}")
    for row in waiting(project):
        say(f"WAITS     {row['id']}  {printable(row['call'])}  → tether approve {row['id']}")
    for line in project.ignored:
        say(f"ignored   {printable(line)}")
    return 0
