"""Search the project's code by words, names, paths, or a whole bug report.

The index is brought up to date first when little has changed; a note says when an answer may be incomplete.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from tether.errors import TetherError, to_wire
from tether.index.home import open_home, open_index
from tether.source.redact import redact
from tether.types import plain, replace

if TYPE_CHECKING:
    import argparse

    from tether.index.code import CodeIndex
    from tether.index.results import Hit

EXAMPLES = """\
  tether search "how are routes registered"
  tether search SessionStore --lang python -k 3
  cat report.txt | tether search --path 'src/**'
  tether search "retry policy" --json"""

SHOWN_LINES = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The question and its filters."""
    parser.add_argument("query", nargs="?", help="what to look for (default: read from stdin)")
    parser.add_argument("-k", type=int, default=5, metavar="N", help="how many results (default: 5)")
    parser.add_argument("--lang", default="", metavar="LANGUAGE", help="only files of this language")
    parser.add_argument("--path", default="", metavar="GLOB", help="only files whose path matches")
    parser.add_argument("--full", action="store_true", help="show whole fragments")
    parser.add_argument(
        "--serve-jsonl", action="store_true", help="answer one JSON request a line on stdin until `quit`"
    )


def run(args: argparse.Namespace) -> int:
    """Asks and shows, or serves."""
    if args.serve_jsonl:
        return serve()
    text = args.query if args.query is not None else sys.stdin.read()
    with open_home(args.project) as index:
        answer = index.search(text, args.k, language=args.lang, path=args.path)
    hits = [_clean(hit) for hit in answer.hits]
    if args.json:
        sys.stdout.write(json.dumps(plain(replace(answer, hits=tuple(hits)))) + "\n")
        return 0
    for note in answer.notes:
        sys.stderr.write(f"note: {note}\n")
    if not hits:
        sys.stdout.write("nothing found\n")
        return 1
    for hit in hits:
        show(hit, args.full)
    return 0


def _clean(hit: Hit) -> Hit:
    return replace(hit, content=redact(hit.content).text)


def show(hit: Hit, full: bool) -> None:
    """One hit on a terminal: place, score, code."""
    what = f"  {hit.kind} {hit.name}" if hit.name else ""
    inside = f"  in {hit.parent_symbol}" if hit.parent_symbol else ""
    stale = "  (read from disk: changed since indexed)" if hit.stale else ""
    head = f"{hit.file_path}:{hit.start_line}-{hit.end_line}  {hit.relevance_score:.2f}{what}{inside}{stale}"
    sys.stdout.write(_harmless(head) + "\n")
    lines = hit.content.split("\n")
    for number, line in enumerate(lines if full else lines[:SHOWN_LINES], hit.start_line):
        sys.stdout.write(f"{number:>6}  {_harmless(line)}\n")
    if not full and len(lines) > SHOWN_LINES:
        sys.stdout.write(f"        … {len(lines) - SHOWN_LINES} more lines\n")
    sys.stdout.write("\n")


def _harmless(text: str) -> str:
    """No escape sequence of a hostile file reaches the terminal."""
    return "".join(c if c.isprintable() or c == "\t" else "�" for c in text)


def serve() -> int:
    """One JSON request a line: `index` a directory, `search` it, `quit`."""
    index: CodeIndex | None = None
    answer: dict[str, object]
    try:
        for line in sys.stdin:
            try:
                message = json.loads(line)
                operation = message.get("op")
                if operation == "quit":
                    break
                if operation == "index":
                    if index is not None:
                        index.close()
                    index = open_index(str(message["repo_dir"]))
                    answer = {"ok": True, "files": index.index().total}
                elif operation == "search" and index is not None:
                    found = index.search(str(message["query"]), int(message.get("k", 10)))
                    results = [[hit.file_path, hit.start_line, hit.end_line] for hit in found.hits]
                    answer = {"id": message.get("id"), "results": results, "notes": list(found.notes)}
                else:
                    raise TetherError("BAD_ARGUMENTS", f"unknown operation `{operation}`")
            except (TetherError, ValueError, KeyError, AttributeError, TypeError) as error:
                if not isinstance(error, TetherError):
                    error = TetherError("BAD_ARGUMENTS", "not a request")
                answer = {"error": to_wire(error)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    finally:
        if index is not None:
            index.close()
    return 0
