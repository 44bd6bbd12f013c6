"""Policies as versioned rows: read from JSONL, in force at their highest version, asked of a plan. Pure."""

from __future__ import annotations

import json
import re

from tether.control.plan_model import Violation, canonical, pointer
from tether.control.predicate import KINDS, World, compile_predicate
from tether.control.scope import compile_scope
from tether.errors import TetherError
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

CODE = "PLAN_POLICY_VIOLATION"
INVARIANT = ("id", "type", "version", "updated_at", "updated_by")
FIELDS = frozenset((*INVARIANT, "scope", "predicate", "message", "hint"))
SCOPE_FIELDS = frozenset(("kinds", "files", "strategies"))
MAX_ROWS = 2_000
MAX_LINE = 64 << 10


@noun
class Scope:
    """Which nodes a policy speaks of; without kinds and files, the plan as a whole."""

    kinds: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()


@noun
class Policy:
    """One row in force."""

    id: str
    version: str
    updated_at: str
    updated_by: str
    scope: Scope
    predicate: str
    message: str = ""
    hint: str = ""
    origin: str = ""


@noun
class Problem:
    """A row that cannot be used. INVARIANT: while there is one, no plan passes."""

    origin: str
    message: str


@noun
class Policies:
    """The rows in force, by id, and what is wrong with others."""

    rows: tuple[Policy, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def versions(self) -> dict[str, str]:
        """What `policyVersionSet` must say."""
        return {row.id: row.version for row in self.rows}


def read_rows(texts: Iterable[tuple[str, str]]) -> Policies:
    """Policies from (name, JSONL text) pairs. Rows of other types are passed over."""
    held: dict[str, dict[tuple[int, ...], tuple[Policy, str]]] = {}
    problems: list[Problem] = []
    count = 0
    for name, text in texts:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            origin = f"{name}:{number}"
            count += 1
            if count > MAX_ROWS:
                problems.append(Problem(origin, f"there are over {MAX_ROWS} rows"))
                break
            try:
                policy = _row(line, origin)
            except TetherError as error:
                problems.append(Problem(origin, error.message))
                continue
            if policy is None:
                continue
            spelt = canonical([policy.predicate, policy.message, policy.hint, *_listed(policy.scope)])
            versions = held.setdefault(policy.id, {})
            other = versions.setdefault(_order(policy.version), (policy, spelt))
            if other[1] != spelt:
                said = f"version {policy.version} of `{policy.id}` is also at {other[0].origin}, and differs"
                problems.append(Problem(origin, said))
    rows = tuple(held[key][max(held[key])][0] for key in sorted(held))
    return Policies(rows, tuple(problems))


def check_versions(stated: dict[str, str], policies: Policies) -> list[Violation]:
    """A plan must have been made under exactly the policies in force."""
    found = []
    current = policies.versions
    for key, version in current.items():
        if stated.get(key) != version:
            said = f"made under version {stated[key]}" if key in stated else "made without it"
            found.append(
                Violation(
                    pointer("policyVersionSet", key),
                    CODE,
                    f"policy `{key}` is at version {version}; this plan was {said}",
                    f'read the policy as it is now and say "{key}": "{version}"',
                    "policy.stale",
                )
            )
    found.extend(
        Violation(
            pointer("policyVersionSet", key),
            CODE,
            f"there is no policy `{key[:60]}`",
            "take it out of `policyVersionSet`",
            "policy.unknown",
        )
        for key in sorted(stated.keys() - current.keys())
    )
    return found


def check_policies(policies: Policies, world: World, strategy: str = "") -> list[Violation]:
    """Every row a plan breaks, at the node that breaks it."""
    found = [
        Violation(
            "", CODE, f"policy row {p.origin} cannot be used: {p.message}", "mend the row", "policy.broken"
        )
        for p in policies.problems
    ]
    for row in policies.rows:
        if row.scope.strategies and strategy not in row.scope.strategies:
            continue
        try:
            found.extend(_ask(row, world))
        except TetherError as error:  # a glob that is none shows only when it is matched
            said = f"policy row {row.origin} cannot be used: {error.message}"
            found.append(Violation("", CODE, said, "mend the row", "policy.broken"))
    return found


def _ask(row: Policy, world: World) -> list[Violation]:
    test = compile_predicate(row.predicate)
    if not row.scope.kinds and not row.scope.files:
        return [] if test(world) else [_violation(row, "", "")]
    return [
        _violation(row, f"/nodes/{index}", str(node.get("nodeId", ""))[:60])
        for index, node in _selected(row.scope, world.nodes)
        if not test(World(world.plan, world.nodes, world.signature, node))
    ]


def _selected(scope: Scope, nodes: Sequence[dict[str, Any]]) -> Iterable[tuple[int, dict[str, Any]]]:
    globs = compile_scope(scope.files) if scope.files else None
    for node in nodes:
        if scope.kinds and "node" not in scope.kinds and node.get("kind") not in scope.kinds:
            continue
        if globs is not None:
            paths = [node.get("targetFile"), node.get("destinationFile")]
            if not any(isinstance(path, str) and path and globs.owns(path) for path in paths):
                continue
        yield node["index"], node


def _violation(row: Policy, at: str, node: str) -> Violation:
    about = f"node `{node}`" if node else "the plan"
    said = row.message or f"`{row.predicate[:200]}` does not hold"
    return Violation(
        at,
        CODE,
        f"{about} breaks policy `{row.id}` version {row.version} ({row.origin}): {said}",
        row.hint or f"make this hold: {row.predicate[:200]}",
        f"policy:{row.id}",
    )


def _row(line: str, origin: str) -> Policy | None:
    if len(line) > MAX_LINE:
        raise _bad(f"a row is longer than {MAX_LINE >> 10} KiB")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _bad(f"this is not JSON: {str(error)[:100]}") from None
    if not isinstance(row, dict):
        raise _bad("a row is a JSON object")
    for key in INVARIANT:
        value = row.get(key)
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
            raise _bad(f"every row needs `{key}`")
    if row["type"] != "policy":
        return None
    if unknown := sorted(row.keys() - FIELDS):
        raise _bad(f"a policy has no field `{unknown[0][:60]}`")
    identity, version = str(row["id"]), str(row["version"])
    if not re.fullmatch(r"[A-Za-z0-9][\w.:-]{0,127}", identity):
        raise _bad(f"`{identity[:60]}` is not a safe id")
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9}){0,3}", version):
        raise _bad(f"version `{version[:30]}` is not a number or dotted numbers")
    if not re.match(r"\d{4}-\d\d-\d\d", str(row["updated_at"])):
        raise _bad("`updated_at` is not an ISO date")
    predicate = row.get("predicate")
    if not isinstance(predicate, str):
        raise _bad("a policy needs a `predicate`")
    compile_predicate(predicate)
    texts = [row.get("message", ""), row.get("hint", "")]
    if not all(isinstance(text, str) for text in texts):
        raise _bad("`message` and `hint` are texts")
    scope = _scope(row.get("scope", {}))
    message, hint = texts
    return Policy(
        identity,
        version,
        str(row["updated_at"]),
        str(row["updated_by"]),
        scope,
        predicate,
        message,
        hint,
        origin,
    )


def _scope(held: Any) -> Scope:
    if not isinstance(held, dict) or held.keys() - SCOPE_FIELDS:
        raise _bad(f"a scope has only {', '.join(sorted(SCOPE_FIELDS))}")
    lists = {}
    for key in SCOPE_FIELDS:
        value = held.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise _bad(f"`scope.{key}` is a list of texts")
        lists[key] = tuple(value)
    if unknown := [kind for kind in lists["kinds"] if kind not in KINDS]:
        raise _bad(f"`{unknown[0][:40]}` is no kind of node")
    if lists["files"]:
        compile_scope(lists["files"])  # refuses what is no glob
    return Scope(**lists)


def _order(version: str) -> tuple[int, ...]:
    parts = [int(part) for part in version.split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()  # 1.0 is 1
    return tuple(parts)


def _listed(scope: Scope) -> list[list[str]]:
    return [list(scope.kinds), list(scope.files), list(scope.strategies)]


def _bad(message: str) -> TetherError:
    return TetherError("BAD_ARGUMENTS", message)
