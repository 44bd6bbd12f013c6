"""The states of a run, and every way from one to another, as one table. Pure."""

from __future__ import annotations

from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PLAN_REQUIRED = "PLAN_REQUIRED"
PLAN_ACCEPTED = "PLAN_ACCEPTED"
EXECUTION_ENABLED = "EXECUTION_ENABLED"
BLOCKED_BUDGET = "BLOCKED_BUDGET"
FAILED = "FAILED"
COMPLETED = "COMPLETED"

STATES: dict[str, str] = {
    PLAN_REQUIRED: "initial: read-only verbs and plan submission",
    PLAN_ACCEPTED: "a plan was validated: all verbs",
    EXECUTION_ENABLED: "execution is in progress: all verbs",
    BLOCKED_BUDGET: "the token budget is used up: only safe verbs",
    FAILED: "terminal failure: only safe verbs and the retrospective",
    COMPLETED: "the task is done: only safe verbs and the retrospective",
}

EVENTS: dict[str, str] = {
    "plan_accepted": "`submit_execution_plan` (or `tether plan accept`) found nothing wrong with a plan",
    "plan_rejected": "`submit_execution_plan` found something wrong with a plan",
    "mutation_admitted": "a call that changes something was admitted under an open plan node",
    "budget_exceeded": "the tokens used have reached the budget's threshold",
    "budget_raised": "a person raised the budget above what is used",
    "task_completed": "`signal_task_complete` was called",
    "run_failed": "the loop breaker halted the run, or a person or supervisor gave it up",
}

# what stands for "the state the run was in when its budget ran out"
BEFORE = "before"

TRANSITIONS: dict[tuple[str, str], str] = {
    (PLAN_REQUIRED, "plan_accepted"): PLAN_ACCEPTED,
    (PLAN_REQUIRED, "plan_rejected"): PLAN_REQUIRED,
    (PLAN_REQUIRED, "budget_exceeded"): BLOCKED_BUDGET,
    (PLAN_REQUIRED, "task_completed"): COMPLETED,
    (PLAN_REQUIRED, "run_failed"): FAILED,
    # another plan takes the place of the one in force; a refused one leaves it there
    (PLAN_ACCEPTED, "plan_accepted"): PLAN_ACCEPTED,
    (PLAN_ACCEPTED, "plan_rejected"): PLAN_ACCEPTED,
    (PLAN_ACCEPTED, "mutation_admitted"): EXECUTION_ENABLED,
    (PLAN_ACCEPTED, "budget_exceeded"): BLOCKED_BUDGET,
    (PLAN_ACCEPTED, "task_completed"): COMPLETED,
    (PLAN_ACCEPTED, "run_failed"): FAILED,
    (EXECUTION_ENABLED, "plan_accepted"): PLAN_ACCEPTED,
    (EXECUTION_ENABLED, "plan_rejected"): EXECUTION_ENABLED,
    (EXECUTION_ENABLED, "mutation_admitted"): EXECUTION_ENABLED,
    (EXECUTION_ENABLED, "budget_exceeded"): BLOCKED_BUDGET,
    (EXECUTION_ENABLED, "task_completed"): COMPLETED,
    (EXECUTION_ENABLED, "run_failed"): FAILED,
    (BLOCKED_BUDGET, "budget_exceeded"): BLOCKED_BUDGET,
    (BLOCKED_BUDGET, "budget_raised"): BEFORE,
    (BLOCKED_BUDGET, "task_completed"): COMPLETED,
    (BLOCKED_BUDGET, "run_failed"): FAILED,
    # the retrospective may be asked for again; it moves nothing
    (FAILED, "task_completed"): FAILED,
    (FAILED, "run_failed"): FAILED,
    (COMPLETED, "task_completed"): COMPLETED,
    # what was called done can still turn out not to be
    (COMPLETED, "run_failed"): FAILED,
}


@noun
class State:
    """Where a run stands. `before` is where it goes back to when its budget is raised."""

    name: str = PLAN_REQUIRED
    before: str = ""


@noun
class Refusal:
    """Why an event does not apply in a state."""

    state: str
    event: str
    message: str


INITIAL = State()


def advance(state: State, event: str) -> State | Refusal:
    """The state after an event, or why the event cannot happen there."""
    if state.name not in STATES or (state.before and state.before not in STATES):
        return Refusal(state.name, event, f"unknown state `{state.name[:40]}`")
    if event not in EVENTS:
        return Refusal(state.name, event, f"unknown event `{event[:40]}`")
    to = TRANSITIONS.get((state.name, event))
    if to is None:
        known = ", ".join(e for s, e in TRANSITIONS if s == state.name)
        return Refusal(state.name, event, f"`{event}` cannot happen in {state.name}, only {known}")
    if to == BEFORE:
        return State(state.before or PLAN_REQUIRED)
    if to == BLOCKED_BUDGET:
        return state if state.name == BLOCKED_BUDGET else State(to, before=state.name)
    return State(to)


def fold(events: Iterable[str], state: State = INITIAL) -> State:
    """The state after many events; one that cannot happen where it stands changes nothing."""
    for event in events:
        after = advance(state, event)
        if isinstance(after, State):
            state = after
    return state
