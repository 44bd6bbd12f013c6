"""Values are written plain where YAML reads them back as the same text, and quoted otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.control.yaml_nodes import is_text, read
from tether.control.yaml_text import field_lines, flow_list, item_lines, scalar
from tether.types import Criterion


@pytest.mark.parametrize(
    ("text", "style", "written"),
    [
        ("src/auth/**", "", "src/auth/**"),
        ("$ pytest -q", "", "$ pytest -q"),
        ("2026-01-02T03:04:05Z", "", "2026-01-02T03:04:05Z"),
        ("!x", "", '"!x"'),
        ("*.py", "", '"*.py"'),
        ("yes", "", '"yes"'),
        ("3", "", '"3"'),
        ("a: b", "", '"a: b"'),
        ("a #b", "", '"a #b"'),
        ("plain", "'", "'plain'"),
        ("it's", "'", "'it''s'"),
        ("a\nb", "'", '"a\\nb"'),
        ("plain", '"', '"plain"'),
        ('a"b\\', "", '"a\\"b\\\\"'),
        ("\x85\u2028\U000e0001", "", '"\\x85\\u2028\\U000e0001"'),
        ("", "", '""'),
    ],
)
def test_a_text_is_quoted_only_when_it_must_be(text: str, style: str, written: str) -> None:
    assert scalar(text, style) == written


@given(st.text(st.characters(blacklist_categories=("Cs",)), max_size=30), st.sampled_from(["", "'", '"']))
def test_any_text_is_read_back_the_same(text: str, style: str) -> None:
    for written in (scalar(text, style), f"[{scalar(text, style)}, b]"):
        node = read(written)
        assert node is not None
        first = node if node.kind == "scalar" else node.items[0]
        assert is_text(first)
        assert first.value == text


def test_lists_and_criteria_take_either_style() -> None:
    criteria = [
        Criterion("ok"),
        Criterion("make", "make"),
        Criterion("lint", "ruff check ."),
        Criterion("$ 3"),
    ]
    assert flow_list(criteria) == '[ok, $ make, {text: lint, command: "ruff check ."}, {text: $ 3}]'
    assert item_lines(criteria[2], 2) == ["  - text: lint", '    command: "ruff check ."']
    assert field_lines("owned_scope", (), 4) == ["    owned_scope: []"]
    assert field_lines("owned_scope", ("a", "!b"), 0) == ["owned_scope:", "  - a", '  - "!b"']
