"""The plan validator: six groups of checks, every violation at once, each with its place and its mending. Pure.

Envelope, node fields, scope and safety, evidence, strategy, memory rules. Nothing a plan says of itself is
trusted: hashes are recomputed, references looked up among the facts handed in.
"""

from __future__ import annotations

from tether.control import evidence, policies, strategy
from tether.control.plan_graph import Graph, kinds_before, split
from tether.control.plan_model import REJECTIONS, ChangeNode, Violation, digest, fingerprint, hooks_of
from tether.control.plan_rules import check_atomic, check_graph, check_hooks, check_scope, check_wording
from tether.control.plan_text import load, parse
from tether.control.predicate import World, compile_predicate
from tether.errors import TetherError
from tether.types import noun, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tether.control.plan_model import Plan

MISSING = "PLAN_MISSING_REQUIRED_FIELDS"


@noun
class MemoryRule:
    """An active `plan_rule` memory. When its condition holds, the steps must be in the plan; without steps, no plan."""

    memory: str
    condition: str
    required_steps: tuple[str, ...] = ()
    deny_code: str = "PLAN_POLICY_VIOLATION"


@noun
class Known:
    """The facts a plan is judged by. A text that is "" and a value that is None are not known."""

    root: str = ""  # the worktree's real path
    snapshot: str = ""
    work: str = ""
    packs: dict[str, Any] = {}  # noqa: RUF012  reference → the context pack itself
    allowlists: dict[str, tuple[str, ...]] = {}  # noqa: RUF012  reference → globs
    protected: tuple[str, ...] = ()
    exists: dict[str, bool] = {}  # noqa: RUF012  target files → whether they are there
    policies: policies.Policies = policies.Policies()
    sources: evidence.Sources = evidence.Sources()
    material: strategy.Material = strategy.Material()
    strategies: dict[str, strategy.Strategy] | None = None
    strategy: str = ""  # the one a run has switched to; "" = what the signature says
    chains: frozenset[str] = frozenset()  # proof chains that are whole
    memory_rules: tuple[MemoryRule, ...] = ()
    expired_memories: frozenset[str] = frozenset()


@noun
class MemoryResult:
    """What a memory rule said of a plan."""

    memory: str
    condition: str
    satisfied: bool
    deny_code: str = ""


@noun
class Report:
    """What is wrong with a plan; it is valid when nothing is."""

    plan: Plan
    violations: tuple[Violation, ...]
    memory: tuple[MemoryResult, ...]
    signature: strategy.Signature
    selection: strategy.Selection

    @property
    def ok(self) -> bool:
        """Whether the plan may be carried out."""
        return not self.violations

    @property
    def codes(self) -> tuple[str, ...]:
        """`denyReasons`: each code once, in order."""
        return tuple(dict.fromkeys(violation.code for violation in self.violations))


def check_text(text: str | bytes, known: Known) -> Report:
    """A plan as JSON text, judged."""
    document, broken = load(text)
    report = check(document, known)
    if not broken:
        return report
    return Report(report.plan, tuple(broken), (), report.signature, report.selection)


def check(document: Any, known: Known) -> Report:
    """A plan as data, judged; every violation, in the order of the document."""
    plan, found = parse(document)
    graph = Graph(plan.nodes)
    signature = strategy.compute_signature(known.material, plan)
    packs = known.strategies if known.strategies is not None else strategy.read_packs()
    selection = strategy.select(signature, packs)
    if known.strategy in packs:
        selection = strategy.Selection(packs[known.strategy], ("the run switched to it",))
    world = build_world(plan, graph, signature)
    found.extend(_check_envelope(plan, known))
    globs = known.allowlists.get(plan.allowlist_ref, ())
    floor = selection.strategy.floor
    for node in plan.nodes:
        if isinstance(node, ChangeNode):
            found.extend(check_scope(node, globs, known.protected))
            found.extend(evidence.check_change(node, plan.evidence, floor))
            found.extend(evidence.check_sources(node, known.sources))
            found.extend(_check_memories(node, known))
        found.extend(check_atomic(node))
        found.extend(check_hooks(node))
        found.extend(check_wording(node))
    found.extend(check_graph(plan, graph, known.exists))
    found.extend(evidence.check_policy(plan.evidence, floor))
    found.extend(strategy.check(plan, signature, selection.strategy, known.chains, world))
    found.extend(policies.check_versions(plan.policy_versions, known.policies))
    found.extend(policies.check_policies(known.policies, world, plan.strategy))
    results = tuple(_apply_rules(plan, known, world, found))
    return Report(plan, tuple(sorted(found, key=_place)), results, signature, selection)


def build_world(plan: Plan, graph: Graph, signature: strategy.Signature) -> World:
    """What conditions are asked of: the document, its nodes with what comes before them, the features."""
    raw = plan.raw.get("nodes")
    raws = raw if isinstance(raw, list) else []
    nodes = []
    for n, node in enumerate(plan.nodes):
        own = {"index": node.common.nth, "after": list(kinds_before(graph, n))}
        hooks = [hook.command for hook in hooks_of(node)]
        if hooks:
            own["verificationHooks"] = hooks
        nodes.append({**raws[node.common.nth], **own})
    return World(plan.raw, tuple(nodes), signature.features)


