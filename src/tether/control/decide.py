"""One pure decision: facts, call and effects in; allow, ask or deny out, with every reason as data.

The gates run in one order, and the first that objects decides:
halt → known effects → path → protected → self-governance → reads pass → intents file → intent → scope →
write permission → plan → risk → approval → lock → collision.
No matching rule, or a rule that raises: deny.
"""

from __future__ import annotations

from tether.control.protected import NAMES, PROTECTED
from tether.control.scope import MAX_PATTERN, compile_scope
from tether.errors import CODES, INTENT_HANDSHAKE
from tether.types import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tether.control.facts import Facts
    from tether.control.scope import Pattern
    from tether.types import Call, Effect, Intent, Spot

    Gate = Callable[["Case"], "Decision | None"]

CHANGING = ("write", "delete")
_SECRETS = compile_scope(
    (
        "**/.ssh", "**/.aws", "**/.azure", "**/.gnupg", "**/.kube", "**/.docker/config.json",
        "**/.config/gh", "**/.config/gcloud", "**/.netrc", "**/.pgpass", "**/.npmrc", "**/.pypirc",
        "**/.git-credentials", "**/.vault-token", "**/id_rsa*", "**/id_ed25519*", "**/etc/shadow", "**/etc/gshadow",
        "**/proc/**/environ", "**/proc/**/mem",
    )
)  # fmt: skip
_SPECIAL = frozenset("*?[]\\ !#")
KINDS = frozenset(("read", "write", "delete", "run", "reach", "external"))
ALWAYS = frozenset({"LOOP_HALTED", "SECURITY_VIOLATION", "POLICY_ERROR"})


class Case:
    """One call under judgement, and the rules it has passed so far."""

    __slots__ = ("call", "effects", "facts", "intent", "mutating", "node", "passed", "runs", "targets")

    def __init__(self, facts: Facts, call: Call, effects: Sequence[Effect]) -> None:
        self.facts = facts
        self.call = call
        self.effects = effects
        self.passed: list[str] = []
        self.intent: Intent | None = None
        self.node = ""
        self.runs = [e for e in effects if e.kind == "run"]
        self.targets = [(e, facts.spots.get(e.target)) for e in effects if e.kind in CHANGING]
        self.mutating = is_mutating(effects)


def is_mutating(effects: Sequence[Effect]) -> bool:
    """Whether a call changes anything: a command proven read-only does not."""
    for effect in effects:
        if effect.kind in ("read", "reach") or (
            effect.kind == "run" and effect.risk and effect.risk.read_only
        ):
            continue
        return True
    return False


def decide(facts: Facts, call: Call, effects: Sequence[Effect]) -> Decision:
    """The verdict on one call. Never raises; whatever goes wrong denies."""
    policy = ""
    try:
        policy = facts.policy
        case = Case(facts, call, effects)
        for gate in GATES:
            refusal = gate(case)
            if refusal is None:
                continue
            if refusal.verdict == "allow" or facts.preset != "observe" or refusal.code in ALWAYS:
                return refusal
            return _verdict(
                case, "allow", "", "", (*case.passed, f"observe.would-{refusal.verdict}", *refusal.rules)
            )
        if not case.passed:
            return _deny(case, "POLICY_ERROR", "no rule covers this call", "policy.no-rule")
        return _verdict(case, "allow", "", "", tuple(case.passed))
    except (
        Exception
    ) as error:  # INVARIANT: a rule that raises denies, and the answer needs nothing that may raise
        return Decision(
            "deny",
            "POLICY_ERROR",
            f"a policy rule failed with {type(error).__name__}",
            *CODES["POLICY_ERROR"],
            rules=("policy.error",),
            policy=policy,
        )


