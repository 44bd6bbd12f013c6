"""admit · settle: may this call be done, and what came of it.

Synchronous and standard library only, so that an agent's hook starts at once. Every door ends here:
`gate` for tools that Tether runs itself, hooks for tools that the agent runs.
"""

from __future__ import annotations

import os
from hashlib import sha256

from tether.control.decide import CHANGING, decide, is_mutating, signature
from tether.control.facts import Facts
from tether.control.plan_cover import open_nodes
from tether.errors import TetherError
from tether.record.digest import clean, keep_agent, keep_decision, keep_effect, summarise
from tether.record.journal import canonical
from tether.record.trace import derive_id
from tether.source.git import head_revision
from tether.source.staging import forget, name_aside, roll_forward
from tether.source.swap import Staged
from tether.types import Approval, Change, Decision, Effect, Risk, Spot, noun, plain, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tether.project import Project
    from tether.record.journal import Turn
    from tether.types import Call

WORDS = 64  # of a command, that are looked at for files they name
_WORDS = str.maketrans(dict.fromkeys(";&|<>()'\"`$={}", " "))
TICKET_SECONDS = 900  # how long an agent that runs its own tool may take before its ticket is reconciled


@noun
class Verdict:
    """The answer to one call: go (a ticket), wait (an approval), or the reason why not."""

    decision: Decision
    call_hash: str
    spots: dict[str, Spot]
    mutating: bool
    approval: Approval | None = None
    writes: tuple[Write, ...] = ()


@noun
class Write:
    """One planned change of one file, named before anything is touched so that any process can finish it."""

    path: str
    before: str
    after: str | None
    staged: str = ""
    accepts: tuple[str, ...] = ()


def admit(
    project: Project,
    call: Call,
    effects: Sequence[Effect],
    *,
    tool_use: str = "",
    ticket_seconds: int = 0,
    accepts: dict[str, tuple[str, ...]] | None = None,
) -> Verdict:
    """Decides on fresh facts and writes the decision down, in one transaction with what it spends.

    With `ticket_seconds` the caller runs the tool itself and may never come back to settle; `accepts` are
    the hashes that each of its files may then have.
    """
    project.refresh()
    project.require_own_journal()
    mutating = is_mutating(effects)
    spots = look(project, effects)
    paths = [spots[e.target].path for e in effects if e.kind in CHANGING and spots[e.target].path]
    if recover(project, paths, session=call.agent.session):
        spots = look(project, effects)  # what was left open has been finished or undone: look again
    targets = [spots[e.target] for e in effects if e.kind in CHANGING]
    digest = call_hash(call, effects, spots, project.tree, _named(project, effects))
    gaps = _gaps(project, [s for s in targets if s.kind == "file" or s.kind == "absent"])
    writes = tuple(
        Write(
            spots[e.target].path,
            spots[e.target].hash,
            "" if e.kind == "delete" else e.after,
            accepts=(accepts or {}).get(e.target, ()),
        )
        for e in effects
        if e.kind in CHANGING and not e.command
    )
    run = call.agent.session
    with project.journal.turn(durable=mutating) as turn:
        facts = _facts(project, turn, call, digest, spots, paths)
        decision = decide(facts, call, effects)
        approval = None
        body = {
            "verb": call.verb,
            "door": call.door,
            "tree": project.tree,
            "work": call.work,
            "agent": keep_agent(call.agent),
            "args": summarise(call.args),
            "effects": [keep_effect(e, spots) for e in effects],
            "mutating": mutating,
            "call_hash": digest,
            "paths": paths,
            **keep_decision(decision),
        }
        if decision.verdict == "allow":
            if mutating:
                for change in gaps:
                    # INVARIANT: what people changed in between is written down before what the agent does next
                    _observe(project, turn, change)
                if not ticket_seconds:
                    writes = tuple(replace(w, staged=name_aside(project.root, w.path)) for w in writes)
                body["writes"] = [plain(w) for w in writes]
                body["tool_use"] = tool_use
                body["expires"] = turn.now + ticket_seconds if ticket_seconds else 0
                body["life"] = "" if ticket_seconds else project.life()
            if decision.approval:
                body["consumes"] = decision.approval
            if mutating:
                turn.append("decided", body, run=run, call=call.id)
        elif decision.verdict == "ask":
            approval = _ask(project, turn, call, decision, digest, facts, body)
        else:
            body["signature"] = clean(signature(facts, call, decision, effects))
            turn.append("decided", body, run=run, call=call.id)
            _break_loop(turn, run, body["signature"], project.config.governance.loop_limit)
            if decision.code == "APPROVAL_EXPIRED" and facts.approval:
                expired = {"approval": facts.approval.id, "state": "expired", "by": "clock"}
                turn.append("answered", expired, run=run, call=call.id)
    return Verdict(decision, digest, spots, mutating, approval, writes)


