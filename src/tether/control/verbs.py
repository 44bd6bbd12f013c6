"""The verbs an agent can be offered: what each is for, and in which state and under which preset. Pure."""

from __future__ import annotations

from tether.control.states import (
    BLOCKED_BUDGET,
    COMPLETED,
    EXECUTION_ENABLED,
    FAILED,
    PLAN_ACCEPTED,
    PLAN_REQUIRED,
    STATES,
)
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PRESETS = ("observe", "intent", "strict")
SURFACES = ("turn", "tools")


@noun
class Descriptor:
    """What an agent is told of one verb."""

    description: str
    when: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


# verb → descriptor. `a|b` in `required`: one of them must be given.
PRE_PLAN: dict[str, Descriptor] = {
    "list_available_verbs": Descriptor(
        "List the verbs available in the current state",
        "At the start, and whenever a verb was refused",
    ),
    "list_scoped_files": Descriptor(
        "List all files in the worktree's scope",
        "To learn what the project holds before looking closer",
        (),
        ("pattern", "limit", "cursor"),
    ),
    "list_directory_contents": Descriptor(
        "List the entries of a directory", "To look around one folder", ("targetDir",)
    ),
    "read_file_lines": Descriptor(
        "Read a range of lines of a file, with the file's hash",
        "Before citing or changing a file",
        ("targetFile",),
        ("startLine", "endLine"),
    ),
    "lookup_symbol_definition": Descriptor(
        "Look up where a symbol is defined", "When you know a name and need its definition", ("symbol",)
    ),
    "trace_symbol_graph": Descriptor(
        "Find symbols related to a symbol, a file or a query",
        "To see who uses what before planning a change",
        ("symbol|targetFile|query",),
        ("depth", "limit"),
    ),
    "search_codebase_text": Descriptor(
        "Search for a text or pattern across the scope",
        "When you know words but not where they stand",
        ("pattern",),
        ("regex", "glob", "limit", "cursor"),
    ),
    "fetch_jira_ticket": Descriptor(
        "Fetch a Jira ticket by its key", "When the task names a ticket: it is a requirement", ("ticketKey",)
    ),
    "fetch_api_spec": Descriptor(
        "Fetch an OpenAPI or Swagger specification",
        "When the change touches an API: the contract is evidence",
        ("specUrl",),
        ("operation",),
    ),
    "get_original_prompt": Descriptor(
        "Retrieve the prompt the run began with", "When you have lost sight of what was asked"
    ),
    "write_scratch_file": Descriptor(
        "Write a temporary file into the run's scratch area",
        "For notes and drafts; the repository is not touched",
        ("relativePath", "content"),
    ),
    "submit_execution_plan": Descriptor(
        "Submit a PlanGraph for validation",
        "When every change is known, cited and verifiable",
        ("planGraph",),
    ),
    "request_evidence_guidance": Descriptor(
        "Say what blocks you and get guidance on the evidence that is missing",
        "When a plan was refused and you cannot mend it with what you know",
        ("blockingReasons",),
        ("requestedEvidence",),
    ),
    "signal_task_complete": Descriptor(
        "End the run and get its retrospective", "When all is done and verified", (), ("summary",)
    ),
    "select_active_intent": Descriptor(
        "Select the intent this session works for", "Before the first change", ("intent_id",)
    ),
    "zoom_context": Descriptor(
        "Expand one section of the context",
        "When a pack shows something only in outline",
        ("type", "target"),
        ("budget", "depth", "module", "context", "include_tests", "line_range"),
    ),
    "query_context": Descriptor(
        "Find the code fragments that answer a question",
        "When you can say what you look for but not its name",
        ("query",),
        ("top_k", "language"),
    ),
    "context_feedback": Descriptor(
        "Say how useful the context was",
        "After the work, so that later packs are better",
        (),
        ("session_id", "file_ratings", "overall_effectiveness", "lens"),
    ),
    "call_mcp_tool": Descriptor(
        "Call a read-only tool of another MCP server",
        "When a connected server knows what you need",
        ("server", "tool"),
        ("arguments",),
    ),
}
POST_PLAN: dict[str, Descriptor] = {
    "apply_code_patch": Descriptor(
        "Apply a structured code patch under a plan node",
        "To carry out a change node",
        ("planNodeId", "targetFile", "edits"),
        ("expectedHash",),
    ),
    "run_sandboxed_code": Descriptor(
        "Run a snippet in a sandbox without files, network or processes",
        "To compute something a plan node needs",
        ("planNodeId", "code"),
        ("language", "inputs", "timeoutMs", "memoryMb", "returnShape"),
    ),
    "execute_gated_side_effect": Descriptor(
        "Carry out an external action behind its commit gate",
        "To carry out a side_effect node, once what it depends on is verified",
        ("planNodeId", "sideEffectType"),
        ("commitGateId",),
    ),
    "run_automation_recipe": Descriptor(
        "Run a named recipe with checked parameters",
        "When a recipe does what a node asks",
        ("recipeId", "planNodeId", "artifactBundleRef", "diffSummaryRef"),
        ("params",),
    ),
}
NATIVE: dict[str, Descriptor] = {
    "write_file": Descriptor(
        "Write a whole file",
        "To create a file",
        ("path", "content"),
        ("expected_hash", "newline", "executable"),
    ),
    "edit_file": Descriptor(
        "Replace one exact piece of text in a file",
        "To change part of a file",
        ("path", "old", "new"),
        ("replace_all", "expected_count", "expected_hash"),
    ),
    "apply_patch": Descriptor(
        "Apply a patch to one or more files, or none",
        "To change several places at once",
        ("patch",),
        ("format", "path", "expected_hashes"),
    ),
    "delete_file": Descriptor(
        "Delete a file", "When nothing needs it any more", ("path",), ("expected_hash",)
    ),
    "move_file": Descriptor(
        "Move or rename a file",
        "When a file belongs elsewhere",
        ("source", "destination"),
        ("overwrite", "expected_hash"),
    ),
    "run_command": Descriptor(
        "Run a command in the project",
        "To build, test and check",
        ("command",),
        ("cwd", "timeout", "max_output"),
    ),
}
CATALOGUE: dict[str, Descriptor] = {**PRE_PLAN, **POST_PLAN, **NATIVE}

