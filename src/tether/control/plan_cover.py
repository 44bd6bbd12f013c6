"""Which open node of an accepted plan covers a call. Pure. HOOK PATH."""

from __future__ import annotations

from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from tether.types import Effect, Spot


@noun
class OpenNode:
    """A node whose turn it is: everything it depends on is done, it is not."""

    id: str
    plan: str
    work: str
    files: tuple[str, ...] = ()  # what it may write, and delete if `deletes` names it
    deletes: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()  # its verification commands


def open_nodes(plans: Mapping[str, dict[str, Any]], work: str) -> tuple[OpenNode, ...]:
    """The open nodes of accepted plans, by work; a call of one work sees only that work's."""
    found: list[OpenNode] = []
    for name in sorted(plans):
        held = plans[name]
        if work and work != name:
            continue
        done = set(held["done"])
        found.extend(
            OpenNode(
                node["id"],
                held["plan"],
                name,
                tuple(node["files"]),
                tuple(node["deletes"]),
                tuple(node["checks"]),
            )
            for node in held["nodes"]
            if node["id"] not in done and done.issuperset(node["needs"])
        )
    return tuple(found)


def covering(
    nodes: Iterable[OpenNode], effects: Sequence[Effect], spots: Mapping[str, Spot], root: str = ""
) -> tuple[OpenNode, ...]:
    """The open nodes that cover everything a call would change.

    A write is covered by a node that names the file, a command by a node that has it as a check, word for
    word and at the root, or by one that names every file a safe command writes. A check that several nodes
    share is one check: it belongs to the first of them.
    """
    changing = [e for e in effects if e.kind not in ("read", "reach")]
    found = tuple(node for node in nodes if all(_covers(node, e, changing, spots, root) for e in changing))
    return found[:1] if all(e.kind == "run" for e in changing) else found


def _covers(
    node: OpenNode, effect: Effect, effects: Sequence[Effect], spots: Mapping[str, Spot], root: str
) -> bool:
    if effect.kind in ("write", "delete"):
        spot = spots.get(effect.target)
        if spot is None or spot.path not in node.files:
            return False
        return effect.kind == "write" or spot.path in node.deletes
    if effect.kind != "run" or effect.risk is None:
        return False
    if effect.risk.read_only:
        return True
    command = effect.target.strip()
    if command == f"tether plan done {node.work} {node.id}":
        return True  # it runs the node's checks, and they decide
    if command in node.checks and effect.cwd in ("", ".", root):
        return True
    # INVARIANT: a command is covered by its files only when it is known to do nothing but write them
    writes = any(e.kind == "write" and e.command for e in effects)
    return writes and effect.risk.level == "SAFE"


def listed(plan: Any) -> list[dict[str, Any]]:
    """What the journal keeps of an accepted plan's nodes."""
    from tether.control.plan_model import ChangeNode, files_of, hooks_of

    return [
        {
            "id": node.common.id,
            "kind": node.common.kind,
            "needs": list(node.common.depends_on),
            "files": list(files_of(node)),
            "deletes": [node.file]
            if isinstance(node, ChangeNode) and node.operation in ("delete", "move")
            else [],
            "checks": [hook.command.strip() for hook in hooks_of(node)],
        }
        for node in plan.nodes
    ]
