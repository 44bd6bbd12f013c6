"""The verbs foresee what they would do, and do it."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from tether.errors import TetherError
from tether.pack.verbs import VERBS
from tether.source.root import Root


def test_zoom_context_reads_and_leads_on(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return g()\n\n\ndef g():\n    return 1\n")
    with Root(str(tmp_path)) as root:
        args = {"type": "function", "target": "f", "budget": 800, "depth": "implementation"}
        jsonschema.validate(args, VERBS["zoom_context"].schema)
        prepared = VERBS["zoom_context"].prepare(root, args)
        assert [(e.kind, e.target) for e in prepared.effects] == [("read", ".")]
        answer = prepared.run(None)
    assert "return g()" in answer["text"] and answer["utilized"] <= 800
    assert answer["related"][0]["command"] == "tether zoom function=g --module=a.py --budget=300"


def test_zoom_context_names_the_file_it_would_read(tmp_path: Path) -> None:
    with Root(str(tmp_path)) as root:
        prepared = VERBS["zoom_context"].prepare(root, {"type": "file", "target": "a/b.py:1-2"})
        assert [(e.kind, e.target) for e in prepared.effects] == [("read", "a/b.py")]
        with pytest.raises(TetherError):
            prepared.run(None)


@pytest.mark.parametrize(
    "extra", [{"module": 3}, {"context": -1}, {"context": True}, {"include_tests": "yes"}]
)
def test_bad_arguments_are_refused_before_anything_is_read(tmp_path: Path, extra: dict[str, object]) -> None:
    with Root(str(tmp_path)) as root, pytest.raises(TetherError):
        VERBS["zoom_context"].prepare(root, {"type": "function", "target": "f", **extra})


def test_context_feedback_learns_only_when_it_runs(tmp_path: Path) -> None:
    args = {"session_id": "s", "file_ratings": {"a.py": {"utility": 1, "reason": "r"}}}
    jsonschema.validate(args, VERBS["context_feedback"].schema)
    with Root(str(tmp_path)) as root:
        prepared = VERBS["context_feedback"].prepare(root, args)
        assert prepared.effects == () and not (tmp_path / ".tether").exists()
        assert prepared.run(None)["utility_scores"] == {"a.py": 0.65}
        with pytest.raises(TetherError):
            VERBS["context_feedback"].prepare(root, {})
