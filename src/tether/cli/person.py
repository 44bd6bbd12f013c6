"""Commands that only a person may give."""

from __future__ import annotations

from tether.errors import TetherError
from tether.source.person import AGENT_MARKS, agent_mark, name

__all__ = ["AGENT_MARKS", "is_agent", "name", "require_person"]


def is_agent() -> bool:
    """Whether this shell is known to be an agent's."""
    return bool(agent_mark())


def require_person(what: str) -> str:
    """The person's name; refuses when an agent's shell is recognised."""
    mark = agent_mark()
    if mark:
        raise TetherError(
            "SECURITY_VIOLATION",
            f"`tether {what}` is for people, and this shell belongs to an agent (`{mark}` is set)",
            action="Run it in your own terminal",
        )
    return name()
