"""What every node of a plan must be: in scope, one step, verifiable, and plain to its reader. Pure."""

from __future__ import annotations

import re

from tether.control.plan_graph import Graph
from tether.control.plan_hooks import harm, judge
from tether.control.plan_model import (
    ChangeNode,
    SideEffectNode,
    ValidateNode,
    Violation,
    files_of,
    hooks_of,
)
from tether.control.plan_wording import HINTS, find_ambiguities, find_several, names_target
from tether.control.protected import NAMES, PROTECTED
from tether.control.scope import compile_scope
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tether.control.plan_model import Node, Plan

MAX_SYMBOLS = 12  # of one change bounded by a file
MAX_INSTRUCTION = 1_200  # characters of an edit intent that is still one step
_ORDINARY = lazy(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_WILD = frozenset("*?%")
WILD_NAMES = frozenset(("all", "any", "everything", "all symbols", "whole file", "entire file"))


def path_problem(path: str) -> str:
    """Why a spelling is no plain path inside the project; "" when it is."""
    if _ORDINARY.fullmatch(path):
        return ""
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path):
        return "it is absolute: name it from the project's root"
    if "\\" in path or any(not c.isprintable() for c in path):
        return "it has backslashes or control characters"
    names = path.split("/")
    if ".." in names:
        return "it goes up with `..`"
    if "" in names or "." in names:
        return "it has empty names, `.` or a final slash"
    if re.search(r"[*?\[\]]", path):
        return "it is a pattern: name one file"
    return ""


def check_scope(
    node: ChangeNode, globs: Sequence[str] | None, protected: Sequence[str] = ()
) -> Iterator[Violation]:
    """Paths that are plain, unprotected and on the allowlist, and symbols that are named one by one."""
    code = "PLAN_SCOPE_VIOLATION"
    at = f"/nodes/{node.common.nth}"
    for key, path in (("targetFile", node.file), ("destinationFile", node.destination)):
        if not path:
            continue
        problem = path_problem(path)
        if problem:
            yield Violation(
                f"{at}/{key}", code, f"`{path[:120]}` is refused: {problem}", "name one file", "scope.path"
            )
            continue
        names = path.split("/")
        fixed = () if NAMES.isdisjoint(names) else tuple(PROTECTED)
        for pattern in compile_scope((*fixed, *protected)).patterns if fixed or protected else ():
            if not pattern.negated and pattern.matches(names):
                why = PROTECTED.get(pattern.text, "the project's configuration protects it")
                yield Violation(
                    f"{at}/{key}", code, f"`{path}` is protected: {why}", "leave it out", "scope.protected"
                )
                break
        else:
            if globs is not None and not (globs and compile_scope(tuple(globs)).owns(path)):
                yield Violation(
                    f"{at}/{key}",
                    code,
                    f"`{path[:120]}` is not on the plan's allowlist",
                    "choose a file the allowlist owns, or ask for a wider scope",
                    "scope.allowlist",
                )
    for n, symbol in enumerate(node.symbols):
        if (
            not _WILD.isdisjoint(symbol)
            or symbol.strip().lower() in WILD_NAMES
            or symbol.endswith((".", "::"))
        ):
            yield Violation(
                f"{at}/targetSymbols/{n}",
                code,
                f"`{symbol[:60]}` is a wildcard, not a symbol",
                "name each symbol the node changes",
                "scope.symbol",
            )


def check_atomic(node: Node) -> Iterator[Violation]:
    """One step a node."""
    if not isinstance(node, ChangeNode):
        return
    code, at = "PLAN_NOT_ATOMIC", f"/nodes/{node.common.nth}"
    if node.common.boundary == "symbol" and len(node.symbols) != 1:
        said = f"a change of one symbol names {len(node.symbols)}"
        yield Violation(
            f"{at}/targetSymbols", code, said, "name one symbol, or split the node", "atomic.symbols"
        )
    elif len(node.symbols) > MAX_SYMBOLS:
        said = f"{len(node.symbols)} symbols are more than one step"
        yield Violation(
            f"{at}/targetSymbols", code, said, f"split the node: {MAX_SYMBOLS} at most", "atomic.symbols"
        )
    several = find_several(node.intent)
    if several:
        yield Violation(
            f"{at}/editIntent",
            code,
            f"several edits in one node (`{several}`)",
            "one node an edit",
            "atomic.several",
        )
    elif len(node.intent) > MAX_INSTRUCTION:
        said = f"an instruction of {len(node.intent)} characters is not one step"
        yield Violation(f"{at}/editIntent", code, said, "split the node", "atomic.long")


