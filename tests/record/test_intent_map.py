"""The intent map gathers what intents shaped, row by row, and survives people and hostile names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.record.intent_map import MAX_ANCHORS, Anchor, Entry, calls_for_update, update
from tether.record.marked import markers

BEGIN, END = markers("intent-map")
FIRST = Entry(
    intent="INT-010",
    name="Sign *in* (v2)",
    status="active",
    path="src/auth.py",
    anchors=(Anchor("Session<T>", "class", 30, 44), Anchor("login", "function", 10, 20)),
    record="r1",
    mutation_class="INTENT_EVOLUTION",
    date="2026-01-01",
    scope=("src/**", "!src/legacy/"),
)
AGAIN = Entry(
    intent="INT-010",
    path="src/auth.py",
    anchors=(Anchor("login", "function", 12, 24), Anchor("logout", "function", 50, 50)),
    record="r2",
    mutation_class="INTENT_EVOLUTION",
    date="2026-01-02",
)
OTHER = Entry(intent="INT-9", name="Docs", status="draft", path="docs/a.md", record="r3", date="2026-01-03")

GOLDEN = """\
# Intent map

<!-- tether:intent-map:begin -->
### INT-9: Docs (draft)

| file | anchors | class | record | updated |
| --- | --- | --- | --- | --- |
| `docs/a.md` |  |  | `r3` | 2026-01-03 |

### INT-010: Sign &#42;in&#42; (v2) (active)

Scope: `src/**`, `!src/legacy/`

| file | anchors | class | record | updated |
| --- | --- | --- | --- | --- |
| `src/auth.py` | function `login` (12–24)<br>class Session&#60;T&#62; (30–44)<br>function `logout` (50) | \
INTENT_EVOLUTION | `r2` | 2026-01-02 |
<!-- tether:intent-map:end -->
"""


def test_entries_gather_into_one_table_for_each_intent() -> None:
    assert update("", [FIRST, AGAIN, OTHER]) == GOLDEN
    assert update(update(update("", [OTHER]), [FIRST]), [AGAIN]) == GOLDEN


def test_the_same_entries_again_change_nothing() -> None:
    assert update(GOLDEN, []) == GOLDEN
    assert update(GOLDEN, [AGAIN, OTHER]) == GOLDEN


def test_an_entry_that_comes_late_overrides_nothing_newer() -> None:
    assert update(update("", [AGAIN, OTHER]), [FIRST]) == GOLDEN


def test_a_deleted_file_leaves_the_map_and_a_scope_change_shows() -> None:
    after = update(GOLDEN, [Entry(intent="INT-9", path="docs/a.md", deleted=True)])
    assert "docs/a.md" not in after
    assert "### INT-9: Docs (draft)" in after
    after = update(GOLDEN, [Entry(intent="INT-010", status="done", scope=("lib/",))])
    assert "### INT-010: Sign &#42;in&#42; (v2) (done)\n\nScope: `lib/`\n" in after


def test_the_map_follows_evolution_and_scope_but_not_refactoring() -> None:
    assert calls_for_update("INTENT_EVOLUTION")
    assert calls_for_update("AST_REFACTOR", scope_changed=True)
    assert not calls_for_update("AST_REFACTOR")


def test_what_a_person_wrote_inside_is_kept_or_repaired() -> None:
    edited = f"""before
{BEGIN}
A word from ada.

## INT-010 Sign in
Ask ada first.
| file | anchors |
|--|--|
| src/plain.py | see the wiki, really |
| `src/auth.py` | function `login` (1) | INTENT_EVOLUTION | `r0` | 2025-01-01 |
| | half a row |
### INT-010: twice (draft)
| `src/b.py` |
| a | b | c | d | e | f |
{END}
after"""
    after = update(edited, [AGAIN])
    assert after.startswith(
        f"before\n{BEGIN}\nA word from ada.\n\n### INT-010: Sign in (draft)\n\nAsk ada first.\n"
    )
    assert after.endswith(f"{END}\nafter")
    for kept in (
        "| `src/plain.py` | see the wiki, really |  |  |  |",
        "| `src/auth.py` | function `login` (12–24)<br>function `logout` (50) | "
        "INTENT_EVOLUTION | `r2` | 2026-01-02 |",
        "| `src/b.py` |  |  |  |  |",
        "| | half a row |",
        "| a | b | c | d | e | f |",
    ):
        assert kept in after.splitlines()
    assert update(after, [AGAIN]) == after


def test_a_row_lists_so_many_anchors_and_counts_the_rest() -> None:
    many = tuple(Anchor(f"f{n}", "function", n, n) for n in range(1, MAX_ANCHORS + 8))
    after = update("", [Entry(intent="INT-1", path="a.py", anchors=many)])
    assert f"`f{MAX_ANCHORS}` ({MAX_ANCHORS})<br>and 7 more |" in after
    assert update(after, [Entry(intent="INT-1", path="a.py", anchors=many)]) == after
    assert update(after, []) == after


def test_an_entry_without_a_valid_intent_is_refused() -> None:
    with pytest.raises(TetherError, match="is no intent's id"):
        update("", [Entry(intent="x\n# y")])


TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from(list("`|<>&#\\\n -*[](){}:"))), max_size=12
) | st.sampled_from(
    ["\n# pwned\n", END, BEGIN, "a | b", "`` ` ``", "<br>", "-->", "&#10;", "[x](y)", "---", "and 3 more"]
)
ANCHORS = st.lists(st.builds(Anchor, TEXT, TEXT, st.integers(0, 999), st.integers(0, 999)), max_size=4).map(
    tuple
)
ENTRY = st.builds(
    Entry,
    intent=st.sampled_from(["INT-1", "INT-2", "INT-10", "INT-1-a"]),
    name=TEXT,
    status=st.sampled_from(["draft", "active", "don`e|"]),
    path=TEXT,
    anchors=ANCHORS,
    record=TEXT,
    mutation_class=TEXT,
    date=st.sampled_from(["", "2026-01-01", "2026-01-02", "<b>"]),
    scope=st.none() | st.lists(TEXT, max_size=2).map(tuple),
)
OUTSIDE = st.text(st.sampled_from(list("ab#|` \r\n")), max_size=20)


@settings(max_examples=200, deadline=None)
@given(entries=st.lists(ENTRY, max_size=6), head=OUTSIDE, tail=OUTSIDE)
def test_any_entries_stay_inside_the_markers_and_settle_at_once(
    entries: list[Entry], head: str, tail: str
) -> None:
    text = f"{head}\n{BEGIN}\n{END}\n{tail}"
    after = update(text, entries)
    assert after.startswith(f"{head}\n{BEGIN}")
    assert after.endswith(f"{END}\n{tail}")
    assert update(after, []) == after
    assert update(after, entries[-1:]) == after
    inside = after[len(head) : len(after) - len(tail)]
    assert {line[:1] for line in inside.split("\n")} <= {"", "#", "|", "S", "<", "\r"}
    paths = {(e.intent, e.path) for e in entries if e.path}
    rows = [
        line
        for line in inside.split("\n")
        if line.startswith("| ") and not line.startswith(("| file", "| ---"))
    ]
    assert len(rows) == len(paths)
