"""The promises of the one road that only the gate can break."""

import asyncio
import os
import time

import pytest

from tether.errors import TetherError
from tether.gate import submit
from tether.types import Agent, Call, Outcome


def make(verb, **args):
    return Call(os.urandom(8).hex(), verb, args, Agent("s1"))


def test_a_call_that_could_not_be_settled_is_reconciled_by_the_next_one(site, monkeypatch):
    site.select()
    workspace = site._opened[0]
    real = workspace.project.journal.turn
    turns = []

    def turn(**options):
        turns.append(1)
        if len(turns) == 2:  # the first decides, the second would settle
            raise TetherError("JOURNAL_UNAVAILABLE", "the journal is locked")
        return real(**options)

    monkeypatch.setattr(workspace.project.journal, "turn", turn)
    failed = site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1")
    assert failed.error["error_code"] == "JOURNAL_UNAVAILABLE"
    monkeypatch.undo()
    assert site.call("edit_file", path="src/auth/token.py", old="> 1", new="> 2").ok
    outcomes = [e.body["outcome"] for e in workspace.project.journal.entries(kinds=("settled",))]
    assert outcomes == ["reconciled", "done"]
    assert len(site.records()) == 2


async def test_a_cancelled_command_is_ended_and_still_settled(site):
    workspace = site.workspace()
    await submit(workspace, make("select_active_intent", intent_id="INT-001"))
    running = asyncio.ensure_future(
        submit(workspace, make("run_command", command="sleep 60 && touch src/auth/late"))
    )
    for _ in range(200):
        if workspace.project.journal.facts("open"):
            break
        await asyncio.sleep(0.05)
    start = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - start < 40
    assert workspace.project.journal.facts("open") == {}
    assert next(workspace.project.journal.entries(kinds=("settled",))).body["outcome"] == "cancelled"


async def test_a_deadline_ends_a_command_and_says_so(site):
    workspace = site.workspace()
    await submit(workspace, make("select_active_intent", intent_id="INT-001"))
    outcome = await submit(
        workspace, make("run_command", command="sleep 60 && touch src/auth/late"), deadline=1.0
    )
    assert isinstance(outcome, Outcome)
    assert not outcome.ok
    assert outcome.error["error_code"] in ("CANCELLED", "DEADLINE")
    assert workspace.project.journal.facts("open") == {}


async def test_calls_in_flight_together_do_not_disturb_each_other(site):
    workspace = site.workspace()
    await submit(workspace, make("select_active_intent", intent_id="INT-001"))
    calls = [make("write_file", path=f"src/auth/f{n}.py", content=f"x = {n}\n") for n in range(20)]
    outcomes = await asyncio.gather(*(submit(workspace, call) for call in calls))
    assert [o.error for o in outcomes if not o.ok] == []
    assert len(site.records()) == 20
    assert all(site.read(f"src/auth/f{n}.py") == f"x = {n}\n" for n in range(20))


async def test_progress_goes_out_while_a_command_runs(site):
    workspace = site.workspace()
    await submit(workspace, make("select_active_intent", intent_id="INT-001"))
    heard = []
    outcome = await submit(workspace, make("run_command", command="echo one; echo two"), emit=heard.append)
    assert outcome.ok
    assert "one" in "".join(heard)


async def test_an_unknown_verb_names_those_there_are(site):
    outcome = await submit(site.workspace(), make("fly"))
    assert outcome.error["error_code"] == "UNKNOWN_VERB"
    assert "write_file" in outcome.error["message"]


async def test_a_person_asked_in_time_lets_the_call_go_on(site):
    from tether.cli.approval import answer

    workspace = site.workspace()
    await submit(workspace, make("select_active_intent", intent_id="INT-001"))

    async def ask(approval, verdict):
        answer(workspace.project, approval.id, "approved", "me", "")
        return True

    outcome = await submit(workspace, make("run_command", command="git reset --hard"), ask=ask)
    assert outcome.ok
    assert "approval.given" in outcome.decision.rules
