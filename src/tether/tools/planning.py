"""Plans in a project: the facts they are judged by, accepting them, and finishing their nodes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tether.control.evidence import Sources, wanted
from tether.control.plan_check import Known, Report, check
from tether.control.plan_cover import listed, open_nodes
from tether.control.plan_model import ChangeNode, files_of
from tether.control.plan_text import MAX_BYTES, load, parse
from tether.control.policies import Policies, Problem, read_rows
from tether.control.strategy import Material
from tether.errors import TetherError
from tether.record.trace import hash_range
from tether.source.git import head_revision

if TYPE_CHECKING:
    from tether.control.plan_model import Plan
    from tether.project import Project

SEEDS = ".tether/graph/seed"
MAX_SEED = 4 << 20  # bytes of one file of rows
MAX_MATERIAL = 256 << 10  # characters of a file that features are looked for in


def judge(project: Project, text: str | bytes, **more: Any) -> Report:
    """A plan as JSON text, judged by what the project holds now. `more` are facts only the caller knows."""
    document, broken = load(text)
    report = check(document, gather(project, document, **more))
    return Report(report.plan, tuple(broken), (), report.signature, report.selection) if broken else report


def gather(
    project: Project, document: Any, *, prompt: str = "", artifacts: tuple[str, ...] = (), **more: Any
) -> Known:
    """Everything a plan says of the project, looked up: packs, scopes, policies, cited lines, target files."""
    plan, _ = parse(document)
    policies = read_policies(project)
    texts = _read_files(project, plan)
    sources = _sources(project, plan, texts, policies)
    facts: dict[str, Any] = {
        "root": project.path,
        "snapshot": snapshot_id(project),
        "packs": _packs(project, plan),
        "allowlists": {f"intent:{i.id}": i.owned_scope for i in project.intents if i.status == "active"},
        "protected": project.config.security.protected,
        "exists": {
            file: project.root.look(file, hash=False).kind == "file"
            for node in plan.nodes
            for file in files_of(node)
            if file
        },
        "policies": policies,
        "sources": sources,
        "material": Material(
            prompt, artifacts, {p: t[:MAX_MATERIAL].decode("utf-8", "replace") for p, t in texts.items()}
        ),
    }
    return Known(**{**facts, **more})


def snapshot_id(project: Project) -> str:
    """What `repoSnapshotId` must be: the commit the worktree stands on; "" outside git."""
    revision = head_revision(project.repository) if project.repository else ""
    return f"git:{revision}" if revision else ""


def read_policies(project: Project) -> Policies:
    """The policy rows of the project's seed files. What cannot be read is a problem, and no plan passes."""
    found, problems = [], []
    top = os.path.join(project.path, SEEDS)
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".jsonl"):
                continue
            path = os.path.relpath(os.path.join(folder, name), project.path)
            try:
                data, _ = project.root.read(path, MAX_SEED, follow=False)
                found.append((path, data.decode()))
            except (TetherError, UnicodeDecodeError) as error:
                problems.append(Problem(path, str(error)))
    rows = read_rows(found)
    return Policies(rows.rows, (*rows.problems, *problems))


def accept(project: Project, report: Report, by: str) -> str:
    """Puts a valid plan in force in this worktree, in the place of the one its work had; its id."""
    if not report.ok:
        raise TetherError("PLAN_REQUIRED", "the plan is not valid, so it cannot be accepted")
    plan = report.plan
    identity = "P-" + plan.fingerprint.rpartition(":")[2][:16]
    body = {
        "tree": project.tree,
        "plan": identity,
        "work": plan.work,
        "fingerprint": plan.fingerprint,
        "strategy": plan.strategy,
        "nodes": listed(plan),
        "review": [n.common.id for n in plan.nodes if isinstance(n, ChangeNode) and n.review],
        "by": by,
    }
    with project.journal.turn(durable=True) as turn:
        turn.append("planned", body, run=plan.run)
    return identity


