"""The verb that lists files by pattern, as git would see them."""

from __future__ import annotations

import os
from typing import Any

from tether.errors import TetherError
from tether.source.ignore import Rules
from tether.source.root import Root, refusal
from tether.source.walk import walk
from tether.tools.arguments import describe, parse
from tether.tools.changes import Context
from tether.types import Effect, Prepared, Verb

LIMIT = 1000
MAX_ALTERNATIVES = 200

GLOB = describe(
    ("pattern",),
    pattern={
        "type": "string",
        "minLength": 1,
        "description": "`*`, `?`, `[…]`, `**` and `{a,b}`; without a `/` it matches names at any depth",
    },
    path={"type": "string", "default": ".", "description": "directory to list, from the project's root"},
    hidden={"type": "boolean", "default": False, "description": "list names that begin with a dot too"},
    limit={
        "type": "integer",
        "minimum": 1,
        "maximum": 100_000,
        "default": LIMIT,
        "description": "most paths to return",
    },
)


def prepare_glob(root: Root, args: dict[str, Any]) -> Prepared:
    """Lists the files that match a pattern and that git does not ignore, sorted and capped."""
    given = parse(GLOB, args)
    spot = root.look(given["path"], hash=False)
    pattern = given["pattern"].removeprefix(root.path.rstrip("/") + "/").removeprefix("./")
    # An ignore file's comments and negations mean nothing here.
    patterns = ["\\" + text if text[:1] in ("#", "!") else text for text in expand_braces(pattern)]

    def run(ctx: Context) -> dict[str, Any]:
        if spot.problem:
            raise refusal(spot)
        if spot.kind != "dir":
            raise TetherError("NOT_FOUND", f"`{given['path']}` is not a directory", path=given["path"])
        base = "" if spot.path == "." else spot.path + "/"
        rules = Rules(patterns)
        paths: list[str] = []
        count = 0
        # A hidden directory asked for by name is what the caller wants to see.
        hidden = given["hidden"] or base.startswith(".") or "/." in base
        for found in walk(root.path, exclude=(), hidden=hidden, read=False):
            if found.kind not in ("file", "link") or not found.path.startswith(base):
                continue
            inner = found.path[len(base) :]
            if not given["hidden"] and (inner.startswith(".") or "/." in inner):
                continue
            if _matches(rules, inner):
                count += 1
                if count <= given["limit"]:
                    paths.append(found.path)
        answer: dict[str, Any] = {"paths": paths, "count": count, "truncated": count > len(paths)}
        if answer["truncated"]:
            answer["note"] = f"{count - len(paths)} more match: narrow the pattern or raise `limit`"
        return answer

    return Prepared((Effect("read", spot.path or given["path"]),), run)


def expand_braces(pattern: str) -> list[str]:
    """`a.{ts,tsx}` as `a.ts` and `a.tsx`; BAD_ARGUMENTS when that makes too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        text = waiting.pop()
        group = _find_group(text)
        if group is None:
            done.append(text)
        else:
            start, end, options = group
            waiting.extend(text[:start] + option + text[end:] for option in reversed(options))
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise TetherError(
                "BAD_ARGUMENTS", "argument `pattern` has too many alternatives", argument="pattern"
            )
    return done


def _find_group(text: str) -> tuple[int, int, list[str]] | None:
    """The first `{…,…}`, its ends and its options; braces without a comma are literal."""
    for start, char in enumerate(text):
        if char != "{":
            continue
        depth, cuts = 0, [start]
        for at in range(start, len(text)):
            if text[at] == "{":
                depth += 1
            elif text[at] == "}":
                depth -= 1
                if depth == 0:
                    if len(cuts) == 1:
                        break
                    ends = [*cuts[1:], at]
                    return start, at + 1, [text[a + 1 : b] for a, b in zip(cuts, ends, strict=True)]
            elif text[at] == "," and depth == 1:
                cuts.append(at)
    return None


def _matches(rules: Rules, path: str) -> bool:
    """Whether a pattern names the file itself: naming its directory is not enough here."""
    return rules.decide(path, os.path.basename(path), False) is True


VERBS: dict[str, Verb] = {
    "glob": Verb("glob", prepare_glob, False, "List files by pattern, as git sees them", GLOB)
}
