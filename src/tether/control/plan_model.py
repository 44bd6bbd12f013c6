"""A PlanGraph as nouns: the envelope, four kinds of node, and a violation with its place. Pure."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import NamedTuple

from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = "1.0.0"
KINDS = ("change", "validate", "escalate", "side_effect")
OPERATIONS = ("create", "modify", "delete", "move")
SIDE_EFFECTS = ("git_branch", "git_commit", "git_push", "http_webhook")
CATEGORIES = ("requirement", "policy")
DISTINCT = ("ref", "file", "system")
# kind → the units of work one node of it may be
BOUNDARIES: dict[str, tuple[str, ...]] = {
    "change": ("symbol", "file"),
    "validate": ("check",),
    "escalate": ("request",),
    "side_effect": ("effect",),
}

# code → its domain; the names are the contract
REJECTIONS: dict[str, str] = {
    "PLAN_MISSING_REQUIRED_FIELDS": "plan validation",
    "PLAN_SCOPE_VIOLATION": "scope and capability gating",
    "PLAN_EVIDENCE_INSUFFICIENT": "evidence policy",
    "PLAN_NOT_ATOMIC": "atomicity rules",
    "PLAN_VERIFICATION_WEAK": "verification hooks",
    "PLAN_STRATEGY_MISMATCH": "strategy compliance",
    "PLAN_WEAK_MODEL_AMBIGUOUS": "weak-model handoff",
    "PLAN_FEDERATION_PROOF_MISSING": "federation proof chains",
    "PLAN_ORIGIN_UNKNOWN": "ag-Grid origin chain",
    "PLAN_POLICY_VIOLATION": "policy rule violation",
    "PLAN_MISSING_CONTRACT_ANCHOR": "contract anchor missing",
    "PLAN_VALIDATION_CONFIDENCE_TOO_LOW": "confidence threshold",
    "EXEC_SIDE_EFFECT_COLLISION": "collision guard",
    "EXEC_UNGATED_SIDE_EFFECT": "missing commit gate",
    "MEMORY_PROVISIONAL_EXPIRED": "expired provisional memory",
    "PACK_INSUFFICIENT": "context pack assembly failure",
    "PACK_REQUIRED_ANCHOR_UNRESOLVED": "anchor resolution failure",
}


@noun
class Violation:
    """One thing wrong with a plan: where, by which code and rule, and how to mend it."""

    pointer: str  # RFC 6901
    code: str
    message: str
    hint: str
    rule: str


# Nodes and what they hold are made by the thousand and never on the hook path: tuples are made fastest.


class Reason(NamedTuple):
    """Why a strategy was chosen, and what shows it."""

    reason: str
    evidence_refs: tuple[str, ...]


@noun
class EvidencePolicy:
    """How much evidence each change needs."""

    min_requirement: int
    min_code: int
    min_policy: int
    allow_single: bool
    guard_rules: tuple[str, ...]
    distinct: str


class Citation(NamedTuple):
    """A requirement or policy that a change follows from."""

    category: str
    ref: str
    quote: str = ""


class CodeEvidence(NamedTuple):
    """Lines of a file, and the hash they had when they were read."""

    file: str
    start: int
    end: int
    hash: str
    symbol: str = ""


class Hook(NamedTuple):
    """A command whose exit code says whether the work holds."""

    command: str
    description: str = ""


class Common(NamedTuple):
    """What every node says."""

    id: str
    kind: str
    nth: int  # place in `nodes`
    depends_on: tuple[str, ...]
    boundary: str
    failures: tuple[str, ...]
    correction: str


class ChangeNode(NamedTuple):
    """A mutation of one file."""

    common: Common
    operation: str
    file: str
    symbols: tuple[str, ...]
    why: str
    intent: str
    citations: tuple[Citation, ...]
    evidence: tuple[CodeEvidence, ...]
    hooks: tuple[Hook, ...]
    destination: str = ""  # of a move
    guard: bool = False  # lowEvidenceGuard
    uncertainty: str = ""
    review: bool = False  # requiresHumanReview


class ValidateNode(NamedTuple):
    """A verification step."""

    common: Common
    hooks: tuple[Hook, ...]
    maps_to: tuple[str, ...]
    criteria: str


class EscalateNode(NamedTuple):
    """A request for evidence."""

    common: Common
    requested: tuple[str, ...]
    blocking: tuple[str, ...]


class SideEffectNode(NamedTuple):
    """An external action behind a gate."""

    common: Common
    type: str
    payload: str
    gate: str


if TYPE_CHECKING:
    Node = ChangeNode | ValidateNode | EscalateNode | SideEffectNode


@noun
class Plan:
    """A plan as submitted. `raw` is the document, for policies and hashes."""

    work: str
    agent: str
    run: str
    snapshot: str
    root: str
    pack_ref: str
    pack_hash: str
    policy_versions: dict[str, str]
    allowlist_ref: str
    strategy: str
    strategy_reasons: tuple[Reason, ...]
    evidence: EvidencePolicy
    fingerprint: str
    traces: tuple[str, ...]
    schema_version: str
    nodes: tuple[Node, ...]
    raw: dict[str, Any]

    @property
    def changes(self) -> tuple[ChangeNode, ...]:
        """The nodes that change files."""
        return tuple(node for node in self.nodes if isinstance(node, ChangeNode))


def canonical(value: Any) -> str:
    """The one spelling of a JSON value that hashes are taken of."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """`sha256:` of a JSON value's one spelling."""
    return "sha256:" + sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def fingerprint(document: dict[str, Any]) -> str:
    """What `planFingerprint` must be: the hash of the plan without it."""
    return digest({key: value for key, value in document.items() if key != "planFingerprint"})


def pointer(*steps: str | int) -> str:
    """A JSON pointer to a place in the document."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def files_of(node: Node) -> tuple[str, ...]:
    """The files a node may change."""
    if not isinstance(node, ChangeNode):
        return ()
    return (node.file, node.destination) if node.destination else (node.file,)


def hooks_of(node: Node) -> tuple[Hook, ...]:
    """The commands that verify a node."""
    return node.hooks if isinstance(node, (ChangeNode, ValidateNode)) else ()
