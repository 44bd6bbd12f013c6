"""What a hostile agent, a hostile repository and a careless user try, and what comes of it."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tether.cli.init import set_up
from tether.errors import TetherError
from tether.project import Project, open_project
from tether.types import Pending

WIDE = """\
active_intents:
  - id: INT-001
    name: Everything
    status: active
    owned_scope: ["**"]
"""


def approved(site, command, session="s1"):
    """A command that a person lets run."""
    pending = site.call("run_command", session, command=command)
    assert isinstance(pending, Pending), pending
    site.tether("approve", pending.approval_id)
    return site.call("run_command", session, command=command)


def script(site, body, name="work.sh"):
    """A program whose effects its name does not tell."""
    path = site.path.parent / name
    path.write_text(body)
    return f"bash {path}"


# ── half characters, odd arguments, broken verbs ─────────────────────────────


def test_a_name_that_is_no_text_is_recorded_like_any_other(site):
    site.select()
    done = site.call("run_command", command="printf x > src/auth/$(printf 'a\\377b')")
    assert done.ok, done.error
    assert done.records
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").ok
    assert len(site.records()) == 2
    site.tether("journal", "verify")
    site.tether("trace", "list", "--json")
    json.loads(site.tether("status", "--json"))
    site.tether("doctor")


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("write_file", {"path": "src/auth/\ud800.py", "content": "x"}),
        ("write_file", {"path": "src/auth/n.py", "content": "\udfff"}),
        ("run_command", {"command": "echo \ud800"}),
        ("run_command", {"command": ["echo", "\ud800"]}),
        ("write_file", {"path": ["src"], "content": {}}),
        ("edit_file", {"path": "src/auth/token.py", "old": 1, "new": None}),
        ("write_file", {"path": "src/auth/" + "x/" * 5000, "content": ""}),
        ("apply_patch", {"patch": "\x00" * 1000}),
        ("no_such_verb", {}),
    ],
)
def test_bad_arguments_are_answered_and_block_nothing_later(site, verb, args):
    site.select()
    assert site.call(verb, **args).ok is False
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").ok
    site.tether("journal", "verify")


def test_whatever_a_verb_raises_is_an_answer(site):
    from tether.types import Verb

    def explode(root, args):
        raise RecursionError("secret file contents")

    workspace = site.workspace()
    workspace.verbs["explode"] = Verb("explode", explode, True, "", {})
    outcome = site.call("explode")
    assert outcome.error["error_code"] == "INTERNAL"
    assert "secret" not in json.dumps(outcome.error)


def test_a_cancelled_command_is_settled_and_what_it_did_is_recorded(site):
    from tether.gate import submit
    from tether.types import Agent, Call

    site.select()
    workspace = site.workspace()
    command = "touch src/auth/left.txt && sleep 30"

    async def cancel_it():
        call = Call("c-1", "run_command", {"command": command}, Agent("s1"))
        running = asyncio.ensure_future(submit(workspace, call))
        while not (site.path / "src/auth/left.txt").exists():
            await asyncio.sleep(0.02)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel_it())
    (entry,) = workspace.project.journal.entries(call="c-1", kinds=("settled",))
    assert entry.body["outcome"] == "cancelled"
    assert [c["path"] for c in entry.body["changes"]] == ["src/auth/left.txt"]
    assert workspace.project.journal.facts("open") == {}


# ── whoever stays open sees what people change ───────────────────────────────


def test_an_intent_closed_by_a_person_ends_what_a_running_process_allows(site):
    site.select()
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").ok
    site.tether("intent", "close", "INT-001")
    assert site.call("edit_file", path="src/auth/token.py", old="> 1", new="> 2").error["error_code"] == (
        "INTENT_INVALID"
    )


def test_a_configuration_made_stricter_holds_at_once(site):
    site.select()
    site.tether("config", "set", "security.protected", '["src/auth/token.py"]')
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").error["error_code"] == (
        "SECURITY_VIOLATION"
    )


# ── what a clone brings ──────────────────────────────────────────────────────


def test_a_journal_made_up_under_a_known_id_is_nobody_s_own(site, tmp_path):
    """Every line of the ledger tells the journal's id: knowing it must not be enough."""
    known = open_project(str(site.path)).journal.id
    clone = tmp_path / "clone"
    shutil.copytree(site.path, clone, ignore=shutil.ignore_patterns("local"))
    state = clone / ".tether/local"
    state.mkdir(parents=True)
    from tether.record.journal import Journal

    forged = Journal.open(str(state / "journal.db"), create_id=known)
    forged.append("enabled", {"on": True, "by": "a stranger"})
    forged.close()
    with pytest.raises(TetherError, match="not begun by this user"):
        open_project(str(clone))


