"""Commands that only a person may give, and who that person is."""

from __future__ import annotations

import os

from tether.errors import TetherError

# set by agents in the shells they open; a person's own terminal has none of them
AGENT_MARKS = (
    "TETHER_AGENT",
    "CLAUDECODE",
    "GEMINI_CLI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "CLINE_ACTIVE",
    "OPENCODE",
)


def is_agent() -> bool:
    """Whether this shell is known to be an agent's."""
    return any(os.environ.get(mark) for mark in AGENT_MARKS)


def require_person(what: str) -> str:
    """The person's name; refuses when an agent's shell is recognised."""
    for mark in AGENT_MARKS:
        if os.environ.get(mark):
            raise TetherError(
                "SECURITY_VIOLATION",
                f"`tether {what}` is for people, and this shell belongs to an agent (`{mark}` is set)",
                action="Run it in your own terminal",
            )
    return name()


def name() -> str:
    """The name the operating system knows this user by."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid-{os.getuid()}"
