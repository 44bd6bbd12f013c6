"""Edits of the intents file change what they must and nothing else."""

from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.control.intent_edit import Overlap, add, child_id, delegate, next_id, set_fields, set_status
from tether.control.intent_file import KEYS, parse
from tether.errors import TetherError
from tether.types import Criterion, Intent, replace

NOW = "2026-02-03T04:05:06Z"
FILE = """\
# Intents of this project.
version: 1

active_intents:
  # sign-in comes first
  - id: INT-001          # never reuse
    name: 'Sign in'
    status: "active"     # since spring
    owned_scope:
      - src/auth/**      # all of it

      # but not this
      - "!src/auth/legacy/"
      - tests/auth/**
    constraints:
      - |
        two
        lines

    acceptance_criteria:
      - text: types hold
        command: mypy
      - $ pytest -q
    # the end of INT-001

  - {id: INT-002, name: Docs, status: draft, owned_scope: [docs/, R.md]}

  - id: INT-003
    status: paused
    name: >-
      Search
    owner:
    owned_scope: [src/search/]
    # a last word
# after all
"""


def diff(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines taken away and the lines put in."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [x[2:] for x in lines if x.startswith("- ")], [x[2:] for x in lines if x.startswith("+ ")]


def test_a_status_changes_on_its_own_line_and_the_date_comes_after_the_other_fields() -> None:
    after = set_status(FILE, "INT-001", "done", NOW)
    assert diff(FILE, after) == (
        ['    status: "active"     # since spring'],
        ['    status: "done"     # since spring', f"    updated: {NOW}"],
    )
    again = set_status(after, "INT-001", "active", "2027-01-01")
    assert diff(after, again)[1] == ['    status: "active"     # since spring', "    updated: 2027-01-01"]


@pytest.mark.parametrize(
    ("intent", "changes", "gone", "new"),
    [
        ("INT-001", {"name": "It's in"}, ["    name: 'Sign in'"], ["    name: 'It''s in'"]),
        ("INT-001", {"name": 'a: "b" #c'}, ["    name: 'Sign in'"], ["    name: 'a: \"b\" #c'"]),
        ("INT-003", {"name": "Find: it"}, ["    name: >-", "      Search"], ['    name: "Find: it"']),
        ("INT-003", {"owner": "ada"}, ["    owner:"], ["    owner: ada"]),
        (
            "INT-003",
            {"owned_scope": ["src/search/", "x"]},
            ["    owned_scope: [src/search/]"],
            ["    owned_scope: [src/search/, x]"],
        ),
        ("INT-003", {"owned_scope": []}, ["    owned_scope: [src/search/]"], ["    owned_scope: []"]),
        ("INT-003", {"constraints": ["a", "b"]}, [], ["    constraints:", "      - a", "      - b"]),
        (
            "INT-002",
            {"owner": "bo, b", "status": "active"},
            ["  - {id: INT-002, name: Docs, status: draft, owned_scope: [docs/, R.md]}"],
            ['  - {id: INT-002, name: Docs, status: active, owned_scope: [docs/, R.md], owner: "bo, b"}'],
        ),
        ("INT-001", {"owned_scope": ["src/auth/**", "!src/auth/legacy/"]}, ["      - tests/auth/**"], []),
        (
            "INT-001",
            {"owned_scope": ["src/auth/**", "!src/auth/legacy/", "tests/auth/**", "*.md", "?x"]},
            [],
            ['      - "*.md"', '      - "?x"'],
        ),
        (
            "INT-001",
            {"owned_scope": ["z", "src/auth/**", "!src/auth/legacy/", "tests/auth/**"]},
            [],
            ["      - z"],
        ),
        (
            "INT-001",
            {
                "acceptance_criteria": [
                    Criterion("types hold", "mypy"),
                    Criterion("pytest -q", "pytest -q"),
                    Criterion("reads well"),
                ]
            },
            [],
            ["      - reads well"],
        ),
        (
            "INT-001",
            {"acceptance_criteria": [Criterion("pytest -q", "pytest -q")]},
            ["      - text: types hold", "        command: mypy"],
            [],
        ),
        ("INT-001", {"constraints": ["two\nlines", "three"]}, [], ["      - three"]),
    ],
)
def test_a_field_changes_where_it_stands(
    intent: str, changes: dict[str, object], gone: list[str], new: list[str]
) -> None:
    after = set_fields(FILE, intent, changes)
    assert diff(FILE, after) == (gone, new)


def test_nothing_changes_when_there_is_nothing_to_change() -> None:
    assert set_fields(FILE, "INT-001", {"name": "Sign in", "status": "active", "owner": ""}) == FILE


def test_a_list_may_become_empty_and_full_again() -> None:
    emptied = set_fields(FILE, "INT-001", {"owned_scope": ()})
    assert "      # but not this" in emptied
    assert parse(emptied)[0].owned_scope == ()
    assert parse(set_fields(emptied, "INT-001", {"owned_scope": ("a", "b")}))[0].owned_scope == ("a", "b")


NEW = Intent(
    id="INT-004",
    name="Pay",
    status="active",
    owned_scope=("src/pay/**", "!*.lock"),
    constraints=("no: floats",),
    acceptance_criteria=(
        Criterion("ok"),
        Criterion("make test", "make test"),
        Criterion("lint", "ruff check ."),
        Criterion("$ 3"),
    ),
    related=("https://example.org/1",),
    created=NOW,
)


def test_a_new_intent_joins_the_list_in_its_style_and_below_the_last_comment_of_the_one_before() -> None:
    after = add(FILE, NEW)
    gone, new = diff(FILE, after)
    assert gone == []
    assert new[:2] == ["", "  - id: INT-004"]
    assert after.index("# a last word") < after.index("INT-004") < after.index("# after all")
    assert parse(after) == (*parse(FILE), NEW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing yet",
        "# nothing yet\n",
        "active_intents:\n",
        "active_intents:  # soon\n",
        "active_intents: []  # soon\n",
        "active_intents: ~\nversion: 1\n",
        "intents: []",
        "[]\n",
        "- {id: INT-1, name: a, status: draft, owned_scope: []}\n",
        "[{id: INT-1, name: a, status: draft, owned_scope: []}]\n",
        "intents: [{id: INT-1, name: a, status: draft, owned_scope: []}] # x\nversion: 1\n",
        "intents:\n- id: INT-1\n  name: a\n  status: draft\n  owned_scope:\n  - x",
        "intents:\r\n- id: INT-1\r\n  name: a\r\n  status: draft\r\n  owned_scope: []\r\n",
        "intents:\n- id: INT-1\n  name: a\n  status: draft\n  owned_scope: []\n  owner:\n",
    ],
)
def test_a_new_intent_fits_into_any_file(text: str) -> None:
    after = add(text, NEW)
    assert parse(after) == (*parse(text), NEW)
    assert [c for c in re.findall("#.*", text) if c not in after] == []
    if "\r" in text:
        assert "\n" not in after.replace("\r\n", "")