def test_a_journal_behind_a_link_is_refused(site, tmp_path):
    clone = tmp_path / "clone"
    (clone / ".tether/local").mkdir(parents=True)
    (clone / ".tether/local/journal.db").symlink_to(site.path / ".tether/local/journal.db")
    with pytest.raises(TetherError, match="symbolic link"):
        open_project(str(clone))


@pytest.mark.parametrize("name", [".tether", ".orchestration", ".gitignore"])
def test_setting_up_follows_no_link_out_of_the_project(tmp_path, name):
    root, away = tmp_path / "clone", tmp_path / "away"
    root.mkdir()
    away.mkdir()
    if name == ".gitignore":
        (away / "secret").write_text("password\n")
    (root / name).symlink_to(away / "secret" if name == ".gitignore" else away)
    with pytest.raises(TetherError, match="symbolic link"):
        set_up(str(root), "me", preset="intent", allow_writes=True, commands=[])
    assert sorted(p.name for p in away.iterdir()) == (["secret"] if name == ".gitignore" else [])
    assert (root / name).is_symlink()


@pytest.mark.parametrize("name", ["aop_config.json", "tether.local.toml", "tether.toml"])
def test_setting_up_does_not_trust_what_a_clone_brought(tmp_path, name):
    root = tmp_path / "clone"
    root.mkdir()
    text = (
        '{"security": {"write_enabled": true}}'
        if name.endswith("json")
        else "[security]\nwrite_enabled = true\n"
    )
    (root / name).write_text(text)
    done = set_up(str(root), "me", preset="intent", allow_writes=False, commands=[])
    assert done["untrusted"]
    assert not done["write_enabled"]


def test_criteria_of_a_clone_run_only_once_a_person_has_read_them(site):
    site.write(
        ".orchestration/active_intents.yaml",
        WIDE + '    acceptance_criteria: ["$ touch ran"]\n',
    )
    said = site.tether("intent", "check", "INT-001", code=1)
    assert "touch ran" in said
    assert "tether trust" in said
    assert not (site.path / "ran").exists()
    answer = json.loads(site.tether("intent", "check", "INT-001", "--json", code=1))
    assert answer["error"]["error_code"] == "UNTRUSTED"
    assert "touch ran" in site.tether("trust", "--yes")
    site.tether("intent", "check", "INT-001")
    assert (site.path / "ran").exists()
    site.write(".orchestration/active_intents.yaml", WIDE + '    acceptance_criteria: ["$ touch ran2"]\n')
    site.tether("intent", "check", "INT-001", code=1)
    assert not (site.path / "ran2").exists()


def test_a_criterion_a_person_gave_by_command_is_theirs(site):
    site.tether("intent", "new", "Mine", "--id", "INT-900", "--criterion", "$ touch mine")
    site.tether("intent", "check", "INT-900")
    assert (site.path / "mine").exists()


@pytest.mark.parametrize("brain", ["../outside.md", "ABSOLUTE", ".git/hooks/post-commit", "tether.toml"])
def test_a_repository_cannot_choose_where_the_shared_brain_is_written(site, tmp_path, brain):
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    chosen = str(outside) if brain == "ABSOLUTE" else brain
    site.write("tether.toml", site.read("tether.toml") + f'\n[record]\nbrain = "{chosen}"\n')
    site.tether("intent", "edit", "INT-001", "--constraint", "be kind")
    before = site.read("tether.toml")
    site.tether("doctor", code=None)  # brings the documents up to date
    assert outside.read_text() == "mine\n"
    assert not (site.path / ".git/hooks/post-commit").exists()
    assert site.read("tether.toml") == before


