"""A governed edit end to end, on a sample repository made on the spot.

Every step is the real command, run as its own process; nothing outside a temporary directory is touched.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from tether.cli.output import console, dump
from tether.errors import TetherError

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

EXAMPLES = "  tether demo\n  tether demo --keep      # leave the sample repository to play with"

FILES = {
    "src/auth/token.py": '''\
"""Tokens for signed-in users."""


def is_expired(token, now):
    """Whether a token can no longer be used."""
    return token["expires"] < now


def renew(token, now):
    if is_expired(token, now):
        raise ValueError("expired")
    return {**token, "expires": now + 3600}
''',
    "src/payments/index.py": """\
def charge(card, cents):
    return {"card": card, "cents": cents}
""",
    "tests/test_token.py": """\
from src.auth.token import is_expired


def test_old_tokens_are_expired():
    assert is_expired({"expires": 1}, now=2)
""",
    "src/__init__.py": "",
    "src/auth/__init__.py": "",
    "README.md": "# Sample\n",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Whether to keep the sample."""
    parser.add_argument("--keep", action="store_true", help="keep the sample repository")


def run(args: argparse.Namespace) -> int:
    """Plays the story; exit code 1 if any step did not go as it should."""
    require_git()
    place = tempfile.mkdtemp(prefix="tether-demo-")
    story = Story(os.path.join(place, "sample"), os.path.join(place, "home"), quiet=args.json)
    try:
        for chapter in CHAPTERS:
            chapter(story)
    finally:
        if args.keep:
            story.say(f"\nkept {story.root} (its state is under HOME={story.home})")
        else:
            shutil.rmtree(place, ignore_errors=True)
    if args.json:
        dump({"ok": not story.failures, "steps": story.steps, "failures": story.failures})
    elif story.failures:
        story.say(
            f"\n[bold red]{len(story.failures)} step(s) did not go as told:[/] {'; '.join(story.failures)}"
        )
    else:
        story.say(
            f"\n[bold green]All {len(story.steps)} steps went as told.[/] Next: `tether init` in your own project."
        )
    return 1 if story.failures else 0


class Story:
    """A narrated run of real commands."""

    def __init__(self, root: str, home: str, *, quiet: bool) -> None:
        self.root = root
        self.home = home
        self.quiet = quiet
        self.steps: list[dict[str, Any]] = []
        self.failures: list[str] = []
        self.terminal: Console = console()
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": home,
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Demo",
            "GIT_AUTHOR_EMAIL": "demo@example.com",
            "GIT_COMMITTER_NAME": "Demo",
            "GIT_COMMITTER_EMAIL": "demo@example.com",
        }

    def say(self, text: str) -> None:
        """One line of narration."""
        if not self.quiet:
            self.terminal.print(text)

    def chapter(self, title: str, why: str) -> None:
        """A heading."""
        self.say(f"\n[bold cyan]{title}[/]  [dim]{why}[/]")

    def tether(self, *words: str, expect: int = 0, contains: str = "", shown: int = 8) -> str:
        """Runs `tether …`, shows what it said, and checks that it went as the story tells."""
        return self.command(
            [sys.executable, "-m", "tether", *words], "tether " + shlex.join(words), expect, contains, shown
        )

    def command(
        self,
        argv: list[str],
        spelled: str,
        expect: int = 0,
        contains: str = "",
        shown: int = 8,
        given: str = "",
    ) -> str:
        """Runs one command in the sample repository."""
        done = subprocess.run(
            argv,
            cwd=self.root,
            env=self.environment,
            input=given,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        good = done.returncode == expect and contains in done.stdout
        self.steps.append({"command": spelled, "exit_code": done.returncode, "ok": good})
        if not good:
            self.failures.append(f"`{spelled}` ended with {done.returncode}, not {expect} and `{contains}`")
        if not self.quiet:
            from rich.markup import escape

            mark = "[green]✓[/]" if good else "[red]✗[/]"
            self.say(f"{mark} [bold]$ {escape(spelled if len(spelled) < 150 else spelled[:149] + '…')}[/]")
            lines = done.stdout.rstrip().splitlines()
            for line in lines[:shown]:
                self.say(f"    [dim]{escape(line[:160])}[/]")
            if len(lines) > shown:
                self.say(f"    [dim]… {len(lines) - shown} more lines[/]")
        return done.stdout

    def write(self, path: str, text: str) -> None:
        """A person edits a file by hand."""
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, path: str) -> str:
        """What a file holds."""
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def expect(self, what: str, holds: bool) -> None:
        """Checks one thing the story claims."""
        self.steps.append({"claim": what, "ok": holds})
        self.say(f"{'[green]✓[/]' if holds else '[red]✗[/]'} {what}")
        if not holds:
            self.failures.append(what)


