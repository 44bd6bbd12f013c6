"""Say which files of a pack were useful, so that the next pack ranks them better."""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from typing import Any

from tether.errors import TetherError

EXAMPLES = """\
  tether feedback src/app.py:0.9:central docs/old.md:0.1
  tether feedback --lens architecture --effectiveness 0.8
  tether feedback --message feedback.json     # a context/feedback message"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Ratings one by one, or a whole message."""
    add = parser.add_argument
    add("ratings", nargs="*", metavar="PATH:SCORE[:REASON]", help="how useful a file was, from 0 to 1")
    add("--effectiveness", type=float, metavar="X", help="how well the whole pack served, from 0 to 1")
    add("--lens", default="", help="the lens the pack was made with")
    add("--session-id", default="", help="whose judgement this is")
    add("--message", metavar="FILE", help="a context/feedback message; - reads standard input")


def run(args: argparse.Namespace) -> int:
    """Learn, and print what the scores are now."""
    from tether.pack.feedback import give_feedback, parse_rating

    params: dict[str, Any]
    if args.message:
        if args.ratings or args.effectiveness is not None:
            raise TetherError("BAD_ARGUMENTS", "give ratings or --message, not both")
        params = read_message(args.message)
    else:
        params = {"session_id": args.session_id, "lens": args.lens}
        params["file_ratings"] = dict(parse_rating(text) for text in args.ratings)
        if args.effectiveness is not None:
            params["overall_effectiveness"] = args.effectiveness
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    answer = give_feedback(os.path.realpath(args.project), params, now)
    for notice in answer["notes"]:
        print(f"tether: {notice}", file=sys.stderr)
    if args.json:
        print(json.dumps(answer, ensure_ascii=False))
        return 0
    for path, score in answer["utility_scores"].items():
        print(f"{score:.3f} {path}")
    if "effectiveness_score" in answer:
        print(f"{answer['effectiveness_score']:.3f} lens {params.get('lens') or 'none'}")
    return 0


def read_message(name: str) -> dict[str, Any]:
    """A `context/feedback` message, with or without its envelope."""
    try:
        if name == "-":
            text = sys.stdin.read()
        else:
            with open(name, encoding="utf-8") as file:
                text = file.read()
        data = json.loads(text)
    except (OSError, ValueError) as error:
        raise TetherError("BAD_ARGUMENTS", f"cannot read feedback from `{name}`: {error}") from error
    if isinstance(data, dict) and data.get("method") == "context/feedback":
        data = data.get("params")
    if not isinstance(data, dict):
        raise TetherError("BAD_ARGUMENTS", f"`{name}` holds no context/feedback message")
    return data
