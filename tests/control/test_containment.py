"""A scope is inside another only when that is proved; otherwise there is a path to show for it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.control.containment import Effort, contains, overlap
from tether.control.scope import compile_scope
from tether.errors import TetherError


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        (["src/**"], ["src/auth/**"]),
        (["src/"], ["src/auth/**", "src/*.py"]),
        (["src"], ["src/"]),
        (["**"], ["anything", "/at/all", "*.x"]),
        (["*.py"], ["**/*.py", "src/**/*.py"]),
        (["src/", "!src/secret/"], ["src/", "!src/secret/"]),
        (["src/", "!src/secret/"], ["src/a*"]),
        (["a/[!.]*", "a/.?*"], ["a/*"]),
        (["a/b/**", "a/c/**"], ["a/[bc]/**"]),
        (["x/**/y"], ["x/**/z/**/y"]),
        (["src/"], []),
        (["[a-c]/"], ["[b-c]/x"]),
        (["src/"], ["src/*", "!src/x", "docs/", "!docs/"]),
    ],
)
def test_a_narrower_scope_is_contained(parent: list[str], child: list[str]) -> None:
    assert contains(parent, child).ok


@pytest.mark.parametrize(
    ("parent", "child", "offending"),
    [
        (["src/auth/**"], ["src/**"], "src/**"),
        (["src/", "!src/secret/"], ["src/"], "src/"),
        (["src/", "!src/secret/"], ["src/a*", "src/secret/x"], "src/secret/x"),
        (["src/"], ["src"], "src"),
        ([], ["a"], "a"),
        (["src/**/*.py"], ["src/**"], "src/**"),
        (["/a"], ["a"], "a"),
        (["src/*.py"], ["src/[!.]*.py/*", "src/*"], "src/*"),
        (["[a-b]/"], ["[b-c]/x"], "[b-c]/x"),
    ],
)
def test_a_wider_scope_is_refused_with_a_path_that_escapes(
    parent: list[str], child: list[str], offending: str
) -> None:
    answer = contains(parent, child)
    assert not answer.ok
    assert answer.offending == offending
    assert compile_scope(child).owns(answer.witness)
    assert not compile_scope(parent).owns(answer.witness)


def test_what_cannot_be_proved_within_the_limit_is_not_contained() -> None:
    parent, child = ["*a????????????????b*"], ["*b????????????????a*"]
    answer = contains(parent, child, Effort(5_000))
    assert not answer.ok
    assert answer.undecided
    with pytest.raises(TetherError, match="cannot tell whether"):
        overlap(["*a????????????????b"], ["*b????????????????c", "!*c"], Effort(5_000))


def test_disjoint_scopes_do_not_overlap_and_others_show_where() -> None:
    assert overlap(["src/a/**"], ["src/b/**"]) is None
    assert overlap(["src/**", "!src/a/"], ["src/a/**"]) is None
    assert overlap([], ["**"]) is None
    meeting = overlap(["*.py"], ["docs/**"])
    assert meeting is not None
    assert compile_scope(["*.py"]).owns(meeting)
    assert compile_scope(["docs/**"]).owns(meeting)


NAMES = ["a", "b", "ab", "c"]
PATHS = ["/".join(p) for n in (1, 2, 3) for p in itertools.product(NAMES, repeat=n)]
GLOB = st.builds(
    lambda lead, names, trail: lead + "/".join(names) + trail,
    st.sampled_from(["", "", "/", "!"]),
    st.lists(st.sampled_from(["a", "b", "*", "**", "?", "[ab]", "[!a]", "a*", "*b"]), min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)
SCOPE = st.lists(GLOB, min_size=1, max_size=3)


@settings(max_examples=200, deadline=None)
@given(parent=SCOPE, child=SCOPE)
def test_a_proof_agrees_with_every_path_and_every_witness_is_real(
    parent: list[str], child: list[str]
) -> None:
    outer, inner = compile_scope(parent), compile_scope(child)
    answer = contains(parent, child)
    if answer.ok:
        assert all(outer.owns(path) for path in PATHS if inner.owns(path))
    else:
        assert not answer.undecided
        assert inner.owns(answer.witness)
        assert not outer.owns(answer.witness)


@settings(max_examples=200, deadline=None)
@given(a=SCOPE, b=SCOPE)
def test_a_meeting_path_belongs_to_both_and_none_means_none(a: list[str], b: list[str]) -> None:
    left, right = compile_scope(a), compile_scope(b)
    meeting = overlap(a, b)
    if meeting is None:
        assert not any(left.owns(path) and right.owns(path) for path in PATHS)
    else:
        assert left.owns(meeting)
        assert right.owns(meeting)