def test_an_id_is_not_given_twice() -> None:
    with pytest.raises(TetherError) as refused:
        add(FILE, replace(NEW, id="INT-002"))
    assert refused.value.code == "ALREADY_EXISTS"


def test_an_edit_that_would_spoil_the_file_is_refused_with_the_reason() -> None:
    with pytest.raises(TetherError, match=r"a glob below the project's root.*`\.\.`"):
        add(FILE, replace(NEW, owned_scope=("../x",)))
    with pytest.raises(TetherError, match="an id such as"):
        add(FILE, replace(NEW, id="x"))
    with pytest.raises(TetherError, match="did you mean `owned_scope`"):
        set_fields(FILE, "INT-001", {"scope": []})
    with pytest.raises(TetherError, match="cannot be set"):
        set_fields(FILE, "INT-001", {"id": "INT-9"})
    with pytest.raises(TetherError, match="no intent `INT-9`"):
        set_fields(FILE, "INT-9", {"name": "x"})
    with pytest.raises(TetherError, match="did you mean `active`"):
        set_status(FILE, "INT-001", "activ", NOW)
    with pytest.raises(TetherError, match="one line of text"):
        set_fields(FILE, "INT-001", {"name": "a\nb"})
    with pytest.raises(TetherError) as refused:
        set_fields("- id: 3", "INT-001", {"name": "x"})
    assert refused.value.code == "INTENTS_MALFORMED"


