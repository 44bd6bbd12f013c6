"""The verbs of packs: look closer, and say what was useful."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tether.pack.feedback import give_feedback, parse_feedback
from tether.pack.target import DEPTHS, TYPES, read_arguments
from tether.types import Effect, Prepared, Verb

if TYPE_CHECKING:
    from tether.source.root import Root

ZOOM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": list(TYPES)},
        "target": {"type": "string", "description": "Identifier of the element to expand"},
        "budget": {"type": "number", "description": "Token budget for the expansion"},
        "depth": {"type": "string", "enum": list(DEPTHS)},
        "module": {"type": "string", "description": "Where to look: a path, folder or dotted name"},
        "context": {"type": "integer", "minimum": 0, "description": "Lines to show around it"},
        "include_tests": {"type": "boolean", "description": "Count tests among definitions and callers"},
        "target_type": {"type": "string", "description": "Older name of `type`"},
        "target_name": {"type": "string", "description": "Older name of `target`"},
        "line_range": {"type": "string", "description": "Lines of a file, such as 10-40"},
    },
    "required": ["type", "target"],
}
FEEDBACK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "session_id": {"type": "string"},
        "file_ratings": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "utility": {"type": "number", "minimum": 0, "maximum": 1},
                    "reason": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["utility"],
            },
        },
        "overall_effectiveness": {"type": "number", "minimum": 0, "maximum": 1},
        "lens": {"type": "string", "description": "The lens the pack was made with"},
    },
}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def prepare_zoom(root: Root, args: dict[str, Any]) -> Prepared:
    """Expand a section of the context: a read of the file named, or of the project for a name."""
    target, depth, budget = read_arguments(args)
    module, context, tests = args.get("module", ""), args.get("context", 0), args.get("include_tests", False)
    if not isinstance(module, str) or not isinstance(tests, bool):
        raise _bad("`module` must be a string and `include_tests` true or false")
    if isinstance(context, bool) or not isinstance(context, int) or not 0 <= context <= 10_000:
        raise _bad("`context` must be a number of lines")

    def run(ctx: Any) -> dict[str, Any]:
        from tether.pack.inspection import as_answer, inspect, remember

        found = inspect(
            root.path, target, depth=depth, budget=budget, context=context, module=module, tests=tests
        )
        notes = remember(root.path, target, depth, found, _now())
        return as_answer(found, notes)

    return Prepared((Effect("read", target.name if target.type == "file" else "."),), run)


def prepare_feedback(root: Root, args: dict[str, Any]) -> Prepared:
    """Learn what was useful: changes the project's context store, nothing an intent could own."""
    parse_feedback(args)

    def run(ctx: Any) -> dict[str, Any]:
        return give_feedback(root.path, args, _now())

    return Prepared((), run)


def _bad(what: str) -> Exception:
    from tether.errors import TetherError

    return TetherError("BAD_ARGUMENTS", f"zoom_context: {what}")


VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb(
            "zoom_context",
            prepare_zoom,
            False,
            "Expand a specific code section from the current context",
            ZOOM,
        ),
        Verb("context_feedback", prepare_feedback, False, "Say how useful the context was", FEEDBACK),
    )
}