def _check_envelope(plan: Plan, known: Known) -> Iterator[Violation]:
    if plan.fingerprint:
        true = _hash(fingerprint, plan.raw)
        if plan.fingerprint != true:
            said = "`planFingerprint` is not the hash of this plan"
            yield Violation("/planFingerprint", MISSING, said, f'it is "{true}"', "envelope.fingerprint")
    if known.root and plan.root and plan.root.rstrip("/") != known.root.rstrip("/"):
        said = f"the plan is for another worktree, `{plan.root[:120]}`"
        yield Violation(
            "/worktreeRoot", "PLAN_SCOPE_VIOLATION", said, f'it is "{known.root}"', "envelope.root"
        )
    if known.work and plan.work and plan.work != known.work:
        said = f"the plan is of another work, `{plan.work}`"
        yield Violation("/workId", "PLAN_SCOPE_VIOLATION", said, f'it is "{known.work}"', "envelope.work")
    if known.snapshot and plan.snapshot and plan.snapshot != known.snapshot:
        yield Violation(
            "/repoSnapshotId",
            "PLAN_VALIDATION_CONFIDENCE_TOO_LOW",
            "the plan was made for another state of the repository",
            f'look again at what changed; it is now "{known.snapshot}"',
            "envelope.snapshot",
        )
    if plan.allowlist_ref and plan.allowlist_ref not in known.allowlists:
        said = f"there is no allowlist `{plan.allowlist_ref[:120]}`"
        hint = "use one of " + (
            ", ".join(f"`{ref}`" for ref in sorted(known.allowlists)[:8]) or "none: there are none"
        )
        yield Violation("/scopeAllowlistRef", "PLAN_SCOPE_VIOLATION", said, hint, "envelope.allowlist")
    if plan.pack_ref:
        yield from _check_pack(plan, known)


def _check_pack(plan: Plan, known: Known) -> Iterator[Violation]:
    if plan.pack_ref not in known.packs:
        yield Violation(
            "/contextPackRef",
            "PACK_INSUFFICIENT",
            f"there is no context pack `{plan.pack_ref[:120]}`",
            "build the pack first, then name it",
            "envelope.pack",
        )
        return
    pack = known.packs[plan.pack_ref]
    true = _hash(digest, pack)
    if plan.pack_hash and plan.pack_hash != true:
        said = "`contextPackHash` is not the hash of the pack: the plan rests on other evidence"
        yield Violation(
            "/contextPackHash", "PLAN_EVIDENCE_INSUFFICIENT", said, f'it is "{true}"', "envelope.pack-hash"
        )
    missing = pack.get("missingAnchors") if isinstance(pack, dict) else None
    if missing:
        yield Violation(
            "/contextPackRef",
            "PACK_REQUIRED_ANCHOR_UNRESOLVED",
            f"the context pack lacks {len(missing) if isinstance(missing, list) else 'its'} anchors",
            "resolve them with `request_evidence_guidance`, then build the pack again",
            "envelope.anchors",
        )


def _hash(of: Any, value: Any) -> str:
    try:
        return str(of(value))
    except (TypeError, ValueError, RecursionError):  # no JSON: it has no hash that anything could equal
        return "none: it is not plain JSON"


def _check_memories(node: ChangeNode, known: Known) -> Iterator[Violation]:
    for n, citation in enumerate(node.citations):
        if citation.ref.startswith("memory:") and citation.ref[7:] in known.expired_memories:
            yield Violation(
                f"/nodes/{node.common.nth}/citations/{n}/sourceRef",
                "MEMORY_PROVISIONAL_EXPIRED",
                f"`{citation.ref[:120]}` has expired",
                "cite something that still holds, or ask a person to approve the memory",
                "memory.expired",
            )


def _apply_rules(plan: Plan, known: Known, world: World, found: list[Violation]) -> Iterator[MemoryResult]:
    for rule in known.memory_rules:
        code = rule.deny_code if rule.deny_code in REJECTIONS else "PLAN_POLICY_VIOLATION"
        try:
            lacking = _lacking(rule, world)
        except TetherError as error:
            said, hint = (
                f"memory `{rule.memory}` cannot be applied: {error.message}",
                "ask a person to mend it",
            )
        else:
            if lacking is None:
                yield MemoryResult(rule.memory, rule.condition, True)
                continue
            said = f"memory `{rule.memory}`: `{rule.condition[:200]}` holds"
            hint = "take what it speaks of out of the plan"
            if lacking:
                said += f", and the plan has no step {', '.join(f'`{step}`' for step in lacking)}"
                hint = "add a node for each step, in these words"
        found.append(Violation("", code, said, hint, f"memory:{rule.memory}"))
        yield MemoryResult(rule.memory, rule.condition, False, code)


def _lacking(rule: MemoryRule, world: World) -> tuple[str, ...] | None:
    """The steps a plan lacks; None when the rule asks nothing of it or all are there."""
    if not compile_predicate(rule.condition)(world):
        return None
    texts = [
        text.lower()
        for node in world.nodes
        for text in (node.get("editIntent"), node.get("successCriteria"), *node.get("verificationHooks", ()))
        if isinstance(text, str)
    ]
    lacking = tuple(step for step in rule.required_steps if not any(step.lower() in text for text in texts))
    return None if rule.required_steps and not lacking else lacking


def _place(violation: Violation) -> tuple[Any, ...]:
    steps = violation.pointer.split("/")
    return tuple((0, int(s), "") if s.isdigit() else (1, 0, s) for s in steps if s), violation.code


def to_plain(report: Report) -> dict[str, Any]:
    """The report as an answer carries it."""
    return {
        "valid": report.ok,
        "violations": plain(report.violations),
        "denyReasons": list(report.codes),
        "memoryRuleResults": [
            {
                "memoryId": result.memory,
                "condition": result.condition,
                "satisfied": result.satisfied,
                **({"denyCode": result.deny_code} if result.deny_code else {}),
            }
            for result in report.memory
        ],
        "knowledgeStrategy": strategy.report(report.selection, report.signature),
        "subAgentHints": split(report.plan),
    }
