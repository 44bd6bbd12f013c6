"""Look closer at a function, class, module or stretch of a file, and at what it calls and is called by."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from datetime import UTC, datetime
from typing import Any

from tether.errors import TetherError

EXAMPLES = """\
  tether zoom function=parse_target --budget=500
  tether zoom class=Engine --depth=full
  tether zoom file=src/app.py:100-200 --context=5
  tether zoom --session create:review         # zooms are kept from here on"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to see and how, or which session to work on."""
    add = parser.add_argument
    add("target", nargs="?", help="function=NAME, class=NAME, module=NAME or file=PATH:10-40")
    add("--budget", metavar="N", help="the most tokens: 500, 2k")
    add("--tokenizer", default="o200k", help="o200k, cl100k or estimate")
    add("--allow-sensitive", action="store_true", help="keep secrets")
    add("--frozen", action="store_true", help="learn nothing from this")
    add_detail(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="DO", help="create:NAME, load:NAME, list, show or delete:NAME")
    which.add_argument("--undo", action="store_true", help="take the session's last step back")
    which.add_argument("--redo", action="store_true", help="take an undone step again")
    which.add_argument("--collapse", metavar="TARGET", help="close what a zoom opened")


def add_detail(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """What `tether pack --zoom` shares with `tether zoom`."""
    add = parser.add_argument
    add("--module", default="", metavar="M", help="where to look: a path, folder or dotted name")
    add("--depth", default="implementation", help="signature, implementation or full")
    add("--lines", default="", metavar="A-B", help="lines of a file")
    add("--context", type=int, default=0, metavar="N", help="lines to show around it")
    add("--include-tests", action="store_true", help="count tests among definitions and callers")


def run(args: argparse.Namespace) -> int:
    """Zoom, or work on the sessions."""
    if args.session or args.undo or args.redo or args.collapse:
        return run_session(args)
    if not args.target:
        raise TetherError("BAD_ARGUMENTS", "nothing to zoom into: give function=NAME or file=PATH:10-40")
    return run_target(args, args.target)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def run_target(args: argparse.Namespace, text: str) -> int:
    """One zoom to standard output."""
    from tether.pack.budget import parse_budget
    from tether.pack.inspection import as_answer, inspect, remember
    from tether.pack.target import DEPTHS, parse_target

    if args.depth not in DEPTHS:
        raise TetherError("BAD_ARGUMENTS", f"depth `{args.depth}`: choose {', '.join(DEPTHS)}")
    if args.context < 0:
        raise TetherError("BAD_ARGUMENTS", f"--context `{args.context}`: give 0 or more lines")
    target = parse_target(text, args.lines)
    root = os.path.realpath(args.project)
    found = inspect(
        root,
        target,
        depth=args.depth,
        budget=None if args.budget is None else parse_budget(args.budget),
        context=args.context,
        module=args.module,
        tests=args.include_tests,
        tokenizer=args.tokenizer,
        sensitive=args.allow_sensitive,
    )
    notices = [] if args.frozen else remember(root, target, args.depth, found, _now())
    for notice in notices:
        print(f"tether: {notice}", file=sys.stderr)
    text = json.dumps(as_answer(found, notices), ensure_ascii=False) + "\n" if args.json else found.text
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
    return 0


def run_session(args: argparse.Namespace) -> int:
    """Create, load, list, show or delete a session; undo, redo or collapse in the active one."""
    from tether.pack import sessions
    from tether.pack.target import parse_target

    root = os.path.realpath(args.project)
    action, _, name = (args.session or "").partition(":")
    if args.session and action in ("list", "show"):
        data = sessions.read_sessions(root)
        if action == "list":
            for key in sorted(data["sessions"]):
                mark = "*" if key == data["active_session"] else " "
                print(f"{mark} {key}  {len(data['sessions'][key]['active_zooms'])} open")
        else:
            found = data["sessions"].get(name) if name else sessions.active(data)
            if found is None:
                raise TetherError("NOT_FOUND", f"no zoom session `{name}`")
            print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0

    def edit(data: dict[str, Any]) -> dict[str, Any] | None:
        now = _now()
        if args.undo or args.redo:
            session = sessions.active(data)
            said = sessions.undo(session, now) if args.undo else sessions.redo(session, now)
            print(f"{'undone' if args.undo else 'done again'}: {said}")
            return session
        if args.collapse:
            session = sessions.active(data)
            sessions.collapse(session, parse_target(args.collapse).spell(), now)
            return session
        if action == "create":
            return sessions.create(data, name, now)
        if action == "load":
            return sessions.load(data, name, now)
        if action == "delete":
            sessions.delete(data, name)
            return None
        raise TetherError(
            "BAD_ARGUMENTS",
            f"--session `{args.session}`: give create:NAME, load:NAME, list, show or delete:NAME",
        )

    session = sessions.change_sessions(root, edit)
    if session is not None:
        print(f"session {session['name']}: {len(session['active_zooms'])} open")
        for target, depth in session["active_zooms"]:
            print(f"  tether zoom {shlex.quote(target)} --depth={depth}")
    return 0
