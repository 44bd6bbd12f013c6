"""Every method of the protocol and who answers it: what needs no project at once, the rest with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tether.edges.mcp import surface
from tether.edges.mcp.protocol import (
    INVALID_PARAMS,
    LOG_LEVELS,
    METHOD_NOT_FOUND,
    Fault,
    discover,
)

if TYPE_CHECKING:
    from tether.edges.mcp.surface import Visit
    from tether.workspace import Workspace

# methods that only one of the two ways of agreeing on a version knows
LEGACY_ONLY = frozenset({"ping", "logging/setLevel"})
MODERN_ONLY = frozenset({"server/discover"})
NEEDS_PROJECT = frozenset({"tools/call", "resources/list", "resources/read", "prompts/get"})
AT_ONCE = frozenset({"tools/list", "prompts/list", "resources/templates/list"}) | LEGACY_ONLY | MODERN_ONLY


def check(method: str, params: dict[str, Any], shown: str, *, modern: bool) -> None:
    """Refuses a method, or a tool, that this version of the protocol, or this server, does not have."""
    other = LEGACY_ONLY if modern else MODERN_ONLY
    if method in other or method not in NEEDS_PROJECT | AT_ONCE:
        raise Fault(METHOD_NOT_FOUND, f"no method `{ascii(method[:100])[1:-1]}`")
    if method == "tools/call":
        surface.load(shown).expect(params)


def answer_at_once(method: str, params: dict[str, Any], shown: str, *, modern: bool) -> dict[str, Any]:
    """The result of a method that needs no project."""
    if method == "tools/list":
        _refuse_cursor(params)
        return {"tools": surface.load(shown).describe(modern)}
    if method in ("prompts/list", "resources/templates/list"):
        from tether.edges.mcp.library import PROMPTS, TEMPLATES

        _refuse_cursor(params)
        return {"prompts": PROMPTS} if method == "prompts/list" else {"resourceTemplates": TEMPLATES}
    if method == "server/discover":
        return discover()
    if method == "logging/setLevel" and params.get("level") not in LOG_LEVELS:
        raise Fault(INVALID_PARAMS, f"`level` must be one of {', '.join(LOG_LEVELS)}")
    return {}


async def answer(
    workspace: Workspace, method: str, params: dict[str, Any], shown: str, visit: Visit
) -> dict[str, Any]:
    """The result of a method that needs the project."""
    import asyncio

    from tether.edges.mcp import library

    if method == "tools/call":
        result: dict[str, Any] = await surface.load(shown).call(workspace, params, visit)
        return result
    if method == "resources/list":
        _refuse_cursor(params)
        return {"resources": await asyncio.to_thread(library.list_resources, workspace.project)}
    if method == "resources/read":
        return await asyncio.to_thread(
            library.read_resource, workspace.project, params, modern=visit.client.modern
        )
    return await asyncio.to_thread(library.get_prompt, workspace.project, params)


def _refuse_cursor(params: dict[str, Any]) -> None:
    """Every list is one page, so that any cursor is a made-up one."""
    if params.get("cursor") is not None:
        raise Fault(INVALID_PARAMS, "unknown `cursor`: the list is one page")
