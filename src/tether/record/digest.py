"""What the journal may keep of a call: no secrets, no bulk, nothing JSON cannot carry. HOOK PATH."""

from __future__ import annotations

from hashlib import sha256

from tether.types import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tether.types import Agent, Decision, Effect, Spot

_BREAKS = str.maketrans("./_-", "    ")
_PLAIN = frozenset(
    map(chr, (*range(0x2D), *range(0x3A, 0x41), *range(0x5B, 0x5F), 0x60, *range(0x7B, 0x100)))
)
_CARRIERS = frozenset("?#@=&;")  # what an address needs to carry a secret
DEPTH = 16  # levels of an argument that the journal keeps
SHOWN = 400  # characters of an argument that the journal keeps


def keep_agent(agent: Agent) -> dict[str, str]:
    told = {k: v for k, v in plain(agent).items() if v}
    if not _CARRIERS.isdisjoint(agent.conversation):
        told["conversation"] = clean(agent.conversation)
    return told


def keep_decision(decision: Decision) -> dict[str, Any]:
    return {
        "verdict": decision.verdict,
        "code": decision.code,
        "message": clean(decision.message),
        "rules": list(decision.rules),
        "policy": decision.policy,
        "intent": decision.intent,
        **({"plan_node": decision.plan_node} if decision.plan_node else {}),
    }


def keep_effect(effect: Effect, spots: dict[str, Spot]) -> dict[str, Any]:
    spot = spots.get(effect.target)
    kept: dict[str, Any] = {
        "kind": effect.kind,
        "target": clean(spot.path if spot and spot.path else effect.target),
    }
    if effect.after is not None:
        kept["after"] = effect.after
    if effect.risk is not None:
        kept["risk"] = effect.risk.level
    return kept


def summarise(value: Any, depth: int = 0) -> Any:
    """Arguments as the journal may keep them: long texts by hash, the rest without secrets, never too deep."""
    if depth > DEPTH:
        return "…"
    if isinstance(value, str):
        if len(value) > SHOWN:
            data = value.encode("utf-8", "surrogatepass")
            return {"sha256": sha256(data).hexdigest(), "chars": len(value), "head": clean(value[:80])}
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(k)): summarise(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [summarise(v, depth + 1) for v in value]
    return value


def clean(text: str) -> str:
    """Text without secrets and without what JSON cannot carry."""
    if (
        text.isascii()
        and _PLAIN.isdisjoint(text)
        and all(len(part) < 16 for part in text.translate(_BREAKS).split())
    ):
        return (
            text  # a path or a name: nothing that could stand for a secret, and no need to load the detector
        )
    from tether.source.redact import redact

    return redact(text.encode("utf-8", "replace").decode()).text


def explain(decision: Decision, **more: Any) -> dict[str, Any]:
    """A refusal by the error contract, with the rules and the policy revision that decided."""
    return {
        "error_code": decision.code,
        "message": decision.message,
        "recoverable": decision.recoverable,
        "required_action": decision.required_action,
        **({"suggested_action": decision.suggested_action} if decision.suggested_action else {}),
        "rules": list(decision.rules),
        "policy": decision.policy,
        **more,
    }
