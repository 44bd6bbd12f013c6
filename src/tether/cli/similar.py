"""Find code like the code at a line.

Useful before writing: the thing may be there already.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from tether.cli.search import show
from tether.errors import TetherError
from tether.index.home import open_home
from tether.index.similar import find_similar
from tether.source.redact import redact
from tether.types import plain, replace

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether similar src/auth/token.py:42
  tether similar src/auth/token.py:42 -k 3 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The place."""
    parser.add_argument("place", metavar="FILE:LINE", help="a line of the code to compare with")
    parser.add_argument("-k", type=int, default=5, metavar="N", help="how many results (default: 5)")


def run(args: argparse.Namespace) -> int:
    """Shows what is alike."""
    given, _, line = args.place.rpartition(":")
    if not given or not line.isdigit():
        raise TetherError("BAD_ARGUMENTS", f"`{args.place}` is not FILE:LINE")
    with open_home(args.project) as index:
        full = os.path.realpath(os.path.join(args.project, given))
        hits = find_similar(index, os.path.relpath(full, index.root.path), int(line), args.k)
    clean = [replace(hit, content=redact(hit.content).text) for hit in hits]
    if args.json:
        sys.stdout.write(json.dumps(plain(clean)) + "\n")
        return 0
    if not clean:
        sys.stdout.write("nothing like it found\n")
        return 1
    for hit in clean:
        show(hit, full=False)
    return 0
