"""Create, choose, delegate and check intents.

Intents live in `.orchestration/active_intents.yaml`, which people own: these commands keep its comments and
order. Agents may `select`, `list`, `show` and `check`; the rest is for people.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from tether.cli.output import confirm, dump, printable, say, table
from tether.cli.person import is_agent, require_person
from tether.control.intents import STATUSES, find
from tether.errors import TetherError
from tether.project import INTENTS_FILE, Project, open_project, replace_file
from tether.types import Criterion, Intent, plain

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether intent new "Refactor auth" --scope 'src/auth/**' --constraint "keep the public API" --activate
  tether intent list
  tether intent select INT-001 --session "$SESSION"
  tether intent edit INT-001 --add-scope 'tests/auth/**'
  tether intent delegate INT-001 --to worker --scope 'src/auth/tokens/**'
  tether intent check INT-001
  tether intent close INT-001 --as done"""

PEOPLE = ("new", "edit", "activate", "close", "delegate")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-commands."""
    sub = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        made = sub.add_parser(name, help=text, description=text)
        made.add_argument("--json", action="store_true", default=argparse_suppress(), help="answer in JSON")
        return made

    new = command("new", "create an intent (a draft, unless --activate)")
    new.add_argument("name", help="what it is for, in a few words")
    new.add_argument("--id", default="", help="its id (default: the next free INT-NNN)")
    _fields(new)
    new.add_argument("--activate", action="store_true", help="make it active at once")

    listing = command("list", "list intents")
    listing.add_argument("--status", choices=STATUSES, help="only those")
    show = command("show", "show one intent whole")
    show.add_argument("id")
    edit = command("edit", "change an intent's fields")
    edit.add_argument("id")
    edit.add_argument("--name")
    _fields(edit, adding=True)
    edit.add_argument("--status", choices=STATUSES)
    activate = command("activate", "make an intent active")
    activate.add_argument("id")
    close = command("close", "end or pause an intent")
    close.add_argument("id")
    close.add_argument("--as", dest="status", choices=("done", "abandoned", "paused"), default="done")
    check = command("check", "run the acceptance criteria that are commands")
    check.add_argument("id")
    check.add_argument("--timeout", type=int, default=600, help="seconds for each command (default 600)")
    delegate = command("delegate", "give a part of an intent's scope to a worker")
    delegate.add_argument("id", help="the parent intent")
    delegate.add_argument("--to", required=True, help="the worker's name")
    delegate.add_argument("--scope", action="append", required=True, help="a glob within the parent's scope")
    delegate.add_argument("--name", default="", help="what the worker is to do")
    select = command("select", "select the intent a session works for")
    select.add_argument("id")
    select.add_argument(
        "--session", default=os.environ.get("TETHER_SESSION", "cli"), help="the agent's session"
    )


def argparse_suppress() -> str:
    """Keeps a sub-command's absent --json from overriding the command's own."""
    import argparse

    return argparse.SUPPRESS


def _fields(parser: argparse.ArgumentParser, *, adding: bool = False) -> None:
    parser.add_argument("--scope", action="append", help="a glob of files it owns; may be repeated")
    parser.add_argument("--constraint", action="append", help="something that must hold; may be repeated")
    parser.add_argument(
        "--criterion", action="append", help="an acceptance criterion; `$ cmd` is run by `check`"
    )
    parser.add_argument("--related", action="append", help="a spec or issue; may be repeated")
    parser.add_argument("--owner", help="whose intent it is")
    if adding:
        parser.add_argument("--add-scope", action="append", default=[], help="add a glob, keeping the others")


def run(args: argparse.Namespace) -> int:
    """Runs one sub-command."""
    if args.action in PEOPLE:
        require_person(f"intent {args.action}")
    project = open_project(args.project)
    return int(_ACTIONS[args.action](project, args) or 0)


def _new(project: Project, args: argparse.Namespace) -> int:
    from tether.control.intent_edit import add, next_id

    now = _today()
    intent = Intent(
        id=args.id or next_id(project.intents),
        name=args.name,
        status="active" if args.activate else "draft",
        owned_scope=tuple(args.scope or ()),
        constraints=tuple(args.constraint or ()),
        acceptance_criteria=tuple(_criterion(c) for c in args.criterion or ()),
        owner=args.owner or "",
        related=tuple(args.related or ()),
        created=now,
        updated=now,
    )
    _write(project, lambda text: add(text, intent), "new", intent.id)
    project.accept(c.command for c in intent.acceptance_criteria if c.command)
    _told(args, project, intent.id, f"created {intent.id} ({intent.status})")
    if not intent.owned_scope and not args.json:
        say("it owns no files yet: `tether intent edit " + intent.id + " --scope 'src/**'`")
    return 0


def _list(project: Project, args: argparse.Namespace) -> int:
    _require_readable(project)
    chosen = [i for i in project.intents if not args.status or i.status == args.status]
    if args.json:
        dump(plain(chosen))
        return 0
    rows = [(i.id, i.status, i.owner or "—", ", ".join(i.owned_scope) or "—", i.name) for i in chosen]
    table(
        ("id", "status", "owner", "scope", "name"),
        rows,
        empty='no intents; `tether intent new "…"` makes one',
    )
    return 0


def _show(project: Project, args: argparse.Namespace) -> int:
    intent = _known(project, args.id)
    if args.json:
        dump(plain(intent))
        return 0
    for key, value in plain(intent).items():
        if isinstance(value, list):
            for item in value:
                text = item if isinstance(item, str) else f"{item['text']}  $ {item['command']}".rstrip(" $")
                say(f"{key:<20} {printable(text)}")
        elif value:
            say(f"{key:<20} {printable(value)}")
    return 0


def _edit(project: Project, args: argparse.Namespace) -> int:
    from tether.control.intent_edit import set_fields

    intent = _known(project, args.id)
    changes: dict[str, Any] = {"updated": _today()}
    if args.name:
        changes["name"] = args.name
    if args.status:
        changes["status"] = args.status
    if args.owner is not None:
        changes["owner"] = args.owner
    if args.scope or args.add_scope:
        changes["owned_scope"] = (*(args.scope or intent.owned_scope), *args.add_scope)
    if args.constraint:
        changes["constraints"] = tuple(args.constraint)
    if args.criterion:
        changes["acceptance_criteria"] = tuple(_criterion(c) for c in args.criterion)
    if args.related:
        changes["related"] = tuple(args.related)
    _write(project, lambda text: set_fields(text, args.id, changes), "edit", args.id)
    project.accept(c.command for c in changes.get("acceptance_criteria", ()) if c.command)
    _told(args, project, args.id, f"changed {args.id}: {', '.join(changes)}")
    return 0


def _activate(project: Project, args: argparse.Namespace) -> int:
    return _set_status(project, args, "active")


def _close(project: Project, args: argparse.Namespace) -> int:
    return _set_status(project, args, args.status)


def _set_status(project: Project, args: argparse.Namespace, status: str) -> int:
    from tether.control.intent_edit import set_status

    _known(project, args.id)
    _write(project, lambda text: set_status(text, args.id, status, _today()), status, args.id)
    _told(args, project, args.id, f"{args.id} is {status}")
    return 0


def _check(project: Project, args: argparse.Namespace) -> int:
    """Runs each criterion that is a command; repository commands need the repository's trust."""
    intent = _known(project, args.id)
    _require_accepted(project, [c.command for c in intent.acceptance_criteria if c.command])
    results = []
    for criterion in intent.acceptance_criteria:
        result: dict[str, Any] = {"criterion": criterion.text, "command": criterion.command}
        if not criterion.command:
            result["result"] = "by hand"
        else:
            result |= _run_criterion(project, criterion, args.timeout)
        results.append(result)
        if not args.json:
            mark = {"pass": "✓", "fail": "✗", "by hand": "–"}[result["result"]]
            say(f"{mark} {printable(criterion.text)}")
            if result["result"] == "fail":
                for line in result["output"].splitlines()[-15:]:
                    say("    " + printable(line))
    failed = [r for r in results if r["result"] == "fail"]
    outcome = {
        "intent": intent.id,
        "passed": sum(r["result"] == "pass" for r in results),
        "failed": len(failed),
    }
    project.journal.append("criteria", outcome)
    if args.json:
        dump({**outcome, "criteria": results})
    elif not results:
        say(f"{intent.id} has no acceptance criteria")
    return 1 if failed else 0


