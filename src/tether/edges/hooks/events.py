"""Answers one hook event: admit before a tool runs, settle after it ran."""

from __future__ import annotations

import os

from tether.admit import TICKET_SECONDS, admit, keep, refuse, remember, settle_open
from tether.edges.hooks.tools import command_name, understand
from tether.edges.hooks.wires import Reply
from tether.errors import TetherError
from tether.project import open_project
from tether.record.digest import clean, explain
from tether.types import Agent, Call, Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tether.edges.hooks.tools import Use
    from tether.edges.hooks.wires import Event
    from tether.project import Project
    from tether.types import Decision


def answer(event: Event, directory: str = "") -> Reply:
    """The reply to one event."""
    if event.phase == "other":
        return Reply()
    # not closed: a last connection that closes checkpoints the journal, which costs more than the whole answer;
    # the process ends right after, and what it committed stands in the write-ahead log
    project = open_project(directory or event.cwd or ".")
    if event.phase == "start":
        return _start(event, project)
    if event.phase == "before":
        return _before(event, project)
    return _after(event, project)


def _start(event: Event, project: Project) -> Reply:
    """A fresh agent is told its intent, or how to choose one."""
    if event.model:
        body = {"model": event.model, "agent": event.agent}
        project.journal.append("session", body, run=event.session)
    return Reply(context=guidance(project, event.session))


def _before(event: Event, project: Project) -> Reply:
    use = understand(event, project)
    if use is None or use.verb in ("read_file", "search"):
        return _guard_read(event, project, use)
    call = _call(event, project, use)
    if linked := _linked(project, use):
        refuse(project, call, linked)
        return Reply(deny=f"{linked.code}: {linked.message}. {linked.action}.")
    verdict = admit(
        project,
        call,
        use.effects,
        tool_use=event.tool_use,
        ticket_seconds=TICKET_SECONDS,
        accepts=use.predicted,
    )
    decision = verdict.decision
    if decision.verdict == "ask" and verdict.approval is not None:
        return Reply(
            deny=f"{decision.code}: {decision.message}. A person must run `{command_name()} approve "
            f"{verdict.approval.id}` in a terminal (or `reject`); then retry exactly the same call. "
            f"Rules: {', '.join(decision.rules)}; policy {decision.policy}."
        )
    if decision.verdict != "allow":
        return Reply(deny=_refusal(decision, project, event.session))
    if not verdict.mutating:
        remember(project, call, {})
        return Reply()
    for result in use.results[:1]:
        project.contents.put(result)
    if use.verb in ("run_command", "call_mcp_tool", "use_tool"):
        from tether.tools.around import look_before

        look_before(project, call.id)
    return Reply(context=_told_once(project, event.session, decision.intent))


def _linked(project: Project, use: Use) -> TetherError | None:
    """Why a tool that writes in place must not: the same bytes lie under another name, maybe out of its scope."""
    for effect in use.effects:
        if effect.kind == "write" and not effect.command:
            spot = project.root.look(effect.target, hash=False)
            if spot.kind == "file" and spot.links > 1:
                return TetherError(
                    "SECURITY_VIOLATION",
                    f"`{spot.path}` has {spot.links} names (hard links), and all of them would change",
                    action="Copy it to a file of its own first",
                )
    return None


def _guard_read(event: Event, project: Project, use: Use | None) -> Reply:
    """Reads are judged for where they lead; what they saw is remembered after they happened."""
    if use is None:
        return Reply()
    call = _call(event, project, use)
    verdict = admit(project, call, use.effects)
    if verdict.decision.verdict == "allow":
        return Reply()
    return Reply(deny=_refusal(verdict.decision, project, event.session))


def _after(event: Event, project: Project) -> Reply:
    use = _reunderstand(event, project)
    if use is not None and use.verb == "read_file":
        if event.phase == "after":
            spot = project.root.look(use.args["path"])
            if spot.kind == "file" and not spot.problem:
                remember(project, _call(event, project, use), {spot.path: spot.hash})
        return Reply()
    held = _open_call(event, project)
    if held is None:
        return Reply()
    call_id, opened = held
    modes: dict[str, int] = {}
    changes = _changes(project, call_id, opened, modes)
    findings: list[dict[str, Any]] = []
    if changes and project.config.quality.checks:
        from tether.tools.quality import check

        changes, findings = check(project, changes)
    outside = _outside(project, opened, changes, modes)
    settle_open(
        project,
        call_id,
        outcome="done" if event.phase == "after" else "failed",
        changes=changes,
        extra={k: v for k, v in (("findings", findings), ("outside", outside), ("modes", modes)) if v},
    )
    problem = _problem(project, call_id, findings, outside)
    try:
        project.drain()
    except TetherError as behind:
        # it is done and in the journal: the next drain that can will export it
        problem += f"\nthe ledger is behind: {behind.message}; ask a person to run `tether doctor`"
    return Reply(problem=problem.strip())


def _reunderstand(event: Event, project: Project) -> Use | None:
    """After the fact an edit's text is gone from the file: only whether it was a read matters."""
    from tether.edges.hooks.tools import NAMES

    return understand(event, project) if NAMES.get(event.tool) == "read_file" else None


