"""Who wrote a line, for which intent, by whose leave.

Lines are followed by content, so the answer survives moved lines, renames, rebase, squash and amend; in a
fresh clone it comes from the ledger and git's history. Where it cannot be told, the answer says so.
"""

from __future__ import annotations

import os
from itertools import groupby
from typing import TYPE_CHECKING

from tether.cli.output import dump, printable, say
from tether.errors import TetherError
from tether.project import find_root, open_project
from tether.tools.lookback import open_clone, open_why
from tether.types import plain

if TYPE_CHECKING:
    import argparse

    from tether.record.why import Answer, Why

EXAMPLES = """\
  tether why src/auth/token.py:42
  tether why src/auth/token.py          # the whole file
  tether why src/auth/token.py:42 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The place."""
    parser.add_argument("place", metavar="PATH[:LINE]", help="a file, or one line of it")


def run(args: argparse.Namespace) -> int:
    """Answers with the chain line → record → intent → decision → conversation."""
    given, line = _place(args.place)
    root = find_root(args.project)
    path = os.path.relpath(os.path.realpath(os.path.join(args.project, given)), root)
    if path.startswith(".."):
        raise TetherError("BAD_ARGUMENTS", f"`{given}` is not in the project")
    why = _open(args.project, root)
    if line is not None:
        answer = why.ask(path, line)
        dump(plain(answer)) if args.json else _tell(answer)
        return 0
    answers = why.ask_file(path)
    if args.json:
        dump(plain(answers))
        return 0
    for _, group in groupby(answers, key=lambda a: (a.contributor, a.record, a.note)):
        run_of = list(group)
        first, last = run_of[0], run_of[-1]
        span = f"{first.line}" if first is last else f"{first.line}-{last.line}"
        who = first.model or first.contributor
        what = f"{first.intent} {first.record[:8]}".strip() or first.note
        say(f"{span:>11}  {printable(who):<28} {printable(what)}")
    return 0


def _open(start: str, root: str) -> Why:
    try:
        return open_why(open_project(start))
    except TetherError as error:
        if error.code != "NOT_A_PROJECT":
            raise
        return open_clone(root, dict(os.environ))


def _tell(answer: Answer) -> None:
    decision = answer.decision
    rows = [
        ("line", f"{answer.path}:{answer.line}"),
        ("written by", answer.contributor + (f" ({answer.model})" if answer.model else "")),
        ("confidence", f"{answer.confidence:.2f}, from {answer.source}"),
        ("record", f"{answer.record}  {answer.timestamp}".strip()),
        ("intent", answer.intent),
        ("related", ", ".join(link["url"] for link in answer.related if link.get("type") != "intent")),
        (
            "decision",
            f"{decision.get('verdict', '')}: {', '.join(decision.get('rules', ()))}" if decision else "",
        ),
        ("approval", decision.get("approval", "")),
        ("policy", decision.get("policy", "")),
        ("agent", " ".join(answer.agent.values())),
        ("conversation", answer.conversation),
        ("commit", answer.commit),
        ("may also be", ", ".join(answer.candidates)),
        ("note", answer.note),
    ]
    for name, value in rows:
        if value:
            say(f"{name:<13} {printable(value)}")


def _place(text: str) -> tuple[str, int | None]:
    path, colon, number = text.rpartition(":")
    if not colon:
        return text, None
    if not number.isdigit() or int(number) < 1:
        raise TetherError("BAD_ARGUMENTS", f"`{text}` is not PATH:LINE")
    return path, int(number)
