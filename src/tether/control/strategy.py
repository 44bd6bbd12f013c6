"""Which strategy a task calls for: features computed from what is known, packs of data, switches. Pure."""

from __future__ import annotations

import re

from tether.control.plan_hooks import judge
from tether.control.plan_model import REJECTIONS, EvidencePolicy, ValidateNode, Violation
from tether.control.predicate import World, compile_predicate
from tether.control.strategy_packs import PACKS
from tether.errors import TetherError
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tether.control.plan_model import Plan

FEATURES = (
    "hasJira", "hasSwagger", "mentionsAgGrid", "touchesShadowDom", "crossesFederationBoundary",
    "migrationAdpDetected", "contractAnchorPresent", "testConfidenceLevel",
)  # fmt: skip
CONFIDENCE = ("none", "low", "medium", "high")
TRIGGERS = (
    "plan_rejected",
    "policy_conflict",
    "repeated_failure_threshold",
    "repeated_action_threshold",
    "missing_required_proof_chain",
)

_TICKET = r"\b(?!UTF-|SHA-|ISO-|RFC-|INT-|CVE-|HTTP-|ES-|PEP-)[A-Z][A-Z0-9]{1,9}-\d{1,7}\b"
_AG_GRID = (
    r"\bag-?grid\b|\bAgGrid\w*|\bColDef\b|\bcellRenderer\w*|\bag-grid-(?:angular|community|enterprise)\b"
)
_SHADOW = (
    r"\battachShadow\b|\bShadowRoot\b|\bViewEncapsulation\.ShadowDom\b|::part\(|::slotted\(|\bshadow[ -]dom\b"
)
_FEDERATION = (
    r"\bModuleFederationPlugin\b|\bloadRemoteModule\b|\bremoteEntry(?:\.m?js)?\b|\bfederation\.(?:config|manifest)\b"
    r"|\bmodule[ -]federation\b|\bnative-federation\b"
)
_ADP = r"\bADP\b|\badp[-_]\w+|@adp/"
_SPEC_NAME = r"(?:^|/)(?:openapi|swagger)[\w.-]*\.(?:json|ya?ml)$"
_SPEC_TEXT = r"^\s*[\"']?(?:openapi|swagger)[\"']?\s*:\s*[\"']?[23]\."
_CONTRACT = ("swagger:", "openapi:", "contract:")
_TEST = r"(?:^|/)(?:tests?|__tests__|spec|e2e)/|(?:^|/)test_[^/]+$|[._](?:test|spec)\.[^/]+$|_test\.[^/]+$"


@noun
class Material:
    """What a signature is computed from."""

    prompt: str = ""
    artifacts: tuple[str, ...] = ()  # attached, by reference: `jira:KEY-1`, `swagger:…`
    files: dict[str, str] = {}  # noqa: RUF012  path → text, as far as it was read
    remotes: dict[str, tuple[str, ...]] = {}  # noqa: RUF012  federated part → the globs that are its own
    overrides: dict[str, tuple[Any, str]] = {}  # noqa: RUF012  feature → value and why, from memories


@noun
class Signature:
    """The ContextSignature, and why each feature is what it is."""

    features: dict[str, Any]
    reasons: dict[str, str]


@noun
class Requirement:
    """What a strategy demands: a complete proof chain, or a condition that holds."""

    id: str
    code: str
    when: str
    chain: str = ""
    holds: str = ""
    hint: str = ""


@noun
class Strategy:
    """One pack, read."""

    id: str
    title: str
    priority: int
    when: str
    requires: tuple[Requirement, ...]
    floor: EvidencePolicy
    switch: dict[str, tuple[int, str]]  # trigger → after how many, to which


@noun
class Selection:
    """The strategy chosen, and why."""

    strategy: Strategy
    reasons: tuple[str, ...]


@noun
class History:
    """What has happened in a run so far, for the switch triggers."""

    plans_rejected: int = 0
    policy_conflicts: int = 0
    failures: dict[str, int] = {}  # noqa: RUF012  failure signature → how often
    actions: dict[str, int] = {}  # noqa: RUF012  call signature → how often in a row
    chains_missing: int = 0


