"""Around a command: the tree before, the tree after, and whose the difference is.

A command may touch anything, so what it did is found by looking, never by trusting its name.
"""

from __future__ import annotations

import os
import stat

from tether.control.protected import is_protected
from tether.control.scope import compile_scope
from tether.source.sweep import Sweep, compare, dump, load, preserve, recall, take
from tether.types import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tether.project import Project

LAST = "last"


def look_before(project: Project, call_id: str) -> None:
    """Keeps what the tree is now, so that another process can tell what the call changed."""
    folder = project.folder("sweeps")
    previous = _load(os.path.join(folder, LAST))
    swept = preserve(project.root, take(project.root), project.contents, previous)
    _save(os.path.join(folder, call_id), swept)


def look_after(project: Project, call_id: str, modes: dict[str, int]) -> list[Change] | None:
    """What changed since `look_before`; None when there was no look. The bytes of both sides are kept.

    `modes` is filled with the permissions that files had whose own are now others, or none.
    """
    folder = project.folder("sweeps")
    path = os.path.join(folder, call_id)
    before = _load(path)
    if before is None:
        return None
    after = take(project.root)
    found = compare(project.root, before, after)
    for delta in found:
        was, now = before.entries.get(delta.path), after.entries.get(delta.path)
        if was is not None and stat.S_ISREG(was[4]) and (now is None or now[4] != was[4]):
            modes[delta.path] = stat.S_IMODE(was[4])
    deltas = [d for d in found if d.kind != "mode"]
    for data in recall(project.root, before, deltas, project.contents).values():
        project.contents.put(data)
    for delta in deltas:
        if delta.after:
            spot = project.root.look(delta.path, hash=False)
            if spot.kind == "file" and not spot.problem:
                project.contents.put(project.root.read(delta.path)[0])
    _save(os.path.join(folder, LAST), preserve(project.root, after, project.contents, before))
    os.unlink(path)
    theirs = _held_by_others(project, call_id)
    return [
        Change(d.path, d.before or "", d.after or "", author="mixed" if d.path in theirs else "ai")
        for d in deltas
    ]


def outside(
    project: Project, intent_id: str, changes: Sequence[Change], modes: Iterable[str] = ()
) -> list[str]:
    """The files that were changed, or whose permissions were, and that the intent does not own or none may."""
    named = [path for change in changes for path in (change.moved_from, change.path) if path]
    paths = list(dict.fromkeys((*named, *modes)))
    intent = next((i for i in project.intents if i.id == intent_id), None)
    scope = compile_scope(intent.owned_scope) if intent else None
    forbidden = set(guarded(project, paths))
    return [path for path in paths if path in forbidden or (scope is not None and not scope.owns(path))]


def guarded(project: Project, paths: Sequence[str]) -> list[str]:
    """Those that are protected from every agent."""
    more = (*project.config.security.protected, *project.own_folders)
    return [path for path in paths if is_protected(path, more)]


def _held_by_others(project: Project, call_id: str) -> set[str]:
    """Files that another open call may have changed at the same time."""
    return {
        path
        for other, held in project.journal.facts("open").items()
        if other != call_id and held["tree"] == project.tree
        for path in held["paths"]
    }


def _load(path: str) -> Sweep | None:
    try:
        with open(path, "rb") as file:
            return load(file.read())
    except FileNotFoundError:
        return None


def _save(path: str, swept: Sweep) -> None:
    from tether.project import replace_file

    replace_file(path, dump(swept))
