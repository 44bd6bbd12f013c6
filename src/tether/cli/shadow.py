"""Prove a change in a throw-away worktree and turn writes on.

The project's validation commands (`shadow.commands`) run in a fresh git worktree of HEAD with the pending,
uncommitted change applied. If all pass, that is written down and agents may write. Nothing in the project
itself is touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

from tether.cli.output import dump, printable, say
from tether.cli.person import require_person
from tether.errors import TetherError
from tether.project import Project, open_project
from tether.source.git import Repo, run_git
from tether.source.redact import redact

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether shadow
  tether shadow --run "pytest -q" --run "ruff check ."
  tether shadow --off         # take the permission back"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to run."""
    parser.add_argument(
        "--run", action="append", default=[], metavar="CMD", help="run this instead of the configured"
    )
    parser.add_argument("--timeout", type=int, default=0, help="seconds for each command")
    parser.add_argument("--off", action="store_true", help="turn writes off again")
    parser.add_argument("--keep", action="store_true", help="keep the worktree, to look at")


def run(args: argparse.Namespace) -> int:
    """Runs the validation and switches."""
    who = require_person("shadow")
    project = open_project(args.project)
    if args.off:
        project.journal.append("enabled", {"on": False, "by": who}, durable=True)
        say(
            "writes are off"
            if not project.write_enabled()
            else "writes stay on: `security.write_enabled` is true"
        )
        return 0
    commands = tuple(args.run) or project.config.shadow.commands
    if not commands:
        raise TetherError(
            "BAD_ARGUMENTS",
            "there is nothing to validate with",
            action='Set `shadow.commands` in tether.toml, or give --run "your test command"',
        )
    result = validate(
        project,
        commands,
        args.timeout or project.config.shadow.timeout_seconds,
        keep=args.keep,
        quiet=args.json,
    )
    project.journal.append("shadowed", {**result, "by": who}, durable=True)
    if result["passed"]:
        body = {"on": True, "by": "shadow", "person": who, "revision": result["revision"]}
        project.journal.append("enabled", body, durable=True)
    if args.json:
        dump({"ok": result["passed"], **result, "write_enabled": project.write_enabled()})
    else:
        say("passed: agents may now write" if result["passed"] else "failed: nothing was changed")
    return 0 if result["passed"] else 1


def validate(
    project: Project, commands: tuple[str, ...], timeout: int, *, keep: bool = False, quiet: bool = False
) -> dict[str, Any]:
    """Runs commands in a throw-away worktree with the pending change applied."""
    repo = project.repository
    if repo is None:
        raise TetherError(
            "BAD_ARGUMENTS",
            "a shadow run needs a git repository",
            action="Run `git init` and commit, or set security.write_enabled yourself",
        )
    revision = (run_git(repo, "rev-parse", "HEAD") or b"").decode().strip()
    if not revision:
        raise TetherError(
            "BAD_ARGUMENTS", "the repository has no commit yet", action="Commit once, then retry"
        )
    place = tempfile.mkdtemp(prefix="tether-shadow-")
    tree = os.path.join(place, "tree")
    results: list[dict[str, Any]] = []
    try:
        _git(repo, "worktree", "add", "--detach", "--quiet", tree, revision)
        applied = _apply_pending(repo, tree)
        where = os.path.join(tree, os.path.relpath(project.path, repo.root))
        for command in commands:
            if not quiet:
                say(f"$ {printable(command)}")
            results.append(_run(command, where, timeout))
            if not quiet and results[-1]["exit_code"] != 0:
                for line in results[-1]["output"].splitlines()[-20:]:
                    say("  " + printable(line))
            if results[-1]["exit_code"] != 0:
                break
    finally:
        if keep:
            say(f"kept {tree}")
        else:
            run_git(repo, "worktree", "remove", "--force", tree)
            shutil.rmtree(place, ignore_errors=True)
            run_git(repo, "worktree", "prune")
    passed = len(results) == len(commands) and all(r["exit_code"] == 0 for r in results)
    return {"passed": passed, "revision": revision, "pending_files": applied, "results": results}


def _apply_pending(repo: Repo, tree: str) -> int:
    """Brings uncommitted and untracked files of the project into the worktree; how many."""
    status = run_git(repo, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    if status is None:
        raise TetherError("COMMAND_FAILED", "git could not tell what has changed")
    count = 0
    for item in status.split(b"\0"):
        if len(item) < 4:
            continue
        path = os.fsdecode(item[3:])
        source, target = os.path.join(repo.root, path), os.path.join(tree, path)
        count += 1
        if not os.path.lexists(source):
            if os.path.lexists(target):
                os.unlink(target)
            continue
        if os.path.isdir(source) and not os.path.islink(source):
            continue  # a nested repository: not part of this one's change
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.lexists(target):
            os.unlink(target)
        shutil.copy2(source, target, follow_symlinks=False)
    return count


def _run(command: str, where: str, timeout: int) -> dict[str, Any]:
    started = time.monotonic()
    try:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        code, output = -1, (expired.stdout or b"") + f"\ntimed out after {timeout} s".encode()
    return {
        "command": redact(command).text,
        "exit_code": code,
        "seconds": round(time.monotonic() - started, 2),
        "output": redact(output[-8000:].decode("utf-8", "replace")).text,
    }


def _git(repo: Repo, *args: str) -> None:
    if run_git(repo, *args, seconds=120) is None:
        raise TetherError("COMMAND_FAILED", f"`git {' '.join(args[:2])}` failed; is the repository healthy?")