def signature(facts: Facts, call: Call, decision: Decision, effects: Sequence[Effect]) -> str:
    """What makes two refusals the same one, for the loop breaker; "" for those that pass by themselves."""
    if decision.code in ("LOOP_HALTED", "APPROVAL_EXPIRED", "COLLISION"):
        return ""
    target = ""
    for effect in effects[:1]:
        target = effect.target.split(" ", 1)[0] if effect.kind == "run" else effect.target
    beliefs = []
    if decision.code == "STALE_FILE":
        # who has read any of the files again since is not going in circles
        for effect in effects:
            spot = facts.spots.get(effect.target)
            beliefs.append(effect.before or (facts.seen.get(spot.path, "") if spot else ""))
    return "|".join((decision.code, *decision.rules[:1], call.verb, target, *beliefs))


# ── gates ────────────────────────────────────────────────────────────────────


def _halt(case: Case) -> Decision | None:
    if case.facts.halted:
        return _deny(case, "LOOP_HALTED", f"this agent is halted: {case.facts.halted}", "loop.halted")
    return None


def _known(case: Case) -> Decision | None:
    # INVARIANT: what no rule speaks of is refused before any preset can wave it through
    for effect in case.effects:
        if effect.kind not in KINDS:
            return _deny(
                case, "POLICY_ERROR", f"effect `{_shown(effect.kind)}` has no rule", "policy.no-rule"
            )
    return None


def _path(case: Case) -> Decision | None:
    for effect in case.effects:
        if effect.kind not in ("read", "write", "delete"):
            continue
        spot = case.facts.spots.get(effect.target)
        if spot is None:
            return _deny(
                case, "SECURITY_VIOLATION", f"`{_shown(effect.target)}` was not looked up", "path.unknown"
            )
        if spot.problem in ("outside", "home") and effect.command and effect.kind == "read":
            # commands read the system they run on; what they must not read is where secrets are kept
            if _SECRETS.owns(_resolve(effect.target)):
                return _deny(
                    case,
                    "SECURITY_VIOLATION",
                    f"`{_shown(effect.target)}` is where secrets are kept",
                    "path.secret",
                )
            continue
        if spot.problem:
            why = spot.detail or PATH_PROBLEMS.get(spot.problem, spot.problem)
            return _deny(
                case,
                "SECURITY_VIOLATION",
                f"`{_shown(effect.target)}` is refused: {why}",
                f"path.{spot.problem}",
            )
        if effect.kind in CHANGING and (spot.kind == "other" or (spot.kind == "dir" and not effect.command)):
            return _deny(
                case,
                "SECURITY_VIOLATION",
                f"`{_shown(effect.target)}` is not a regular file",
                "path.not_regular",
            )
    case.passed.append("path.inside")
    return None


def _protected(case: Case) -> Decision | None:
    for effect, spot in case.targets:
        path = spot.path if spot else effect.target
        names = [] if path == "." else path.split("/")
        # what a command names may be a directory, and change whatever lies in it
        inside = effect.command and spot is not None and spot.kind in ("dir", "absent")
        if names and NAMES.isdisjoint(names):
            globs: Sequence[str] = case.facts.protected
        else:
            globs = (*PROTECTED, *case.facts.protected)
        # INVARIANT: one glob cannot take back what another protects, so a negated one says nothing here
        for pattern in compile_scope(globs).patterns if globs else ():
            if pattern.negated or not (
                (names and pattern.matches(names)) or (inside and _lies_in(pattern, names))
            ):
                continue
            why = PROTECTED.get(pattern.text, "the project's configuration protects it")
            if names and pattern.matches(names):
                said = f"`{path}` is protected from agents: {why}"
            else:
                said = f"`{path}` may hold what is protected from agents ({pattern.text}); name the files themselves"
            return _deny(case, "SECURITY_VIOLATION", said, f"protected:{pattern.text}")
    return None


def _lies_in(pattern: Pattern, names: list[str]) -> bool:
    """Whether a pattern goes on where a directory's path ends, and so may match what lies in it."""
    if pattern.matches([*names, "_"], is_dir=True):
        return True
    for nth, chunk in enumerate(pattern.chunks):
        # only the first run of names stands at the root; the others may begin anywhere
        for start in range(len(names)) if nth else (0,):
            rest = names[start:]
            if len(rest) < len(chunk) and all(p.matches(n) for p, n in zip(chunk, rest, strict=False)):
                return True
    return False