@pytest.mark.parametrize("name", ["AGENTS.md", ".orchestration/intent_map.md"])
def test_a_shared_document_that_leads_out_is_neither_read_nor_replaced(site, tmp_path, name):
    secret = tmp_path / "secret"
    secret.write_text("hunter2\n")
    (site.path / name).symlink_to(secret)
    site.tether("intent", "edit", "INT-001", "--constraint", "be kind")
    site.select()
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").ok
    assert secret.read_text() == "hunter2\n"
    assert (site.path / name).is_symlink()


def test_a_shared_document_may_be_a_link_inside_the_project(site):
    site.write("CLAUDE.md", "# Ours\n")
    (site.path / "AGENTS.md").symlink_to("CLAUDE.md")
    site.tether("intent", "edit", "INT-001", "--constraint", "be kind")
    site.select()
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").ok
    assert "be kind" in site.read("CLAUDE.md")
    assert (site.path / "AGENTS.md").is_symlink()


def test_a_fifo_in_a_document_s_place_holds_nobody_up(site):
    os.mkfifo(site.path / "AGENTS.md")
    site.tether("intent", "edit", "INT-001", "--constraint", "be kind")
    site.select()
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").ok


@pytest.mark.parametrize("kind", ["fifo", "folder", "huge", "garbage", "binary"])
def test_an_intents_file_that_is_none_blocks_changes_and_hangs_nothing(site, kind):
    site.select()
    path = site.path / ".orchestration/active_intents.yaml"
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        path.write_bytes(b"#" * (5 << 20))
    else:
        path.write_bytes(b"active_intents: [" if kind == "garbage" else b"\xff\xfe\x00")
    outcome = site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1")
    assert outcome.error["error_code"] in ("CONFIG_INVALID", "INTENTS_MALFORMED")
    assert "> 0" in site.read("src/auth/token.py")
    site.tether("doctor", code=1)


# ── Tether's own folders inside the project ──────────────────────────────────


def test_an_agent_cannot_write_where_the_user_s_own_state_lies(site, monkeypatch):
    """In a home directory under version control, or a container, the user's folders lie in the project."""
    inside = site.path / "home"
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(inside / name.lower()))
    site.write(".orchestration/active_intents.yaml", WIDE)
    Project(str(site.path)).trust()
    site.select()
    for name in (
        "state/tether/journals/x.json",
        "cache/tether/snapshots/x.json",
        "config/tether/config.toml",
    ):
        outcome = site.call("write_file", path=f"home/{name}", content="{}")
        assert outcome.error["error_code"] == "SECURITY_VIOLATION", name
    assert site.call("write_file", path="home/else.txt", content="x").ok


def test_a_user_folder_that_cannot_be_written_is_said_plainly(tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    (tmp_path / "repo").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tether", "init", "--yes", "--json"],
        cwd=tmp_path / "repo", capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_STATE_HOME": str(blocked)},
    )  # fmt: skip
    assert json.loads(done.stdout)["error"]["error_code"] == "JOURNAL_UNAVAILABLE"
    assert "Traceback" not in done.stderr


# ── what commands do behind one's back ───────────────────────────────────────

HIDDEN = {
    "a hook of git": "printf '#!/bin/sh\\n' > .git/hooks/post-commit",
    "git's settings": "git config core.fsmonitor ./x",
    "what git ignores": "echo evil/ >> .git/info/exclude",
    "intents": "sed -i s/Everything/Anything/ .orchestration/active_intents.yaml",
    "configuration": "echo >> tether.toml",
    "an agent's settings": "mkdir -p .claude && echo '{}' > .claude/settings.json",
    "a repository within": "printf x > inner/.git/hooks/pre-push",
}


@pytest.mark.parametrize("what", sorted(HIDDEN))
def test_a_command_that_touches_what_is_protected_is_found_out_and_undone(site, what):
    """However wide the intent: no scope owns these."""
    site.write(".orchestration/active_intents.yaml", WIDE)
    subprocess.run(["git", "init", "-q", str(site.path / "inner")], check=True)
    site.select()
    before = _everything(site.path)
    done = approved(site, script(site, HIDDEN[what]))
    assert done.error["error_code"] == "SECURITY_VIOLATION", done
    assert _everything(site.path) != before
    site.tether("rollback", done.error["rollback"], "--outside")
    assert _everything(site.path) == before


