"""Evidence: minima by category, distinct sources, the guarded path, and that citations resolve."""

import pytest
from tests.control.plans import HASH, KNOWN, change, judged, plan, validate

from tether.control.evidence import file_place, wanted
from tether.control.plan_text import parse

CODE = "PLAN_EVIDENCE_INSUFFICIENT"


def policy(**more):
    return {
        "minRequirementSources": 1, "minCodeEvidenceSources": 1, "minPolicySources": 0,
        "allowSingleSourceWithGuard": False, "lowEvidenceGuardRules": [], "distinctSourceDefinition": "file", **more,
    }  # fmt: skip


def code(file="src/auth/token.py", start=1, end=2, digest=HASH):
    return {"file": file, "startLine": start, "endLine": end, "contentHash": digest}


def cite(ref="intent:INT-001", category="requirement"):
    return {"category": category, "sourceRef": ref}


def found(node, **more):
    return judged(plan(node, validate(), evidencePolicy=policy(**more)))


def test_each_category_has_its_minimum():
    assert found(change(citations=[])) == {("/nodes/0/citations", CODE, "evidence.minimum")}
    assert found(change(codeEvidence=[])) == {("/nodes/0/codeEvidence", CODE, "evidence.minimum")}
    assert found(change(), minPolicySources=1) == {("/nodes/0/citations", CODE, "evidence.minimum")}
    assert found(change(citations=[cite(), cite("policy:P-1", "policy")]), minPolicySources=1) == set()
    assert found(change(), minCodeEvidenceSources=2) == {("/nodes/0/codeEvidence", CODE, "evidence.minimum")}


def test_a_plan_may_not_ask_less_of_itself_than_it_must():
    assert ("/evidencePolicy/minCodeEvidenceSources", CODE, "evidence.floor") in found(
        change(), minCodeEvidenceSources=0
    )
    assert found(change(codeEvidence=[]), minCodeEvidenceSources=0) >= {
        ("/nodes/0/codeEvidence", CODE, "evidence.minimum")
    }


@pytest.mark.parametrize(("how", "enough"), [("ref", True), ("file", False), ("system", False)])
def test_what_counts_as_distinct_is_the_plans_to_say(how, enough):
    same = [cite("file:docs/spec.md#L3-L9"), cite("file:docs/spec.md")]
    node = change(citations=same)
    violations = found(node, minRequirementSources=2, distinctSourceDefinition=how)
    assert (violations == set()) is enough


def test_one_file_for_everything_is_a_single_source():
    node = change(citations=[cite("file:src/auth/token.py")])
    assert found(node) == {("/nodes/0/citations", CODE, "evidence.minimum")}


def test_the_guarded_path_needs_guard_note_and_review():
    node = change(citations=[])
    assert found(node, allowSingleSourceWithGuard=True) == {
        (f"/nodes/0/{field}", CODE, "evidence.guard")
        for field in ("lowEvidenceGuard", "uncertaintyNote", "requiresHumanReview")
    }
    guarded = {**node, "lowEvidenceGuard": True, "uncertaintyNote": "no ticket", "requiresHumanReview": True}
    assert found(guarded, allowSingleSourceWithGuard=True) == set()
    assert found(guarded) == {("/nodes/0/citations", CODE, "evidence.minimum")}, "the path must be opened"
    nothing = {**guarded, "codeEvidence": []}
    assert found(nothing, allowSingleSourceWithGuard=True) != set(), "one source is the least"


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("has_verification", True), ("no_delete", True), ("max_symbols:1", True), ("max_symbols:0", False),
        ("path:src/auth/**", True), ("path:docs/**", False),
    ],
)  # fmt: skip
def test_guard_rules_are_evaluated(rule, holds):
    node = change(citations=[], lowEvidenceGuard=True, uncertaintyNote="no ticket", requiresHumanReview=True)
    violations = found(node, allowSingleSourceWithGuard=True, lowEvidenceGuardRules=[rule])
    assert violations == (set() if holds else {("/nodes/0/lowEvidenceGuard", CODE, "evidence.guard")})


@pytest.mark.parametrize("rule", ["be_careful", "max_symbols:", "max_symbols:x", "path:", "path"])
def test_unknown_guard_rules_are_refused(rule):
    assert ("/evidencePolicy/lowEvidenceGuardRules/0", CODE, "evidence.rule") in found(
        change(), lowEvidenceGuardRules=[rule]
    )


@pytest.mark.parametrize(
    ("item", "place"),
    [
        (code("src/gone.py"), "file"), (code(end=3), "endLine"), (code(digest="sha256:" + "0" * 64), "contentHash"),
    ],
)  # fmt: skip
def test_code_that_does_not_exist_as_cited_is_refused(item, place):
    node = change(codeEvidence=[code(), item])
    assert found(node) == {(f"/nodes/0/codeEvidence/1/{place}", CODE, "evidence.unresolved")}


@pytest.mark.parametrize(
    "ref", ["jira:X-1", "file:gone.md", "file:docs/spec.md#L1-L2", "file:docs/spec.md#top"]
)
def test_citations_that_do_not_resolve_are_refused(ref):
    node = change(citations=[cite(), cite(ref)])
    assert found(node) == {("/nodes/0/citations/1/sourceRef", CODE, "evidence.unresolved")}


def test_what_must_be_looked_up_is_listed_once():
    made, _ = parse(
        plan(change(citations=[cite(), cite("file:docs/spec.md#L3-L9"), cite("file:docs/spec.md")]))
    )
    ranges, refs = wanted(made)
    assert ranges == (("src/auth/token.py", 1, 2), ("docs/spec.md", 3, 9), ("docs/spec.md", 0, 0))
    assert refs == ("intent:INT-001",)
    assert KNOWN.sources.files >= {"docs/spec.md"}


def test_places_in_files_are_read_as_written():
    assert file_place("file:a.py#L3") == ("a.py", 3, 3)
    assert file_place("file:a.py#L3-9") == ("a.py", 3, 9)
    assert file_place("file:a.py#nonsense") == ("a.py", -1, -1)
    assert file_place("jira:A-1") is None