def compute_signature(material: Material, plan: Plan | None = None) -> Signature:
    """Every feature of the context, each with what showed it."""
    files = dict.fromkeys(plan_files(plan) if plan else (), "") | material.files
    read = [path for path in sorted(files) if files[path]]
    cited = [c.ref for node in plan.changes for c in node.citations] if plan else []
    refs = [*material.artifacts, *cited]
    told: dict[str, Any] = {}
    why: dict[str, str] = {}

    def note(feature: str, value: Any, reason: str) -> None:
        told[feature], why[feature] = value, reason

    def search(feature: str, pattern: str) -> None:
        match = re.search(pattern, material.prompt, re.IGNORECASE)
        if match:
            return note(feature, True, f"the prompt says `{match[0]}`")
        for path in read:
            match = re.search(pattern, files[path], re.IGNORECASE)
            if match:
                return note(feature, True, f"`{path}` has `{match[0]}`")
        return note(feature, False, "nothing shows it")

    ticket = re.search(_TICKET, material.prompt)
    jira = [ref for ref in refs if ref.startswith("jira:")]
    if jira:
        note("hasJira", True, f"`{jira[0]}` is attached or cited")
    else:
        note("hasJira", bool(ticket), f"the prompt names `{ticket[0]}`" if ticket else "no ticket is named")
    specs = [ref for ref in refs if ref.startswith(("swagger:", "openapi:"))]
    specs += [path for path in sorted(files) if _is_spec(path)]
    specs += [path for path in read if re.search(_SPEC_TEXT, files[path], re.MULTILINE)]
    note("hasSwagger", bool(specs), f"`{specs[0]}`" if specs else "no specification is attached or read")
    search("mentionsAgGrid", _AG_GRID)
    search("touchesShadowDom", _SHADOW)
    _note_federation(material, files, search, note)
    adp = re.search(_ADP, material.prompt) or next(
        (m for path in read if (m := re.search(_ADP, files[path]))), None
    )
    note("migrationAdpDetected", bool(adp), f"`{adp[0]}` is mentioned" if adp else "nothing shows it")
    anchors = [ref for ref in cited if ref.startswith(_CONTRACT)]
    anchors += [ref for ref in cited if ref.startswith("file:") and _is_spec(ref[5:].partition("#")[0])]
    note(
        "contractAnchorPresent",
        bool(anchors),
        f"the plan cites `{anchors[0]}`" if anchors else "no citation of a contract",
    )
    note("testConfidenceLevel", *_confidence(plan, files))
    for feature, (value, reason) in material.overrides.items():
        if feature in FEATURES and (isinstance(value, bool) or value in CONFIDENCE):
            note(feature, value, f"a memory says so: {reason}")
    return Signature({name: told[name] for name in FEATURES}, {name: why[name] for name in FEATURES})


def _is_spec(path: str) -> bool:
    return path.endswith((".json", ".yaml", ".yml")) and re.search(_SPEC_NAME, path) is not None


def plan_files(plan: Plan) -> tuple[str, ...]:
    """The files a plan changes."""
    from tether.control.plan_model import files_of

    return tuple(dict.fromkeys(file for node in plan.nodes for file in files_of(node)))


def _note_federation(material: Material, files: dict[str, str], search: Any, note: Any) -> None:
    from tether.control.scope import compile_scope

    parts: dict[str, str] = {}
    for name in sorted(material.remotes):
        scope = compile_scope(material.remotes[name])
        for path in sorted(files):
            if path and scope.owns(path):
                parts.setdefault(name, path)
    if len(parts) > 1:
        shown = ", ".join(f"`{path}` ({name})" for name, path in parts.items())
        note("crossesFederationBoundary", True, f"files of {len(parts)} federated parts: {shown}")
    else:
        search("crossesFederationBoundary", _FEDERATION)


def _confidence(plan: Plan | None, files: dict[str, str]) -> tuple[str, str]:
    """How far checks would notice a mistake."""
    if plan is None or not plan.changes:
        tests = [path for path in sorted(files) if re.search(_TEST, path)]
        return ("low", f"`{tests[0]}` is a test") if tests else ("none", "no test is among the files")
    able = [n.common.id for n in plan.changes if n.hooks and any(not judge(h.command) for h in n.hooks)]
    mapped = {
        name
        for node in plan.nodes
        if isinstance(node, ValidateNode) and any(not judge(h.command) for h in node.hooks)
        for name in node.maps_to
    }
    total = len(plan.changes)
    said = f"{len(able)} of {total} changes have a hook that can fail"
    if len(able) < total:
        return ("low" if able else "none"), said
    if all(node.common.id in mapped for node in plan.changes):
        return "high", said + ", and each is checked by a validate node"
    return "medium", said