def _everything(root: Path):
    skipped = (root / ".tether/local", root / ".orchestration/agent_trace.jsonl")
    return {
        str(p.relative_to(root)): p.read_bytes()
        for p in root.rglob("*")
        if p.is_file() and not any(p.is_relative_to(s) for s in skipped) and "objects" not in p.parts
        and p.name not in ("intent_map.md", "AGENTS.md")
    }  # fmt: skip


def test_restoring_the_time_of_a_file_hides_nothing(site):
    site.select()
    body = """
ref=$(mktemp); touch -r src/pay/index.py $ref
echo evil >> src/pay/index.py; touch -r $ref src/pay/index.py; rm $ref
"""
    done = approved(site, script(site, body))
    assert done.error["error_code"] == "SCOPE_VIOLATION"
    assert done.error["paths"] == ["src/pay/index.py"]


def test_an_ignore_file_of_tether_s_hides_no_command(site):
    site.write(".tetherignore", "*\n")
    site.select()
    done = approved(site, script(site, "echo evil > src/pay/new.py"))
    assert done.error["paths"] == ["src/pay/new.py"]


def test_writing_through_links_is_found_under_every_name(site):
    os.link(site.path / "src/pay/index.py", site.path / "src/auth/hard.py")
    (site.path / "src/auth/soft.py").symlink_to("../pay/index.py")
    site.select()
    done = approved(site, script(site, "echo evil >> src/auth/hard.py; echo worse >> src/auth/soft.py"))
    assert done.error["paths"] == ["src/pay/index.py"]


def test_what_outlives_its_command_is_ended_before_the_look_around(site):
    site.select()
    done = approved(site, script(site, "(setsid sh -c 'sleep 2; echo late > src/pay/late.py' &) ; exit 0"))
    assert done.ok
    assert not (site.path / "src/pay/late.py").exists()
    time.sleep(2.2)
    assert not (site.path / "src/pay/late.py").exists()


# ── approvals ────────────────────────────────────────────────────────────────


def test_what_a_person_allowed_one_session_no_other_uses_up(site):
    site.select()
    site.select(session="s2")
    mine = site.call("run_command", "s1", command="rm -rf src/auth")
    theirs = site.call("run_command", "s2", command="rm -rf src/auth")
    assert mine.approval_id != theirs.approval_id
    site.tether("approve", mine.approval_id)
    assert isinstance(site.call("run_command", "s2", command="rm -rf src/auth"), Pending)
    assert (site.path / "src/auth/token.py").exists()
    assert site.call("run_command", "s1", command="rm -rf src/auth").ok


@pytest.mark.parametrize(
    "command", ["bash src/auth/go.sh", "./src/auth/go.sh", "env X=1 sh 'src/auth/go.sh'"]
)
def test_who_approves_a_script_approves_its_bytes(site, command):
    site.select()
    site.write("src/auth/go.sh", "#!/bin/sh\necho harmless\n")
    os.chmod(site.path / "src/auth/go.sh", 0o755)
    asked = site.call("run_command", command=command)
    site.tether("approve", asked.approval_id)
    assert site.call("edit_file", path="src/auth/go.sh", old="echo harmless", new="touch evil").ok
    again = site.call("run_command", command=command)
    assert isinstance(again, Pending)
    assert again.approval_id != asked.approval_id
    assert not (site.path / "evil").exists()


def test_an_approval_is_answered_once_and_cannot_be_guessed(site):
    site.select()
    asked = site.call("run_command", command="rm -rf src/auth").approval_id
    site.tether("reject", asked, "--reason", "no")
    for words in (("approve", asked), ("approve", "A-0000000000"), ("reject", "../../etc")):
        answer = json.loads(site.tether(*words, "--json", code=1))
        assert answer["ok"] is False
    assert site.call("run_command", command="rm -rf src/auth").error["error_code"] == "APPROVAL_REJECTED"


def test_many_waiting_calls_are_all_listed(site):
    site.select()
    for n in range(60):
        site.call("run_command", command=f"rm -rf src/auth/{n}")
    assert len(json.loads(site.tether("approvals", "--json"))) == 60


# ── what reaches a person's terminal ─────────────────────────────────────────

MARKUP = "[bold red]\\[bold red]x[link=http://x]"
EVIL = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe" + MARKUP


