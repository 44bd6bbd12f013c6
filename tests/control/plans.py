"""A plan that is right, to break in one place at a time, and the facts it is right by."""

import copy

from tether.control.evidence import Sources
from tether.control.plan_check import Known, check
from tether.control.plan_model import digest, fingerprint

PACK = {"header": {"schemaVersion": "1.0.0"}, "anchors": []}
HASH = "sha256:" + "1" * 64


def change(name="c1", file="src/auth/token.py", symbols=("valid",), needs=(), **more):
    return {
        "nodeId": name,
        "kind": "change",
        "dependsOn": list(needs),
        "atomicityBoundary": "symbol" if len(symbols) == 1 else "file",
        "expectedFailureSignatures": ["AssertionError in test_token"],
        "correctionCandidateOnFail": f"Restore the former body of `{symbols[0] if symbols else file}`.",
        "operation": "modify",
        "targetFile": file,
        "targetSymbols": list(symbols),
        "whyThisFile": "It decides which tokens count.",
        "editIntent": f"Make `{symbols[0] if symbols else file.rpartition('/')[2]}` refuse tokens that are negative.",
        "citations": [{"category": "requirement", "sourceRef": "intent:INT-001"}],
        "codeEvidence": [{"file": "src/auth/token.py", "startLine": 1, "endLine": 2, "contentHash": HASH}],
        "verificationHooks": ["pytest -q tests/test_token.py"],
        **more,
    }


def validate(name="v1", maps=("c1",), needs=None, **more):
    return {
        "nodeId": name,
        "kind": "validate",
        "dependsOn": list(maps if needs is None else needs),
        "atomicityBoundary": "check",
        "expectedFailureSignatures": ["1 failed"],
        "correctionCandidateOnFail": "Read the failing assertion and mend the change it names.",
        "verificationHooks": ["pytest -q"],
        "mapsToNodeIds": list(maps),
        "successCriteria": "All tests pass.",
        **more,
    }


def escalate(name="e1", **more):
    return {
        "nodeId": name,
        "kind": "escalate",
        "dependsOn": [],
        "atomicityBoundary": "request",
        "expectedFailureSignatures": ["no answer"],
        "correctionCandidateOnFail": "Ask the owner of the intent directly.",
        "requestedEvidence": ["the token format"],
        "blockingReasons": ["PLAN_EVIDENCE_INSUFFICIENT"],
        **more,
    }


def side_effect(name="s1", needs=("v1",), **more):
    return {
        "nodeId": name,
        "kind": "side_effect",
        "dependsOn": list(needs),
        "atomicityBoundary": "effect",
        "expectedFailureSignatures": ["rejected"],
        "correctionCandidateOnFail": "Fetch and rebase the branch once.",
        "sideEffectType": "git_commit",
        "sideEffectPayloadRef": "artifact:commit.json",
        "commitGateId": "gate-1",
        **more,
    }


def sealed(document):
    return {**document, "planFingerprint": fingerprint(document)}


def plan(*nodes, **more):
    document = {
        "workId": "W-1",
        "agentId": "agent-1",
        "runSessionId": "run-1",
        "repoSnapshotId": "git:abc",
        "worktreeRoot": "/repo",
        "contextPackRef": "pack.json",
        "contextPackHash": digest(PACK),
        "policyVersionSet": {},
        "scopeAllowlistRef": "intent:INT-001",
        "knowledgeStrategyId": "debug_symptom_trace",
        "knowledgeStrategyReasons": [
            {"reason": "a symptom was reported", "evidenceRefs": ["intent:INT-001"]}
        ],
        "evidencePolicy": {
            "minRequirementSources": 1,
            "minCodeEvidenceSources": 1,
            "minPolicySources": 0,
            "allowSingleSourceWithGuard": False,
            "lowEvidenceGuardRules": [],
            "distinctSourceDefinition": "file",
        },
        "sourceTraceRefs": [],
        "schemaVersion": "1.0.0",
        "nodes": list(nodes) or [change(), validate()],
        **more,
    }
    return sealed(copy.deepcopy(document))


KNOWN = Known(
    root="/repo",
    snapshot="git:abc",
    work="W-1",
    packs={"pack.json": PACK},
    allowlists={"intent:INT-001": ("src/**",)},
    exists={"src/auth/token.py": True, "src/auth/new.py": False},
    sources=Sources(
        {("src/auth/token.py", 1, 2): HASH, ("docs/spec.md", 3, 9): HASH},
        frozenset(("src/auth/token.py", "docs/spec.md")),
        frozenset(("intent:INT-001", "policy:P-1")),
    ),
)


def judged(document, known=KNOWN):
    """(pointer, code, rule) of every violation."""
    return {(v.pointer, v.code, v.rule) for v in check(document, known).violations}
