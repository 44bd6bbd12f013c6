"""Looking intents up, and the copy of them that hooks read."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tether.control.intents import (
    ancestors,
    children,
    find,
    from_plain,
    is_id,
    siblings,
    stopped_by,
    to_plain,
)
from tether.errors import TetherError
from tether.types import Criterion, Intent, replace

ROOT = Intent(
    id="INT-001",
    name="Sign in",
    status="active",
    owned_scope=("src/**",),
    constraints=("keep the API",),
    acceptance_criteria=(Criterion("tests pass", "pytest -q"), Criterion("reads well")),
    owner="ada",
    related=("SPEC-1",),
    created="2026-01-01",
)
LEFT = Intent(id="INT-001-a", name="left", status="active", owned_scope=("src/a/**",), parent="INT-001")
RIGHT = Intent(id="INT-001-b", name="right", status="paused", owned_scope=("src/b/**",), parent="INT-001")
OLD = Intent(id="INT-001-c", name="old", status="done", parent="INT-001")
ALL = (ROOT, LEFT, RIGHT, OLD)


def test_a_snapshot_gives_back_the_same_intents() -> None:
    assert from_plain(json.loads(json.dumps(to_plain(ALL)))) == ALL


def test_intents_are_found_by_id_parent_and_kinship() -> None:
    assert find(ALL, "INT-001-b") is RIGHT
    assert find(ALL, "INT-9") is None
    assert children(ALL, "INT-001") == (LEFT, RIGHT, OLD)
    assert siblings(ALL, LEFT) == (RIGHT,)
    assert siblings(ALL, ROOT) == ()
    assert ancestors(ALL, LEFT) == (ROOT,)


def test_a_child_stops_with_its_parent() -> None:
    assert stopped_by(ALL, LEFT) is None
    assert stopped_by(ALL, RIGHT) is RIGHT
    paused = (replace(ROOT, status="paused"), LEFT)
    assert stopped_by(paused, LEFT) is paused[0]


def test_a_circle_of_parents_ends() -> None:
    circle = (replace(ROOT, parent="INT-001-a"), LEFT)
    assert ancestors(circle, LEFT) == (circle[0],)


@pytest.mark.parametrize("text", ["INT-001", "INT-001-a", "A-1", "SPEC2-x_y"])
def test_ids_look_like_a_word_and_a_number(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text", ["", "INT", "int-001", "INT-", "INT-1\n", "INT 1", "INT-1.2", "-1", "ÄB-1", "A-" + "1" * 70]
)
def test_anything_else_is_no_id(text: str) -> None:
    assert not is_id(text)


GOOD = to_plain([ROOT])[0]


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        [3],
        [{**GOOD, "extra": 1}],
        [{**GOOD, "name": 3}],
        [{**GOOD, "status": "ACTIVE"}],
        [{**GOOD, "id": "nope"}],
        [{**GOOD, "owned_scope": "src"}],
        [{**GOOD, "owned_scope": [1]}],
        [{**GOOD, "acceptance_criteria": {}}],
        [{**GOOD, "acceptance_criteria": ["text"]}],
        [{**GOOD, "acceptance_criteria": [{"text": 1}]}],
        [{**GOOD, "acceptance_criteria": [{"text": "a", "shell": "b"}]}],
        [{"id": "INT-1"}],
        [GOOD, GOOD],
    ],
)
def test_a_snapshot_that_is_not_one_is_refused(data: object) -> None:
    with pytest.raises(TetherError) as refused:
        from_plain(data)
    assert refused.value.code == "INTENTS_MALFORMED"


def test_looking_up_intents_and_scopes_loads_nothing_heavy() -> None:
    program = (
        "import sys; import tether.control.intents, tether.control.scope, tether.control.intent_context\n"
        "heavy = {'dataclasses', 'typing', 'pathlib', 'ruamel', 'ruamel.yaml', 'inspect', 'xml', 'difflib'}\n"
        "sys.exit(str(sorted(heavy & sys.modules.keys())) if heavy & sys.modules.keys() else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
