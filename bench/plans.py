"""Validating a plan of 500 nodes against parsing its JSON."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from bench._row import Row
from tether.control import plan_hooks, plan_wording
from tether.control.evidence import Sources
from tether.control.plan_check import Known, check, check_text
from tether.control.plan_model import digest, fingerprint
from tether.control.policies import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NODES = 500
HASH = "sha256:" + "1" * 64
PACK: dict[str, Any] = {"header": {"schemaVersion": "1.0.0"}}
POLICY = {
    "id": "P-1", "type": "policy", "version": 1, "updated_at": "2026-01-01", "updated_by": "bench",
    "scope": {"kinds": ["change"]},
    "predicate": 'targetFile matches "src/**" and citations.category contains "requirement"',
}  # fmt: skip


def run() -> Iterator[Row]:
    """Changes in rows of five with a check behind each, every instruction and check different."""
    document = build()
    text = json.dumps(document)
    known = Known(
        root="/repo",
        packs={"pack.json": PACK},
        allowlists={"intent:INT-001": ("src/**",)},
        sources=Sources(
            {(f"src/m{n}.py", 1, 20): HASH for n in range(NODES)},
            frozenset(f"src/m{n}.py" for n in range(NODES)),
            frozenset(("intent:INT-001",)),
        ),
        policies=read_rows([("bench.jsonl", json.dumps(POLICY))]),
    )
    problems = check(document, known).violations
    if problems:
        raise AssertionError(f"the bench measures a plan that is valid: {problems[0]}")

    def validate() -> None:
        # what commands and texts were judged to be is kept between plans: begin without it
        for kept in (
            plan_hooks.judge,
            plan_hooks.harm,
            plan_wording.find_ambiguities,
            plan_wording.find_several,
        ):
            kept.cache_clear()
        check_text(text, known)

    base, own = _spent(lambda: json.loads(text)), _spent(validate)
    yield Row(f"validating a plan of {NODES} nodes", own / base, "json.loads of it", 30.0)


def _spent(job: Callable[[], object]) -> float:
    """The least processor time of a job: both are computation alone, and the machine may be busy."""
    best = float("inf")
    for _ in range(15):
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
    return best


def build() -> dict[str, Any]:
    """A valid plan of 500 nodes."""
    nodes: list[dict[str, Any]] = []
    for n in range(NODES):
        common: dict[str, Any] = {
            "nodeId": f"n{n}",
            "expectedFailureSignatures": [f"AssertionError in test_m{n}"],
            "correctionCandidateOnFail": f"Restore the former body of `work_{n}` in m{n}.py.",
        }
        if n % 5 == 4:
            checked = [f"n{m}" for m in range(n - 4, n)]
            nodes.append(
                common
                | {
                    "kind": "validate",
                    "dependsOn": checked,
                    "atomicityBoundary": "check",
                    "mapsToNodeIds": checked,
                }
                | {
                    "verificationHooks": [f"pytest -q tests/group_{n}"],
                    "successCriteria": f"Group {n} passes.",
                }
            )
            continue
        nodes.append(
            common
            | {
                "kind": "change",
                "dependsOn": [f"n{n - 1}"] if n % 5 else [],
                "atomicityBoundary": "symbol",
                "operation": "modify",
                "targetFile": f"src/m{n}.py",
                "targetSymbols": [f"work_{n}"],
                "whyThisFile": f"`work_{n}` is what the ticket describes, and no other module defines it.",
                "editIntent": f"Make `work_{n}` refuse values below zero by raising ValueError with the value in it.",
                "citations": [
                    {"category": "requirement", "sourceRef": "intent:INT-001", "quote": "refuse negatives"}
                ],
                "codeEvidence": [
                    {"file": f"src/m{n}.py", "startLine": 1, "endLine": 20, "contentHash": HASH}
                ],
                "verificationHooks": [f"pytest -q tests/test_m{n}.py"],
            }
        )
    document: dict[str, Any] = {
        "workId": "W-1",
        "agentId": "agent-1",
        "runSessionId": "run-1",
        "repoSnapshotId": "git:abc",
        "worktreeRoot": "/repo",
        "contextPackRef": "pack.json",
        "contextPackHash": digest(PACK),
        "policyVersionSet": {"P-1": "1"},
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
        "nodes": nodes,
    }
    return {**document, "planFingerprint": fingerprint(document)}