def _require_accepted(project: Project, commands: list[str]) -> None:
    """INVARIANT: the intents file comes with a clone; what it would run, a person has read first."""
    new = [command for command in commands if not project.accepts(command)]
    if not new:
        return
    if sys.stdin.isatty() and not is_agent():
        for command in new:
            say(f"not run here before: {printable(command)}")
        if confirm("run these commands of the intents file?"):
            project.accept(new)
            return
    raise TetherError(
        "UNTRUSTED",
        f"no person has accepted the command `{printable(new[0])}` of the intents file",
        action="Ask a person to read it and run `tether trust`",
    )


def _run_criterion(project: Project, criterion: Criterion, timeout: int) -> dict[str, Any]:
    from tether.source.redact import redact

    started = time.monotonic()
    try:
        done = subprocess.run(
            ["bash", "-c", criterion.command],
            cwd=project.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        code, output = None, (expired.stdout or b"") + f"\ntimed out after {timeout} s".encode()
    return {
        "result": "pass" if code == 0 else "fail",
        "exit_code": code,
        "seconds": round(time.monotonic() - started, 2),
        "output": redact(output[-20_000:].decode("utf-8", "replace")).text,
    }


def _delegate(project: Project, args: argparse.Namespace) -> int:
    from tether.control.intent_edit import delegate

    _known(project, args.id)
    made: list[Any] = []

    def edit(text: str) -> str:
        changed, child, overlaps = delegate(text, args.id, args.to, args.scope, _today(), name=args.name)
        made[:] = [child, overlaps]
        return changed

    _write(project, edit, "delegate", args.id)
    child, overlaps = made
    if args.json:
        dump({"ok": True, "intent": plain(child), "overlaps": plain(overlaps)})
        return 0
    say(f"created {child.id} for {printable(args.to)}: {', '.join(child.owned_scope)}")
    for other in overlaps:
        example = f", for example `{printable(other.path)}`" if getattr(other, "path", "") else ""
        say(f"overlaps with {other.id}{example}: two workers may write the same file")
    return 0


def _select(project: Project, args: argparse.Namespace) -> int:
    from tether.cli.call import submit, tell
    from tether.types import Agent
    from tether.workspace import Workspace

    outcome = submit(Workspace(project), Agent(args.session), "select_active_intent", {"intent_id": args.id})
    return tell(outcome, as_json=args.json)


_ACTIONS = {
    "new": _new,
    "list": _list,
    "show": _show,
    "edit": _edit,
    "activate": _activate,
    "close": _close,
    "check": _check,
    "delegate": _delegate,
    "select": _select,
}


def _write(project: Project, edit: Any, action: str, intent_id: str) -> None:
    """One edit of the intents file, serialised with every other one and written down."""
    import fcntl

    path = os.path.join(project.path, INTENTS_FILE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    lock = os.open(os.path.join(project.folder("locks"), "intents"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
        replace_file(path, edit(text).encode())
    finally:
        os.close(lock)
    project.reload()
    from tether.cli.person import name

    project.journal.append(
        "intents", {"action": action, "intent": intent_id, "by": name(), "policy": project.policy}
    )


def _known(project: Project, intent_id: str) -> Intent:
    _require_readable(project)
    intent = find(project.intents, intent_id)
    if intent is None:
        raise TetherError("NOT_FOUND", f"no intent `{intent_id}`", action="See `tether intent list`")
    return intent


def _require_readable(project: Project) -> None:
    if project.intents_problem:
        raise TetherError("INTENTS_MALFORMED", project.intents_problem)


def _criterion(text: str) -> Criterion:
    return Criterion(text[2:].strip(), text[2:].strip()) if text.startswith("$ ") else Criterion(text)


def _told(args: argparse.Namespace, project: Project, intent_id: str, text: str) -> None:
    if args.json:
        dump({"ok": True, "intent": plain(find(project.intents, intent_id))})
    else:
        say(text)


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())
