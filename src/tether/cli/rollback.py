"""Undo what a call did to files.

The bytes before each change are kept; a file that has changed again since is left alone and reported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tether.admit import settle_undone
from tether.cli.output import dump, printable, say
from tether.cli.person import require_person
from tether.errors import TetherError
from tether.project import Project, open_project
from tether.source.staging import commit, forget, stage
from tether.types import Change

if TYPE_CHECKING:
    import argparse

    from tether.source.swap import Staged

EXAMPLES = """\
  tether rollback 5f0c2a9e41d07b33
  tether rollback 5f0c2a9e41d07b33 --outside
  tether rollback 5f0c2a9e41d07b33 src/a.py"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which call, which files."""
    parser.add_argument("call", help="the call's id, as the refusal or `tether journal tail` shows it")
    parser.add_argument("paths", nargs="*", help="only these files")
    parser.add_argument("--outside", action="store_true", help="only what lay outside the intent's scope")


def run(args: argparse.Namespace) -> int:
    """Rolls back and records it."""
    if not args.outside:
        require_person("rollback")  # an agent may only take back what it should not have touched
    project = open_project(args.project)
    done, left = roll_back(project, args.call, set(args.paths), outside=args.outside)
    if args.json:
        dump({"ok": not left, "restored": done, "left": left})
        return 1 if left else 0
    for path in done:
        say(f"restored {printable(path)}")
    for path, why in left.items():
        say(f"left     {printable(path)}: {why}")
    return 1 if left else 0


def roll_back(
    project: Project, call_id: str, only: set[str], *, outside: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Puts back the bytes each file had before the call; what changed since stays and is named."""
    settled = list(project.journal.entries(call=call_id, kinds=("settled",)))
    if not settled:
        raise TetherError("NOT_FOUND", f"no settled call `{call_id}`", action="See `tether journal tail`")
    body = settled[-1].body
    chosen = [c for c in body["changes"] if not only or c["path"] in only]
    if outside:
        chosen = [c for c in chosen if c["path"] in set(body.get("outside", ()))]
    restored: list[Change] = []
    modes: dict[str, int] = body.get("modes", {})
    mine = {path: mode for path, mode in modes.items() if path not in {c["path"] for c in body["changes"]}}
    turned, left = _turn_back(project, _choose(mine, only, set(body.get("outside", ())) if outside else None))
    for change in chosen:
        made, why = _restore(project, change, modes.get(change["path"]))
        restored += made
        if why:
            left[change["path"]] = why
    if restored:
        settle_undone(project, call_id, body, restored)
        project.drain()
    return [*(c.path for c in restored), *turned], left


def _choose(modes: dict[str, int], only: set[str], beyond: set[str] | None) -> dict[str, int]:
    return {
        path: mode
        for path, mode in modes.items()
        if (not only or path in only) and (beyond is None or path in beyond)
    }


def _turn_back(project: Project, modes: dict[str, int]) -> tuple[list[str], dict[str, str]]:
    """Gives files whose permissions alone were changed those they had; which, and why not the others."""
    done: list[str] = []
    left: dict[str, str] = {}
    for path, mode in modes.items():
        try:
            parent, leaf = project.root.open_parent(path)
        except TetherError as error:
            left[path] = error.message
            continue
        try:
            file = os.open(leaf, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
            try:
                os.fchmod(file, mode & 0o777)
            finally:
                os.close(file)
            done.append(path)
        except OSError as error:
            left[path] = os.strerror(error.errno or 0)
        finally:
            os.close(parent)
    return done, left


def _restore(project: Project, change: dict[str, Any], mode: int | None) -> tuple[list[Change], str]:
    spot = project.root.look(change["path"])
    if spot.hash != change["after"]:
        return [], "it has changed since"
    before = None
    if change["before"]:
        before = project.contents.get(change["before"])
        if before is None:
            return [], "its former bytes are not kept"
    source = change.get("moved_from") or change["path"]
    items: list[Staged] = []
    if source != change["path"]:
        items.append(stage(project.root, source, before, expect=""))
        items.append(stage(project.root, change["path"], None, expect=change["after"]))
    else:
        items.append(stage(project.root, change["path"], before, expect=change["after"], mode=mode))
    try:
        commit(project.root, items)
    except TetherError as error:
        return [], error.message
    finally:
        forget(project.root, items)
    if source != change["path"]:
        return [
            Change(source, change["after"], change["before"], moved_from=change["path"], author="unknown")
        ], ""
    return [Change(change["path"], change["after"], change["before"], author="unknown")], ""