def _set_up(story: Story) -> None:
    story.chapter("1 Set up", "a repository, an intent that owns src/auth/**")
    os.makedirs(story.root)
    os.makedirs(story.home)
    for path, text in FILES.items():
        story.write(path, text)
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        story.command(["git", *words], "git " + shlex.join(words))
    story.tether("init", "--yes", "--allow-writes")
    story.tether(
        "intent", "new", "Refactor auth", "--scope", "src/auth/**", "--constraint", "keep the public API",
        "--criterion", "$ test -f src/auth/token.py", "--activate",
    )  # fmt: skip


def _handshake(story: Story) -> None:
    story.chapter("2 Handshake", "no intent, no change")
    edit = {"path": "src/auth/token.py", "old": 'token["expires"] < now', "new": 'token["expires"] <= now'}
    story.tether(
        "call", "edit_file", json.dumps(edit), "--session", "agent-1", expect=3,
        contains="You must cite a valid active Intent ID before mutating tools.",
    )  # fmt: skip
    story.tether("intent", "select", "INT-001", "--session", "agent-1", contains="<intent_context>", shown=12)


def _edit(story: Story) -> None:
    story.chapter("3 Scoped edit", "allowed, done atomically, traced")
    edit = {"path": "src/auth/token.py", "old": 'token["expires"] < now', "new": 'token["expires"] <= now'}
    story.tether(
        "call",
        "edit_file",
        json.dumps(edit),
        "--session",
        "agent-1",
        "--model",
        "demo/agent",
        contains='"hash"',
    )
    record = json.loads(story.read(".orchestration/agent_trace.jsonl").splitlines()[-1])
    ranges = record["files"][0]["conversations"][0]["ranges"]
    story.expect(
        "agent_trace.jsonl has a record with a content hash", ranges[0]["content_hash"].startswith("sha256:")
    )


def _outside(story: Story) -> None:
    story.chapter("4 Out of scope", "the same agent may not touch payments")
    call = {"path": "src/payments/index.py", "old": "cents", "new": "pence", "replace_all": True}
    story.tether(
        "call", "edit_file", json.dumps(call), "--session", "agent-1", expect=3, contains="SCOPE_VIOLATION"
    )
    call = {"path": "../outside.txt", "content": "x"}
    story.tether(
        "call",
        "write_file",
        json.dumps(call),
        "--session",
        "agent-1",
        expect=3,
        contains="SECURITY_VIOLATION",
    )


def _destructive(story: Story) -> None:
    story.chapter("5 Destructive command", "asked, rejected by a person, not retried")
    call = json.dumps({"command": "git reset --hard HEAD && rm -rf src/auth"})
    said = story.tether(
        "call", "run_command", call, "--session", "agent-1", expect=4, contains="tether approve A-"
    )
    approval = said.split("tether approve ", 1)[1].split("`", 1)[0]
    story.tether("approvals", contains=approval)
    story.tether("reject", approval, "--reason", "never delete auth")
    story.tether("call", "run_command", call, "--session", "agent-1", expect=3, contains="APPROVAL_REJECTED")
    story.tether("call", "run_command", '{"command": "git status --short"}', "--session", "agent-1")


