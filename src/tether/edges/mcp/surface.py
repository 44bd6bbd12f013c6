"""What tools a server shows: one table entry a surface, each a module with three functions.

`describe(modern) -> list[dict]` lists the tools and `expect(params)` raises Fault where there is no such tool,
both without opening anything; `async call(workspace, params, visit) -> dict` is a tool's result.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tether.types import noun

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tether.edges.mcp.asking import Seal
    from tether.edges.mcp.protocol import Client

SURFACES: dict[str, str] = {
    "tools": "tether.edges.mcp.tools",  # every verb as its own typed tool
}
DEFAULT = "tools"


@noun
class Visit:
    """One request's client and ways back: who calls, and how to reach the person and the progress bar."""

    session: str
    client: Client
    seal: Seal
    emit: Callable[[str], None]
    # puts a form to the person and waits a little; None where the client cannot, or where it is not to be trusted
    elicit: Callable[[dict[str, Any]], Awaitable[Any]] | None = None


def load(name: str) -> Any:
    """The module of a surface."""
    return importlib.import_module(SURFACES[name])