def _on_a_terminal(site, *words):
    """The real command with a terminal for its output."""
    import pty

    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "tether", *words], cwd=site.path, stdin=slave, stdout=slave, stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "400"},
    )  # fmt: skip
    os.close(slave)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(master)
    running.wait()
    return shown.decode()


def test_no_agent_and_no_file_speaks_to_a_terminal_directly(site):
    site.select()
    site.select(session="s2")
    assert isinstance(site.call("run_command", command=f"rm -rf src/auth; echo '{EVIL}'"), Pending)
    site.write(
        ".orchestration/active_intents.yaml",
        "active_intents:\n"
        + "".join(
            f"  - id: INT-00{n}\n    name: {json.dumps(MARKUP)}\n    status: active\n    owned_scope: ['src/auth/**']\n"
            for n in (1, 2)
        ),
    )
    for words in (("approvals",), ("status",), ("intent", "list"), ("intent", "show", "INT-001"),
                  ("intent", "show", EVIL), ("journal", "tail"), ("why", f"{EVIL}:1"), ("doctor",), (EVIL,),
                  ("call", "select_active_intent", '{"intent_id": "INT-001"}')):  # fmt: skip
        shown = _on_a_terminal(site, *words)
        for bad in ("\x1b]", "\x1b[2J", "\u202e", "\x07"):
            assert bad not in shown, words
        if words in (("approvals",), ("intent", "list")):
            assert "[bold red]" in shown, "markup is shown, not obeyed"


# ── the command line in bad company ──────────────────────────────────────────