def test_a_file_too_oddly_written_to_edit_is_left_alone() -> None:
    odd = "- ? id\n  : INT-1\n  ? name\n  # why\n  : a\n  ? status\n  : draft\n  ? owned_scope\n  : []\n"
    assert parse(odd)
    with pytest.raises(TetherError):
        set_fields(odd, "INT-1", {"owner": "x"})


def test_ids_are_handed_out_in_order() -> None:
    intents = parse(FILE)
    assert next_id(intents) == "INT-004"
    assert next_id(()) == "INT-001"
    assert next_id(intents, "BUG") == "BUG-001"
    assert next_id([Intent(id="INT-0099", name=""), Intent(id="INT-0100-a", name="")]) == "INT-0101"
    assert child_id(intents, "INT-001") == "INT-001-a"
    taken = [Intent(id=f"INT-001-{chr(97 + n)}", name="") for n in range(26)]
    assert child_id(taken, "INT-001") == "INT-001-aa"


def test_delegating_makes_a_child_and_names_the_siblings_it_meets() -> None:
    text, first, met = delegate(FILE, "INT-001", "ada", ["src/auth/session/**"], NOW)
    assert met == ()
    assert first == parse(text)[-1]
    assert (first.id, first.parent, first.owner, first.status) == ("INT-001-a", "INT-001", "ada", "active")
    assert first.name == "Sign in (ada)"
    text, second, met = delegate(
        text, "INT-001", "bo", ["src/auth/*.py", "src/auth/session/x.py"], NOW, name="Rest"
    )
    assert second.id == "INT-001-b"
    assert met == (Overlap("INT-001-a", "src/auth/session/x.py"),)
    text = set_status(text, "INT-001-a", "done", NOW)
    assert delegate(text, "INT-001-b", "cy", ["src/auth/session/x.py"], NOW)[1].id == "INT-001-b-a"
    assert delegate(text, "INT-001", "cy", ["src/auth/session/y.py"], NOW)[2] == ()


@pytest.mark.parametrize(
    ("parent", "scope", "code", "says"),
    [
        ("INT-001", ["src/**"], "SCOPE_VIOLATION", "`src/\\*\\*` also owns `src/a"),
        ("INT-001", ["src/auth/**"], "SCOPE_VIOLATION", "also owns `src/auth/legacy/a`"),
        ("INT-009", ["a"], "NOT_FOUND", "no intent"),
        ("INT-001", ["../x"], "BAD_ARGUMENTS", "`..`"),
    ],
)
def test_delegating_more_than_the_parent_owns_is_refused(
    parent: str, scope: list[str], code: str, says: str
) -> None:
    with pytest.raises(TetherError, match=says) as refused:
        delegate(FILE, parent, "ada", scope, NOW)
    assert refused.value.code == code


def test_a_finished_intent_delegates_nothing() -> None:
    with pytest.raises(TetherError, match="is done"):
        delegate(set_status(FILE, "INT-001", "done", NOW), "INT-001", "ada", ["src/auth/a"], NOW)


# ── any values ───────────────────────────────────────────────────────────────