def _self_governance(case: Case) -> Decision | None:
    for effect in case.runs:
        if effect.risk is None:
            return _deny(case, "SECURITY_VIOLATION", "the command was not classified", "risk.unclassified")
        if effect.risk.governs_tether:
            return _deny(
                case,
                "SECURITY_VIOLATION",
                f"`tether {effect.risk.governs_tether}` is for people: an agent cannot lift its own limits",
                "self.governance",
                action="Ask a person to run it",
            )
    return None


def _reads(case: Case) -> Decision | None:
    if case.mutating:
        return None
    case.passed.append("read.free")
    return _verdict(case, "allow", "", "", tuple(case.passed))


def _intents_file(case: Case) -> Decision | None:
    if case.facts.intents_problem:
        return _deny(case, "INTENTS_MALFORMED", case.facts.intents_problem, "intent.file")
    return None


def _intent(case: Case) -> Decision | None:
    facts = case.facts
    if not facts.selected:
        active = [i.id for i in facts.intents if i.status == "active"]
        return _deny(
            case,
            "INTENT_REQUIRED",
            INTENT_HANDSHAKE,
            "intent.required",
            suggested=f"select_active_intent(intent_id={active[0]!r})" if active else "",
        )
    known = {intent.id: intent for intent in facts.intents}
    intent = known.get(facts.selected)
    if intent is None:
        return _deny(case, "INTENT_INVALID", f"intent `{facts.selected}` does not exist", "intent.unknown")
    step: Intent | None = intent
    for _ in range(len(known) + 1):
        if step is None:
            return _deny(
                case,
                "INTENT_INVALID",
                f"intent `{intent.id}` has a parent that does not exist",
                "intent.parent",
            )
        if step.status != "active":
            rule = "intent.inactive" if step is intent else "intent.parent-inactive"
            return _deny(case, "INTENT_INVALID", f"intent `{step.id}` is {step.status}, not active", rule)
        if not step.parent:
            case.intent = intent
            case.passed.append("intent.active")
            return None
        step = known.get(step.parent)
    return _deny(case, "INTENT_INVALID", f"intent `{intent.id}` is its own ancestor", "intent.cycle")


def _scope(case: Case) -> Decision | None:
    intent = case.intent
    if intent is None:
        return _deny(case, "INTENT_REQUIRED", INTENT_HANDSHAKE, "intent.required")
    for effect, spot in case.targets:
        path = spot.path if spot else effect.target
        if not _owns(intent.owned_scope, path, effect, spot):
            return _deny(
                case,
                "SCOPE_VIOLATION",
                f"Scope Violation: {intent.id} is not authorized to edit {path}",
                "scope.outside",
                suggested="`tether intent list` shows which intent owns the path",
            )
    if case.targets:
        case.passed.append("scope.owned")
    return None


def _write_permission(case: Case) -> Decision | None:
    if case.facts.write_enabled:
        return None
    safe = all(
        e.kind == "run" and e.risk and e.risk.level == "SAFE"
        for e in case.effects
        if e.kind not in ("read", "reach")
    )
    if safe:
        return None
    return _deny(case, "WRITE_DENIED", "writes are not enabled in this project", "write.disabled")


def _plan(case: Case) -> Decision | None:
    facts = case.facts
    if facts.preset != "strict":
        return None
    from tether.control.plan_cover import covering

    found = covering(facts.plan_nodes, case.effects, facts.spots, facts.root)
    if len(found) == 1:
        case.node = f"{found[0].work}/{found[0].id}"
        case.passed.append("plan.covered")
        return None
    if found:
        names = ", ".join(f"`{_shown(node.id)}` of {_shown(node.work)}" for node in found[:5])
        return _deny(
            case,
            "PLAN_REQUIRED",
            f"{len(found)} open plan nodes cover this call, and one must: {names}",
            "plan.ambiguous",
            action="Finish one of the nodes first, or ask a person to withdraw a plan",
        )
    still = ", ".join(f"`{_shown(node.id)}`" for node in facts.plan_nodes[:5])
    return _deny(
        case,
        "PLAN_REQUIRED",
        "this project demands a validated plan, and no open plan node covers this call"
        + (f"; open are {still}" if still else ""),
        "plan.required",
    )


