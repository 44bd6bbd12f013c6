"""A file of intents is read whole or refused with every problem, each at its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.control.intent_file import MAX_BYTES, MAX_INTENTS, parse
from tether.errors import TetherError
from tether.types import Criterion, Intent

FULL = """\
# what we are doing
active_intents:
  - id: INT-001          # the first
    name: "Sign in: again"
    status: ACTIVE
    owner: ada
    owned_scope:
      - src/auth/**
      - "!src/auth/legacy/"
    constraints:
      - keep the public API
      - |
        two
        lines
    acceptance_criteria:
      - users can sign in
      - $ pytest -q tests/auth
      - run: ruff check .
      - {text: types hold, command: mypy}
      - text: reads well
    related: [SPEC-12, "https://example.org/issues/3"]
    created: 2026-01-02
    updated: 2026-01-03T04:05:06Z
  - id: INT-001-a
    name: worker
    status: draft
    owned_scope: [src/auth/session/**]
    parent: INT-001
"""


def test_every_field_is_read() -> None:
    first, child = parse(FULL)
    assert first == Intent(
        id="INT-001",
        name="Sign in: again",
        status="active",
        owned_scope=("src/auth/**", "!src/auth/legacy/"),
        constraints=("keep the public API", "two\nlines"),
        acceptance_criteria=(
            Criterion("users can sign in"),
            Criterion("pytest -q tests/auth", "pytest -q tests/auth"),
            Criterion("ruff check .", "ruff check ."),
            Criterion("types hold", "mypy"),
            Criterion("reads well"),
        ),
        owner="ada",
        related=("SPEC-12", "https://example.org/issues/3"),
        created="2026-01-02",
        updated="2026-01-03T04:05:06Z",
    )
    assert child.parent == "INT-001"


ONE = "id: INT-1\n  name: n\n  status: draft\n  owned_scope: []\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "active_intents:\n",
        "active_intents: []\n",
        "intents: ~\n",
        "[]",
        "version: 1\nintents: []",
    ],
)
def test_a_file_without_intents_holds_none(text: str) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize(
    "text", [f"- {ONE}", "intents:\n- " + ONE, "\ufeff- " + ONE, ("- " + ONE).replace("\n", "\r\n")]
)
def test_the_list_may_be_bare_or_named(text: str) -> None:
    assert parse(text) == (Intent(id="INT-1", name="n"),)


def intent(**changes: str) -> str:
    """One intent whose named lines are replaced."""
    lines = {"id": "INT-1", "name": "n", "status": "draft", "owned_scope": "[src/]", **changes}
    return "- " + "\n  ".join(f"{key}: {value}" for key, value in lines.items() if value != "absent") + "\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "expected", "found"),
    [
        ("just words", 1, 1, "`active_intents:`", "`just words`"),
        ("actve_intents: []", 1, 1, "`active_intents`", "`actve_intents`"),
        ("version: 2\nintents: []", 1, 10, "version 1", "the number `2`"),
        ("intents: []\nactive_intents: []", 2, 1, "one list", "a second"),
        ("version: 1", 1, 1, "`active_intents:`", "no such key"),
        ("intents: 3", 1, 10, "a list of intents", "the number `3`"),
        ("- 3", 1, 3, "an intent", "the number `3`"),
        ("- [a]", 1, 3, "an intent", "a list"),
        (intent(id="int-1"), 1, 7, "an id such as `INT-001`", "`int-1`"),
        (intent(id="INT-1.2"), 1, 7, "an id such as", "`INT-1.2`"),
        (intent(id="absent"), 1, 3, "`id`", "an intent without it"),
        (intent(name="absent"), 1, 3, "`name`", "an intent without it"),
        (intent(status="absent"), 1, 3, "`status`", "an intent without it"),
        (intent(owned_scope="absent"), 1, 3, "`owned_scope`", "an intent without it"),
        (intent(name="3"), 2, 9, "text", "the number `3`"),
        (intent(name="yes"), 0, 0, "", ""),
        (intent(name="true"), 2, 9, "text", "the truth value `true`"),
        (intent(name="''"), 2, 9, "text", "an empty text"),
        (intent(name="[a]"), 2, 9, "text", "a list"),
        (intent(name='"a\\nb"'), 2, 9, "one line of text", "U+000A"),
        (intent(name='"a\\u202eb"'), 2, 9, "one line of text", "U+202E"),
        (intent(status="IN_PROGRESS"), 3, 11, "`active` (one of draft", "`IN_PROGRESS`"),
        (intent(status="actve"), 3, 11, "`active`", "`actve`"),
        (intent(status="finished"), 3, 11, "`done` (one of", "`finished`"),
        (intent(owned_scope="src/"), 4, 16, "a list", "`src/`"),
        (intent(owned_scope="[3]"), 4, 17, "text", "the number `3`"),
        (intent(owned_scope="[[a]]"), 4, 17, "text", "a list"),
        (intent(owned_scope="[a, ../b]"), 4, 20, "a glob below", "`..`"),
        (intent(owned_scope='["a\\0b"]'), 4, 17, "text", "U+0000"),
        (intent(owned_scoop="[]"), 5, 3, "`owned_scope`", "the unknown key `owned_scoop`"),
        (intent(constraint="[]"), 5, 3, "`constraints`", "the unknown key `constraint`"),
        (intent(name="n\n  name: m"), 3, 3, "each key once", "`name` again"),
        (intent(constraints="[~]"), 5, 17, "text", "nothing"),
        (intent(acceptance_criteria="[{txt: a}]"), 5, 26, "`text`", "the unknown key `txt`"),
        (intent(acceptance_criteria="[{run: a, command: b}]"), 5, 34, "either", "both"),
        (intent(acceptance_criteria="[{}]"), 5, 25, "a criterion", "a map"),
        (intent() + intent(), 5, 7, "each id once", "first used in line 1"),
        (intent(parent="INT-9"), 5, 11, "the id of an intent", "`INT-9`"),
        (intent(parent="INT-1"), 5, 11, "a chain of parents that ends", "`INT-1`, in a circle"),
        (
            intent() + intent(id="INT-2", owned_scope="[src/a, docs/]", parent="INT-1"),
            8,
            24,
            "inside that of its parent `INT-1`",
            "`docs/`",
        ),
        (intent(name="&a n"), 2, 9, "a value without anchor", "`&a`"),
        (intent(name="*a"), 2, 9, "a value written out", "`*a`"),
        (intent(name="!!str n"), 2, 9, "a value without tag", "tag"),
        (intent(name="!!python/object/apply:os.system [id]"), 2, 9, "a value without tag", "tag"),
        ("%TAG ! tag:x,2000:\n---\n[]", 2, 1, "no directives", "%TAG"),
        (intent() + "---\n[]", 5, 1, "a single document", "`---`"),
        ("a:\n\t- b", 2, 1, "spaces for indentation", "a tab"),
        ("a: b: c", 1, 5, "valid YAML", "mapping values"),
        ("a\n\x01", 2, 1, "printable text", "U+0001"),
        ("[" * 50, 1, 9, "at most 8 levels", "a deeper one"),
        ('a: "x', 1, 6, "valid YAML", "end of stream"),
        ("? [a]\n: b\nintents: []", 1, 3, "a plain key", "a list"),
    ],
)
def test_each_problem_is_named_at_its_place(
    text: str, line: int, column: int, expected: str, found: str
) -> None:
    if not line:
        parse(text)
        return
    with pytest.raises(TetherError) as refused:
        parse(text, "x.yaml")
    problem = refused.value.data["problems"][0]
    assert refused.value.code == "INTENTS_MALFORMED"
    assert (problem["file"], problem["line"], problem["column"]) == ("x.yaml", line, column)
    assert expected in problem["expected"]
    assert found in problem["found"]
    assert refused.value.message.startswith(f"x.yaml:{line}:{column}: expected {problem['expected']}, found ")


def test_every_problem_is_reported_at_once() -> None:
    text = intent(id="bad", status="opne") + intent(id="INT-2", owned_scope="[../x]", nmae="y")
    with pytest.raises(TetherError) as refused:
        parse(text)
    assert [problem["line"] for problem in refused.value.data["problems"]] == [1, 3, 8, 9]


def test_a_circle_of_parents_is_refused_at_each_of_its_members() -> None:
    text = intent(id="INT-1", parent="INT-2") + intent(id="INT-2", parent="INT-1")
    with pytest.raises(TetherError) as refused:
        parse(text)
    assert [problem["line"] for problem in refused.value.data["problems"]] == [5, 10]


def test_a_finished_child_may_lie_outside_a_scope_that_has_shrunk() -> None:
    assert (
        len(parse(intent() + intent(id="INT-2", status="done", owned_scope="[docs/]", parent="INT-1"))) == 2
    )


def test_a_scope_too_intricate_to_compare_is_refused() -> None:
    text = intent(owned_scope="['*a????????????????b*']") + intent(
        id="INT-2", owned_scope="['*b????????????????a*']", parent="INT-1"
    )
    with pytest.raises(TetherError, match="too intricate to compare"):
        parse(text)


def test_a_huge_file_is_refused_before_it_is_read() -> None:
    with pytest.raises(TetherError, match=f"expected at most {MAX_BYTES} bytes"):
        parse("#" * (MAX_BYTES + 1))
    with pytest.raises(TetherError, match=f"expected at most {MAX_INTENTS} intents"):
        parse("- a\n" * (MAX_INTENTS + 1))
    with pytest.raises(TetherError, match="expected at most 20000 values"):
        parse("- a\n" * 20_001)


def test_an_alias_bomb_does_not_go_off() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
    )
    with pytest.raises(TetherError, match="anchor"):
        parse(bomb)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                [
                    "- ",
                    "id: ",
                    "INT-1",
                    "\n",
                    "  ",
                    "[",
                    "]",
                    "{",
                    "}",
                    ":",
                    ",",
                    "&a",
                    "*a",
                    "!",
                    "|\n",
                    "'",
                    '"',
                    "#",
                    "?",
                    "%",
                    "\t",
                    "name",
                    "active_intents",
                    "owned_scope",
                ]
            ),
            max_size=25,
        ).map("".join),
    )
)
def test_any_text_gives_intents_or_a_refusal_with_a_place(text: str) -> None:
    try:
        parse(text)
    except TetherError as refused:
        assert refused.code == "INTENTS_MALFORMED"
        assert all(problem["line"] > 0 and problem["column"] > 0 for problem in refused.data["problems"])