def foresee(project: Project, call: Call) -> Decision | None:
    """The refusal a changing call would get before its arguments are even understood, written down; else None."""
    project.refresh()
    placeholder = Effect("run", call.verb, risk=Risk(level="SAFE"))
    with project.journal.turn() as turn:
        facts = _facts(project, turn, call, "", {}, ())
        decision = decide(facts, call, (placeholder,))
        if decision.verdict != "deny" or (decision.code == "PLAN_REQUIRED" and facts.plan_nodes):
            return None
        _refuse(project, turn, call, decision, signature(facts, call, decision, ()))
    return decision


def refuse(project: Project, call: Call, error: TetherError) -> None:
    """Writes down a call that was refused while its arguments were being understood."""
    decision = Decision(
        "deny",
        error.code,
        error.message,
        error.recoverable,
        error.action,
        rules=("path.refused",),
        policy=project.policy,
    )
    with project.journal.turn() as turn:
        _refuse(project, turn, call, decision, signature(Facts(), call, decision, ()))


def _refuse(project: Project, turn: Turn, call: Call, decision: Decision, sign: str) -> None:
    run = call.agent.session
    body = {
        "verb": call.verb,
        "door": call.door,
        "tree": project.tree,
        "agent": keep_agent(call.agent),
        "args": summarise(call.args),
        "signature": sign,
        **keep_decision(decision),
    }
    turn.append("decided", body, run=run, call=call.id)
    _break_loop(turn, run, body["signature"], project.config.governance.loop_limit)


def settle(
    project: Project,
    call: Call,
    decision: Decision,
    *,
    outcome: str = "done",
    changes: Sequence[Change] = (),
    extra: dict[str, Any] | None = None,
) -> tuple[str, ...]:
    """Writes down what came of an admitted call; returns the ids of its trace records."""
    with project.journal.turn() as turn:
        return _settle(
            project,
            turn,
            call.id,
            call.agent.session,
            outcome,
            changes,
            {
                "verb": call.verb,
                "agent": keep_agent(call.agent),
                "intent": decision.intent,
                "decision": {
                    "verdict": decision.verdict,
                    "rules": list(decision.rules),
                    "policy": decision.policy,
                    "consumes": decision.approval,
                    "plan_node": decision.plan_node,
                },
                **(extra or {}),
            },
        )


def settle_open(
    project: Project,
    call_id: str,
    *,
    outcome: str,
    changes: Sequence[Change] = (),
    extra: dict[str, Any] | None = None,
) -> tuple[str, ...]:
    """Settles a call that another process admitted, as its own `decided` entry describes it."""
    with project.journal.turn() as turn:
        held = turn.fact("open", call_id)
        if held is None:
            return ()  # another process settled it meanwhile
        opened = turn.entry(held["seq"])
        if opened is None:
            raise TetherError("JOURNAL_BROKEN", f"entry {held['seq']} of call `{call_id}` is missing")
        body = opened.body
        return _settle(
            project,
            turn,
            call_id,
            held["session"],
            outcome,
            changes,
            {
                "verb": body["verb"],
                "agent": body["agent"],
                "intent": body["intent"],
                "decision": {key: body.get(key, "") for key in DECISION_FIELDS},
                **(extra or {}),
            },
        )


def settle_undone(project: Project, call_id: str, undone: dict[str, Any], changes: Sequence[Change]) -> None:
    """Writes down that a settled call's changes were put back."""
    with project.journal.turn() as turn:
        _settle(
            project,
            turn,
            os.urandom(8).hex(),
            "",
            "rolled-back",
            changes,
            {
                "verb": "rollback",
                "undoes": call_id,
                "agent": undone["agent"],
                "intent": undone["intent"],
                "decision": undone["decision"],
                "saw": False,
            },
        )


def remember(project: Project, call: Call, saw: dict[str, str]) -> None:
    """Writes down what a session read, so that its later writes can be checked against it."""
    body = {
        "verb": call.verb,
        "door": call.door,
        "tree": project.tree,
        "args": summarise(call.args),
        "saw": saw,
    }
    project.journal.append("read", body, run=call.agent.session, call=call.id)


