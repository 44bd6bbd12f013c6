"""Zoom sessions: what an agent opened, kept between calls, with undo and redo that really undo and redo."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from tether.errors import TetherError
from tether.pack.store import FOLDER, LARGEST, locked, write_whole

VERSION: Final = "1.0"
NAME: Final = "zoom_sessions.json"
MOST: Final = 50  # steps that can be undone

T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")


def read_sessions(root: str) -> dict[str, Any]:
    """All sessions; a file that is none of ours is refused, not overwritten."""
    path = os.path.join(root, FOLDER, NAME)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return {"version": VERSION, "sessions": {}, "active_session": None}
    except OSError as error:
        raise TetherError("STORE_CORRUPT", f"cannot read `{FOLDER}/{NAME}`: {error.strerror}") from error
    try:
        with os.fdopen(fd, "rb") as file:
            data = json.loads(file.read(LARGEST))
        for session in data["sessions"].values():
            history = session["history"]
            if not 0 <= history["position"] <= len(history["entries"]):
                raise ValueError("history position")
            session["active_zooms"] = [[str(t), str(d)] for t, d in session["active_zooms"]]
        if data["version"] != VERSION or data["active_session"] not in (None, *data["sessions"]):
            raise ValueError("version or active session")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TetherError(
            "STORE_CORRUPT", f"`{FOLDER}/{NAME}` is damaged: move it away to start with new sessions"
        ) from error
    checked: dict[str, Any] = data
    return checked


def change_sessions(root: str, edit: Callable[[dict[str, Any]], T]) -> T:
    """Read, edit and write the sessions, one process at a time."""
    with locked(root) as folder:
        data = read_sessions(root)
        answer = edit(data)
        write_whole(os.path.join(folder, NAME), json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    return answer


def _find(data: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] | None = data["sessions"].get(name)
    if found is None:
        known = ", ".join(f"`{n}`" for n in sorted(data["sessions"])) or "none yet"
        raise TetherError("NOT_FOUND", f"no zoom session `{name}`: there are {known}")
    return found


def active(data: dict[str, Any]) -> dict[str, Any]:
    """The session that zooms go to."""
    name = data["active_session"]
    if name is None:
        raise TetherError("NOT_FOUND", "no zoom session is active: create one with --session create:NAME")
    return _find(data, name)


def create(data: dict[str, Any], name: str, now: str, description: str = "") -> dict[str, Any]:
    """A new, active session."""
    if not _NAME.fullmatch(name):
        raise TetherError("BAD_ARGUMENTS", f"session name `{name}`: use letters, digits, `.`, `_` and `-`")
    if name in data["sessions"]:
        raise TetherError(
            "ALREADY_EXISTS", f"zoom session `{name}` exists: load it with --session load:{name}"
        )
    session = {
        "name": name,
        "created_at": now,
        "last_accessed": now,
        "description": description,
        "metadata": {"paths": {}},
        "active_zooms": [],
        "history": {"entries": [], "position": 0, "max_size": MOST},
    }
    data["sessions"][name] = session
    data["active_session"] = name
    return session


def load(data: dict[str, Any], name: str, now: str) -> dict[str, Any]:
    """Make a session the active one."""
    session = _find(data, name)
    session["last_accessed"] = now
    data["active_session"] = name
    return session


def delete(data: dict[str, Any], name: str) -> None:
    """Forget a session."""
    _find(data, name)
    del data["sessions"][name]
    if data["active_session"] == name:
        data["active_session"] = None


def _apply(zooms: list[list[str]], step: dict[str, Any]) -> None:
    """Put the one row a step is about into its new state."""
    at, after = step["at"], step["after"]
    if step["before"] is not None:
        del zooms[at]
    if after is not None:
        zooms.insert(at, list(after))


def _do(session: dict[str, Any], step: dict[str, Any]) -> None:
    history = session["history"]
    del history["entries"][history["position"] :]
    history["entries"].append(step)
    del history["entries"][: -history["max_size"]]
    history["position"] = len(history["entries"])
    _apply(session["active_zooms"], step)


def add_zoom(session: dict[str, Any], target: str, depth: str, paths: list[str], now: str) -> None:
    """Remember a zoom; the same target again only changes its depth."""
    session["last_accessed"] = now
    session["metadata"].setdefault("paths", {})[target] = paths
    zooms = session["active_zooms"]
    at = next((i for i, row in enumerate(zooms) if row[0] == target), len(zooms))
    before = list(zooms[at]) if at < len(zooms) else None
    if before != [target, depth]:
        _do(session, {"action": "zoom", "at": at, "before": before, "after": [target, depth]})


def collapse(session: dict[str, Any], target: str, now: str) -> None:
    """Close what a zoom opened."""
    session["last_accessed"] = now
    for at, row in enumerate(session["active_zooms"]):
        if row[0] == target:
            _do(session, {"action": "collapse", "at": at, "before": list(row), "after": None})
            return
    raise TetherError("NOT_FOUND", f"`{target}` is not open in session `{session['name']}`")


def undo(session: dict[str, Any], now: str) -> str:
    """Take the last step back; says which it was."""
    history = session["history"]
    if history["position"] == 0:
        raise TetherError("NOT_FOUND", f"nothing to undo in session `{session['name']}`")
    history["position"] -= 1
    step = history["entries"][history["position"]]
    _apply(session["active_zooms"], {"at": step["at"], "before": step["after"], "after": step["before"]})
    session["last_accessed"] = now
    return _name(step)


def redo(session: dict[str, Any], now: str) -> str:
    """Take a step that was undone again; says which it was."""
    history = session["history"]
    if history["position"] == len(history["entries"]):
        raise TetherError("NOT_FOUND", f"nothing to redo in session `{session['name']}`")
    step = history["entries"][history["position"]]
    history["position"] += 1
    _apply(session["active_zooms"], step)
    session["last_accessed"] = now
    return _name(step)


def _name(step: dict[str, Any]) -> str:
    row = step["after"] or step["before"]
    return f"{step['action']} {row[0]}"


def opened_files(root: str, name: str) -> frozenset[str]:
    """The files that a session's open zooms lie in."""
    session = _find(read_sessions(root), name)
    paths = session["metadata"].get("paths", {})
    return frozenset(path for target, _ in session["active_zooms"] for path in paths.get(target, ()))