CHARS = st.characters(
    blacklist_categories=("Cc", "Cs", "Zl", "Zp"),
    blacklist_characters="\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\ufffe\uffff",
)
LINE = st.one_of(
    st.text(CHARS, min_size=1, max_size=12),
    st.sampled_from(
        [
            "null",
            "~",
            "true",
            "3",
            "1e3",
            "0x1",
            "- a",
            "a: b",
            "a #b",
            "#a",
            "'",
            '"',
            "\\",
            "[a]",
            "{a}",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "%",
            "@a",
            "`a`",
            "yes",
            ", ",
            "?",
            "a:",
            "$ x",
            "$",
            "---",
            "...",
            "=",
            "<<",
            "2026-01-01",
            "nan",
            ".inf",
        ]
    ),
).filter(lambda text: bool(text.strip()))
BLOCK = st.one_of(LINE, st.lists(LINE, min_size=2, max_size=3).map("\n".join))
CRITERION = st.one_of(
    BLOCK.filter(lambda text: not text.startswith("$ ")).map(Criterion),
    st.builds(Criterion, BLOCK, BLOCK),
    BLOCK.map(lambda command: Criterion(command, command)),
)
GLOBS = st.lists(
    st.sampled_from(["src/**", "*.py", "!x", "docs/", "[ab]", "a b", "\\#x", "a?", "é"]), max_size=4
).map(tuple)
FIELDS = {
    "name": LINE,
    "status": st.sampled_from(["draft", "active", "paused", "done", "abandoned"]),
    "owner": LINE,
    "owned_scope": GLOBS,
    "constraints": st.lists(BLOCK, max_size=3).map(tuple),
    "acceptance_criteria": st.lists(CRITERION, max_size=3).map(tuple),
    "related": st.lists(BLOCK, max_size=3).map(tuple),
    "created": LINE,
    "updated": LINE,
}
INTENT = st.fixed_dictionaries(FIELDS)


@settings(max_examples=100, deadline=None)
@given(values=INTENT, crlf=st.booleans())
def test_whatever_an_intent_says_is_read_back(values: dict[str, object], crlf: bool) -> None:
    text = FILE.replace("\n", "\r\n") if crlf else FILE
    intent = Intent(id="INT-004", **values)  # type: ignore[arg-type]
    assert parse(add(text, intent)) == (*parse(FILE), intent)
    flow = "[{id: INT-1, name: a, status: draft, owned_scope: []}]"
    assert parse(add(flow, intent))[-1] == intent


@settings(max_examples=150, deadline=None)
@given(
    target=st.sampled_from(["INT-001", "INT-002", "INT-003"]),
    changes=INTENT.flatmap(
        lambda full: st.sets(st.sampled_from(sorted(full))).map(lambda names: {n: full[n] for n in names})
    ),
)
def test_an_edit_means_what_was_asked_and_leaves_other_lines_and_comments(
    target: str, changes: dict[str, object]
) -> None:
    after = set_fields(FILE, target, changes)
    expected = tuple(replace(i, **changes) if i.id == target else i for i in parse(FILE))
    assert parse(after) == expected
    start = FILE.index(f"id: {target}")
    end = min(
        (
            FILE.index(f"id: {other}")
            for other in ("INT-002", "INT-003")
            if FILE.index(f"id: {other}") > start
        ),
        default=len(FILE),
    )
    head, tail = FILE[: FILE.rindex("\n", 0, start) + 1], FILE[FILE.rindex("\n", 0, end) + 1 :]
    assert after.startswith(head)
    assert after.endswith(tail)
    for comment in (
        "# but not this",
        "# the end of INT-001",
        "# a last word",
        "# after all",
        "# never reuse",
    ):
        assert comment in after
    untouched = [
        line
        for line in FILE.splitlines()
        if (m := re.match(r"    (\w+):", line)) and m[1] not in changes and m[1] in KEYS
    ]
    position = 0
    for line in untouched:
        position = after.index(line, position) + len(line)


@settings(max_examples=60, deadline=None)
@given(first=INTENT, second=INTENT)
def test_edits_of_what_an_edit_wrote_hold_too(first: dict[str, object], second: dict[str, object]) -> None:
    text = add("", Intent(id="INT-001", **first))  # type: ignore[arg-type]
    assert parse(set_fields(text, "INT-001", second)) == (Intent(id="INT-001", **second),)  # type: ignore[arg-type]
