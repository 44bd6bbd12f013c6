"""How the tests run: a user's own folders are never touched, and load is never a failure."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# no deadline per example, because a loaded machine is not a wrong program; the same examples every time, so that
# a red run can be run again. `TETHER_FUZZ=1` looks for new ones.
settings.register_profile("steady", deadline=None, derandomize=not os.environ.get("TETHER_FUZZ"))
settings.load_profile("steady")

AGENT_MARKS = ("CLAUDECODE", "TETHER_AGENT", "GEMINI_CLI", "CODEX_SANDBOX", "CURSOR_AGENT", "CURSOR_TRACE_ID")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with nothing in their home, at their own terminal."""
    place = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(place))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TETHER_SESSION", *AGENT_MARKS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.com")
    return place


class Site:
    """A set-up project, and the ways in: the gate in this process, or the real command in another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: list[Any] = []

    def workspace(self) -> Any:
        """The project opened in this process."""
        from tether.workspace import open_workspace

        opened = open_workspace(str(self.path))
        self._opened.append(opened)
        return opened

    def close(self) -> None:
        """Closes what was opened."""
        for opened in self._opened:
            opened.close()

    def call(self, verb: str, session: str = "s1", **args: Any) -> Any:
        """One call through the gate in this process."""
        from tether.gate import submit
        from tether.types import Agent, Call

        workspace = self._opened[0] if self._opened else self.workspace()
        agent = Agent(session, name="test", model="test/model")
        return asyncio.run(submit(workspace, Call(os.urandom(8).hex(), verb, args, agent)))

    def select(self, intent: str = "INT-001", session: str = "s1") -> None:
        """The handshake."""
        outcome = self.call("select_active_intent", session, intent_id=intent)
        assert outcome.ok, outcome.error

    def tether(self, *words: str, given: str = "", code: int | None = 0, **environment: str) -> str:
        """The real command in its own process; its output."""
        done = subprocess.run(
            [sys.executable, "-m", "tether", *words],
            cwd=self.path,
            input=given,
            text=True,
            capture_output=True,
            env={**os.environ, **environment},
            check=False,
        )
        if code is not None:
            assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def hook(self, agent: str, event: dict[str, Any]) -> dict[str, Any]:
        """The installed hook command, fed one event; its answer."""
        from tether.edges.hooks.settings import hook_command

        done = subprocess.run(
            ["sh", "-c", hook_command(agent, str(self.path), sys.executable)],
            cwd=self.path,
            input=json.dumps(event),
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def write(self, name: str, text: str) -> None:
        """A person edits a file."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def read(self, name: str) -> str:
        """What a file holds."""
        return (self.path / name).read_text()

    def records(self) -> list[dict[str, Any]]:
        """The trace ledger."""
        path = self.path / ".orchestration/agent_trace.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def git(self, *words: str) -> str:
        """git in the project."""
        return subprocess.run(
            ["git", *words], cwd=self.path, text=True, capture_output=True, check=True
        ).stdout


INTENTS = """\
# people own this file
active_intents:
  - id: INT-001
    name: Auth
    status: active
    owned_scope: ["src/auth/**"]
    constraints: ["keep the public API"]
    acceptance_criteria: ["$ test -f src/auth/token.py"]
  - id: INT-002
    name: Later
    status: draft
    owned_scope: ["src/later/**"]
"""


@pytest.fixture
def site(tmp_path: Path, home: Path) -> Any:
    """A git repository with Tether set up, writes on, one active intent that owns src/auth."""
    from tether.cli.init import set_up

    root = tmp_path / "repo"
    (root / "src/auth").mkdir(parents=True)
    (root / "src/pay").mkdir()
    (root / "src/auth/token.py").write_text("def valid(token):\n    return token > 0\n")
    (root / "src/pay/index.py").write_text("def charge(cents):\n    return cents\n")
    made = Site(root)
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    set_up(str(root), "tester", preset="intent", allow_writes=True, commands=[])
    made.write(".orchestration/active_intents.yaml", INTENTS)
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "first")
    yield made
    made.close()