BUDGET_SAFE = frozenset(
    ("list_available_verbs", "get_original_prompt", "request_evidence_guidance", "signal_task_complete")
)
_ENDED = frozenset(("list_available_verbs", "get_original_prompt", "signal_task_complete"))


def cell(verb: str, state: str, preset: str) -> str:
    """`yes`, `tools` (as a tool of its own, not through `controller_turn`) or `no`."""
    if verb not in CATALOGUE or state not in STATES or preset not in PRESETS:
        return "no"
    if state == BLOCKED_BUDGET:
        return "yes" if verb in BUDGET_SAFE else "no"
    if state in (FAILED, COMPLETED):
        return "yes" if verb in _ENDED else "no"
    if state == PLAN_REQUIRED:
        if verb in PRE_PLAN:
            return "yes"
        # `controller_turn` is plan-gated whatever the preset; beside it only `strict` wants a plan
        return "tools" if verb in NATIVE and preset != "strict" else "no"
    return "yes" if state in (PLAN_ACCEPTED, EXECUTION_ENABLED) else "no"


def matrix() -> tuple[tuple[str, str, str, str], ...]:
    """The one published table: (verb, state, preset, cell), every combination."""
    return tuple((v, s, p, cell(v, s, p)) for v in CATALOGUE for s in STATES for p in PRESETS)


def offered(state: str, preset: str, surface: str = "turn") -> tuple[str, ...]:
    """The verbs on offer, in catalogue order: `capabilities` of a turn."""
    wanted = ("yes", "tools") if surface == "tools" else ("yes",)
    return tuple(verb for verb in CATALOGUE if cell(verb, state, preset) in wanted)