def _stale(story: Story) -> None:
    story.chapter("6 Stale write", "a person edits while the agent thinks")
    story.tether("call", "read_file", '{"path": "src/auth/token.py"}', "--session", "agent-1", shown=2)
    text = story.read("src/auth/token.py")
    story.write("src/auth/token.py", text.replace("3600", "7200"))
    story.say("  [dim]… a person changes 3600 to 7200 by hand …[/]")
    call = json.dumps({"path": "src/auth/token.py", "content": text + "\n# by the agent\n"})
    story.tether("call", "write_file", call, "--session", "agent-1", expect=3, contains="STALE_FILE")


def _parallel(story: Story) -> None:
    story.chapter("7 Parallel writers", "four agents, one file, one winner a round")
    story.write("src/auth/counter.txt", "0\n")
    before = json.dumps({"path": "src/auth/counter.txt"})
    seen = json.loads(story.tether("call", "read_file", before, "--session", "agent-1", "--json", shown=0))
    digest = seen["value"]["hash"]
    running = []
    for n in range(4):
        call = {"path": "src/auth/counter.txt", "content": f"writer {n}\n", "expected_hash": digest}
        argv = [sys.executable, "-m", "tether", "call", "write_file", json.dumps(call), "--json"]
        argv += ["--session", f"writer-{n}", "--intent", "INT-001"]
        running.append(
            subprocess.Popen(argv, cwd=story.root, env=story.environment, stdout=subprocess.PIPE, text=True)
        )
    answers = [json.loads(process.communicate()[0]) for process in running]
    won = [answer for answer in answers if answer["ok"]]
    codes = sorted(answer["error"]["error_code"] for answer in answers if not answer["ok"])
    story.expect(
        f"exactly one of four wrote; the others were told {', '.join(dict.fromkeys(codes))}", len(won) == 1
    )


def _hook(story: Story) -> None:
    story.chapter("8 An agent with its own tools", "Claude Code's hook asks the same gate")
    story.tether("install", "claude-code", "--yes", shown=4)
    settings = json.loads(story.read(".claude/settings.json"))
    command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    event = {
        "session_id": "claude-1",
        "cwd": story.root,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "tether approve A-0000000000"},
        "tool_use_id": "toolu_1",
    }
    story.command(
        shlex.split(command), "(Claude Code is about to run `tether approve …`)",
        contains='"permissionDecision": "deny"', given=json.dumps(event),
    )  # fmt: skip


def _why(story: Story) -> None:
    story.chapter("9 Why", "line → record → intent → decision")
    lines = story.read("src/auth/token.py").splitlines()
    edited = next(n for n, line in enumerate(lines, 1) if "<= now" in line)
    story.tether("why", f"src/auth/token.py:{edited}", contains="INT-001", shown=12)
    by_hand = next(n for n, line in enumerate(lines, 1) if "7200" in line)
    said = story.tether("why", f"src/auth/token.py:{by_hand}", "--json", shown=0)
    story.expect("the line a person changed is not blamed on the agent", '"ai"' not in said)


def _verify(story: Story) -> None:
    story.chapter("10 Verify", "the record proves itself, and a forged line shows")
    story.tether("journal", "verify", contains="verified")
    story.tether("intent", "check", "INT-001")
    ledger = ".orchestration/agent_trace.jsonl"
    text = story.read(ledger)
    story.write(ledger, text.replace('"ai"', '"human"', 1))
    story.say("  [dim]… someone edits the ledger to hide the agent …[/]")
    story.tether("journal", "verify", expect=1, contains="altered")
    story.write(ledger, text)
    story.tether("journal", "verify", contains="verified")
    story.tether("journal", "tail", "-n", "6", shown=6)


CHAPTERS = (_set_up, _handshake, _edit, _outside, _destructive, _stale, _parallel, _hook, _why, _verify)


def require_git() -> None:
    """The story needs git."""
    if shutil.which("git") is None:
        raise TetherError("NOT_FOUND", "`git` is not installed", action="Install git, then retry")
