"""Opens `why` over whatever a project has: its journal, or in a fresh clone the ledger alone."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tether.project import LEDGER_FILE, user_folder
from tether.record.catalog import Catalog
from tether.record.export import compose
from tether.record.lines import Lines
from tether.record.why import Why
from tether.source.git import find_repository
from tether.types import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tether.project import Project


def open_why(project: Project) -> Why:
    """`why` from the line map and journal, then ledger and history."""
    project.drain()
    related = {intent.id: intent.related for intent in project.intents}

    def history(path: str, after: int) -> Iterator[Change]:
        for fields in project.journal.touches(project.tree, path, after):
            yield Change(**fields)

    def records(identity: str) -> dict[str, Any] | None:
        seq = project.journal.fact("record", identity)
        entry = project.journal.entry(seq) if seq else None
        return compose(entry, project.journal.id, project.contents, related) if entry else None

    return Why(
        project.path,
        lines=Lines(project.folder(os.path.join("lines", project.tree or "main"))),
        contents=project.contents,
        history=history,
        records=records,
        catalog=_catalog(project.path, os.path.join(project.state, "catalog.db")),
        repo=project.repository,
        journal=project.journal.id,
        tree=project.tree,
    )


def open_clone(root: str, environment: dict[str, str]) -> Why:
    """`why` where nothing was recorded on this machine: from the ledger and git's history."""
    folder = os.path.join(user_folder(environment, "cache"), "catalogs")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    name = sha256(os.fsencode(root)).hexdigest()[:24] + ".db"
    return Why(root, catalog=_catalog(root, os.path.join(folder, name)), repo=find_repository(root))


def _catalog(root: str, database: str) -> Catalog | None:
    path = os.path.join(root, LEDGER_FILE)
    return Catalog(path, database) if os.path.exists(path) else None
