"""What no agent may change, whatever its intent: its own limits, its own settings, and the record."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# glob → why; the same reason goes to the agent
PROTECTED: dict[str, str] = {
    "**/.git/**": "git's own files, hooks above all, run code outside every policy",
    "**/.git": "git's own files, hooks above all, run code outside every policy",
    "/tether.toml": "configuration is a person's to change (`tether config set`)",
    "/tether.local.toml": "configuration is a person's to change (`tether config set`)",
    "/aop_config.json": "configuration is a person's to change",
    "/.orchestration/**": "intents and the ledger are changed by `tether` commands only",
    "/.tether/**": "this is Tether's own state",
    "**/.claude/settings*.json": "an agent's own settings decide what it may do",
    "**/.claude/hooks/**": "an agent's own hooks decide what it may do",
    "**/.gemini/settings*.json": "an agent's own settings decide what it may do",
    "**/.gemini/hooks/**": "an agent's own hooks decide what it may do",
    "**/.codex/**": "an agent's own settings decide what it may do",
    "**/.clinerules/hooks/**": "an agent's own hooks decide what it may do",
    "**/.cursor/mcp.json": "an agent's own settings decide what it may do",
    "**/.cursor/hooks*": "an agent's own hooks decide what it may do",
    "**/.mcp.json": "which MCP servers run is a person's to decide",
    "**/.vscode/mcp.json": "which MCP servers run is a person's to decide",
    "**/.vscode/settings.json": "editor settings can approve tools by themselves",
    "**/.vscode/tasks.json": "editor tasks run code outside every policy",
    "**/.zed/settings.json": "an agent's own settings decide what it may do",
}

# INVARIANT: every glob above names one of these literally, so a path without any of them is not protected by it
NAMES: frozenset[str] = frozenset(
    next(part for part in glob.strip("/").split("/") if "*" not in part) for glob in PROTECTED
)


def is_protected(path: str, more: Sequence[str] = ()) -> bool:
    """Whether no agent may change a path, by these rules or by `more` globs of the project's own."""
    from tether.control.scope import compile_scope

    names = path.split("/")
    globs = more if NAMES.isdisjoint(names) else (*PROTECTED, *more)
    return any(not pattern.negated and pattern.matches(names) for pattern in compile_scope(globs).patterns)
