"""`context/feedback`: what readers of a pack say was useful, turned into learned priorities."""

from __future__ import annotations

import math
import posixpath
from typing import Any

from tether.errors import TetherError
from tether.pack.store import Store, change

MOST = 10_000  # ratings in one message


def _refuse(what: str) -> TetherError:
    return TetherError("BAD_ARGUMENTS", f"context_feedback: {what}")


def _score(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _refuse(f"`{name}` is `{value}`: give a number from 0 to 1")
    if not 0 <= value <= 1:
        raise _refuse(f"`{name}` is `{value}`: give a number from 0 to 1")
    return float(value)


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise _refuse(f"`{value}` is no path")
    path = posixpath.normpath(value)
    if path.startswith(("/", "../")) or path in ("..", "."):
        raise _refuse(f"`{value}` is no path inside the project")
    return path


def parse_feedback(params: dict[str, Any]) -> dict[str, Any]:
    """The message, checked: nothing of it is kept unless all of it makes sense."""
    unknown = sorted(set(params) - {"session_id", "file_ratings", "overall_effectiveness", "lens"})
    if unknown:
        raise _refuse(f"unknown key `{unknown[0]}`")
    ratings = params.get("file_ratings", {})
    if not isinstance(ratings, dict) or len(ratings) > MOST:
        raise _refuse("`file_ratings` must be an object of path → {utility, reason}")
    checked = {}
    for path, rating in ratings.items():
        if not isinstance(rating, dict):
            raise _refuse(f"the rating of `{path}` must be an object with `utility`")
        tags = rating.get("tags", [])
        if not isinstance(tags, list) or not all(isinstance(tag, str) and len(tag) <= 64 for tag in tags):
            raise _refuse(f"the tags of `{path}` must be a list of short strings")
        checked[_path(path)] = (_score(rating.get("utility"), "utility"), tuple(tags[:32]))
    overall = params.get("overall_effectiveness")
    lens, session = params.get("lens", ""), params.get("session_id", "")
    if not isinstance(lens, str) or not isinstance(session, str):
        raise _refuse("`lens` and `session_id` must be strings")
    if not checked and overall is None:
        raise _refuse("give `file_ratings`, `overall_effectiveness` or both")
    return {
        "ratings": checked,
        "overall": None if overall is None else _score(overall, "overall_effectiveness"),
        "lens": lens,
        "session": session,
    }


def give_feedback(root: str, params: dict[str, Any], now: str) -> dict[str, Any]:
    """Learn from a message; the answer says what each file's score is now."""
    said = parse_feedback(params)

    def edit(store: Store) -> dict[str, Any]:
        scores = {
            path: store.rate(path, utility, now, said["lens"], tags)
            for path, (utility, tags) in said["ratings"].items()
        }
        answer: dict[str, Any] = {"session_id": said["session"], "utility_scores": scores}
        if said["overall"] is not None:
            answer["effectiveness_score"] = store.judge(said["lens"] or "none", said["overall"])
        return answer

    answer, notices = change(root, edit)
    return {**answer, "notes": notices}


def parse_rating(text: str) -> tuple[str, dict[str, Any]]:
    """`path:score[:reason]`, split from the right, as far as a number stands there."""
    for parts in (text.rsplit(":", 1), text.rsplit(":", 2)):
        if len(parts) > 1 and parts[0]:
            try:
                utility = float(parts[1])
            except ValueError:
                continue
            return parts[0], {"utility": utility, "reason": parts[2] if len(parts) > 2 else ""}
    raise _refuse(f"rating `{text}`: give path:score or path:score:reason")