def look(project: Project, effects: Sequence[Effect]) -> dict[str, Spot]:
    """Where each path of a call really leads; the bytes about to change are kept."""
    spots: dict[str, Spot] = {}
    for effect in effects:
        if effect.kind not in ("read", "write", "delete") or effect.target in spots:
            continue
        if effect.kind in CHANGING and not effect.command:
            spot = _look_at_target(project, effect.target)
        else:
            spot = project.root.look(effect.target, hash=False)
        spots[effect.target] = spot
    return spots


def _look_at_target(project: Project, target: str) -> Spot:
    """One file about to change, its bytes kept if it is there."""
    try:
        data, spot = project.root.read(target)
    except TetherError as error:
        spot = project.root.look(target)  # absent, or with the problem named
        if spot.kind != "file" or spot.problem or error.code == "NOT_FOUND":
            return spot  # a file that came between the two looks is judged as it is now
        return Spot(given=target, problem="denied", detail="it cannot be read whole")
    project.contents.put(data)
    return spot


def _named(project: Project, effects: Sequence[Effect]) -> list[list[str]]:
    """The files that the words of a command to be asked about name: who approves a script approves its bytes."""
    found: dict[str, str] = {}
    for effect in effects:
        if effect.kind != "run" or effect.risk is None or effect.risk.level == "SAFE":
            continue
        for word in effect.target.translate(_WORDS).split()[:WORDS]:
            spot = project.root.look(word if word.startswith("/") else os.path.join(effect.cwd, word))
            if spot.kind == "file" and not spot.problem:
                found[spot.path] = spot.hash
    return [list(item) for item in sorted(found.items())]


def call_hash(
    call: Call,
    effects: Sequence[Effect],
    spots: dict[str, Spot],
    tree: str,
    named: Sequence[Sequence[str]] = (),
) -> str:
    """What an approval is bound to: the tree, the arguments and the files' contents, not ids or times."""
    parts: list[Sequence[str]] = [*named]
    for effect in effects:
        spot = spots.get(effect.target)
        parts.append(
            [effect.kind, spot.path if spot else effect.target, effect.cwd, spot.hash if spot else ""]
        )
    return sha256(canonical([tree, call.verb, call.args, parts]).encode("utf-8", "surrogatepass")).hexdigest()


# ── reconciling what was left open ───────────────────────────────────────────


def recover(
    project: Project, paths: Sequence[str] = (), *, session: str = "", every: bool = False
) -> list[str]:
    """Settles calls whose process died or whose ticket ran out, where they touch these paths."""
    done = []
    for call_id, held in project.journal.facts("open").items():
        # INVARIANT: a call is finished or undone in the tree it was made for, never in another one
        if held["tree"] != project.tree or not (every or set(held["paths"]) & set(paths)):
            continue
        if call_id in project.unsettled or _abandoned(project, held, session):
            project.unsettled.discard(call_id)
            done.append(call_id)
            reconcile(project, call_id)
    return done


def _abandoned(project: Project, held: dict[str, Any], session: str) -> bool:
    if held["expires"]:
        import time

        return bool(held["expires"] < time.time()) or held["session"] == session
    return not project.lives(held.get("life", ""))


def reconcile(project: Project, call_id: str) -> tuple[str, ...]:
    """Compares the disk with what an unsettled call intended, finishes or undoes it, and settles it."""
    held = project.journal.fact("open", call_id)
    if held is None:
        return ()
    staged = [w for w in held["writes"] if w["staged"] and not held["expires"]]
    if staged:
        items = [Staged(w["path"], w["before"], w["after"] or "", w["staged"]) for w in staged]
        roll_forward(project.root, items)
        forget(project.root, items)
    return settle_open(project, call_id, outcome="reconciled", changes=_found(project, held))


def _found(project: Project, held: dict[str, Any]) -> list[Change]:
    changes = []
    for write in held["writes"]:
        spot = project.root.look(write["path"])
        if spot.problem or spot.hash == write["before"]:
            continue
        expected = write["after"] is None or spot.hash in (write["after"], *write["accepts"])
        keep(project, spot)
        changes.append(
            Change(write["path"], write["before"], spot.hash, author="ai" if expected else "mixed")
        )
    return changes


def keep(project: Project, spot: Spot) -> None:
    """Stores the bytes a path holds now, for `why` and for rolling back."""
    if spot.kind == "file":
        data, _ = project.root.read(spot.path)
        project.contents.put(data)


# ── facts ────────────────────────────────────────────────────────────────────


