"""Which open node of an accepted plan covers a call. Pure. HOOK PATH."""

from __future__ import annotations

from tether.source.pattern import lazy
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from tether.types import Effect, Spot

_PLAIN = lazy(r"[A-Za-z0-9_./-]+(?: [A-Za-z0-9_./@+-]+)+")
MOVERS = frozenset(("cp", "mv", "touch", "rm", "git mv", "git rm"))
REMOVERS = frozenset(("rm", "git rm"))


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
    word and at the root, or by one that names every file a plain `cp`, `mv`, `touch` or `rm` changes. A check
    that several nodes share is one check: it belongs to the first of them.
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
    return _moves_files(command, node, effects, spots)


def _moves_files(command: str, node: OpenNode, effects: Sequence[Effect], spots: Mapping[str, Spot]) -> bool:
    """Whether a command does nothing but copy, move, touch or remove the files it names in plain words.

    INVARIANT: files cover a command only when every file it can change is among its effects. Of any other
    command, however safe, some writes may not be seen: a formatter names what it rewrites nowhere.
    """
    if not _PLAIN.fullmatch(command):
        return False
    words = command.split(" ")
    program = " ".join(words[:2]) if words[0] == "git" else words[0]
    if program not in MOVERS or any(word.startswith("-") for word in words):
        return False
    named = [spots.get(e.target) for e in effects if e.kind == "write" and e.command]
    paths = [spot.path for spot in named if spot is not None and spot.kind != "dir"]
    if not paths or len(paths) != len(named):
        return False
    return program not in REMOVERS or all(path in node.deletes for path in paths)


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