def read_pack(data: dict[str, Any]) -> Strategy:
    """A strategy pack from plain data; CONFIG_INVALID says what is wrong with it."""
    try:
        requires = tuple(
            Requirement(
                r["id"], r["code"], r["when"], r.get("chain", ""), r.get("holds", ""), r.get("hint", "")
            )
            for r in data["requires"]
        )
        evidence = data["evidence"]
        floor = EvidencePolicy(
            int(evidence["requirement"]), int(evidence["code"]), int(evidence["policy"]),
            bool(evidence["single"]), (), "file",
        )  # fmt: skip
        switch = {trigger: (int(rule["after"]), str(rule["to"])) for trigger, rule in data["switch"].items()}
        made = Strategy(
            str(data["id"]),
            str(data["title"]),
            int(data["priority"]),
            str(data["when"]),
            requires,
            floor,
            switch,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TetherError("CONFIG_INVALID", f"a strategy pack lacks or misspells {error}") from None
    for text in (made.when, *(r.when for r in requires), *(r.holds for r in requires if r.holds)):
        compile_predicate(text)
    wrong = [t for t in switch if t not in TRIGGERS] + [r.code for r in requires if r.code not in REJECTIONS]
    if wrong or any(not r.chain and not r.holds for r in requires):
        raise TetherError("CONFIG_INVALID", f"strategy pack `{made.id}`: unknown {wrong or 'requirement'}")
    return made


def read_packs(more: Sequence[dict[str, Any]] = ()) -> dict[str, Strategy]:
    """The built-in strategies and a team's own, by id; a team's pack replaces one of the same id."""
    return {pack["id"]: read_pack(pack) for pack in (*PACKS, *more)}


def select(signature: Signature, packs: dict[str, Strategy] | None = None) -> Selection:
    """The strategy of the highest priority whose condition holds; ties go by id."""
    held = packs if packs is not None else read_packs()
    world = World({}, signature=signature.features)
    for strategy in sorted(held.values(), key=lambda s: (-s.priority, s.id)):
        if compile_predicate(strategy.when)(world):
            return Selection(strategy, _explain(strategy.when, signature))
    raise TetherError("CONFIG_INVALID", "no strategy fits", action="Keep one pack whose condition is `true`")


def fired(history: History, strategy: Strategy) -> tuple[str, ...]:
    """The switch triggers that have reached the strategy's thresholds, in the order of the table."""
    counts = {
        "plan_rejected": history.plans_rejected,
        "policy_conflict": history.policy_conflicts,
        "repeated_failure_threshold": max(history.failures.values(), default=0),
        "repeated_action_threshold": max(history.actions.values(), default=0),
        "missing_required_proof_chain": history.chains_missing,
    }
    return tuple(t for t in TRIGGERS if t in strategy.switch and counts[t] >= strategy.switch[t][0])


def switch(current: Selection, history: History, packs: dict[str, Strategy] | None = None) -> Selection:
    """The strategy to go on with: another one when a trigger says so, else the same."""
    held = packs if packs is not None else read_packs()
    for trigger in fired(history, current.strategy):
        after, name = current.strategy.switch[trigger]
        if name in held and name != current.strategy.id:
            said = f"`{trigger}` reached {after}: switched from `{current.strategy.id}`"
            return Selection(held[name], (said,))
    return current


def check(
    plan: Plan, signature: Signature, selected: Strategy, chains: frozenset[str], world: World
) -> list[Violation]:
    """Whether a plan follows the strategy its context calls for, and has what that demands."""
    found = []
    if plan.strategy and plan.strategy != selected.id:
        why = "; ".join(_explain(selected.when, signature))
        found.append(
            Violation(
                "/knowledgeStrategyId",
                "PLAN_STRATEGY_MISMATCH",
                f"`{plan.strategy[:60]}` is not the strategy of this context: {why}",
                f'use "{selected.id}"',
                "strategy.mismatch",
            )
        )
    for need in selected.requires:
        if not compile_predicate(need.when)(world):
            continue
        if need.chain and need.chain not in chains:
            said = f"`{selected.id}` needs a complete proof chain `{need.chain}`"
            hint = need.hint or f"trace the chain with `trace_symbol_graph` until `{need.chain}` is whole"
            found.append(Violation("", need.code, said, hint, f"strategy.{need.id}"))
        if need.holds and not compile_predicate(need.holds)(world):
            why = "; ".join(_explain(need.holds, signature))
            hint = need.hint or f"make this hold: {need.holds}"
            found.append(
                Violation(
                    "", need.code, f"`{selected.id}` needs `{need.holds}`: {why}", hint, f"strategy.{need.id}"
                )
            )
    return found


def _explain(condition: str, signature: Signature) -> tuple[str, ...]:
    named = [name for name in FEATURES if f"signature.{name}" in condition]
    if not named:
        return ("no other strategy fits",)
    return tuple(f"{name} is {_shown(signature.features[name])}: {signature.reasons[name]}" for name in named)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def report(selection: Selection, signature: Signature) -> dict[str, Any]:
    """`knowledgeStrategy` of a turn."""
    return {
        "strategyId": selection.strategy.id,
        "contextSignature": dict(signature.features),
        "reasons": list(selection.reasons),
    }
