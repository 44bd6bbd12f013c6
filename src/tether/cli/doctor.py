"""Find what is broken and how to mend it.

Reconciles calls that were decided and never settled, from what the disk holds; checks the journal, the
ledger, configuration, intents, hooks, locks, disk space and permissions. Each finding says how to mend it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from typing import TYPE_CHECKING

from tether.admit import recover
from tether.cli.output import dump, printable, say
from tether.errors import TetherError
from tether.project import LEDGER_FILE, Project, find_root
from tether.record import ledger
from tether.record.verify import verify
from tether.source.staging import discard_orphans
from tether.types import noun, plain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

EXAMPLES = "  tether doctor\n  tether doctor --json"

LOW_SPACE = 200 * 1024 * 1024
STALE_SECONDS = 24 * 3600


@noun
class Finding:
    """One check's result."""

    level: str  # ok | mended | warning | error
    what: str
    mend: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> int:
    """Runs every check; exit code 1 if anything is wrong."""
    findings = list(examine(args.project))
    if args.json:
        dump({"ok": not any(f.level == "error" for f in findings), "findings": plain(findings)})
    else:
        for finding in findings:
            mark = {"ok": "✓", "mended": "✚", "warning": "!", "error": "✗"}[finding.level]
            say(
                f"{mark} {printable(finding.what)}"
                + (f"\n    → {printable(finding.mend)}" if finding.mend else "")
            )
    return 1 if any(f.level == "error" for f in findings) else 0


def examine(start: str) -> Iterator[Finding]:
    """Every check, in the order in which one's failure explains the next."""
    try:
        project = Project(find_root(start))
    except TetherError as error:
        yield Finding("error", error.message, error.action)
        return
    try:
        project.require_own_journal()
    except TetherError as error:
        yield Finding("error", error.message, error.action)
        return
    yield from _journal(project)
    yield from _unsettled(project)
    yield from _ledger(project)
    yield from _configuration(project)
    yield from _hooks(project)
    yield from _remains(project)
    yield from _locks(project)
    yield from _machine(project)


def _journal(project: Project) -> Iterator[Finding]:
    found = verify(project.journal.path)
    for problem in found.problems:
        if problem.kind == "projection":
            yield Finding(
                "error", problem.message, "keep a copy of the journal; then remove nothing and report this"
            )
        else:
            yield Finding(
                "error", problem.message, "keep a copy of .tether/local/journal.db and ask who changed it"
            )
    if not found.problems:
        yield Finding("ok", f"journal: {found.entries} entries, every one chained")


def _unsettled(project: Project) -> Iterator[Finding]:
    done = recover(project, every=True)
    project.drain()  # whatever a killed process had decided but not yet exported
    for call_id in done:
        yield Finding("mended", f"call {call_id} was decided and never settled; reconciled with the disk")
    for call_id, held in project.journal.facts("open").items():
        left = int(held["expires"] - time.time()) if held["expires"] else 0
        still = f"its ticket runs {left} s more" if left > 0 else "its process runs"
        yield Finding("ok", f"call {call_id} of {held['session']} is under way ({still})")


def _ledger(project: Project) -> Iterator[Finding]:
    path = os.path.join(project.path, LEDGER_FILE)
    if not os.path.exists(path):
        yield Finding("ok", "ledger: no record yet")
        return
    problems = ledger.verify(path)
    for problem in problems[:20]:
        yield Finding("error", f"{LEDGER_FILE}:{problem.line}: {problem.detail}", "restore the file from git")
    if not problems:
        yield Finding("ok", "ledger: every record chained")
    attributes = os.path.join(project.path, ".gitattributes")
    if project.repository and not (os.path.exists(attributes) and "merge=union" in _text(attributes)):
        yield Finding(
            "warning", "branches that both append to the ledger would conflict", "run `tether init` again"
        )


def _configuration(project: Project) -> Iterator[Finding]:
    for line in project.ignored:
        yield Finding("warning", line, "read the files, then `tether trust`")
    if project.intents_problem:
        yield Finding(
            "error", project.intents_problem, "mend the file; until then agents cannot change anything"
        )
    elif not any(i.status == "active" for i in project.intents):
        yield Finding(
            "warning", "no intent is active: agents cannot change anything", 'run `tether intent new "…"`'
        )
    else:
        yield Finding("ok", f"configuration and intents: policy {project.policy}")
    if not project.write_enabled():
        yield Finding("warning", "agents may not write", "run `tether shadow`")


def _hooks(project: Project) -> Iterator[Finding]:
    from tether.edges.hooks.settings import AGENTS, ENTRY, installed

    connected = False
    for agent in AGENTS:
        try:
            command = installed(agent, project.path)
        except TetherError as error:
            yield Finding("error", error.message, error.action)
            continue
        if not command:
            continue
        connected = True
        python = command.split(" ", 1)[0].strip("'\"")
        if not os.path.exists(python) or ENTRY not in command:
            yield Finding(
                "error", f"{agent}'s hooks point at another installation", f"run `tether install {agent}`"
            )
        else:
            yield Finding("ok", f"{agent} is connected")
    if not connected:
        yield Finding(
            "warning", "no agent is connected", "run `tether install claude-code` (or gemini, codex, cline)"
        )


def _remains(project: Project) -> Iterator[Finding]:
    """What killed processes left behind: harmless, and removed once it is old."""
    opened = project.journal.facts("open").values()
    staged = [write["staged"] for held in opened for write in held["writes"]]
    removed = len(discard_orphans(project.root, staged))
    for folder in ("sweeps", "live"):
        place = os.path.join(project.state, folder)
        if not os.path.isdir(place):
            continue
        for name in os.listdir(place):
            path = os.path.join(place, name)
            if folder == "live":
                removed += not project.lives(name)
                continue
            try:
                if time.time() - os.lstat(path).st_mtime > STALE_SECONDS:
                    os.unlink(path)
                    removed += 1
            except FileNotFoundError:
                continue  # its owner was faster
    if removed:
        yield Finding("mended", f"removed {removed} left-over files of ended processes")


def _locks(project: Project) -> Iterator[Finding]:
    """Locks end with their holder, so one that is held has someone at work behind it."""
    held = 0
    for folder in ("locks", "ledger"):
        place = os.path.join(project.state, folder)
        for name in os.listdir(place) if os.path.isdir(place) else ():
            held += _is_held(os.path.join(place, name))
    if held:
        yield Finding(
            "warning", f"{held} locks are held", "a process writes now; run this again, or end that process"
        )
    else:
        yield Finding("ok", "locks: none held")


def _is_held(path: str) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False  # gone, or not a lock
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _machine(project: Project) -> Iterator[Finding]:
    free = shutil.disk_usage(project.state).free
    if free < LOW_SPACE:
        yield Finding(
            "error",
            f"only {free // 1_000_000} MB are free: what cannot be recorded is not done",
            "free space",
        )
    else:
        yield Finding("ok", f"disk: {free // 1_000_000_000} GB free")
    for path in (project.state, project.journal.path):
        mode = os.stat(path).st_mode
        if mode & stat.S_IWOTH:
            yield Finding("error", f"`{path}` can be written by anyone", f"chmod o-w {path}")
        if not os.access(path, os.W_OK):
            yield Finding("error", f"`{path}` cannot be written", f"chown it to {os.getuid()}")


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
