"""Read, follow and verify the journal.

The journal is append-only and hash-chained: `verify` finds any altered, missing or reordered entry, and
compares the journal with the anchors that the trace ledger holds, which shows a cut tail or a rewrite.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from tether.cli.output import dump, printable, say
from tether.project import LEDGER_FILE, open_project
from tether.record import ledger
from tether.record.verify import verify
from tether.types import plain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tether.project import Project
    from tether.types import Entry

EXAMPLES = "  tether journal tail -n 20\n  tether journal tail --follow --json\n  tether journal verify"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-commands."""
    parser.add_argument("action", choices=("tail", "verify"), help="what to do")
    parser.add_argument(
        "-n", "--lines", type=int, default=20, help="how many entries to begin with (default 20)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on showing entries as they come")
    parser.add_argument(
        "--kind", action="append", default=[], help="only entries of this kind; may be repeated"
    )
    parser.add_argument("--session", default="", help="only entries of this agent")


def run(args: argparse.Namespace) -> int:
    """Shows entries, or proves the chain."""
    project = open_project(args.project)
    if args.action == "verify":
        return _verify(project, as_json=args.json)
    kinds = tuple(args.kind)
    last = project.journal.head().seq if args.lines == 0 else 0
    for entry in reversed(project.journal.recent(args.lines, kinds=kinds, run=args.session)):
        _show(entry, as_json=args.json)
        last = entry.seq
    while args.follow:
        for entry in project.journal.entries(last, kinds=kinds, run=args.session):
            _show(entry, as_json=args.json)
            last = entry.seq
        time.sleep(0.25)
    return 0


def _verify(project: Project, *, as_json: bool) -> int:
    path = os.path.join(project.path, LEDGER_FILE)
    found = verify(project.journal.path, _anchors(project, path))
    wrong = ledger.verify(path) if os.path.exists(path) else []
    if as_json:
        dump({"ok": not found.problems and not wrong, **plain(found), "ledger": plain(wrong)})
    else:
        for problem in found.problems:
            say(f"{problem.kind}: {problem.message}")
        for wrongness in wrong:
            say(f"ledger line {wrongness.line}: {wrongness.kind}: {printable(wrongness.detail)}")
        if not found.problems and not wrong:
            say(f"verified: {found.entries} entries, head {found.head[:16]}, journal {found.journal}")
    return 1 if found.problems or wrong else 0


def _anchors(project: Project, path: str) -> Iterator[tuple[int, str]]:
    """Positions of this journal that the ledger vouches for."""
    if not os.path.exists(path):
        return
    for _, record in ledger.read(path):
        own = record.get("metadata", {}).get("dev.tether", {})
        if own.get("journal") == project.journal.id and own.get("anchor"):
            yield own["seq"], own["anchor"]


def _show(entry: Entry, *, as_json: bool) -> None:
    if as_json:
        dump(plain(entry))
        return
    body = entry.body
    parts = [
        body.get("verdict", body.get("outcome", body.get("state", ""))),
        body.get("code", ""),
        body.get("verb", ""),
    ]
    parts += [c["path"] for c in body.get("changes", ())]
    parts.append(body.get("message", "") if not body.get("changes") else "")
    text = " ".join(printable(p) for p in parts if p)
    say(f"{entry.seq:>6}  {entry.at[:19]}  {entry.kind:<10} {printable(entry.run):<14} {text}".rstrip())
