"""How well a change is founded: sources by category, distinct ones, the guarded single-source path. Pure.

What a plan cites must exist: `wanted(plan)` says what to look up, and what was found is handed in.
"""

from __future__ import annotations

import re

from tether.control.plan_hooks import judge
from tether.control.plan_model import EvidencePolicy, Violation
from tether.control.scope import compile_scope
from tether.errors import TetherError
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.plan_model import ChangeNode, Plan

CODE = "PLAN_EVIDENCE_INSUFFICIENT"
LEAST_DISTINCT = 2  # sources a change needs in all, unless it takes the guarded path
# what a plan may not ask less than; a strategy may ask more
FLOOR = EvidencePolicy(1, 1, 0, True, (), "file")
LINES = r"#L(\d{1,7})(?:-L?(\d{1,7}))?"

GUARD_RULES = {
    "has_verification": "every verification hook of the node can fail",
    "no_delete": "the node deletes and moves nothing",
    "max_symbols:N": "the node names at most N symbols",
    "path:GLOB": "the node's file lies under the glob",
}


@noun
class Sources:
    """What was found of what a plan cites.

    `ranges` maps (file, first line, last line) to `sha256:` of those lines, newlines as LF; a range that does
    not exist is not in it. `refs` are the other references that exist: tickets, specifications, intents, …
    """

    ranges: dict[tuple[str, int, int], str] = {}  # noqa: RUF012
    files: frozenset[str] = frozenset()
    refs: frozenset[str] = frozenset()


def wanted(plan: Plan) -> tuple[tuple[tuple[str, int, int], ...], tuple[str, ...]]:
    """The ranges and the other references that must be looked up; a whole file is lines 0 to 0."""
    ranges: dict[tuple[str, int, int], None] = {}
    refs: dict[str, None] = {}
    for node in plan.changes:
        for item in node.evidence:
            ranges[item.file, item.start, item.end] = None
        for citation in node.citations:
            place = file_place(citation.ref)
            if place is None:
                refs[citation.ref] = None
            else:
                ranges[place] = None
    return tuple(ranges), tuple(refs)


def file_place(ref: str) -> tuple[str, int, int] | None:
    """The lines that `file:path#L3-L9` names (0 to 0: all of it); None for a reference to something else."""
    if not ref.startswith("file:"):
        return None
    path, mark, lines = ref[5:].partition("#")
    if not mark:
        return path, 0, 0
    match = re.fullmatch(LINES, "#" + lines)
    if match is None:
        return path, -1, -1
    return path, int(match[1]), int(match[2] or match[1])


def check_policy(policy: EvidencePolicy, floor: EvidencePolicy = FLOOR) -> list[Violation]:
    """A plan may ask more evidence of itself than it must, never less."""
    found = []
    for field, key in (
        ("min_requirement", "minRequirementSources"),
        ("min_code", "minCodeEvidenceSources"),
        ("min_policy", "minPolicySources"),
    ):
        least = getattr(floor, field)
        if getattr(policy, field) < least:
            found.append(
                Violation(
                    f"/evidencePolicy/{key}",
                    CODE,
                    f"`{key}` is {getattr(policy, field)}, below the least allowed, {least}",
                    f"set it to {least} or more",
                    "evidence.floor",
                )
            )
    if policy.allow_single and not floor.allow_single:
        found.append(
            Violation(
                "/evidencePolicy/allowSingleSourceWithGuard",
                CODE,
                "the guarded single-source path is closed for this strategy",
                "set it to false and cite more sources",
                "evidence.floor",
            )
        )
    for n, rule in enumerate(policy.guard_rules):
        if not _is_rule(rule):
            found.append(
                Violation(
                    f"/evidencePolicy/lowEvidenceGuardRules/{n}",
                    CODE,
                    f"`{rule[:60]}` is no guard rule",
                    f"use {', '.join(GUARD_RULES)}",
                    "evidence.rule",
                )
            )
    return found


