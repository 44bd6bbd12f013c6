"""Where each client keeps its MCP servers, and what Tether's entry is: pure edits of settings text."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from tether.edges.settings import Plan, parse, read, spell
from tether.errors import TetherError

NAME = "tether"


class Place(NamedTuple):
    """One client's file, the member its servers stand under, and what an entry says besides the command."""

    path: str
    member: str
    more: dict[str, Any]


CLIENTS: dict[str, Place] = {
    "claude-code": Place(".mcp.json", "mcpServers", {"type": "stdio"}),
    "cursor": Place(".cursor/mcp.json", "mcpServers", {"type": "stdio"}),
    "vscode": Place(".vscode/mcp.json", "servers", {"type": "stdio"}),
    "gemini": Place(".gemini/settings.json", "mcpServers", {}),
    "zed": Place(".zed/settings.json", "context_servers", {"source": "custom"}),
}


def server_entry(client: str, root: str, python: str) -> dict[str, Any]:
    """The entry a client starts: absolute and isolated, so that no file of the project is imported."""
    words = ["-I", "-m", "tether", "mcp", "--surface", "tools", "--project", root]
    return {**CLIENTS[client].more, "command": os.path.abspath(python), "args": words}


def plan_install(client: str, root: str, python: str) -> list[Plan]:
    """The file to write so that the client starts Tether's server."""
    place, before, settings = _open(client, root)
    servers = settings.setdefault(place.member, {})
    _expect_servers(place, servers)
    known = servers.get(NAME)
    if known is not None and not _is_ours(known):
        raise TetherError(
            "ALREADY_EXISTS", f"{place.path}: `{NAME}` is another server; rename it, then retry"
        )
    # what a person added to our entry, such as environment variables, stays
    servers[NAME] = {**(known or {}), **server_entry(client, root, python)}
    return [Plan(place.path, before, spell(settings, before))]


def plan_uninstall(client: str, root: str, python: str) -> list[Plan]:
    """The file to write so that nothing of Tether is left among the client's servers."""
    place, before, settings = _open(client, root)
    servers = settings.get(place.member)
    if before is None or servers is None:
        return []
    _expect_servers(place, servers)
    if not _is_ours(servers.get(NAME)):
        return []
    del servers[NAME]
    if not servers:
        del settings[place.member]
    return [Plan(place.path, before, spell(settings, before) if settings else None)]


def _open(client: str, root: str) -> tuple[Place, str | None, dict[str, Any]]:
    if client not in CLIENTS:
        raise TetherError(
            "BAD_ARGUMENTS",
            f"`{client}` keeps no MCP servers in the project; use one of {', '.join(CLIENTS)}",
        )
    place = CLIENTS[client]
    before = read(root, place.path)
    return place, before, parse(place.path, before)


def _expect_servers(place: Place, servers: Any) -> None:
    if not isinstance(servers, dict):
        raise TetherError(
            "CONFIG_INVALID", f"{place.path}: `{place.member}` is not an object; mend it and retry"
        )


def _is_ours(entry: Any) -> bool:
    words = entry.get("args") if isinstance(entry, dict) else None
    return isinstance(words, list) and words[:4] == ["-I", "-m", "tether", "mcp"]
