"""submit = prepare, admit, ask, run, settle: the one road every call takes. Read this and `admit` first."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

from tether.admit import Verdict, admit, foresee, refuse, remember, settle
from tether.errors import TetherError, to_wire
from tether.record.digest import explain
from tether.tools.around import guarded, look_after, look_before, outside
from tether.tools.work import Work
from tether.types import Outcome, Pending

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tether.types import Approval, Call, Prepared, Verb
    from tether.workspace import Workspace

    Ask = Callable[[Approval, Verdict], Awaitable[bool | None]]
    Emit = Callable[[str], None]


async def submit(
    workspace: Workspace,
    call: Call,
    *,
    ask: Ask | None = None,
    emit: Emit | None = None,
    deadline: float | None = None,
) -> Outcome | Pending:
    """Does one call if it may be done. A refusal is a normal answer; only cancelling raises.

    `ask` may put the question to a person and wait a little: True approves, False rejects, None leaves it
    pending. `deadline` is in seconds from now.
    """
    try:
        return await _submit(
            workspace, call, ask, emit, None if deadline is None else time.monotonic() + deadline
        )
    except Exception as error:
        # INVARIANT: what a call makes go wrong is an answer; an edge never has to guess whether it was refused
        return Outcome(ok=False, error=to_wire(error))


async def _submit(
    workspace: Workspace, call: Call, ask: Ask | None, emit: Emit | None, until: float | None
) -> Outcome | Pending:
    verb = workspace.verbs.get(call.verb)
    if verb is None:
        raise TetherError(
            "UNKNOWN_VERB", f"no verb `{call.verb}`; there are {', '.join(sorted(workspace.verbs))}"
        )
    attempt = Attempt(workspace, call, verb, emit or (lambda _: None), until)
    verdict = await _in_thread(attempt)
    if isinstance(verdict, Verdict) and verdict.approval is not None and ask is not None:
        answer = await ask(verdict.approval, verdict)
        if answer is not None:
            # a person's answer is judged again on fresh facts, as any retry would be
            verdict = await _in_thread(attempt)
    if isinstance(verdict, Outcome):
        return verdict
    if verdict.approval is None:
        raise TetherError("INTERNAL", "a call was neither done, refused nor asked about")
    return Pending(
        verdict.approval.id, verdict.approval.call_hash, verdict.approval.expires, verdict.decision
    )


async def _in_thread(attempt: Attempt) -> Outcome | Verdict:
    """One thread for the whole attempt; whoever stops waiting ends it, and it is still settled."""
    running = asyncio.ensure_future(asyncio.to_thread(attempt.make))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        # INVARIANT: a cancelled call is still settled, for its files may have changed
        attempt.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # looked at: nobody waits for it any more
        raise


class Attempt:
    """One call on its way: prepared, judged, and done if it may be."""

    def __init__(self, workspace: Workspace, call: Call, verb: Verb, emit: Emit, until: float | None) -> None:
        self.workspace = workspace
        self.call = call
        self.verb = verb
        self.emit = emit
        self.until = until
        self._stop = threading.Event()

    def cancel(self) -> None:
        """Asks whatever runs to stop."""
        self._stop.set()

    def make(self) -> Outcome | Verdict:
        """The outcome, or the verdict of a call that waits for a person."""
        prepared = _prepare(self.workspace, self.verb, self.call)
        if isinstance(prepared, Outcome):
            return prepared
        verdict = admit(self.workspace.project, self.call, prepared.effects)
        if verdict.decision.verdict == "ask":
            return verdict
        if verdict.decision.verdict != "allow":
            return Outcome(ok=False, error=explain(verdict.decision), decision=verdict.decision)
        work = Work(self.workspace.project, self.call, verdict, self.emit, self.until, self._stop)
        if verdict.mutating:
            return _perform(self.workspace, self.call, prepared, verdict, work)
        value = prepared.run(work)
        remember(self.workspace.project, self.call, work.saw)
        return Outcome(ok=True, value=value, decision=verdict.decision, notes=tuple(work.notes))


def _prepare(workspace: Workspace, verb: Verb, call: Call) -> Prepared | Outcome:
    try:
        return verb.prepare(workspace.project.root, call.args)
    except TetherError as error:
        # who has not shown an intent learns that first, whatever else is wrong with the call
        decision = foresee(workspace.project, call) if verb.mutating else None
        if decision is not None and decision.verdict == "deny":
            return Outcome(ok=False, error=explain(decision), decision=decision)
        if error.code == "SECURITY_VIOLATION":
            refuse(workspace.project, call, error)
        return Outcome(ok=False, error=to_wire(error))


def _perform(workspace: Workspace, call: Call, prepared: Prepared, verdict: Verdict, work: Work) -> Outcome:
    project = workspace.project
    error: dict[str, Any] | None = None
    value: Any = None
    outcome = "done"
    modes: dict[str, int] = {}
    runs = any(effect.kind == "run" for effect in prepared.effects)
    try:
        if runs:
            look_before(project, call.id)
        try:
            value = prepared.run(work)
        finally:
            if runs:
                work.changes = look_after(project, call.id, modes) or []
        if work.changes:
            work.findings = workspace.check(work)
    except TetherError as raised:
        error, outcome = to_wire(raised), "failed"
    except Exception as raised:
        error, outcome = to_wire(raised), "failed"
    if work.cancelled():
        outcome = "cancelled"
        if work.late() and error is not None and error["error_code"] == "CANCELLED":
            error = to_wire(TetherError("DEADLINE", "the call was ended because its time was up"))
    if runs:
        work.outside = outside(project, verdict.decision.intent, work.changes, modes)
        if work.outside and error is None:
            error = _beyond_scope(
                call.id, verdict.decision.intent, work.outside, guarded(project, work.outside)
            )
    extra: dict[str, Any] = {"outside": work.outside} if work.outside else {}
    if modes:
        extra["modes"] = modes
    if error is not None:
        extra["error"] = {"error_code": error["error_code"]}
    if work.findings:
        extra["findings"] = work.findings
    try:
        records = settle(project, call, verdict.decision, outcome=outcome, changes=work.changes, extra=extra)
    except TetherError:
        # the next call on these files reconciles it with the disk, as if this process had died here
        project.unsettled.add(call.id)
        raise
    work.forget()
    try:
        workspace.drain()
    except TetherError as behind:
        # it is done and in the journal: the next drain that can will export it
        work.notes.append(f"the ledger is behind: {behind.message}; run `tether doctor`")
    return Outcome(
        ok=error is None,
        value=value,
        error=error,
        decision=verdict.decision,
        records=records,
        findings=tuple(work.findings),
        notes=tuple(work.notes),
    )


def _beyond_scope(call_id: str, intent: str, paths: list[str], guarded: list[str]) -> dict[str, Any]:
    """What a command changed beyond its intent is done: what is left is to say so and offer a way back."""
    named = guarded or paths
    shown = ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
    said = f"Scope Violation: {intent} is not authorized to edit {shown}"
    return to_wire(
        TetherError(
            "SECURITY_VIOLATION" if guarded else "SCOPE_VIOLATION",
            f"the command changed what is protected from agents: {shown}" if guarded else said,
            action=f"Undo it with `tether rollback {call_id} --outside`, or request scope expansion",
            paths=paths,
            rollback=call_id,
        )
    )
