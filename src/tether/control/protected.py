"""What no agent may change, whatever its intent: its own limits, its own settings, and the record."""

from __future__ import annotations

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
