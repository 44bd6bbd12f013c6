"""Whole-process time of the installed hook command against an empty interpreter."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from bench._row import Row, interleave

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 20


def run() -> Iterator[Row]:
    """Each event as Claude Code sends it, through the command that `tether install` wrote."""
    with tempfile.TemporaryDirectory() as place:
        home, root = os.path.join(place, "home"), os.path.join(place, "repo")
        os.makedirs(home)
        os.makedirs(os.path.join(root, "src"))
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        with open(os.path.join(root, "src", "a.py"), "w") as file:
            file.write("x = 1\n" * 200)

        def shell(*argv: str, given: str = "") -> str:
            return subprocess.run(
                argv, cwd=root, env=environment, input=given, text=True, capture_output=True, check=True
            ).stdout

        shell("git", "init", "-q")
        tether = [sys.executable, "-m", "tether"]
        shell(*tether, "init", "--yes", "--allow-writes")
        shell(*tether, "intent", "new", "Bench", "--scope", "src/**", "--activate")
        shell(*tether, "install", "claude-code", "--yes")
        shell(*tether, "intent", "select", "INT-001", "--session", "s1")
        with open(os.path.join(root, ".claude", "settings.json")) as file:
            line = json.load(file)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
            command = shlex.split(line.partition(" || ")[0])

        def send(event: str, tool: str, given: dict[str, object], use: str) -> str:
            body = {"session_id": "s1", "cwd": root, "hook_event_name": event, "tool_name": tool}
            return shell(*command, given=json.dumps({**body, "tool_input": given, "tool_use_id": use}))

        edit: dict[str, object] = {
            "file_path": os.path.join(root, "src", "a.py"), "old_string": "x = 1\n", "new_string": "x = 2\n"
        }  # fmt: skip
        send("PreToolUse", "Edit", edit, "warm")
        send("PostToolUse", "Edit", edit, "warm")
        empty = [sys.executable, "-I", "-c", "pass"]
        rows: list[tuple[str, float | None, str, str, dict[str, object]]] = [
            ("before a read-only command", 4.0, "PreToolUse", "Bash", {"command": "git status --short"}),
            ("before an edit", 4.0, "PreToolUse", "Edit", edit),
            (
                "before a pipe that is parsed as shell",
                4.0,
                "PreToolUse",
                "Bash",
                {"command": "git log | head -5"},
            ),
            ("after an edit that did nothing", None, "PostToolUse", "Edit", edit),
        ]
        for what, bound, event, tool, given in rows:
            base, hook = interleave(
                ROUNDS,
                lambda: subprocess.run(empty, env=environment, check=True),
                lambda event=event, tool=tool, given=given: send(event, tool, given, "u"),  # type: ignore[misc]
            )
            yield Row(what, hook / base, "an empty interpreter", bound)