def check_hooks(node: Node) -> Iterator[Violation]:
    """Verification that can fail and harms nothing."""
    if not isinstance(node, (ChangeNode, ValidateNode)):
        return
    at = f"/nodes/{node.common.nth}/verificationHooks"
    weak = "PLAN_VERIFICATION_WEAK"
    if not node.hooks:
        said = f"`{node.common.id}` has no verification"
        yield Violation(at, weak, said, "add a command that fails when the work is wrong", "verify.none")
    for n, hook in enumerate(node.hooks):
        if not hook.command:
            continue
        why = judge(hook.command)
        if why:
            said = f"`{hook.command[:120]}` verifies nothing: {why}"
            yield Violation(
                f"{at}/{n}", weak, said, "use a command that fails when the work is wrong", "verify.weak"
            )
        danger = harm(hook.command)
        if danger:
            said = f"`{hook.command[:120]}` must not run as verification: {danger}"
            yield Violation(f"{at}/{n}", "PLAN_SCOPE_VIOLATION", said, "verify by looking", "verify.harm")


def check_wording(node: Node) -> Iterator[Violation]:
    """Instructions a weak model can follow without guessing."""
    at = f"/nodes/{node.common.nth}"
    texts = [("correctionCandidateOnFail", node.common.correction)]
    if isinstance(node, ChangeNode):
        texts.append(("editIntent", node.intent))
    elif isinstance(node, ValidateNode):
        texts.append(("successCriteria", node.criteria))
    for key, text in texts:
        if not text:
            continue
        for rule, words in find_ambiguities(text):
            if rule == "short" and key != "editIntent":
                continue
            yield _unclear(f"{at}/{key}", rule, f"`{words}` leaves the reader guessing")
    if (
        isinstance(node, ChangeNode)
        and node.intent
        and not names_target(node.intent, node.file, node.symbols)
    ):
        yield _unclear(f"{at}/editIntent", "unnamed", "the instruction does not say what it changes")


def _unclear(at: str, rule: str, message: str) -> Violation:
    return Violation(at, "PLAN_WEAK_MODEL_AMBIGUOUS", message, HINTS[rule], f"wording.{rule}")


def check_graph(plan: Plan, graph: Graph, exists: dict[str, bool]) -> Iterator[Violation]:
    """Names, order and what nodes have to do with each other."""
    yield from _names(plan, graph)
    if graph.cycle:
        ids = [plan.nodes[n].common.id for n in graph.cycle]
        shown = ", ".join(ids[:8]) + (" …" if len(ids) > 8 else "")
        for n in graph.cycle:
            yield Violation(
                f"/nodes/{plan.nodes[n].common.nth}/dependsOn",
                "PLAN_NOT_ATOMIC",
                f"these nodes wait for each other: {shown}",
                "take one dependency out of the circle",
                "graph.cycle",
            )
    yield from _overlaps(plan, graph)
    yield from _checks(plan, graph)
    yield from _presence(plan, graph, exists)


def _names(plan: Plan, graph: Graph) -> Iterator[Violation]:
    code = "PLAN_MISSING_REQUIRED_FIELDS"
    for n, node in enumerate(plan.nodes):
        at = f"/nodes/{node.common.nth}"
        if node.common.id and graph.place[node.common.id] != n:
            said = f"another node is called `{node.common.id}`"
            yield Violation(f"{at}/nodeId", code, said, "give every node its own id", "graph.duplicate")
        for k, name in enumerate(node.common.depends_on):
            if name not in graph.place:
                said = f"there is no node `{name[:60]}` to depend on"
                yield Violation(
                    f"{at}/dependsOn/{k}", code, said, "name a node of this plan", "graph.unknown"
                )
        if isinstance(node, ValidateNode):
            for k, name in enumerate(node.maps_to):
                if name not in graph.place:
                    said = f"there is no node `{name[:60]}` to check"
                    yield Violation(
                        f"{at}/mapsToNodeIds/{k}", code, said, "name a node of this plan", "graph.unknown"
                    )


