"""Where each agent keeps its hooks, and what Tether's are: pure edits of settings text."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any

from tether.edges.settings import Plan, parse, read, spell
from tether.errors import TetherError

ENTRY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry.py")
MARK = os.path.join("tether", "edges", "hooks", "entry.py")
TIMEOUT_SECONDS = 60


AGENTS = ("claude-code", "gemini", "codex", "cline")

# event → which tools it is for; "" is whatever the event is about.
# INVARIANT: every tool is asked about, for a list of names misses the tool an agent learns tomorrow.
_CLAUDE = {"SessionStart": "", "PreToolUse": ".*", "PostToolUse": ".*", "PostToolUseFailure": ".*"}
_CODEX = {"SessionStart": "", "PreToolUse": ".*", "PostToolUse": ".*"}
_GEMINI = {"SessionStart": "", "BeforeTool": ".*", "AfterTool": ".*"}
_CLINE = ("TaskStart", "TaskResume", "PreToolUse", "PostToolUse")


def hook_command(agent: str, root: str, python: str) -> str:
    """The command an agent runs: absolute and isolated, so that no file of the project is imported.

    Agents take every failure but exit code 2 for leave to go on: an interpreter that is gone must not be one.
    """
    words = shlex.join([os.path.abspath(python), "-I", ENTRY, agent, "--project", root])
    return f"{words} || exit 2"


def _script(event: str, root: str, python: str) -> str:
    """Cline's executable; it reads no exit code, so even what never started has to answer in JSON."""
    command = hook_command("cline", root, python).removesuffix(" || exit 2")
    if event != "PreToolUse":
        return f"#!/bin/sh\nexec {command}\n"
    answer = json.dumps({"cancel": True, "errorMessage": "Tether could not start: run `tether doctor`"})
    return f"#!/bin/sh\n{command} || echo {shlex.quote(answer)}\n"


def plan_install(agent: str, root: str, python: str) -> list[Plan]:
    """The files to write so that the agent asks Tether."""
    command = hook_command(agent, root, python)
    if agent == "cline":
        return [
            Plan(p, read(root, p), _script(os.path.basename(p), root, python), executable=True)
            for p in _cline_paths(root, install=True)
        ]
    path, events = _files(agent)
    before = read(root, path)
    settings = parse(path, before)
    for event, matcher in events.items():
        groups = _groups(path, settings, event)
        wanted = _group(agent, matcher, command)
        ours = [n for n, group in enumerate(groups) if _is_ours(group)]
        if ours:
            groups[ours[0]] = wanted
            for n in reversed(ours[1:]):
                del groups[n]
        else:
            groups.append(wanted)
    return [Plan(path, before, spell(settings, before))]


def plan_uninstall(agent: str, root: str, python: str) -> list[Plan]:
    """The files to write so that nothing of Tether is left in the agent's settings."""
    if agent == "cline":
        found = [(p, read(root, p)) for p in _cline_paths(root, install=False)]
        return [Plan(p, text, None) for p, text in found if text is not None and MARK in text]
    path, events = _files(agent)
    before = read(root, path)
    if before is None:
        return []
    settings = parse(path, before)
    hooks = settings.get("hooks", {})
    for event in events:
        if event in hooks:
            hooks[event] = [group for group in _groups(path, settings, event) if not _is_ours(group)]
            if not hooks[event]:
                del hooks[event]
    if "hooks" in settings and not hooks:
        del settings["hooks"]
    return [Plan(path, before, spell(settings, before) if settings else None)]


def installed(agent: str, root: str) -> str:
    """The hook command found in the agent's settings, or nothing."""
    if agent == "cline":
        texts = [read(root, p) or "" for p in _cline_paths(root, install=False)]
        return next((t.splitlines()[-1].removeprefix("exec ") for t in texts if MARK in t), "")
    path, events = _files(agent)
    settings = parse(path, read(root, path))
    for event in events:
        for group in _groups(path, settings, event) if event in settings.get("hooks", {}) else ():
            if _is_ours(group):
                return str(group["hooks"][0]["command"])
    return ""


def _files(agent: str) -> tuple[str, dict[str, str]]:
    return {
        "claude-code": (".claude/settings.json", _CLAUDE),
        "gemini": (".gemini/settings.json", _GEMINI),
        "codex": (".codex/hooks.json", _CODEX),
    }[agent]


def _group(agent: str, matcher: str, command: str) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": command}
    if agent == "gemini":
        hook |= {"name": "tether", "timeout": TIMEOUT_SECONDS * 1000}
    else:
        # a hook that crashes or times out must block, not wave through
        hook |= {"timeout": TIMEOUT_SECONDS, "onFailure": "block"}
    return {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}


def _is_ours(group: Any) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(
        isinstance(hook, dict) and MARK in str(hook.get("command", "")) for hook in hooks
    )


def _groups(path: str, settings: dict[str, Any], event: str) -> list[Any]:
    hooks = settings.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise TetherError("CONFIG_INVALID", f"{path}: `hooks` is not an object; mend it and retry")
    groups = hooks.setdefault(event, [])
    if not isinstance(groups, list):
        raise TetherError("CONFIG_INVALID", f"{path}: `hooks.{event}` is not a list; mend it and retry")
    return groups


def _cline_paths(root: str, *, install: bool) -> list[str]:
    paths = [f".clinerules/hooks/{event}" for event in _CLINE]
    if install:
        for path in paths:
            text = read(root, path)
            if text is not None and MARK not in text:
                raise TetherError("ALREADY_EXISTS", f"`{path}` is another hook; move it away, then retry")
    return paths
