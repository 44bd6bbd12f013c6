"""Reading a plan: strict, by hand, and telling everything that is wrong at once with its JSON pointer. Pure."""

from __future__ import annotations

import json
import re

from tether.control.plan_model import (
    BOUNDARIES,
    CATEGORIES,
    DISTINCT,
    KINDS,
    OPERATIONS,
    SCHEMA_VERSION,
    SIDE_EFFECTS,
    ChangeNode,
    Citation,
    CodeEvidence,
    Common,
    EscalateNode,
    EvidencePolicy,
    Hook,
    Plan,
    Reason,
    SideEffectNode,
    ValidateNode,
    Violation,
    pointer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from tether.control.plan_model import Node

    T = TypeVar("T")

MISSING = "PLAN_MISSING_REQUIRED_FIELDS"
# INVARIANT: whatever is submitted is judged in seconds, so everything that is looped over has a limit
MAX_BYTES = 4 << 20
MAX_NODES = 2_000
MAX_HOOKS = 16
MAX_FOUND = 2_000  # violations of shape that are told
MAX_LIST = 1_000
MAX_TEXT = 20_000
NAME = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"  # ids become file names and journal keys: no separators


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENVELOPE = _names(
    "workId agentId runSessionId repoSnapshotId worktreeRoot contextPackRef contextPackHash policyVersionSet"
    " scopeAllowlistRef knowledgeStrategyId knowledgeStrategyReasons evidencePolicy planFingerprint"
    " sourceTraceRefs schemaVersion nodes metadata"
)
COMMON = _names(
    "nodeId kind dependsOn atomicityBoundary expectedFailureSignatures correctionCandidateOnFail metadata"
)
FIELDS: dict[str, frozenset[str]] = {
    "change": COMMON
    | _names(
        "operation targetFile destinationFile targetSymbols whyThisFile editIntent citations codeEvidence"
        " verificationHooks lowEvidenceGuard uncertaintyNote requiresHumanReview"
    ),
    "validate": COMMON | _names("verificationHooks mapsToNodeIds successCriteria"),
    "escalate": COMMON | _names("requestedEvidence blockingReasons"),
    "side_effect": COMMON | _names("sideEffectType sideEffectPayloadRef commitGateId"),
}
EVIDENCE = _names(
    "minRequirementSources minCodeEvidenceSources minPolicySources allowSingleSourceWithGuard"
    " lowEvidenceGuardRules distinctSourceDefinition"
)
_REASON = _names("reason evidenceRefs")
_CITATION = _names("category sourceRef quote")
_EVIDENCE = _names("file startLine endLine contentHash symbol")
_HOOK = _names("command description")


class Reader:
    """Takes fields out of a document and notes what is wrong with them."""

    def __init__(self) -> None:
        self.found: list[Violation] = []

    def wrong(self, at: str, message: str, hint: str, *, code: str = MISSING, rule: str = "field") -> None:
        if len(self.found) < MAX_FOUND:
            self.found.append(Violation(at, code, message, hint, rule))

    def check_keys(self, held: dict[str, Any], known: frozenset[str], at: str) -> None:
        if known.issuperset(held):
            return
        for key in held:
            if key not in known:
                if len(self.found) >= MAX_FOUND:
                    return
                import difflib

                near = difflib.get_close_matches(key, sorted(known), n=1)
                hint = f"did you mean `{near[0]}`?" if near else "take it out, or put it under `metadata`"
                self.wrong(at + pointer(key), f"unknown field `{key[:60]}`", hint, rule="field.unknown")

    def value(self, held: dict[str, Any], key: str, at: str, kind: type, what: str) -> Any:
        """A required field of one JSON type; None when it is not there or of another."""
        if key not in held:
            self.wrong(f"{at}/{key}", f"`{key}` is missing", f"add `{key}`: {what}", rule="field.missing")
            return None
        found = held[key]
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            self.wrong(f"{at}/{key}", f"`{key}` must be {what}", f"give {what}", rule="field.type")
            return None
        return found

    def text(self, held: dict[str, Any], key: str, at: str, *, name: bool = False) -> str:
        """A required, non-empty text."""
        found = self.value(held, key, at, str, "a non-empty text")
        if found is None:
            return ""
        if not found.strip():
            self.wrong(f"{at}/{key}", f"`{key}` is empty", "give a non-empty text", rule="field.empty")
            return ""
        if len(found) > MAX_TEXT or "\x00" in found:
            self.wrong(
                f"{at}/{key}",
                f"`{key}` is longer than {MAX_TEXT} characters or holds a NUL",
                "shorten it",
                rule="field.long",
            )
            return ""
        if name and not re.fullmatch(NAME, found):
            self.wrong(
                f"{at}/{key}",
                f"`{found[:60]}` is not a safe name",
                "use letters, digits, `.`, `_`, `:` and `-`, 128 at most",
                rule="field.name",
            )
            return ""
        return str(found)

    def choice(
        self, held: dict[str, Any], key: str, at: str, choices: tuple[str, ...], code: str = MISSING
    ) -> str:
        found = self.text(held, key, at)
        if found and found not in choices:
            named = ", ".join(f"`{c}`" for c in choices)
            self.wrong(
                f"{at}/{key}",
                f"`{key}` cannot be `{found[:60]}`",
                f"use {named}",
                code=code,
                rule="field.choice",
            )
            return ""
        return found

    def optional_text(self, held: dict[str, Any], key: str, at: str) -> str:
        return self.text(held, key, at) if key in held else ""

    def flag(self, held: dict[str, Any], key: str, at: str) -> bool:
        return bool(self.value(held, key, at, bool, "true or false")) if key in held else False

    def items(self, held: dict[str, Any], key: str, at: str, *, least: int = 0) -> list[Any]:
        found = self.value(held, key, at, list, "a list")
        if found is None:
            return []
        if len(found) < least:
            self.wrong(f"{at}/{key}", f"`{key}` is empty", f"give at least {least}", rule="field.empty")
        if len(found) > MAX_LIST:
            self.wrong(
                f"{at}/{key}", f"`{key}` has over {MAX_LIST} items", "split the plan", rule="field.long"
            )
            return []
        return list(found)

    def texts(self, held: dict[str, Any], key: str, at: str, *, least: int = 0) -> tuple[str, ...]:
        """A required list of non-empty texts."""
        kept = []
        for n, item in enumerate(self.items(held, key, at, least=least)):
            if isinstance(item, str) and item.strip() and len(item) <= MAX_TEXT and "\x00" not in item:
                kept.append(item)
            else:
                self.wrong(
                    f"{at}/{key}/{n}",
                    f"an item of `{key}` is not a non-empty text",
                    "give a text",
                    rule="field.type",
                )
        return tuple(kept)

    def rows(
        self, held: dict[str, Any], key: str, at: str, read: Callable[[Any, str], T | None]
    ) -> tuple[T, ...]:
        """A required list, each item read by `read(item, pointer)`."""
        made = (read(item, f"{at}/{key}/{n}") for n, item in enumerate(self.items(held, key, at)))
        return tuple(item for item in made if item is not None)

    def table(self, item: Any, at: str, known: frozenset[str]) -> dict[str, Any] | None:
        if not isinstance(item, dict):
            self.wrong(at, "this must be an object", f"give {', '.join(sorted(known))}", rule="field.type")
            return None
        self.check_keys(item, known, at)
        return item


def load(text: str | bytes) -> tuple[Any, list[Violation]]:
    """JSON text as data; what is no plain JSON is one violation at the root."""

    def refuse(why: str) -> tuple[Any, list[Violation]]:
        return None, [
            Violation("", MISSING, f"the plan is not JSON: {why}", "submit one JSON object", "json")
        ]

    if len(text) > MAX_BYTES:
        return refuse(f"it is larger than {MAX_BYTES >> 20} MiB")
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        return refuse("it is nested too deeply")
    except (ValueError, UnicodeDecodeError) as error:
        return refuse(str(error)[:200])
    return found, []


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # INVARIANT: what is hashed is what is judged; of two equal keys a reader would see only one
    held = dict(pairs)
    if len(held) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key `{next(k for k in keys if keys.count(k) > 1)[:60]}` is given twice")
    return held


def _no_constant(name: str) -> Any:
    raise ValueError(f"`{name}` is no JSON number")


def parse(document: Any) -> tuple[Plan, list[Violation]]:
    """The plan, as far as it can be read, and everything that is wrong with its shape."""
    reader = Reader()
    if not isinstance(document, dict):
        reader.wrong("", "a plan is a JSON object", "submit one JSON object", rule="json")
        document = {}
    reader.check_keys(document, ENVELOPE, "")
    version = reader.text(document, "schemaVersion", "")
    if version and version != SCHEMA_VERSION:
        reader.wrong(
            "/schemaVersion",
            f"schema version `{version[:20]}` is not supported",
            f'use "{SCHEMA_VERSION}"',
            rule="field.version",
        )
    plan = Plan(
        work=reader.text(document, "workId", "", name=True),
        agent=reader.text(document, "agentId", "", name=True),
        run=reader.text(document, "runSessionId", "", name=True),
        snapshot=reader.text(document, "repoSnapshotId", ""),
        root=reader.text(document, "worktreeRoot", ""),
        pack_ref=reader.text(document, "contextPackRef", ""),
        pack_hash=reader.text(document, "contextPackHash", ""),
        policy_versions=_versions(reader, document),
        allowlist_ref=reader.text(document, "scopeAllowlistRef", ""),
        strategy=reader.text(document, "knowledgeStrategyId", ""),
        strategy_reasons=_reasons(reader, document),
        evidence=_evidence_policy(reader, document),
        fingerprint=reader.text(document, "planFingerprint", ""),
        traces=reader.texts(document, "sourceTraceRefs", ""),
        schema_version=version,
        nodes=_nodes(reader, document),
        raw=document,
    )
    return plan, reader.found


def _versions(reader: Reader, document: dict[str, Any]) -> dict[str, str]:
    found = reader.value(document, "policyVersionSet", "", dict, "an object: policy id → version")
    kept = {}
    for key, version in (found or {}).items():
        if isinstance(version, bool) or not isinstance(version, (str, int)) or version == "":
            reader.wrong(
                pointer("policyVersionSet", key),
                "a version is a text or a whole number",
                "copy it from the policy's row",
                rule="field.type",
            )
        else:
            kept[key] = str(version)
    return kept


def _reasons(reader: Reader, document: dict[str, Any]) -> tuple[Reason, ...]:
    def read(item: Any, at: str) -> Reason | None:
        held = reader.table(item, at, _REASON)
        if held is None:
            return None
        return Reason(reader.text(held, "reason", at), reader.texts(held, "evidenceRefs", at, least=1))

    reasons = reader.rows(document, "knowledgeStrategyReasons", "", read)
    if not reasons and document.get("knowledgeStrategyReasons") == []:
        reader.wrong(
            "/knowledgeStrategyReasons",
            "no reason is given for the strategy",
            "give at least one `{reason, evidenceRefs}`",
            rule="field.empty",
        )
    return reasons


def _evidence_policy(reader: Reader, document: dict[str, Any]) -> EvidencePolicy:
    held = reader.value(document, "evidencePolicy", "", dict, "an object with the category minima")
    at = "/evidencePolicy"
    if held is None:
        return EvidencePolicy(0, 0, 0, False, (), "file")
    reader.check_keys(held, EVIDENCE, at)

    def count(key: str) -> int:
        found = reader.value(held, key, at, int, "a whole number, 0 or more")
        if found is not None and not 0 <= found <= 100:
            reader.wrong(
                f"{at}/{key}", f"`{key}` must be 0 to 100", "give a small number", rule="field.range"
            )
        return int(found or 0)

    return EvidencePolicy(
        count("minRequirementSources"),
        count("minCodeEvidenceSources"),
        count("minPolicySources"),
        bool(reader.value(held, "allowSingleSourceWithGuard", at, bool, "true or false")),
        reader.texts(held, "lowEvidenceGuardRules", at),
        reader.choice(held, "distinctSourceDefinition", at, DISTINCT) or "file",
    )


def _nodes(reader: Reader, document: dict[str, Any]) -> tuple[Node, ...]:
    found = reader.value(document, "nodes", "", list, "a list of nodes")
    if found is None:
        return ()
    if not found:
        reader.wrong("/nodes", "a plan without nodes plans nothing", "add a node", rule="field.empty")
    if len(found) > MAX_NODES:
        reader.wrong("/nodes", f"a plan has {MAX_NODES} nodes at most", "split the plan", rule="field.long")
        return ()
    made = (_node(reader, item, n) for n, item in enumerate(found))
    return tuple(node for node in made if node is not None)


def _node(reader: Reader, item: Any, index: int) -> Node | None:
    at = f"/nodes/{index}"
    if not isinstance(item, dict):
        reader.wrong(at, "a node is an object", "give an object with `nodeId` and `kind`", rule="field.type")
        return None
    kind = reader.choice(item, "kind", at, KINDS)
    if not kind:
        return None
    reader.check_keys(item, FIELDS[kind], at)
    common = Common(
        reader.text(item, "nodeId", at, name=True),
        kind,
        index,
        reader.texts(item, "dependsOn", at),
        reader.choice(item, "atomicityBoundary", at, BOUNDARIES[kind], "PLAN_NOT_ATOMIC"),
        reader.texts(item, "expectedFailureSignatures", at, least=1),
        reader.text(item, "correctionCandidateOnFail", at),
    )
    return _READERS[kind](reader, item, at, common)


def _change(reader: Reader, item: dict[str, Any], at: str, common: Common) -> Node:
    operation = reader.choice(item, "operation", at, OPERATIONS)
    if operation == "move" and "destinationFile" not in item:
        reader.value(item, "destinationFile", at, str, "where the file goes")
    if operation and operation != "move" and "destinationFile" in item:
        reader.wrong(
            f"{at}/destinationFile", "only a move has a destination", "take it out", rule="field.unknown"
        )
    return ChangeNode(
        common,
        operation,
        reader.text(item, "targetFile", at),
        reader.texts(item, "targetSymbols", at),
        reader.text(item, "whyThisFile", at),
        reader.text(item, "editIntent", at),
        reader.rows(item, "citations", at, lambda row, place: _citation(reader, row, place)),
        reader.rows(item, "codeEvidence", at, lambda row, place: _code(reader, row, place)),
        _hooks(reader, item, at),
        reader.optional_text(item, "destinationFile", at),
        reader.flag(item, "lowEvidenceGuard", at),
        reader.optional_text(item, "uncertaintyNote", at),
        reader.flag(item, "requiresHumanReview", at),
    )


def _citation(reader: Reader, item: Any, at: str) -> Citation | None:
    held = reader.table(item, at, _CITATION)
    if held is None:
        return None
    return Citation(
        reader.choice(held, "category", at, CATEGORIES),
        reader.text(held, "sourceRef", at),
        reader.optional_text(held, "quote", at),
    )


def _code(reader: Reader, item: Any, at: str) -> CodeEvidence | None:
    held = reader.table(item, at, _EVIDENCE)
    if held is None:
        return None
    start = reader.value(held, "startLine", at, int, "a line number, from 1")
    end = reader.value(held, "endLine", at, int, "a line number, from 1")
    if start is not None and end is not None and not 1 <= start <= end:
        reader.wrong(
            f"{at}/startLine", f"lines {start} to {end} are no range", "count from 1", rule="field.range"
        )
    return CodeEvidence(
        reader.text(held, "file", at),
        start or 0,
        end or 0,
        reader.text(held, "contentHash", at),
        reader.optional_text(held, "symbol", at),
    )


def _hooks(reader: Reader, item: dict[str, Any], at: str) -> tuple[Hook, ...]:
    def read(row: Any, place: str) -> Hook | None:
        if isinstance(row, str):
            row = {"command": row}
        held = reader.table(row, place, _HOOK)
        if held is None:
            return None
        return Hook(reader.text(held, "command", place), reader.optional_text(held, "description", place))

    hooks = reader.rows(item, "verificationHooks", at, read)
    if len(hooks) > MAX_HOOKS:
        reader.wrong(
            f"{at}/verificationHooks",
            f"a node has {MAX_HOOKS} checks at most",
            "put them into one command, or split the node",
            rule="field.long",
        )
    return hooks[:MAX_HOOKS]


def _validate(reader: Reader, item: dict[str, Any], at: str, common: Common) -> Node:
    return ValidateNode(
        common,
        _hooks(reader, item, at),
        reader.texts(item, "mapsToNodeIds", at, least=1),
        reader.text(item, "successCriteria", at),
    )


def _escalate(reader: Reader, item: dict[str, Any], at: str, common: Common) -> Node:
    return EscalateNode(
        common,
        reader.texts(item, "requestedEvidence", at, least=1),
        reader.texts(item, "blockingReasons", at, least=1),
    )


def _side_effect(reader: Reader, item: dict[str, Any], at: str, common: Common) -> Node:
    gate = ""
    if isinstance(item.get("commitGateId"), str) and item["commitGateId"].strip():
        gate = reader.text(item, "commitGateId", at, name=True)
    else:
        reader.wrong(
            f"{at}/commitGateId",
            "a side effect without a commit gate",
            "name the gate a person opens: `commitGateId`",
            code="EXEC_UNGATED_SIDE_EFFECT",
            rule="gate.missing",
        )
    return SideEffectNode(
        common,
        reader.choice(item, "sideEffectType", at, SIDE_EFFECTS),
        reader.text(item, "sideEffectPayloadRef", at),
        gate,
    )


_READERS: dict[str, Callable[[Reader, dict[str, Any], str, Common], Node]] = {
    "change": _change,
    "validate": _validate,
    "escalate": _escalate,
    "side_effect": _side_effect,
}
