"""The plan validator: a right plan passes, and each thing wrong is told at its place."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.control.plans import (
    HASH,
    KNOWN,
    PACK,
    change,
    escalate,
    judged,
    plan,
    sealed,
    side_effect,
    validate,
)

from tether.control.plan_check import MemoryRule, check, check_text, to_plain
from tether.control.plan_model import REJECTIONS, digest, fingerprint
from tether.types import replace

ENVELOPE = (
    "workId agentId runSessionId repoSnapshotId worktreeRoot contextPackRef contextPackHash policyVersionSet"
    " scopeAllowlistRef knowledgeStrategyId knowledgeStrategyReasons evidencePolicy planFingerprint"
    " sourceTraceRefs schemaVersion nodes"
).split()
COMMON = "nodeId dependsOn atomicityBoundary expectedFailureSignatures correctionCandidateOnFail".split()
OWN = {
    "change": "operation targetFile targetSymbols whyThisFile editIntent citations codeEvidence verificationHooks",
    "validate": "verificationHooks mapsToNodeIds successCriteria",
    "escalate": "requestedEvidence blockingReasons",
    "side_effect": "sideEffectType sideEffectPayloadRef",
}
MISSING = "PLAN_MISSING_REQUIRED_FIELDS"


def test_a_right_plan_of_every_kind_passes():
    document = plan(change(), validate(), escalate(), side_effect())
    assert judged(document) == set()
    assert check_text(json.dumps(document), KNOWN).ok


@pytest.mark.parametrize("field", ENVELOPE)
def test_every_field_of_the_envelope_is_required(field):
    document = plan()
    del document[field]
    if field != "planFingerprint":
        document = sealed(document)
    assert (f"/{field}", MISSING, "field.missing") in judged(document)


@pytest.mark.parametrize(("kind", "field"), [(k, f) for k in OWN for f in [*COMMON, *OWN[k].split()]])
def test_every_field_of_a_node_is_required_by_its_kind(kind, field):
    nodes = [change(), validate(), escalate(), side_effect()]
    index = ["change", "validate", "escalate", "side_effect"].index(kind)
    del nodes[index][field]
    assert (f"/nodes/{index}/{field}", MISSING, "field.missing") in judged(plan(*nodes))


def test_everything_wrong_is_told_at_once_with_a_hint():
    bad = change(file="../x", symbols=("*",), editIntent="Fix it as needed, etc.", verificationHooks=["true"])
    document = plan(bad, validate(needs=("ghost",)), schemaVersion="2")
    report = check(document, KNOWN)
    assert {
        ("/schemaVersion", MISSING, "field.version"),
        ("/nodes/0/targetFile", "PLAN_SCOPE_VIOLATION", "scope.path"),
        ("/nodes/0/targetSymbols/0", "PLAN_SCOPE_VIOLATION", "scope.symbol"),
        ("/nodes/0/editIntent", "PLAN_WEAK_MODEL_AMBIGUOUS", "wording.vague"),
        ("/nodes/0/verificationHooks/0", "PLAN_VERIFICATION_WEAK", "verify.weak"),
        ("/nodes/1/dependsOn/0", MISSING, "graph.unknown"),
        ("/nodes/1/mapsToNodeIds/0", "PLAN_VERIFICATION_WEAK", "verify.early"),
        ("", "PLAN_VALIDATION_CONFIDENCE_TOO_LOW", "strategy.verified"),
    } <= {(v.pointer, v.code, v.rule) for v in report.violations}
    assert all(v.hint and v.message and v.code in REJECTIONS for v in report.violations)
    answer = to_plain(report)
    assert answer["valid"] is False
    assert answer["denyReasons"] == list(dict.fromkeys(v.code for v in report.violations))


def test_hashes_are_recomputed_and_never_trusted():
    document = plan()
    document["nodes"][0]["whyThisFile"] += " Changed after sealing."
    assert judged(document) == {("/planFingerprint", MISSING, "envelope.fingerprint")}
    hint = next(v.hint for v in check(document, KNOWN).violations)
    assert fingerprint(document) in hint
    assert judged({**document, "planFingerprint": fingerprint(document)}) == set()
    other = replace(KNOWN, packs={"pack.json": {**PACK, "more": 1}})
    assert judged(plan(), other) == {("/contextPackHash", "PLAN_EVIDENCE_INSUFFICIENT", "envelope.pack-hash")}
    assert judged(plan(), replace(KNOWN, packs={})) == {
        ("/contextPackRef", "PACK_INSUFFICIENT", "envelope.pack")
    }


def test_a_pack_that_lacks_anchors_is_not_enough():
    pack = {**PACK, "missingAnchors": [{"anchorType": "symbol"}]}
    document = plan(contextPackHash=digest(pack))
    assert judged(document, replace(KNOWN, packs={"pack.json": pack})) == {
        ("/contextPackRef", "PACK_REQUIRED_ANCHOR_UNRESOLVED", "envelope.anchors")
    }


def test_the_fingerprint_does_not_depend_on_the_order_of_keys():
    document = plan()
    assert fingerprint(dict(reversed(document.items()))) == document["planFingerprint"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"worktreeRoot": "/other"}, ("/worktreeRoot", "PLAN_SCOPE_VIOLATION", "envelope.root")),
        ({"workId": "W-2"}, ("/workId", "PLAN_SCOPE_VIOLATION", "envelope.work")),
        (
            {"repoSnapshotId": "git:old"},
            ("/repoSnapshotId", "PLAN_VALIDATION_CONFIDENCE_TOO_LOW", "envelope.snapshot"),
        ),
        ({"workId": "../w"}, ("/workId", MISSING, "field.name")),
        ({"knowledgeStrategyReasons": []}, ("/knowledgeStrategyReasons", MISSING, "field.empty")),
        (
            {"knowledgeStrategyReasons": [{"reason": "x", "evidenceRefs": []}]},
            ("/knowledgeStrategyReasons/0/evidenceRefs", MISSING, "field.empty"),
        ),
        ({"policyVersionSet": {"P/1": None}}, ("/policyVersionSet/P~11", MISSING, "field.type")),
        (
            {"policyVersionSet": {"P-9": "1"}},
            ("/policyVersionSet/P-9", "PLAN_POLICY_VIOLATION", "policy.unknown"),
        ),
        ({"nodess": []}, ("/nodess", MISSING, "field.unknown")),
        ({"nodes": [7]}, ("/nodes/0", MISSING, "field.type")),
        (
            {"knowledgeStrategyId": "yolo"},
            ("/knowledgeStrategyId", "PLAN_STRATEGY_MISMATCH", "strategy.mismatch"),
        ),
    ],
)
def test_a_wrong_envelope_is_told_at_its_place(more, expected):
    assert judged(plan(**more)) >= {expected}


def test_an_unknown_allowlist_allows_nothing():
    assert judged(plan(scopeAllowlistRef="intent:INT-404")) == {
        ("/scopeAllowlistRef", "PLAN_SCOPE_VIOLATION", "envelope.allowlist"),
        ("/nodes/0/targetFile", "PLAN_SCOPE_VIOLATION", "scope.allowlist"),
    }


@pytest.mark.parametrize(
    "file",
    ["/etc/passwd", "../x", "src/../../x", "src//a", "./src/a", "src/", "src/*.py", "~/x", "C:/x", "a\\b"],
)
def test_only_plain_paths_inside_the_project_are_planned(file):
    assert ("/nodes/0/targetFile", "PLAN_SCOPE_VIOLATION", "scope.path") in judged(
        plan(change(file=file), validate())
    )


def test_what_is_protected_cannot_be_planned():
    known = replace(KNOWN, allowlists={"intent:INT-001": ("**",)}, protected=("infra/**",))
    for file in (
        ".git/hooks/pre-commit",
        "tether.toml",
        "infra/prod.tf",
        ".orchestration/active_intents.yaml",
    ):
        assert ("/nodes/0/targetFile", "PLAN_SCOPE_VIOLATION", "scope.protected") in judged(
            plan(change(file=file), validate()), known
        )


@pytest.mark.parametrize("symbol", ["*", "Auth.*", "all", "Auth::", "get%"])
def test_wildcard_symbols_are_refused(symbol):
    found = judged(
        plan(change(symbols=(symbol,), editIntent="Make token.py refuse negative tokens."), validate())
    )
    assert found == {("/nodes/0/targetSymbols/0", "PLAN_SCOPE_VIOLATION", "scope.symbol")}


def test_a_node_is_one_step():
    two = change(symbols=("a", "b"), editIntent="Rename `a` in one place.")
    two["atomicityBoundary"] = "symbol"
    assert judged(plan(two, validate())) == {("/nodes/0/targetSymbols", "PLAN_NOT_ATOMIC", "atomic.symbols")}
    many = change(symbols=tuple(f"s{n}" for n in range(13)))
    assert judged(plan(many, validate())) == {("/nodes/0/targetSymbols", "PLAN_NOT_ATOMIC", "atomic.symbols")}
    several = change(editIntent="Rename `valid` to `is_valid` and then update all its callers.")
    assert judged(plan(several, validate())) == {("/nodes/0/editIntent", "PLAN_NOT_ATOMIC", "atomic.several")}
    listed = change(editIntent="Change `valid`:\n1. check the sign\n2. check the type")
    assert judged(plan(listed, validate())) == {("/nodes/0/editIntent", "PLAN_NOT_ATOMIC", "atomic.several")}
    long = change(editIntent="Make `valid` refuse negative tokens. " * 40)
    assert judged(plan(long, validate())) == {("/nodes/0/editIntent", "PLAN_NOT_ATOMIC", "atomic.long")}
    bounded = change(atomicityBoundary="module")
    assert judged(plan(bounded, validate())) == {
        ("/nodes/0/atomicityBoundary", "PLAN_NOT_ATOMIC", "field.choice")
    }


def test_circles_are_told_at_every_node_on_them_and_at_no_other():
    a = change("a", needs=("b",))
    b = change("b", file="src/b.py", needs=("a",))
    c = change("c", file="src/c.py", needs=("a",))
    found = {v for v in judged(plan(a, b, c)) if v[2] == "graph.cycle"}
    assert {v[0] for v in found} == {"/nodes/0/dependsOn", "/nodes/1/dependsOn"}
    assert {v[1] for v in found} == {"PLAN_NOT_ATOMIC"}
    assert ("/nodes/0/dependsOn", "PLAN_NOT_ATOMIC", "graph.cycle") in judged(plan(change("a", needs=("a",))))


def test_two_nodes_on_one_file_need_an_order():
    one, two = change("c1"), change("c2", symbols=("other",))
    document = plan(one, two, validate(maps=("c1", "c2")))
    assert judged(document) == {("/nodes/1/dependsOn", "PLAN_NOT_ATOMIC", "graph.overlap")}
    assert judged(plan(one, {**two, "dependsOn": ["c1"]}, validate(maps=("c1", "c2")))) == set()
    twice = plan(change(), validate(), side_effect("s1"), side_effect("s2"))
    assert judged(twice) == {("/nodes/3/dependsOn", "EXEC_SIDE_EFFECT_COLLISION", "graph.overlap")}


def test_names_are_unique():
    assert ("/nodes/1/nodeId", MISSING, "graph.duplicate") in judged(plan(change(), validate("c1")))


def test_a_check_comes_after_what_it_checks_and_before_what_leaves():
    assert judged(plan(change(), validate(needs=()))) == {
        ("/nodes/1/mapsToNodeIds/0", "PLAN_VERIFICATION_WEAK", "verify.early")
    }
    assert judged(plan(change(), validate(), side_effect(needs=("c1",)))) == {
        ("/nodes/2/dependsOn", "PLAN_VERIFICATION_WEAK", "verify.late")
    }
    assert judged(plan(change(), escalate(), validate(maps=("e1",)))) == {
        ("/nodes/2/mapsToNodeIds/0", "PLAN_VERIFICATION_WEAK", "verify.target")
    }


def test_a_side_effect_needs_its_gate():
    for gate in ("", None, 7):
        found = judged(plan(change(), validate(), side_effect(commitGateId=gate)))
        assert found == {("/nodes/2/commitGateId", "EXEC_UNGATED_SIDE_EFFECT", "gate.missing")}


def test_a_hook_must_be_able_to_fail_and_must_not_destroy():
    assert ("/nodes/1/verificationHooks/0", "PLAN_VERIFICATION_WEAK", "verify.weak") in judged(
        plan(change(), validate(verificationHooks=["pytest || true"]))
    )
    assert ("/nodes/1/verificationHooks", "PLAN_VERIFICATION_WEAK", "verify.none") in judged(
        plan(change(), validate(verificationHooks=[]))
    )
    assert ("/nodes/1/verificationHooks/0", "PLAN_SCOPE_VIOLATION", "verify.harm") in judged(
        plan(change(), validate(verificationHooks=[{"command": "rm -rf / && pytest"}]))
    )
    assert ("/nodes/1/verificationHooks/0", "PLAN_SCOPE_VIOLATION", "verify.harm") in judged(
        plan(change(), validate(verificationHooks=["tether approve A-1"]))
    )


def test_files_are_created_where_there_are_none_and_changed_where_they_are():
    new = change(file="src/auth/new.py", symbols=("fresh",))
    assert judged(plan(new, validate())) == {
        ("/nodes/0/targetFile", "PLAN_EVIDENCE_INSUFFICIENT", "file.absent")
    }
    assert judged(plan({**new, "operation": "create"}, validate())) == set()
    again = change("c2", file="src/auth/new.py", symbols=("fresh",), needs=("c1",))
    assert judged(plan({**new, "operation": "create"}, again, validate())) == set()
    assert judged(plan(change(operation="create"), validate())) == {
        ("/nodes/0/targetFile", "PLAN_SCOPE_VIOLATION", "file.exists")
    }
    moved = change(operation="move", destinationFile="src/auth/new.py")
    assert judged(plan(moved, validate())) == set()
    assert ("/nodes/0/destinationFile", MISSING, "field.missing") in judged(
        plan(change(operation="move"), validate())
    )
    assert ("/nodes/0/destinationFile", "PLAN_SCOPE_VIOLATION", "scope.allowlist") in judged(
        plan({**moved, "destinationFile": "elsewhere/x.py"}, validate())
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Fix valid now", "short"),
        ("Make `valid` handle errors as needed.", "vague"),
        ("Make `valid` either raise an error at once.", "choice"),
        ("Change `valid` in token.py as discussed.", "elsewhere"),
        ("Make `valid` return TODO for now.", "placeholder"),
        ("Make `valid` call <helper name> with the token.", "placeholder"),
        ("Refuse every number that is negative.", "unnamed"),
    ],
)
def test_a_weak_model_must_not_have_to_guess(text, rule):
    assert judged(plan(change(editIntent=text), validate())) == {
        ("/nodes/0/editIntent", "PLAN_WEAK_MODEL_AMBIGUOUS", f"wording.{rule}")
    }


def test_memory_rules_ask_for_steps_or_deny():
    steps = MemoryRule(
        "M-1", 'some change (targetFile matches "src/auth/**")', ("mypy --strict",), "PLAN_NOT_ATOMIC"
    )
    other = MemoryRule("M-2", 'some change (targetFile matches "src/pay/**")')
    deny = MemoryRule("M-3", 'some change (operation = "modify")', (), "NONSENSE")
    broken = MemoryRule("M-4", "when the moon is full")
    report = check(plan(), replace(KNOWN, memory_rules=(steps, other, deny, broken)))
    assert to_plain(report)["memoryRuleResults"] == [
        {"memoryId": "M-1", "condition": steps.condition, "satisfied": False, "denyCode": "PLAN_NOT_ATOMIC"},
        {"memoryId": "M-2", "condition": other.condition, "satisfied": True},
        {
            "memoryId": "M-3",
            "condition": deny.condition,
            "satisfied": False,
            "denyCode": "PLAN_POLICY_VIOLATION",
        },
        {
            "memoryId": "M-4",
            "condition": broken.condition,
            "satisfied": False,
            "denyCode": "PLAN_POLICY_VIOLATION",
        },
    ]
    assert [v.rule for v in report.violations] == ["memory:M-1", "memory:M-3", "memory:M-4"]
    mended = plan(change(), validate(verificationHooks=["mypy --strict src"]))
    assert check(mended, replace(KNOWN, memory_rules=(steps,))).ok


def test_an_expired_memory_cannot_be_cited():
    cited = change(citations=[{"category": "requirement", "sourceRef": "memory:M-9"}])
    known = replace(
        KNOWN,
        expired_memories=frozenset(("M-9",)),
        sources=replace(KNOWN.sources, refs=frozenset(("memory:M-9",))),
    )
    assert judged(plan(cited, validate()), known) == {
        ("/nodes/0/citations/0/sourceRef", "MEMORY_PROVISIONAL_EXPIRED", "memory.expired")
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        "null",
        '{"a":1,"a":2}',
        '{"a":NaN}',
        "[" * 100_000,
        '{"a":' * 40 + "1" + "}" * 40,
        b"\xff",
    ],
)
def test_what_is_no_plan_is_refused_and_nothing_breaks(text):
    assert not check_text(text, KNOWN).ok


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300)
@given(st.data())
def test_whatever_replaces_a_value_the_validator_answers(data):
    document = plan(change(), validate(), escalate(), side_effect())
    holder, path = document, []
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = data.draw(st.sampled_from(keys))
        path.append(key)
        if not isinstance(holder[key], (dict, list)) or not holder[key] or data.draw(st.booleans()):
            break
        holder = holder[key]
    before = copy.deepcopy(document)
    holder[key] = data.draw(JSON)
    report = check(document, KNOWN)
    answer = to_plain(report)
    json.dumps(answer)
    same = json.dumps(document, sort_keys=True) == json.dumps(before, sort_keys=True)
    assert same or not report.ok, path


def test_evidence_that_does_not_resolve_is_refused():
    gone = change(codeEvidence=[{"file": "src/nope.py", "startLine": 1, "endLine": 2, "contentHash": HASH}])
    assert ("/nodes/0/codeEvidence/0/file", "PLAN_EVIDENCE_INSUFFICIENT", "evidence.unresolved") in judged(
        plan(gone, validate())
    )


def test_what_is_huge_is_judged_all_the_same():
    many = [change(f"c{n}", needs=[f"c{n - 1}"] if n else []) for n in range(1_500)]
    assert judged(plan(*many)) == set()
    assert ("/nodes", MISSING, "field.long") in judged(plan(*[{}] * 2_001))
    strange = plan(**{f"x{n}": n for n in range(5_000)})
    assert len(check(strange, KNOWN).violations) <= 2_100
    lines = change(editIntent="Make `valid` refuse negatives." + "\n" * 15_000)
    assert judged(plan(lines, validate())) == {("/nodes/0/editIntent", "PLAN_NOT_ATOMIC", "atomic.long")}
    hooks = change(verificationHooks=[f"pytest -q tests/t{n}.py" for n in range(17)])
    assert judged(plan(hooks, validate())) == {("/nodes/0/verificationHooks", MISSING, "field.long")}
