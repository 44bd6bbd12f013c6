"""Gather context for a question: the best fragments as they are now, with imports, in a token budget."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from tether.index.home import open_home
from tether.types import plain

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether context "how is a session stored" --tokens 4000
  cat report.txt | tether context --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The question and its budget."""
    parser.add_argument("query", nargs="?", help="what the context is for (default: read from stdin)")
    parser.add_argument("-k", type=int, default=5, metavar="N", help="how many fragments (default: 5)")
    parser.add_argument(
        "--tokens", type=int, default=8000, metavar="N", help="the most tokens (default: 8000)"
    )
    parser.add_argument("--lang", default="", metavar="LANGUAGE", help="only files of this language")
    parser.add_argument("--path", default="", metavar="GLOB", help="only files whose path matches")


def run(args: argparse.Namespace) -> int:
    """Prints the context, notes to stderr."""
    from tether.index.hydrate import TOKENS, build_context

    text = args.query if args.query is not None else sys.stdin.read()
    with open_home(args.project) as index:
        found = build_context(
            index, text, k=args.k, budget=max(1, min(args.tokens, TOKENS)), language=args.lang, path=args.path
        )
    if args.json:
        sys.stdout.write(json.dumps(plain(found)) + "\n")
        return 0
    for note in found.notes:
        sys.stderr.write(f"note: {note}\n")
    sys.stdout.write("".join(c if c.isprintable() or c in "\t\n" else "�" for c in found.text))
    return 0 if found.pieces else 1
