"""What was useful is learned, by the rules, by many at once, and never stands in a pack's way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.pack.feedback import give_feedback, parse_feedback, parse_rating
from tether.pack.store import Store, blend, change, locate

NOW = "2026-01-02T03:04:05Z"


def read(root: Path) -> dict[str, object]:
    return json.loads(Path(locate(str(root))).read_text())  # type: ignore[no-any-return]


def test_the_average_moves_three_tenths_towards_what_was_said() -> None:
    assert blend(0.5, 1.0) == 0.65
    assert blend(0.65, 0.0) == 0.455


@given(st.floats(allow_nan=True), st.floats(allow_nan=True), st.floats(allow_nan=True))
def test_a_score_stays_between_nought_and_one_whatever_is_said(a: float, b: float, c: float) -> None:
    assert 0 <= blend(a, b, c) <= 1


def test_a_message_is_kept_in_the_schema_of_the_store(tmp_path: Path) -> None:
    params = {
        "session_id": "claude_2025-12-20",
        "file_ratings": {"a/b.py": {"utility": 0.95, "reason": "critical", "tags": ["core", "core"]}},
        "overall_effectiveness": 0.92,
        "lens": "architecture",
    }
    answer = give_feedback(str(tmp_path), params, NOW)
    assert answer["utility_scores"] == {"a/b.py": 0.635}
    assert read(tmp_path) == {
        "version": "2.0.0",
        "files": {
            "a/b.py": {
                "utility_score": 0.635,
                "access_count": 1,
                "last_accessed": NOW,
                "tags": ["core"],
            }
        },
        "lens_profiles": {
            "architecture": {"learned_priorities": {"a/b.py": 0.635}, "effectiveness_score": 0.626}
        },
    }
    assert (tmp_path / ".tether/local/.gitignore").read_text() == "*\n"


def test_a_zoom_raises_a_score_by_fifteen_thousandths(tmp_path: Path) -> None:
    score, _ = change(str(tmp_path), lambda store: store.bump("a", NOW))
    assert score == 0.515
    score, _ = change(str(tmp_path), lambda store: store.bump("a", NOW))
    assert score == 0.53


def test_what_a_lens_learned_comes_before_what_all_learned(tmp_path: Path) -> None:
    change(str(tmp_path), lambda store: store.rate("a", 1.0, NOW))
    change(str(tmp_path), lambda store: store.rate("a", 0.0, NOW, lens="debug"))
    store = Store.read(str(tmp_path))
    assert store.utilities("debug")["a"] == (0.35, "utility learned with lens `debug`")
    assert store.utilities("")["a"] == (0.455, "learned utility")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": "1"}', '{"version": "2.0.0", "files": {"a": 3}}', "\x00", '"\\ud800"'],
)
def test_a_corrupt_store_is_set_aside_reported_and_does_not_block(tmp_path: Path, text: str) -> None:
    path = Path(locate(str(tmp_path)))
    path.parent.mkdir(parents=True)
    path.write_text(text)
    store = Store.read(str(tmp_path))
    assert store.utilities("") == {}
    assert "set aside" in store.notices[0]
    assert not path.exists() and len(list(path.parent.glob("context_store.json.corrupt-*"))) == 1


def test_a_store_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    path = Path(locate(str(tmp_path)))
    path.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").write_text('{"version": "2.0.0", "files": {}, "lens_profiles": {}}')
    path.symlink_to(tmp_path / "elsewhere")
    assert "cannot be read" in Store.read(str(tmp_path)).notices[0]


def test_no_rating_is_lost_between_processes(tmp_path: Path) -> None:
    code = (
        "import sys; from tether.pack.store import change\n"
        "for _ in range(25): change(sys.argv[1], lambda s: s.rate('a', 1.0, 'now'))\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=env) for _ in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    assert Store.read(str(tmp_path)).data["files"]["a"]["access_count"] == 100


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"file_ratings": []},
        {"file_ratings": {"a": {"utility": 2}}},
        {"file_ratings": {"a": {"utility": True}}},
        {"file_ratings": {"a": {"utility": float("nan")}}},
        {"file_ratings": {"../a": {"utility": 1}}},
        {"file_ratings": {"/etc/passwd": {"utility": 1}}},
        {"file_ratings": {"a": {"utility": 1, "tags": "x"}}},
        {"overall_effectiveness": "high"},
        {"overall_effectiveness": 1, "mood": "good"},
        {"overall_effectiveness": 1, "lens": 3},
    ],
)
def test_a_message_that_makes_no_sense_is_refused_whole(params: dict[str, object]) -> None:
    with pytest.raises(TetherError):
        parse_feedback(params)


def test_a_rating_is_split_from_the_right() -> None:
    assert parse_rating("a.py:0.5") == ("a.py", {"utility": 0.5, "reason": ""})
    assert parse_rating("c:/a.py:0.5:why") == ("c:/a.py", {"utility": 0.5, "reason": "why"})
    with pytest.raises(TetherError):
        parse_rating("a.py")
