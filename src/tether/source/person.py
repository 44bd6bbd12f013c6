"""Who sits at this terminal: the user's name, and the marks that agents leave in the shells they open."""

from __future__ import annotations

import os

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


def agent_mark() -> str:
    """The mark by which this process is known to have been started by an agent, or nothing."""
    return next((mark for mark in AGENT_MARKS if os.environ.get(mark)), "")


def name() -> str:
    """The name the operating system knows this user by."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid-{os.getuid()}"