def _risk(case: Case) -> Decision | None:
    asks: list[tuple[str, tuple[str, ...]]] = []
    for effect in case.effects:
        if effect.kind == "run" and effect.risk:
            risk = effect.risk
            why = risk.reasons[0] if risk.reasons else "it could not be proved safe"
            if risk.level == "DESTRUCTIVE":
                asks.append((f"destructive command `{_shown(effect.target)}`: {why}", risk.rules))
            elif risk.level != "SAFE":
                if case.facts.unknown_commands == "deny":
                    return _deny(
                        case,
                        "RISK_APPROVAL_REQUIRED",
                        f"`{_shown(effect.target)}`: {why}",
                        "risk.unknown-denied",
                    )
                if case.facts.unknown_commands != "allow":
                    asks.append(
                        (f"command `{_shown(effect.target)}` is not known to be safe: {why}", risk.rules)
                    )
                else:
                    case.passed.append("risk.unknown-allowed")
            else:
                case.passed.append("risk.safe")
        elif effect.kind == "delete" and case.facts.deletes != "allow":
            if case.facts.deletes == "deny":
                return _deny(
                    case,
                    "RISK_APPROVAL_REQUIRED",
                    f"deleting `{effect.target}` is not allowed",
                    "risk.delete-denied",
                )
            asks.append((f"deletion of `{effect.target}`", ("risk.delete",)))
        elif effect.kind == "external":
            asks.append((f"external side effect `{_shown(effect.target)}`", ("risk.external",)))
    if not asks:
        return None
    return _approval(case, asks)


def _approval(case: Case, asks: list[tuple[str, tuple[str, ...]]]) -> Decision | None:
    message = "; ".join(text for text, _ in asks)
    rules = tuple(rule for _, found in asks for rule in found) or ("risk.unknown",)
    approval = case.facts.approval
    if approval is None or approval.state in ("consumed", "expired"):
        return _verdict(case, "ask", "RISK_APPROVAL_REQUIRED", f"approval required: {message}", rules)
    if approval.state == "rejected":
        if case.facts.now < approval.expires:
            because = f": {approval.reason}" if approval.reason else ""
            return _deny(
                case, "APPROVAL_REJECTED", f"a person rejected this call{because}", "approval.rejected"
            )
        return _verdict(case, "ask", "RISK_APPROVAL_REQUIRED", f"approval required: {message}", rules)
    if case.facts.now >= approval.expires:
        return _deny(
            case,
            "APPROVAL_EXPIRED",
            f"approval `{approval.id}` expired before it was used",
            "approval.expired",
        )
    if approval.state == "approved":
        case.passed += ("approval.given", *rules)
        return None
    return _verdict(
        case, "ask", "RISK_APPROVAL_REQUIRED", f"approval `{approval.id}` is pending: {message}", rules
    )


def _lock(case: Case) -> Decision | None:
    for effect, spot in case.targets:
        if spot is None:
            return _deny(case, "SECURITY_VIOLATION", f"`{effect.target}` was not looked up", "path.unknown")
        refusal = _stale(case, effect, spot)
        if refusal:
            return refusal
    if case.targets:
        case.passed.append("lock.current")
    return None