def _facts(
    project: Project, turn: Turn, call: Call, digest: str, spots: dict[str, Spot], paths: Sequence[str]
) -> Facts:
    config = project.config
    session = call.agent.session
    switch = turn.fact("project", "write_enabled")
    seen = {}
    for path in paths:
        known = turn.fact(f"seen:{session}", path)
        if known is not None:
            seen[path] = known
    asked = turn.fact("asked", f"{session} {digest}")
    approval = turn.fact("approval", asked) if asked else None
    held = {}
    if paths:
        for call_id, other in turn.facts("open").items():
            if call_id != call.id and other["tree"] == project.tree and other["session"] != session:
                held.update(dict.fromkeys(other["paths"], other["session"]))
    plans = turn.facts(f"plan:{project.tree}") if config.governance.preset == "strict" else {}
    return Facts(
        now=turn.now,
        policy=project.policy,
        preset=config.governance.preset,
        write_enabled=config.security.write_enabled or bool(switch and switch["on"]),
        loop_limit=config.governance.loop_limit,
        unknown_commands=config.approval.unknown,
        deletes=config.approval.deletes,
        protected=(*config.security.protected, *project.own_folders),
        intents=project.intents,
        intents_problem=project.intents_problem,
        selected=turn.fact(f"session:{session}", "intent") or "",
        halted=turn.fact(f"session:{session}", "halted") or "",
        spots=spots,
        seen=seen,
        held=held,
        approval=Approval(**approval) if approval else None,
        root=project.path,
        plan_nodes=open_nodes(plans, call.work),
    )


def _gaps(project: Project, targets: Sequence[Spot]) -> list[Change]:
    """Files whose content is not what Tether last knew: a person, or something else, changed them."""
    found = []
    for spot in targets:
        known = project.journal.fact(f"path:{project.tree}", spot.path)
        if known is None or known["hash"] == spot.hash:
            continue
        # INVARIANT: the disk is looked at after the fact was read. Another call that writes in between is either
        # settled by the time of our turn, which then knows a newer fact, or still open, which then refuses us.
        now = project.root.look(spot.path)
        if not now.problem and now.hash != known["hash"]:
            keep(project, now)
            found.append(Change(spot.path, known["hash"], now.hash, author="human"))
    return found


def _observe(project: Project, turn: Turn, change: Change) -> None:
    known = turn.fact(f"path:{project.tree}", change.path)
    if known is None or known["hash"] != change.before:
        return  # someone else wrote it down between our look and this turn
    identity = derive_id(project.journal.id, turn.head.seq + 1)
    fields = {**plain(change), "record": identity}
    changes = [{k: fields[k] for k in CHANGE_FIELDS}]
    turn.append("observed", {"tree": project.tree, "changes": changes, "vcs": _vcs(project)})


DECISION_FIELDS = ("verdict", "rules", "policy", "consumes", "plan_node")
CHANGE_FIELDS = ("path", "before", "after", "moved_from", "author", "record")


def _settle(
    project: Project,
    turn: Turn,
    call_id: str,
    session: str,
    outcome: str,
    changes: Sequence[Change],
    body: dict[str, Any],
) -> tuple[str, ...]:
    identity = derive_id(project.journal.id, turn.head.seq + 1)
    listed = []
    for change in changes:
        fields = {**plain(change), "record": identity}
        listed.append({key: fields[key] for key in CHANGE_FIELDS})
    turn.append(
        "settled",
        {
            "tree": project.tree,
            "outcome": outcome,
            "changes": listed,
            "vcs": _vcs(project) if listed else {},
            **body,
        },
        run=session,
        call=call_id,
    )
    return (identity,) if listed else ()


def _ask(
    project: Project,
    turn: Turn,
    call: Call,
    decision: Decision,
    digest: str,
    facts: Facts,
    body: dict[str, Any],
) -> Approval:
    held = facts.approval
    if held is not None and held.state == "pending" and turn.now < held.expires:
        return held
    approval = Approval(
        id="A-" + os.urandom(5).hex(),
        call_hash=digest,
        state="pending",
        expires=turn.now + project.config.approval.ttl_seconds,
        session=call.agent.session,
    )
    turn.append("asked", {**body, "approval": plain(approval)}, run=call.agent.session, call=call.id)
    return approval


def _break_loop(turn: Turn, run: str, sign: str, limit: int) -> None:
    if not sign or not limit:
        return
    count = turn.fact(f"refused:{run}", sign) or 0
    if count >= limit:
        reason = f"the same refusal came {count} times: {sign.split('|', 1)[0]}"
        turn.append("halted", {"reason": reason, "signature": sign}, run=run)


def _vcs(project: Project) -> dict[str, str]:
    if project.repository is None:
        return {}
    revision = head_revision(project.repository)
    return {"type": "git", "revision": revision} if revision else {}
