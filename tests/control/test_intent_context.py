"""An intent's context is well-formed whatever it holds, fits its budget, and hides no constraint silently."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.control.intent_context import CHARS_PER_TOKEN, MIN_TOKENS, Touch, escape, render
from tether.types import Criterion, Intent, replace

PARENT = Intent(
    id="INT-001", name="Sign in", status="active", owned_scope=("src/",), constraints=("keep the API",)
)
INTENT = Intent(
    id="INT-001-a",
    name="Sessions <fast>",
    status="active",
    owned_scope=("src/auth/**", "!src/auth/legacy/"),
    constraints=("no new dependency", "p99 < 5 ms & falling"),
    acceptance_criteria=(Criterion("tests pass", "pytest -q && true"), Criterion("reads well")),
    owner="ada",
    related=("SPEC-12", "https://example.org/?a=1&b=2"),
    parent="INT-001",
)
SIBLING = Intent(
    id="INT-001-b", name="Tokens", status="active", owned_scope=("src/tokens/",), owner="bo", parent="INT-001"
)
RECENT = tuple(
    Touch(
        record=f"r{n}",
        at=f"2026-01-{n:02d}",
        path=f"src/auth/f{n}.py",
        change="AST_REFACTOR",
        author="ai",
        lines="1-9",
    )
    for n in range(20, 0, -1)
)

GOLDEN = """\
<intent_context>
<intent id="INT-001-a" status="active" owner="ada">Sessions &lt;fast&gt;</intent>
<scope rule="gitignore-style; the last glob that matches decides, ! takes away">
  <glob>src/auth/**</glob>
  <glob>!src/auth/legacy/</glob>
</scope>
<constraints>
  <constraint>no new dependency</constraint>
  <constraint>p99 &lt; 5 ms &amp; falling</constraint>
  <constraint source="INT-001">keep the API</constraint>
</constraints>
<acceptance_criteria>
  <criterion command="pytest -q &amp;&amp; true">tests pass</criterion>
  <criterion>reads well</criterion>
</acceptance_criteria>
<related>
  <reference>SPEC-12</reference>
  <reference>https://example.org/?a=1&amp;b=2</reference>
</related>
<parent id="INT-001" status="active">Sign in</parent>
<siblings rule="others write here: leave these paths to them">
  <sibling id="INT-001-b" owner="bo" scope="src/tokens/"/>
</siblings>
<recent_trace>
  <change record="r20" at="2026-01-20" path="src/auth/f20.py" change="AST_REFACTOR" author="ai" lines="1-9"/>
</recent_trace>
<next>Read before you write, change only paths inside the scope, keep every constraint, and stop when the \
acceptance criteria hold. Then run its commands with `tether intent check`.</next>
</intent_context>"""


def test_a_context_holds_everything_an_agent_must_know() -> None:
    assert render(INTENT, PARENT, RECENT[:1], [SIBLING]) == GOLDEN


def test_the_oldest_changes_go_first() -> None:
    root = ElementTree.fromstring(render(INTENT, PARENT, RECENT, [SIBLING], budget_tokens=MIN_TOKENS))
    shown = [change.get("record") for change in root.iter("change")]
    assert shown == [f"r{n}" for n in range(20, 20 - len(shown), -1)]
    assert 0 < len(shown) < 20
    assert root.findtext("recent_trace/cut", "").startswith(f"{20 - len(shown)} older changes not shown")
    assert len(root.findall("constraints/constraint")) == 3
    assert len(root.findall("siblings/sibling")) == 1


def test_constraints_that_do_not_fit_are_counted_and_their_place_named() -> None:
    many = replace(INTENT, constraints=tuple(f"constraint number {n} " + "x" * 200 for n in range(100)))
    root = ElementTree.fromstring(render(many, PARENT, RECENT, [SIBLING], budget_tokens=MIN_TOKENS))
    shown = root.findall("constraints/constraint")
    assert shown
    cut = root.find("constraints/cut")
    assert cut is not None
    assert cut.get("count") == str(101 - len(shown))
    assert "tether intent show INT-001-a" in (cut.text or "")
    assert not root.findall("recent_trace/change")


def test_an_intent_that_is_not_active_says_so() -> None:
    assert "nothing can be changed under it" in render(replace(INTENT, status="paused"), None, (), ())


def test_even_the_worst_of_texts_fits_the_smallest_budget() -> None:
    worst = '"' * 5000
    hostile = Intent(
        worst, worst, worst, (worst,) * 9, (worst,) * 9, (Criterion(worst, worst),) * 9, worst, (worst,) * 9
    )
    touches = [Touch(worst, worst, worst, worst, worst, worst)] * 9
    text = render(hostile, hostile, touches, [hostile] * 9, 0)
    assert len(text) <= MIN_TOKENS * CHARS_PER_TOKEN
    root = ElementTree.fromstring(text)
    cut = root.find("constraints/cut")
    assert cut is not None
    assert int(cut.get("count", "0")) + len(root.findall("constraints/constraint")) == 18


@pytest.mark.parametrize(
    ("text", "escaped"), [("\0", "\\x00"), ("\ud800", "\\ud800"), ("\uffff", "\\uffff"), ("]]>", "]]&gt;")]
)
def test_what_xml_cannot_hold_is_spelled_out(text: str, escaped: str) -> None:
    assert escape(text) == escaped


TEXT = st.text(st.characters(), max_size=60)
TEXTS = st.lists(TEXT, max_size=12).map(tuple)
ANY = st.builds(
    Intent,
    id=TEXT,
    name=st.one_of(TEXT, st.just("</intent_context><x>" * 400)),
    status=TEXT,
    owned_scope=TEXTS,
    constraints=TEXTS,
    acceptance_criteria=st.lists(st.builds(Criterion, TEXT, TEXT), max_size=5).map(tuple),
    owner=TEXT,
    related=TEXTS,
)
TOUCH = st.builds(Touch, record=TEXT, at=TEXT, path=TEXT, change=TEXT, author=TEXT, lines=TEXT)


@settings(max_examples=100, deadline=None)
@given(
    intent=ANY,
    parent=st.none() | ANY,
    recent=st.lists(TOUCH, max_size=8),
    siblings=st.lists(ANY, max_size=3),
    budget=st.integers(0, 3000),
)
def test_any_context_parses_and_fits(
    intent: Intent, parent: Intent | None, recent: list[Touch], siblings: list[Intent], budget: int
) -> None:
    text = render(intent, parent, recent, siblings, budget)
    root = ElementTree.fromstring(text)
    assert root.tag == "intent_context"
    assert len(text) <= max(budget, MIN_TOKENS) * CHARS_PER_TOKEN
    constraints = len(intent.constraints) + (len(parent.constraints) if parent else 0)
    cut = root.find("constraints/cut")
    assert (
        len(root.findall("constraints/constraint")) + (int(cut.get("count", "0")) if cut is not None else 0)
        == constraints
    )
