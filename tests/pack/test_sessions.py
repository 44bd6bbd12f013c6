"""Zoom sessions keep what was opened; undo and redo really do."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.pack import sessions

NOW = "2026-01-02T03:04:05Z"


def start() -> tuple[dict[str, Any], dict[str, Any]]:
    data: dict[str, Any] = {"version": "1.0", "sessions": {}, "active_session": None}
    return data, sessions.create(data, "one", NOW)


def test_a_session_has_the_shape_it_is_kept_in(tmp_path: Path) -> None:
    sessions.change_sessions(str(tmp_path), lambda data: sessions.create(data, "one", NOW, "why"))
    assert sessions.read_sessions(str(tmp_path)) == {
        "version": "1.0",
        "active_session": "one",
        "sessions": {
            "one": {
                "name": "one",
                "created_at": NOW,
                "last_accessed": NOW,
                "description": "why",
                "metadata": {"paths": {}},
                "active_zooms": [],
                "history": {"entries": [], "position": 0, "max_size": 50},
            }
        },
    }


def test_create_load_and_delete_move_the_active_session() -> None:
    data, _ = start()
    sessions.create(data, "two", NOW)
    assert data["active_session"] == "two"
    sessions.load(data, "one", "later")
    assert sessions.active(data)["last_accessed"] == "later"
    sessions.delete(data, "one")
    assert data["active_session"] is None
    with pytest.raises(TetherError, match="no zoom session is active"):
        sessions.active(data)
    with pytest.raises(TetherError, match="there are `two`"):
        sessions.load(data, "one", NOW)
    with pytest.raises(TetherError, match="exists"):
        sessions.create(data, "two", NOW)
    with pytest.raises(TetherError, match="session name"):
        sessions.create(data, "../x", NOW)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["zoom", "collapse"]), st.sampled_from("abc"), st.sampled_from(["signature", "full"])
    ),
    max_size=20,
)


@given(STEPS)
def test_undoing_everything_and_redoing_it_passes_the_same_states(steps: list[tuple[str, str, str]]) -> None:
    _, session = start()
    states = [copy.deepcopy(session["active_zooms"])]
    for action, target, depth in steps:
        before = session["history"]["position"]
        try:
            if action == "zoom":
                sessions.add_zoom(session, target, depth, [], NOW)
            else:
                sessions.collapse(session, target, NOW)
        except TetherError:
            continue
        if session["history"]["position"] != before:
            states.append(copy.deepcopy(session["active_zooms"]))
    for state in reversed(states[:-1]):
        sessions.undo(session, NOW)
        assert session["active_zooms"] == state
    with pytest.raises(TetherError, match="nothing to undo"):
        sessions.undo(session, NOW)
    for state in states[1:]:
        sessions.redo(session, NOW)
        assert session["active_zooms"] == state
    with pytest.raises(TetherError, match="nothing to redo"):
        sessions.redo(session, NOW)


def test_a_new_step_forgets_what_was_undone_and_only_fifty_are_kept() -> None:
    _, session = start()
    for number in range(60):
        sessions.add_zoom(session, f"file={number}", "full", [], NOW)
    assert len(session["history"]["entries"]) == 50 and len(session["active_zooms"]) == 60
    sessions.undo(session, NOW)
    sessions.add_zoom(session, "file=x", "full", [], NOW)
    with pytest.raises(TetherError):
        sessions.redo(session, NOW)
    assert [row[0] for row in session["active_zooms"]][-2:] == ["file=58", "file=x"]


def test_a_session_knows_the_files_it_has_open(tmp_path: Path) -> None:
    def edit(data: dict[str, Any]) -> None:
        session = sessions.create(data, "one", NOW)
        sessions.add_zoom(session, "function=f", "full", ["a.py"], NOW)
        sessions.add_zoom(session, "class=C", "full", ["b.py"], NOW)
        sessions.collapse(session, "class=C", NOW)

    sessions.change_sessions(str(tmp_path), edit)
    assert sessions.opened_files(str(tmp_path), "one") == {"a.py"}


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"version": "1.0", "sessions": {"a": 1}, "active_session": null}']
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".tether/local/zoom_sessions.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(TetherError, match="damaged"):
        sessions.read_sessions(str(tmp_path))
    assert path.read_text() == text
