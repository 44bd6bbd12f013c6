"""Run states and the verbs they offer."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.control import states, verbs
from tether.control.states import INITIAL, Refusal, State, advance, fold

SEED_PRE = (
    "list_available_verbs list_scoped_files list_directory_contents read_file_lines lookup_symbol_definition"
    " trace_symbol_graph search_codebase_text fetch_jira_ticket fetch_api_spec get_original_prompt"
    " write_scratch_file submit_execution_plan request_evidence_guidance signal_task_complete"
).split()
SEED_POST = "apply_code_patch run_sandboxed_code execute_gated_side_effect run_automation_recipe".split()

EDGES = [
    ("PLAN_REQUIRED", "plan_accepted", "PLAN_ACCEPTED"),
    ("PLAN_REQUIRED", "plan_rejected", "PLAN_REQUIRED"),
    ("PLAN_REQUIRED", "mutation_admitted", None),
    ("PLAN_REQUIRED", "budget_exceeded", "BLOCKED_BUDGET"),
    ("PLAN_REQUIRED", "budget_raised", None),
    ("PLAN_REQUIRED", "task_completed", "COMPLETED"),
    ("PLAN_REQUIRED", "run_failed", "FAILED"),
    ("PLAN_ACCEPTED", "plan_accepted", "PLAN_ACCEPTED"),
    ("PLAN_ACCEPTED", "plan_rejected", "PLAN_ACCEPTED"),
    ("PLAN_ACCEPTED", "mutation_admitted", "EXECUTION_ENABLED"),
    ("PLAN_ACCEPTED", "budget_exceeded", "BLOCKED_BUDGET"),
    ("PLAN_ACCEPTED", "budget_raised", None),
    ("PLAN_ACCEPTED", "task_completed", "COMPLETED"),
    ("PLAN_ACCEPTED", "run_failed", "FAILED"),
    ("EXECUTION_ENABLED", "plan_accepted", "PLAN_ACCEPTED"),
    ("EXECUTION_ENABLED", "plan_rejected", "EXECUTION_ENABLED"),
    ("EXECUTION_ENABLED", "mutation_admitted", "EXECUTION_ENABLED"),
    ("EXECUTION_ENABLED", "budget_exceeded", "BLOCKED_BUDGET"),
    ("EXECUTION_ENABLED", "budget_raised", None),
    ("EXECUTION_ENABLED", "task_completed", "COMPLETED"),
    ("EXECUTION_ENABLED", "run_failed", "FAILED"),
    ("BLOCKED_BUDGET", "plan_accepted", None),
    ("BLOCKED_BUDGET", "plan_rejected", None),
    ("BLOCKED_BUDGET", "mutation_admitted", None),
    ("BLOCKED_BUDGET", "budget_exceeded", "BLOCKED_BUDGET"),
    ("BLOCKED_BUDGET", "budget_raised", "PLAN_REQUIRED"),
    ("BLOCKED_BUDGET", "task_completed", "COMPLETED"),
    ("BLOCKED_BUDGET", "run_failed", "FAILED"),
    ("FAILED", "plan_accepted", None),
    ("FAILED", "plan_rejected", None),
    ("FAILED", "mutation_admitted", None),
    ("FAILED", "budget_exceeded", None),
    ("FAILED", "budget_raised", None),
    ("FAILED", "task_completed", "FAILED"),
    ("FAILED", "run_failed", "FAILED"),
    ("COMPLETED", "plan_accepted", None),
    ("COMPLETED", "plan_rejected", None),
    ("COMPLETED", "mutation_admitted", None),
    ("COMPLETED", "budget_exceeded", None),
    ("COMPLETED", "budget_raised", None),
    ("COMPLETED", "task_completed", "COMPLETED"),
    ("COMPLETED", "run_failed", "FAILED"),
]


@pytest.mark.parametrize(("state", "event", "after"), EDGES)
def test_every_event_in_every_state_leads_where_the_table_says(state, event, after):
    found = advance(State(state), event)
    if after is None:
        assert isinstance(found, Refusal)
        assert state in found.message
        assert event in found.message
    else:
        assert found.name == after


def test_the_edges_above_are_all_there_are():
    assert {(s, e) for s, e, _ in EDGES} == set(product(states.STATES, states.EVENTS))
    assert len(EDGES) == len(states.STATES) * len(states.EVENTS)
    assert all(trigger for trigger in states.EVENTS.values())


@pytest.mark.parametrize("before", ["PLAN_REQUIRED", "PLAN_ACCEPTED", "EXECUTION_ENABLED"])
def test_a_raised_budget_leads_back_to_where_it_ran_out(before):
    blocked = fold(["budget_exceeded", "budget_exceeded"], State(before))
    assert blocked == State("BLOCKED_BUDGET", before)
    assert advance(blocked, "budget_raised") == State(before)


def test_a_run_goes_from_plan_to_execution_to_done():
    seen = [INITIAL.name]
    state = INITIAL
    for event in (
        "plan_rejected",
        "plan_accepted",
        "mutation_admitted",
        "mutation_admitted",
        "task_completed",
    ):
        state = advance(state, event)
        seen.append(state.name)
    assert seen == [
        "PLAN_REQUIRED", "PLAN_REQUIRED", "PLAN_ACCEPTED", "EXECUTION_ENABLED", "EXECUTION_ENABLED", "COMPLETED",
    ]  # fmt: skip


def test_an_unknown_state_or_event_is_refused():
    assert isinstance(advance(State("LIMBO"), "run_failed"), Refusal)
    assert isinstance(advance(State("BLOCKED_BUDGET", "LIMBO"), "budget_raised"), Refusal)
    assert isinstance(advance(INITIAL, "x" * 500), Refusal)


@given(st.lists(st.sampled_from(sorted(states.EVENTS))))
def test_nothing_mutates_before_a_plan_and_failure_is_for_good(events):
    state = INITIAL
    planned = False
    for event in events:
        after = advance(state, event)
        if isinstance(after, Refusal):
            continue
        planned = planned or event == "plan_accepted"
        assert event != "mutation_admitted" or planned
        assert state.name != "FAILED" or after.name == "FAILED"
        assert (after.name == "BLOCKED_BUDGET") == bool(after.before)
        state = after


# ── verbs ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("preset", verbs.PRESETS)
def test_the_states_offer_what_the_table_says(preset):
    more = ["select_active_intent", "zoom_context", "query_context", "context_feedback", "call_mcp_tool"]
    native = ["write_file", "edit_file", "apply_patch", "delete_file", "move_file", "run_command"]
    assert list(verbs.offered("PLAN_REQUIRED", preset)) == SEED_PRE + more
    for state in ("PLAN_ACCEPTED", "EXECUTION_ENABLED"):
        assert list(verbs.offered(state, preset)) == SEED_PRE + more + SEED_POST + native
    assert set(verbs.offered("BLOCKED_BUDGET", preset)) == verbs.BUDGET_SAFE
    ended = ["list_available_verbs", "get_original_prompt", "signal_task_complete"]
    assert list(verbs.offered("FAILED", preset)) == list(verbs.offered("COMPLETED", preset)) == ended
    as_tools = set(verbs.offered("PLAN_REQUIRED", preset, "tools"))
    assert as_tools == {*SEED_PRE, *more, *([] if preset == "strict" else native)}


def test_the_table_has_a_cell_for_every_verb_state_and_preset():
    rows = verbs.matrix()
    assert len({row[:3] for row in rows}) == len(rows) == 29 * 6 * 3
    assert {row[3] for row in rows} == {"yes", "tools", "no"}
    assert verbs.cell("teleport", "PLAN_ACCEPTED", "intent") == "no"
    assert verbs.cell("write_file", "LIMBO", "intent") == "no"


def test_every_verb_on_offer_is_described():
    offered = verbs.offered("PLAN_ACCEPTED", "strict")
    told = verbs.describe(offered)
    assert list(told) == list(offered)
    for descriptor in told.values():
        assert set(descriptor) == {"description", "whenToUse", "requiredArgs", "optionalArgs"}
        assert descriptor["description"]
        assert descriptor["whenToUse"]
    assert told["apply_code_patch"]["requiredArgs"] == ["planNodeId", "targetFile", "edits"]
    assert told["run_automation_recipe"]["requiredArgs"] == [
        "recipeId", "planNodeId", "artifactBundleRef", "diffSummaryRef",
    ]  # fmt: skip


def test_native_verbs_are_described_as_their_schemas_say():
    from tether.tools import files, intents, patches, shell

    for verb in (
        *files.VERBS.values(),
        *patches.VERBS.values(),
        *shell.VERBS.values(),
        *intents.VERBS.values(),
    ):
        if verb.name not in verbs.CATALOGUE:
            continue
        told = verbs.CATALOGUE[verb.name]
        assert list(told.required) == verb.schema["required"], verb.name
        assert {*told.required, *told.optional} == set(verb.schema["properties"]), verb.name


@pytest.mark.parametrize("preset", verbs.PRESETS)
def test_a_suggested_verb_is_always_on_offer(preset):
    for verb in (*verbs.CATALOGUE, "aply_code_patch", "§"):
        for state in states.STATES:
            for codes in ((), ("PACK_INSUFFICIENT",), ("PLAN_EVIDENCE_INSUFFICIENT",), ("PLAN_NOT_ATOMIC",)):
                if state not in ("PLAN_REQUIRED", "PLAN_ACCEPTED", "EXECUTION_ENABLED") and codes:
                    continue
                action = verbs.suggest(verb, state, preset, codes)
                assert action["reason"]
                assert action["verb"] in verbs.offered(state, preset), (verb, state, action)


def test_suggestions_carry_what_is_known():
    assert verbs.suggest("apply_code_patch", "PLAN_REQUIRED")["verb"] == "submit_execution_plan"
    near = verbs.suggest("read_file_line", "PLAN_REQUIRED", args={"targetFile": "a.py", "x": 1})
    assert (near["verb"], near["args"]) == ("read_file_lines", {"targetFile": "a.py"})
    again = verbs.suggest("write_scratch_file", "PLAN_REQUIRED", args={"content": "x"})
    assert again["verb"] == "write_scratch_file"
    assert "`relativePath`" in again["reason"]
    assert verbs.missing_args("trace_symbol_graph", {"query": "x"}) == ()
    assert verbs.missing_args("trace_symbol_graph", {}) == ("symbol|targetFile|query",)


def test_the_guide_shows_the_table_and_every_transition():
    guide = (Path(__file__).resolve().parents[2] / "docs/plans.md").read_text()
    assert verbs.table() in guide
    for state, what in states.STATES.items():
        assert f"| `{state}` | {what} |" in guide
    for event, trigger in states.EVENTS.items():
        assert f"| `{event}` | {trigger} |" in guide
    for (state, event), to in states.TRANSITIONS.items():
        row = next(line for line in guide.splitlines() if line.startswith(f"| `{event}` |"))
        assert f"`{state}` → " + ("where it was" if to == states.BEFORE else f"`{to}`") in row