def _overlaps(plan: Plan, graph: Graph) -> Iterator[Violation]:
    """Two nodes on one file, or with one side effect, must come one after the other."""
    held: dict[str, int] = {}
    for n in graph.order:  # so that a node seen earlier can only come before, never after
        node = plan.nodes[n]
        keys = list(files_of(node))
        effect = isinstance(node, SideEffectNode)
        if isinstance(node, SideEffectNode):
            keys = [f"{node.type}\0{node.payload}"] if node.payload else []
        for key in keys:
            beside = held.get(key, 0) & ~graph.before[n] & ~(1 << n)
            held[key] = held.get(key, 0) | 1 << n
            if not beside:
                continue
            mate = plan.nodes[(beside & -beside).bit_length() - 1].common.id
            yield Violation(
                f"/nodes/{node.common.nth}/dependsOn",
                "EXEC_SIDE_EFFECT_COLLISION" if effect else "PLAN_NOT_ATOMIC",
                f"`{node.common.id}` and `{mate}` may both be open on the same "
                + ("side effect" if effect else f"file `{key[:120]}`"),
                f"let one depend on the other, or make them one node: `dependsOn`: [`{mate}`]",
                "graph.overlap",
            )


def _checks(plan: Plan, graph: Graph) -> Iterator[Violation]:
    weak = "PLAN_VERIFICATION_WEAK"
    changing = bool(plan.changes)
    validating = [n for n, node in enumerate(plan.nodes) if isinstance(node, ValidateNode)]
    for n, node in enumerate(plan.nodes):
        at = f"/nodes/{node.common.nth}"
        if isinstance(node, ValidateNode):
            for k, name in enumerate(node.maps_to):
                place = graph.place.get(name)
                if place is None or n in graph.cycle:
                    continue
                if not isinstance(plan.nodes[place], (ChangeNode, SideEffectNode)):
                    said = f"`{name}` does nothing that could be checked"
                    yield Violation(f"{at}/mapsToNodeIds/{k}", weak, said, "name changes", "verify.target")
                elif not graph.comes_after(n, place):
                    said = f"`{node.common.id}` may run before `{name}`, which it checks"
                    hint = f"add `{name}` to its `dependsOn`"
                    yield Violation(f"{at}/mapsToNodeIds/{k}", weak, said, hint, "verify.early")
        if not isinstance(node, SideEffectNode) or not changing or n in graph.cycle:
            continue
        if not any(graph.comes_after(n, check) for check in validating):
            said = f"`{node.common.id}` reaches outside before anything is verified"
            yield Violation(f"{at}/dependsOn", weak, said, "let it depend on a validate node", "verify.late")


def _presence(plan: Plan, graph: Graph, exists: dict[str, bool]) -> Iterator[Violation]:
    """A file is created where there is none and changed where there is one, counting what earlier nodes do."""
    made: dict[str, list[int]] = {}
    gone: dict[str, list[int]] = {}
    for n, node in enumerate(plan.nodes):
        if isinstance(node, ChangeNode):
            if node.operation == "create":
                made.setdefault(node.file, []).append(n)
            if node.operation == "move":
                made.setdefault(node.destination, []).append(n)
            if node.operation in ("delete", "move"):
                gone.setdefault(node.file, []).append(n)
    for n, node in enumerate(plan.nodes):
        if not isinstance(node, ChangeNode) or node.file not in exists:
            continue
        at = f"/nodes/{node.common.nth}/targetFile"
        before = graph.before[n]
        there = exists[node.file] or any(before >> m & 1 for m in made.get(node.file, ()))
        if node.operation == "create" and exists[node.file]:
            if not any(before >> m & 1 for m in gone.get(node.file, ())):
                said = f"`{node.file[:120]}` exists already"
                yield Violation(at, "PLAN_SCOPE_VIOLATION", said, 'use `operation`: "modify"', "file.exists")
        elif node.operation in ("modify", "delete", "move") and not there:
            said = f"there is no file `{node.file[:120]}`, and no earlier node makes it"
            yield Violation(at, "PLAN_EVIDENCE_INSUFFICIENT", said, "name a file that exists", "file.absent")


def commands_of(plan: Plan) -> tuple[str, ...]:
    """Every verification command of a plan, once."""
    return tuple(dict.fromkeys(hook.command for node in plan.nodes for hook in hooks_of(node)))