def _stale(case: Case, effect: Effect, spot: Spot) -> Decision | None:
    if effect.command:
        return None  # a command's targets are compared after it ran, not before
    if effect.before is not None:
        if effect.before != spot.hash:
            what = (
                "exists already" if not effect.before else "was deleted" if not spot.hash else "has changed"
            )
            return _deny(case, "STALE_FILE", f"`{spot.path}` {what} since it was read", "lock.stale")
        return None
    seen = case.facts.seen.get(spot.path)
    if seen is not None and seen != spot.hash:
        what = "was deleted" if not spot.hash else "has changed"
        return _deny(case, "STALE_FILE", f"`{spot.path}` {what} since this agent read it", "lock.stale")
    if seen is None and spot.hash and not effect.anchored:
        return _deny(
            case, "STALE_FILE", f"`{spot.path}` exists and this agent has not read it", "lock.unread"
        )
    return None


def _collision(case: Case) -> Decision | None:
    for effect, spot in case.targets:
        path = spot.path if spot else effect.target
        if holder := case.facts.held.get(path):
            return _deny(
                case,
                "COLLISION",
                f"`{path}` is being changed by another call of `{holder}`",
                "collision.path",
            )
    return None


GATES: tuple[Gate, ...] = (
    _halt,
    _known,
    _path,
    _protected,
    _self_governance,
    _reads,
    _intents_file,
    _intent,
    _scope,
    _write_permission,
    _plan,
    _risk,
    _lock,
    _collision,
)

PATH_PROBLEMS: dict[str, str] = {
    "outside": "it leads outside the project",
    "home": "`~` is not expanded",
    "nul": "it contains a NUL character",
    "control": "it contains control characters",
    "bad_name": "it is not a portable file name",
    "ambiguous_name": "it looks like another, protected name",
    "loop": "its symbolic links go in a circle",
    "not_regular": "it is not a regular file",
    "symlink": "symbolic links are refused here",
    "too_long": "it is too long",
    "denied": "it cannot be opened",
}


def _owns(globs: Sequence[str], path: str, effect: Effect, spot: Spot | None) -> bool:
    """Whether a scope owns a path; a directory that a command names, with all that may lie in it."""
    scope = compile_scope(globs)
    owned = scope.owns(path)
    if not effect.command or spot is None or spot.kind not in ("dir", "absent"):
        return owned
    if owned and (spot.kind == "absent" or not any(pattern.negated for pattern in scope.patterns)):
        return True
    from tether.control.containment import contains

    below = "**" if path == "." else "/" + "".join("\\" + c if c in _SPECIAL else c for c in path) + "/**"
    return len(below) <= MAX_PATTERN and contains(globs, (below,)).ok


def _resolve(path: str) -> str:
    """A path outside the project by its names alone: `~`, empty names, `.` and `..` taken out."""
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            names = names[:-1]
        elif name not in ("", ".") and not (name.startswith("~") and not names):
            names.append(name)
    return "/".join(names)


# ── answers ──────────────────────────────────────────────────────────────────


def _deny(
    case: Case, code: str, message: str, rule: str, *, action: str = "", suggested: str = ""
) -> Decision:
    return _verdict(case, "deny", code, message, (rule,), action=action, suggested=suggested)


def _verdict(
    case: Case,
    verdict: str,
    code: str,
    message: str,
    rules: tuple[str, ...],
    *,
    action: str = "",
    suggested: str = "",
) -> Decision:
    recoverable, default_action = CODES[code] if code else (True, "")
    consumed = (
        case.facts.approval.id
        if verdict == "allow" and "approval.given" in rules and case.facts.approval
        else ""
    )
    return Decision(
        verdict=verdict,
        code=code,
        message=message,
        recoverable=recoverable,
        required_action=action or default_action,
        suggested_action=suggested,
        rules=rules,
        policy=case.facts.policy,
        intent=case.intent.id if case.intent else case.facts.selected,
        approval=consumed,
        plan_node=case.node,
    )


def _shown(text: str) -> str:
    """A hostile string made fit for one line of a message."""
    clean = "".join(c if c.isprintable() else "?" for c in text)
    return clean if len(clean) <= 200 else clean[:199] + "…"