def describe(verbs: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """`verbDescriptions`: what each of these verbs is for and takes."""
    return {
        verb: {
            "description": CATALOGUE[verb].description,
            "whenToUse": CATALOGUE[verb].when,
            "requiredArgs": list(CATALOGUE[verb].required),
            "optionalArgs": list(CATALOGUE[verb].optional),
        }
        for verb in verbs
    }


def missing_args(verb: str, args: dict[str, Any]) -> tuple[str, ...]:
    """The required arguments a call leaves out."""
    return tuple(
        name
        for name in CATALOGUE[verb].required
        if not any(args.get(choice) not in (None, "") for choice in name.split("|"))
    )


def suggest(
    verb: str,
    state: str,
    preset: str = "intent",
    codes: tuple[str, ...] = (),
    args: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """`suggestedAction` for a refused verb: what to call instead, why, and with what if that is known."""
    given = args or {}
    if verb not in CATALOGUE:
        import difflib

        near = difflib.get_close_matches(verb, offered(state, preset), n=1)
        if near:
            return _action(near[0], f"`{verb[:40]}` is no verb; this is the nearest", _kept(near[0], given))
        return _action("list_available_verbs", f"`{verb[:40]}` is no verb")
    if state in (FAILED, COMPLETED) and verb not in _ENDED:
        return _action("signal_task_complete", f"the run is {state}: only its retrospective is left")
    if state == BLOCKED_BUDGET and verb not in BUDGET_SAFE:
        reason = "the token budget is used up: tell a person what is left to do, so that they can raise it"
        return _action("request_evidence_guidance", reason, {"blockingReasons": ["budget exceeded"]})
    if state == PLAN_REQUIRED and verb not in PRE_PLAN:
        return _action("submit_execution_plan", f"`{verb}` needs a validated plan")
    if "PACK_INSUFFICIENT" in codes or "PACK_REQUIRED_ANCHOR_UNRESOLVED" in codes:
        reason = "the context pack lacks anchors: say which evidence is missing"
        return _action("request_evidence_guidance", reason, {"blockingReasons": list(codes)})
    if any(code in ("PLAN_EVIDENCE_INSUFFICIENT", "PLAN_ORIGIN_UNKNOWN") for code in codes):
        target = given.get("targetFile") or given.get("symbol")
        return _action(
            "trace_symbol_graph",
            "gather code evidence, then submit the plan again",
            {"query": target} if isinstance(target, str) else None,
        )
    if verb == "submit_execution_plan" and codes:
        return _action("submit_execution_plan", "mend each violation as its hint says, then submit again")
    lacking = missing_args(verb, given)
    if lacking:
        return _action(verb, f"call it again with {', '.join(f'`{n}`' for n in lacking)}", _kept(verb, given))
    return _action("list_available_verbs", "see what can be done now")


def _action(verb: str, reason: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"verb": verb, "reason": reason, **({"args": args} if args else {})}


def _kept(verb: str, args: dict[str, Any]) -> dict[str, Any]:
    """Of the arguments given, those the suggested verb takes as well."""
    known = {part for name in CATALOGUE[verb].required for part in name.split("|")}
    known.update(CATALOGUE[verb].optional)
    return {name: value for name, value in args.items() if name in known}


def table() -> str:
    """The published table as Markdown: one row a verb and preset group, one column a state."""
    lines = ["| verb | preset | " + " | ".join(STATES) + " |", "|---" * (len(STATES) + 2) + "|"]
    for verb in CATALOGUE:
        rows: dict[tuple[str, ...], list[str]] = {}
        for preset in PRESETS:
            rows.setdefault(tuple(cell(verb, state, preset) for state in STATES), []).append(preset)
        for cells, presets in rows.items():
            named = "any" if len(presets) == len(PRESETS) else ", ".join(presets)
            lines.append(f"| `{verb}` | {named} | {' | '.join(cells)} |")
    return "\n".join(lines)
