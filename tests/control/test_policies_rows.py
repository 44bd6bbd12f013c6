"""Policies as versioned rows, and the conditions they are written in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.control.plans import KNOWN, change, judged, plan, side_effect, validate

from tether.control.plan_check import check
from tether.control.policies import read_rows
from tether.control.predicate import World, compile_predicate
from tether.errors import TetherError
from tether.types import replace

NODES = (
    {
        "kind": "change",
        "targetFile": "src/pay/a.py",
        "citations": [{"category": "policy"}],
        "n": 3,
        "after": [],
    },
    {"kind": "change", "targetFile": "src/auth/b.py", "citations": [], "n": 1, "after": ["validate"]},
    {"kind": "validate", "verificationHooks": ["pytest -q", "mypy src"], "ok": True},
)
WORLD = World({"workId": "W-1", "nodes": list(NODES)}, NODES, {"hasJira": True, "testConfidenceLevel": "low"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("false", False),
        ("not false and true", True),
        ("false or false or true", True),
        ("false implies false", True),
        ("true implies false", False),
        ('plan.workId = "W-1"', True),
        ("workId = 'W-1'", True),
        ("workId != 'W-2'", True),
        ("nowhere = 'W-1'", False),
        ("nowhere != 'W-1'", False),
        ("nowhere", False),
        ("signature.hasJira", True),
        ('signature.testConfidenceLevel in ["low", "medium"]', True),
        ("every change (n >= 1)", True),
        ("every change (n > 1)", False),
        ("some change (n > 1)", True),
        ("no side_effect (true)", True),
        ("no change (true)", False),
        ("count change (true) = 2", True),
        ("count node (true) >= 4", False),
        ('some change (targetFile matches "src/pay/**")', True),
        ('every change (targetFile matches ["src/pay/**", "src/auth/**"])', True),
        ('every change (targetFile matches "src/pay/**" implies citations.category contains "policy")', True),
        ('every change (citations.category contains "policy")', False),
        ('some validate (verificationHooks mentions "MYPY")', True),
        ('some validate (verificationHooks mentions "myp")', False),
        ('some validate (verificationHooks contains "mypy src")', True),
        ('some change (after contains "validate")', True),
        ("some change (n = true)", False),
        ("some validate (ok = true)", True),
        ("some change (targetFile > 1)", False),
        ("every change (n > 0) and some validate (ok)", True),
        ("nodes.n contains 3", True),
        ("'true'", True),
    ],
)
def test_a_condition_means_what_the_documentation_says(text, expected):
    assert compile_predicate(text)(WORLD) is expected


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "(", "true true", "a =", "= a", "every (true)", "every thing (true)", "every change true",
        "count change (true)", "a ; b", "__import__('os')", "a.b()", "x[0]", "[1 2] = a", "and", "not", "a = and",
        "(" * 100 + "true" + ")" * 100, "not " * 100 + "true", "true and " * 600 + "true", "a" * 5000,
        "every change (some change (true))", "lambda: 1", "a == b", "1 +1 x", "'open",
    ],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(TetherError):
        compile_predicate(text)


@given(st.text(max_size=40) | st.lists(st.sampled_from("every change ( ) n = 1 and or not [ ] , 'x' count".split()))
       .map(" ".join))  # fmt: skip
def test_any_text_is_refused_or_answers(text):
    try:
        test = compile_predicate(text)
    except TetherError:
        return
    assert test(WORLD) in (True, False)


def row(**more):
    held = {
        "id": "P-1", "type": "policy", "version": 2, "updated_at": "2026-01-02", "updated_by": "ann",
        "scope": {"kinds": ["change"], "files": ["src/auth/**"]}, "predicate": "requiresHumanReview = true",
        "message": "authentication is reviewed by a person", "hint": "set `requiresHumanReview`",
    }  # fmt: skip
    return json.dumps({**held, **more})


def known(*rows):
    return replace(KNOWN, policies=read_rows([("team.jsonl", "\n".join(rows))]))


def test_a_plan_that_breaks_a_policy_is_told_which_row():
    document = plan(policyVersionSet={"P-1": 2})
    report = check(document, known(row()))
    (found,) = report.violations
    assert (found.pointer, found.code, found.rule) == ("/nodes/0", "PLAN_POLICY_VIOLATION", "policy:P-1")
    assert "`P-1` version 2 (team.jsonl:1)" in found.message
    assert found.hint == "set `requiresHumanReview`"
    mended = plan(change(requiresHumanReview=True), validate(), policyVersionSet={"P-1": "2"})
    assert judged(mended, known(row())) == set()


def test_the_highest_version_is_in_force_and_a_stale_one_is_refused():
    facts = known(row(version="1.9", predicate="false"), row(version="1.10", predicate="true"))
    assert facts.policies.versions == {"P-1": "1.10"}
    for stated in ({}, {"P-1": "1.9"}):
        assert judged(plan(policyVersionSet=stated), facts) == {
            ("/policyVersionSet/P-1", "PLAN_POLICY_VIOLATION", "policy.stale")
        }
    assert judged(plan(policyVersionSet={"P-1": "1.10"}), facts) == set()


def test_a_policy_without_a_scope_speaks_of_the_whole_plan():
    facts = known(row(scope={}, predicate="no side_effect (true)"))
    document = plan(change(), validate(), side_effect(), policyVersionSet={"P-1": "2"})
    assert judged(document, facts) == {("", "PLAN_POLICY_VIOLATION", "policy:P-1")}
    elsewhere = known(row(scope={"strategies": ["ui_aggrid_feature"]}, predicate="false"))
    assert judged(plan(policyVersionSet={"P-1": "2"}), elsewhere) == set()


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", row(id=""), row(version=None), row(version="x"), row(updated_by=""), row(updated_at="yesterday"),
        row(predicate="("), row(predicate=None), row(scope={"kind": []}), row(scope={"kinds": ["thing"]}),
        row(scope={"files": "src"}), row(shoe=1), row(id="../x"), row(message=1), row(version=True),
    ],
)  # fmt: skip
def test_while_a_row_is_broken_no_plan_passes(line):
    facts = known(line)
    assert len(facts.policies.problems) == 1
    assert judged(plan(), facts) == {("", "PLAN_POLICY_VIOLATION", "policy.broken")}


def test_two_different_rows_of_one_version_are_a_problem_and_rows_of_other_types_are_not():
    assert known(row(), row()).policies.problems == ()
    assert "differs" in known(row(), row(predicate="true")).policies.problems[0].message
    recipe = json.dumps(
        {"id": "R", "type": "recipe", "version": 1, "updated_at": "2026-01-01", "updated_by": "a"}
    )
    assert known(recipe, "").policies == read_rows([])


def test_a_glob_that_is_none_breaks_the_row_and_not_the_validator():
    facts = known(row(predicate='not targetFile matches "["'))
    assert judged(plan(policyVersionSet={"P-1": "2"}), facts) <= {
        ("", "PLAN_POLICY_VIOLATION", "policy.broken"),
        ("/nodes/0", "PLAN_POLICY_VIOLATION", "policy:P-1"),
    }
