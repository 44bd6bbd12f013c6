"""Zooms into a project on disk, and what they leave behind: a little more utility, a step in the session."""

from __future__ import annotations

import os
from typing import Any

from tether.pack import sessions
from tether.pack.redaction import find_secrets
from tether.pack.selection import Query, Reader, select
from tether.pack.store import Store, change
from tether.pack.target import Target
from tether.pack.tokenizers import find_tokenizer
from tether.pack.zoom import Detail, Zoomed, zoom


def inspect(
    root: str,
    target: Target,
    *,
    depth: str = "implementation",
    budget: int | None = None,
    context: int = 0,
    module: str = "",
    tests: bool = False,
    tokenizer: str = "o200k",
    sensitive: bool = False,
) -> Zoomed:
    """Zoom into a project's files as a pack would show them: ignored and sensitive ones stay out."""
    reader = Reader(root)
    try:
        files = select(reader, Query(sensitive=sensitive)).files
        detail = Detail(
            depth,
            budget,
            context,
            module,
            tests,
            find_tokenizer(tokenizer),
            None if sensitive else find_secrets,
        )
        return zoom(files, target, detail)
    finally:
        reader.close()


def as_answer(found: Zoomed, notes: list[str]) -> dict[str, Any]:
    """A zoom as data, for whoever does not read XML."""
    return {
        "text": found.text,
        "utilized": found.utilized,
        "truncated": found.truncated,
        "paths": list(found.paths),
        "related": [
            {
                "relation": z.relation,
                "type": z.type,
                "target": z.target,
                "budget": z.budget,
                "command": z.command,
            }
            for z in found.related
        ],
        "notes": notes,
    }


def remember(root: str, target: Target, depth: str, zoomed: Zoomed, now: str) -> list[str]:
    """Learn from a zoom in a project that keeps a store: returns what there is to report."""
    if not os.path.isdir(os.path.join(root, ".tether")):
        return []

    def bump(store: Store) -> None:
        for path in zoomed.paths:
            store.bump(path, now)

    _, notices = change(root, bump)
    if sessions.read_sessions(root)["active_session"] is not None:
        sessions.change_sessions(
            root,
            lambda data: sessions.add_zoom(
                sessions.active(data), target.spell(), depth, list(zoomed.paths), now
            ),
        )
    return notices