def _open_call(event: Event, project: Project) -> tuple[str, dict[str, Any]] | None:
    """The call this report is about: the session's newest one still open for this very tool use."""
    mine = {
        k: v
        for k, v in project.journal.facts("open").items()
        if v["session"] == event.session and v["expires"] and v["tool_use"] == event.tool_use
    }
    if not mine:
        return None
    return max(mine.items(), key=lambda item: item[1]["seq"])


def _changes(project: Project, call_id: str, opened: dict[str, Any], modes: dict[str, int]) -> list[Change]:
    """What really changed, and whose it is: disk other than predicted is `mixed`."""
    if os.path.exists(os.path.join(project.state, "sweeps", call_id)):
        from tether.tools.around import look_after

        return look_after(project, call_id, modes) or []
    changes = []
    for write in opened["writes"]:
        spot = project.root.look(write["path"])
        if spot.problem or spot.hash == write["before"]:
            continue
        keep(project, spot)
        accepted = write["accepts"] or ([write["after"]] if write["after"] is not None else [spot.hash])
        if spot.hash in accepted:
            changes.append(Change(write["path"], write["before"], spot.hash))
        elif project.contents.get(accepted[0]) is not None:
            # what the agent was to write, then what someone else made of it: each line stays with its author
            changes.append(Change(write["path"], write["before"], accepted[0]))
            changes.append(Change(write["path"], accepted[0], spot.hash, author="human"))
        else:
            changes.append(Change(write["path"], write["before"], spot.hash, author="mixed"))
    return changes


def _outside(
    project: Project, opened: dict[str, Any], changes: list[Change], modes: dict[str, int]
) -> list[str]:
    """Changes beyond the scope of the intent the call ran under."""
    entry = project.journal.entry(opened["seq"])
    if entry is None or not (changes or modes):
        return []
    from tether.tools.around import outside

    return outside(project, entry.body["intent"], changes, modes)


def _problem(project: Project, call_id: str, findings: list[dict[str, Any]], outside: list[str]) -> str:
    parts = []
    if outside:
        from tether.tools.around import guarded

        code, what = "SCOPE_VIOLATION", "files outside its intent's scope"
        if touched := guarded(project, outside):
            code, what, outside = "SECURITY_VIOLATION", "files that are protected from agents", touched
        listed = ", ".join(outside[:10]) + (f" and {len(outside) - 10} more" if len(outside) > 10 else "")
        parts.append(
            f"{code}: the command changed {what}: {listed}. "
            f"Undo them with `{command_name()} rollback {call_id} --outside`, or ask for a wider scope."
        )
    for finding in findings[:20]:
        where = f"{finding.get('file', '')}:{finding.get('line', '')}".strip(":")
        parts.append(f"QUALITY_FAILED: {finding['check']} {where}: {finding['message']}")
    return clean("\n".join(parts)) if parts else ""


def _told_once(project: Project, session: str, intent_id: str) -> str:
    """The intent's context, the first time a session acts under it."""
    if not intent_id or project.journal.fact(f"session:{session}", "told") == intent_id:
        return ""
    project.journal.append("told", {"intent": intent_id}, run=session)
    from tether.tools.intents import intent_context

    return intent_context(project, intent_id)


def _call(event: Event, project: Project, use: Use) -> Call:
    known = project.journal.fact(f"session:{event.session}", "model") or ""
    agent = Agent(
        session=event.session,
        name=event.agent,
        model=event.model or known,
        conversation=f"urn:{event.agent}:session:{event.session}",
    )
    return Call(os.urandom(8).hex(), use.verb, use.args, agent, door=f"hook:{event.agent}")


def _refusal(decision: Decision, project: Project, session: str) -> str:
    error = explain(decision)
    text = f"{error['error_code']}: {error['message']}"
    if decision.code in ("INTENT_REQUIRED", "INTENT_INVALID"):
        return f"{text}\n{guidance(project, session)}"
    return (
        f"{text}. {error['required_action']}. Rules: {', '.join(decision.rules)}; policy {decision.policy}."
    )


def guidance(project: Project, session: str) -> str:
    """What a fresh agent must know: which intents are active and how to select one."""
    from tether.tools.intents import intent_context

    selected = project.journal.fact(f"session:{session}", "intent") or ""
    active = [i for i in project.intents if i.status == "active"]
    if any(i.id == selected for i in active):
        return intent_context(project, selected)
    if project.intents_problem:
        return f"No change is possible: {project.intents_problem}. Ask a person to mend the intents file."
    if not active:
        return "No intent is active. Ask a person to run `tether intent new` or `tether intent activate ID`."
    import shlex

    quoted = shlex.quote(session)
    lines = ["Before changing anything, select the intent you work for:"]
    lines += [
        f"  {command_name()} intent select {i.id} --session {quoted}    # {_one_line(i.name)}"
        for i in active[:20]
    ]
    lines.append("(or call the MCP tool select_active_intent with its id)")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return clean("".join(c if c.isprintable() else " " for c in text)[:200])