def withdraw(project: Project, work: str, by: str) -> None:
    """Takes a work's plan out of force."""
    with project.journal.turn(durable=True) as turn:
        held = turn.fact(f"plan:{project.tree}", work)
        if held is None:
            raise TetherError("NOT_FOUND", f"`{work}` has no plan in force", action="See `tether plan list`")
        turn.append(
            "planned", {"tree": project.tree, "plan": held["plan"], "work": work, "nodes": [], "by": by}
        )


def plans_in_force(project: Project) -> dict[str, dict[str, Any]]:
    """The accepted plans of this worktree, by work, each with its open nodes."""
    plans = project.journal.facts(f"plan:{project.tree}")
    return {
        work: {**held, "open": [node.id for node in open_nodes(plans, work)]}
        for work, held in sorted(plans.items())
    }


def find_open(project: Project, work: str, node: str) -> dict[str, Any]:
    """One open node of a work's plan, as the journal keeps it."""
    held = plans_in_force(project).get(work)
    if held is None:
        raise TetherError("NOT_FOUND", f"`{work}` has no plan in force", action="See `tether plan list`")
    if node not in held["open"]:
        said = "is done" if node in held["done"] else "is not open"
        shown = ", ".join(f"`{name}`" for name in held["open"]) or "none"
        raise TetherError(
            "PLAN_REQUIRED", f"node `{node}` of `{work}` {said}; open are {shown}", action="Take an open node"
        )
    found = next(item for item in held["nodes"] if item["id"] == node)
    return {**found, "plan": held["plan"]}


def finish(project: Project, work: str, node: dict[str, Any], results: list[dict[str, Any]], by: str) -> None:
    """Writes down that a node is done, so that what depends on it opens."""
    body = {
        "tree": project.tree,
        "work": work,
        "plan": node["plan"],
        "node": node["id"],
        "checks": results,
        "by": by,
    }
    project.journal.append("node_done", body)


def _read_files(project: Project, plan: Plan) -> dict[str, bytes]:
    """The files a plan changes and cites, as far as they can be read."""
    ranges, _ = wanted(plan)
    texts: dict[str, bytes] = {}
    for path in dict.fromkeys(
        [*(file for node in plan.nodes for file in files_of(node)), *(r[0] for r in ranges)]
    ):
        try:
            data, spot = project.root.read(path)
        except TetherError:
            continue  # absent or refused: the validator says so at the place that names it
        if spot.path == path:
            texts[path] = data
    return texts


def _sources(project: Project, plan: Plan, texts: dict[str, bytes], policies: Policies) -> Sources:
    ranges, refs = wanted(plan)
    found: dict[tuple[str, int, int], str] = {}
    split = {path: data.replace(b"\r\n", b"\n").split(b"\n") for path, data in texts.items()}
    for path, start, end in ranges:
        lines = split.get(path)
        if lines is None:
            continue
        count = len(lines) - (lines[-1] == b"")
        if 1 <= start <= end <= count:
            found[path, start, end] = hash_range(lines[start - 1 : end])
    known = {f"intent:{intent.id}" for intent in project.intents}
    known |= {f"policy:{row.id}" for row in policies.rows}
    known |= {f"policy:{row.id}@{row.version}" for row in policies.rows}
    known |= {
        ref
        for ref in refs
        if ref.startswith("trace:") and project.journal.fact("record", ref[6:]) is not None
    }
    return Sources(found, frozenset(texts), frozenset(known))


def _packs(project: Project, plan: Plan) -> dict[str, Any]:
    """The context pack a plan names: a JSON file of the project."""
    if not plan.pack_ref:
        return {}
    try:
        data, _ = project.root.read(plan.pack_ref, MAX_BYTES)
        return {plan.pack_ref: json.loads(data)}
    except (TetherError, ValueError, RecursionError):
        return {}  # no pack by that name: the validator says what to do