EVERY = (
    "init", "install", "uninstall", "trust", "config", "shadow", "status", "doctor", "intent", "approvals",
    "approve", "reject", "reset", "rollback", "call", "why", "trace", "journal",
)  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_whoever_asks_for_json_gets_json_whatever_is_wrong(tmp_path, name, home):
    """Bad arguments, and no project to work in."""
    (tmp_path / "empty").mkdir()
    words = {"intent": ["list"], "config": ["show"], "approve": ["A-1"], "reject": ["A-1"], "rollback": ["x"],
             "install": ["codex"], "uninstall": ["codex"], "call": ["--list"], "why": ["x:1"], "trace": ["list"],
             "journal": ["tail"]}  # fmt: skip
    attempts = [["--no-such-option"]]
    if name != "init":
        attempts.append(words.get(name, []))
    for given in attempts:
        done = subprocess.run(
            [sys.executable, "-m", "tether", name, *given, "--json"],
            cwd=tmp_path / "empty", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode in (1, 2), (given, done)
        told = json.loads(done.stdout)
        assert told["ok"] is False, given
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("stream", ["closed", "full", "narrow"])
def test_an_output_that_cannot_take_it_is_no_crash(site, stream):
    command = f"{sys.executable} -m tether doctor"
    command += {"closed": " >&-", "full": " >/dev/full", "narrow": ""}[stream]
    done = subprocess.run(
        ["sh", "-c", command], cwd=site.path, capture_output=True, text=True, check=False,
        env={**os.environ, **({"PYTHONIOENCODING": "ascii", "LC_ALL": "C"} if stream == "narrow" else {})},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)


def test_a_reader_that_goes_away_is_no_error(site):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m tether config schema | head -c 1"],
        cwd=site.path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr


# ── going back ───────────────────────────────────────────────────────────────


def test_rolling_back_restores_bytes_names_and_permissions(site):
    site.write("src/pay/run.sh", "#!/bin/sh\n")
    site.write("src/pay/tool.sh", "#!/bin/sh\necho tool\n")
    for name in ("run.sh", "tool.sh"):
        os.chmod(site.path / "src/pay" / name, 0o755)
    os.chmod(site.path / "src/pay/index.py", 0o640)
    site.git("add", "-A")
    site.git("commit", "-q", "-m", "more")
    site.select()
    before = _modes(site.path / "src")
    body = """
rm src/pay/run.sh
mv src/pay/index.py src/pay/renamed.py
echo changed >> src/pay/tool.sh
chmod -x src/pay/tool.sh
echo new > src/pay/new.py
"""
    done = approved(site, script(site, body))
    assert done.error["error_code"] == "SCOPE_VIOLATION"
    assert _modes(site.path / "src") != before
    site.tether("rollback", done.error["rollback"], "--outside")
    assert _modes(site.path / "src") == before


def test_permissions_changed_out_of_scope_are_found_and_given_back(site):
    site.select()
    before = _modes(site.path / "src")
    done = approved(site, script(site, "chmod 777 src/pay/index.py"))
    assert done.error["error_code"] == "SCOPE_VIOLATION"
    site.tether("rollback", done.error["rollback"], "--outside")
    assert _modes(site.path / "src") == before


def test_what_changed_again_since_is_left_alone(site):
    site.select()
    done = approved(site, script(site, "echo evil >> src/pay/index.py"))
    site.write("src/pay/index.py", "a person mended it\n")
    answer = json.loads(site.tether("rollback", done.error["rollback"], "--outside", "--json", code=1))
    assert answer["left"] == {"src/pay/index.py": "it has changed since"}
    assert site.read("src/pay/index.py") == "a person mended it\n"


def _modes(root: Path):
    return {
        str(p.relative_to(root)): (p.read_bytes(), p.stat().st_mode) for p in root.rglob("*") if p.is_file()
    }


# ── the record ───────────────────────────────────────────────────────────────


def test_a_ledger_led_out_of_the_project_gets_nothing_and_loses_nothing(site, tmp_path):
    ledger = site.path / ".orchestration/agent_trace.jsonl"
    away = tmp_path / "away.jsonl"
    site.select()
    for n, plant in enumerate((ledger.mkdir, lambda: ledger.symlink_to(away))):
        plant()
        done = site.call("write_file", path=f"src/auth/{n}.py", content="x = 1\n")
        assert done.ok, "it is done, and in the journal"
        assert "ledger" in done.notes[0]
        ledger.rmdir() if n == 0 else ledger.unlink()
    assert not away.exists()
    assert site.call("write_file", path="src/auth/last.py", content="x = 1\n").ok
    assert [r["files"][0]["path"] for r in site.records()] == [f"src/auth/{n}.py" for n in (0, 1, "last")]


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_nothing_is_done_once_the_journal_is_gone(site, how):
    site.select()
    path = site.path / ".tether/local/journal.db"
    path.rename(path.with_suffix(".kept"))
    if how == "replaced":
        path.write_bytes(path.with_suffix(".kept").read_bytes())
    outcome = site.call("write_file", path="src/auth/new.py", content="x")
    assert outcome.error["error_code"] == "JOURNAL_UNAVAILABLE"
    assert not (site.path / "src/auth/new.py").exists()


def test_a_deadline_is_told_from_a_cancellation(site):
    from tether.gate import submit
    from tether.types import Agent, Call

    site.select()
    call = Call("d-1", "run_command", {"command": "touch src/auth/made; sleep 30"}, Agent("s1"))
    outcome = asyncio.run(submit(site.workspace(), call, deadline=1.0))
    assert outcome.error["error_code"] == "DEADLINE"
    assert outcome.records, "what it had done by then is recorded"


# ── the quality loop ─────────────────────────────────────────────────────────


def test_a_check_is_held_to_its_time_and_leaves_nothing_behind(site):
    mark = f"{os.getpid()}.25"  # a duration nobody else sleeps for
    check = f'\n[[quality.checks]]\nglob = "src/**"\nlint = "(setsid sleep {mark} &) ; echo {{path}}"\ntimeout = 20\n'
    site.write("tether.toml", site.read("tether.toml") + check)
    site.tether("trust", "--yes")
    site.select()
    done = site.call("write_file", path="src/auth/it's $(touch evil).py", content="x = 1\n")
    assert done.ok
    assert not done.findings
    assert not (site.path / "evil").exists(), "a file's name is never a command"
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"sleep {mark}" not in listed


@pytest.mark.parametrize("setting", ['timeout = "soon"', "timeout = -1", "timeout = true"])
def test_a_check_with_a_senseless_limit_still_runs(site, setting):
    check = f'\n[[quality.checks]]\nglob = "src/**"\nlint = "exit 3"\n{setting}\n'
    site.write("tether.toml", site.read("tether.toml") + check)
    site.tether("trust", "--yes")
    site.select()
    done = site.call("write_file", path="src/auth/new.py", content="x = 1\n")
    assert done.ok
    assert done.findings[0]["check"] == "lint"