def check_change(node: ChangeNode, policy: EvidencePolicy, floor: EvidencePolicy = FLOOR) -> list[Violation]:
    """Whether one change has the sources it needs, or takes the guarded path rightly."""
    at = f"/nodes/{node.common.nth}"
    requirement = _distinct([c.ref for c in node.citations if c.category == "requirement"], policy.distinct)
    stated = _distinct([c.ref for c in node.citations if c.category == "policy"], policy.distinct)
    code = _distinct([f"file:{e.file}#L{e.start}-L{e.end}" for e in node.evidence], policy.distinct)
    lacking = []
    for found, least, word, where in (
        (requirement, max(policy.min_requirement, floor.min_requirement), "requirement", "citations"),
        (code, max(policy.min_code, floor.min_code), "code", "codeEvidence"),
        (stated, max(policy.min_policy, floor.min_policy), "policy", "citations"),
    ):
        if len(found) < least:
            lacking.append((f"{at}/{where}", f"{len(found)} distinct {word} sources of {least}"))
    total = len(requirement | stated | code)
    if not lacking and total < LEAST_DISTINCT:
        lacking.append((f"{at}/citations", f"{total} distinct sources in all of {LEAST_DISTINCT}"))
    if not lacking:
        return []
    if policy.allow_single and floor.allow_single and total >= 1:
        return _guarded(node, policy, at)
    hint = "cite more of what it rests on"
    if policy.allow_single and total == 0:
        hint += "; even the guarded path needs one source"
    return [
        Violation(place, CODE, f"`{node.common.id}` has {said}", hint, "evidence.minimum")
        for place, said in lacking
    ]


def check_sources(node: ChangeNode, sources: Sources) -> list[Violation]:
    """Whether everything a change cites exists, with the content it had when it was read."""
    found = []
    at = f"/nodes/{node.common.nth}"

    def refuse(place: str, message: str, hint: str) -> None:
        found.append(Violation(place, CODE, message, hint, "evidence.unresolved"))

    for n, item in enumerate(node.evidence):
        place = f"{at}/codeEvidence/{n}"
        if item.file not in sources.files:
            refuse(f"{place}/file", f"there is no file `{item.file[:120]}`", "cite a file that exists")
            continue
        now = sources.ranges.get((item.file, item.start, item.end))
        if now is None:
            said = f"`{item.file[:120]}` has no lines {item.start} to {item.end}"
            refuse(f"{place}/endLine", said, "cite lines that exist")
        elif now != item.hash:
            said = f"lines {item.start} to {item.end} of `{item.file[:120]}` are not what was cited"
            refuse(f"{place}/contentHash", said, f'read them again; they are now "{now}"')
    for n, citation in enumerate(node.citations):
        where = file_place(citation.ref)
        place = f"{at}/citations/{n}/sourceRef"
        if where is None:
            if citation.ref not in sources.refs:
                refuse(
                    place, f"`{citation.ref[:120]}` is not known", "cite something that was fetched or exists"
                )
        elif where[0] not in sources.files:
            refuse(place, f"there is no file `{where[0][:120]}`", "cite a file that exists")
        elif where[1:] != (0, 0) and where not in sources.ranges:
            refuse(
                place, f"`{citation.ref[:120]}` names no lines of the file", "cite lines that exist: `#L3-L9`"
            )
    return found


def _guarded(node: ChangeNode, policy: EvidencePolicy, at: str) -> list[Violation]:
    found = []

    def need(field: str, message: str, hint: str) -> None:
        found.append(Violation(f"{at}/{field}", CODE, message, hint, "evidence.guard"))

    if not node.guard:
        need("lowEvidenceGuard", "little evidence without a guard", "set `lowEvidenceGuard` to true")
    if not node.uncertainty:
        need("uncertaintyNote", "little evidence and no word on what is uncertain", "say what is not known")
    if not node.review:
        need("requiresHumanReview", "little evidence and no review", "set `requiresHumanReview` to true")
    for rule in policy.guard_rules:
        if _is_rule(rule) and not _holds(rule, node):
            need("lowEvidenceGuard", f"the guard rule `{rule}` does not hold", "make it hold, or cite more")
    return found


def _is_rule(rule: str) -> bool:
    if rule in ("has_verification", "no_delete"):
        return True
    name, _, value = rule.partition(":")
    if name == "max_symbols":
        return value.isascii() and value.isdigit() and len(value) < 5
    if name != "path" or not value:
        return False
    try:
        compile_scope((value,))
    except TetherError:
        return False
    return True


def _holds(rule: str, node: ChangeNode) -> bool:
    if rule == "has_verification":
        return bool(node.hooks) and not any(judge(hook.command) for hook in node.hooks)
    if rule == "no_delete":
        return node.operation not in ("delete", "move")
    name, _, value = rule.partition(":")
    if name == "max_symbols":
        return len(node.symbols) <= int(value)
    return bool(node.file) and compile_scope((value,)).owns(node.file)


def _distinct(refs: list[str], how: str) -> set[str]:
    """Sources counted once: by exact reference, by file or document, or by the system they come from."""
    if how == "ref":
        return set(refs)
    if how == "file":
        return {ref.partition("#")[0] for ref in refs}
    return {ref.partition(":")[0] for ref in refs}
