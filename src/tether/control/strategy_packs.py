"""The four built-in strategies, as data a team can write more of. Conditions are those of `predicate`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKS: tuple[dict[str, Any], ...] = (
    {
        "id": "migration_adp_to_sdf",
        "title": "ADP to SDF migration",
        "priority": 90,
        "when": "signature.migrationAdpDetected",
        "requires": [
            {
                "id": "federation",
                "chain": "federation",
                "when": "signature.crossesFederationBoundary",
                "code": "PLAN_FEDERATION_PROOF_MISSING",
            },
            {
                "id": "verified",
                "when": "some change (true)",
                "holds": 'signature.testConfidenceLevel in ["medium", "high"]',
                "code": "PLAN_VALIDATION_CONFIDENCE_TOO_LOW",
                "hint": "a migration needs a failing-capable check on every change",
            },
        ],
        "evidence": {"requirement": 1, "code": 2, "policy": 0, "single": False},
        "switch": {
            "plan_rejected": {"after": 3, "to": "debug_symptom_trace"},
            "missing_required_proof_chain": {"after": 2, "to": "debug_symptom_trace"},
            "policy_conflict": {"after": 1, "to": "api_contract_feature"},
            "repeated_failure_threshold": {"after": 3, "to": "debug_symptom_trace"},
            "repeated_action_threshold": {"after": 3, "to": "debug_symptom_trace"},
        },
    },
    {
        "id": "ui_aggrid_feature",
        "title": "ag-Grid user interface work",
        "priority": 80,
        "when": "signature.mentionsAgGrid",
        "requires": [
            {
                "id": "origin",
                "chain": "ag_grid_origin",
                "when": "signature.mentionsAgGrid",
                "code": "PLAN_ORIGIN_UNKNOWN",
            },
            {
                "id": "federation",
                "chain": "federation",
                "when": "signature.crossesFederationBoundary",
                "code": "PLAN_FEDERATION_PROOF_MISSING",
            },
            {
                "id": "verified",
                "when": "some change (true)",
                "holds": 'signature.testConfidenceLevel in ["low", "medium", "high"]',
                "code": "PLAN_VALIDATION_CONFIDENCE_TOO_LOW",
                "hint": "give changes a verification hook that can fail",
            },
        ],
        "evidence": {"requirement": 1, "code": 1, "policy": 0, "single": True},
        "switch": {
            "plan_rejected": {"after": 3, "to": "debug_symptom_trace"},
            "missing_required_proof_chain": {"after": 1, "to": "debug_symptom_trace"},
            "policy_conflict": {"after": 1, "to": "api_contract_feature"},
            "repeated_failure_threshold": {"after": 3, "to": "debug_symptom_trace"},
            "repeated_action_threshold": {"after": 3, "to": "debug_symptom_trace"},
        },
    },
    {
        "id": "api_contract_feature",
        "title": "changes of an API or its contract",
        "priority": 70,
        "when": "signature.hasSwagger or signature.contractAnchorPresent",
        "requires": [
            {
                "id": "contract",
                "when": "some change (true)",
                "holds": "signature.contractAnchorPresent",
                "code": "PLAN_MISSING_CONTRACT_ANCHOR",
                "hint": "cite the operation of the specification the change follows: `swagger:…` or its file",
            },
            {
                "id": "federation",
                "chain": "federation",
                "when": "signature.crossesFederationBoundary",
                "code": "PLAN_FEDERATION_PROOF_MISSING",
            },
            {
                "id": "verified",
                "when": "some change (true)",
                "holds": 'signature.testConfidenceLevel in ["low", "medium", "high"]',
                "code": "PLAN_VALIDATION_CONFIDENCE_TOO_LOW",
                "hint": "give changes a verification hook that can fail",
            },
        ],
        "evidence": {"requirement": 1, "code": 1, "policy": 0, "single": True},
        "switch": {
            "plan_rejected": {"after": 3, "to": "debug_symptom_trace"},
            "repeated_failure_threshold": {"after": 3, "to": "debug_symptom_trace"},
            "repeated_action_threshold": {"after": 3, "to": "debug_symptom_trace"},
        },
    },
    {
        "id": "debug_symptom_trace",
        "title": "debugging from symptoms, and whatever no other strategy fits",
        "priority": 0,
        "when": "true",
        "requires": [
            {
                "id": "federation",
                "chain": "federation",
                "when": "signature.crossesFederationBoundary",
                "code": "PLAN_FEDERATION_PROOF_MISSING",
            },
            {
                "id": "verified",
                "when": "some change (true)",
                "holds": 'signature.testConfidenceLevel in ["low", "medium", "high"]',
                "code": "PLAN_VALIDATION_CONFIDENCE_TOO_LOW",
                "hint": "give changes a verification hook that can fail: a symptom is gone when a check says so",
            },
        ],
        "evidence": {"requirement": 1, "code": 1, "policy": 0, "single": True},
        "switch": {"policy_conflict": {"after": 1, "to": "api_contract_feature"}},
    },
)
