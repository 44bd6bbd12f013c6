"""admit and settle on a real project: what is spent once, what is refused, and what a crash leaves to others."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tether.admit import admit, recover
from tether.errors import TetherError
from tether.project import Project, open_project
from tether.record.verify import verify
from tether.tools.approvals import answer
from tether.types import Agent, Call, Effect, Outcome, Pending, Risk

WIPE = {"command": "rm -rf src/auth/build"}
TOKEN = "src/auth/token.py"


def configure(site, **settings):
    """A person sets options, before the project is opened."""
    for key, value in settings.items():
        site.tether("config", "set", key.replace("__", "."), str(value))


def entries(site, *kinds):
    project = open_project(str(site.path))
    try:
        return list(project.journal.entries(kinds=kinds))
    finally:
        project.close()


def code(outcome):
    assert isinstance(outcome, Outcome), outcome
    return "" if outcome.ok else outcome.error["error_code"]


def start(site, source):
    """A process of its own in the project."""
    prelude = """
    import asyncio, os, resource, signal, sys
    from tether.admit import recover
    from tether.gate import submit
    from tether.types import Agent, Call
    from tether.workspace import open_workspace

    def call(verb, **args):
        made = Call(os.urandom(8).hex(), verb, args, Agent("s1", name="test", model="test/model"))
        return asyncio.run(submit(workspace, made))

    def die(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    workspace = open_workspace(".")
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(prelude) + textwrap.dedent(source)],
        cwd=site.path,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process, returncode=0):
    out, err = process.communicate(timeout=60)
    assert process.returncode == returncode, (process.returncode, out, err)
    return out


# ── approvals ────────────────────────────────────────────────────────────────


def approve(site, pending, state="approved", reason=""):
    project = open_project(str(site.path))
    try:
        answer(project, pending.approval_id, state, "a person", reason)
    finally:
        project.close()


def test_an_approval_is_spent_once_by_two_processes_that_retry_at_the_same_moment(site):
    site.select()
    pending = site.call("run_command", **WIPE)
    assert isinstance(pending, Pending)
    approve(site, pending)
    source = f"""
    print("ready", flush=True)
    sys.stdin.readline()
    result = call("run_command", **{WIPE!r})
    print(type(result).__name__, getattr(result, "ok", ""), flush=True)
    workspace.close()
    """
    racers = [start(site, source) for _ in range(2)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = sorted(finish(racer).split()[0] for racer in racers)
    assert answers == ["Outcome", "Pending"]
    spent = [e for e in entries(site, "decided") if e.body.get("consumes") == pending.approval_id]
    assert len(spent) == 1
    assert len(entries(site, "asked")) == 2, "the second process was asked anew"


def test_an_approval_is_given_to_the_same_call_across_processes(site):
    site.select()
    first = json.loads(
        site.tether("call", "run_command", json.dumps(WIPE), "--session", "s1", "--json", code=4)
    )
    again = json.loads(
        site.tether("call", "run_command", json.dumps(WIPE), "--session", "s1", "--json", code=4)
    )
    assert first["pending"]["approval_id"] == again["pending"]["approval_id"], "waiting is not asking twice"
    site.tether("approve", first["pending"]["approval_id"])
    done = json.loads(site.tether("call", "run_command", json.dumps(WIPE), "--session", "s1", "--json"))
    assert done["ok"]
    assert done["decision"]["approval"] == first["pending"]["approval_id"]
    assert "approval.given" in done["decision"]["rules"]
    assert "nothing waits" in site.tether("approvals")
    site.tether("call", "run_command", json.dumps(WIPE), "--session", "s1", code=4)


@pytest.mark.parametrize(
    "other",
    [{"command": "rm -rf src/auth/build src/auth/dist"}, {**WIPE, "cwd": "."}, {**WIPE, "timeout": 5}],
)
def test_an_approval_is_bound_to_every_argument(site, other):
    site.select()
    pending = site.call("run_command", **WIPE)
    approve(site, pending)
    different = site.call("run_command", **other)
    assert isinstance(different, Pending)
    assert different.approval_id != pending.approval_id
    assert site.call("run_command", **WIPE).ok, "the approval still stands for the call it was given to"


def test_an_approval_is_bound_to_the_content_of_the_file(site):
    configure(site, approval__deletes="ask")
    site.select()
    pending = site.call("delete_file", path=TOKEN)
    approve(site, pending)
    kept = site.read(TOKEN)
    site.write(TOKEN, "something else\n")
    other = site.call("delete_file", path=TOKEN)
    assert isinstance(other, Pending)
    assert other.approval_id != pending.approval_id
    site.write(TOKEN, kept)
    assert site.call("delete_file", path=TOKEN).ok
    assert not (site.path / TOKEN).exists()


def test_an_approval_given_in_one_tree_is_not_spent_in_another(site):
    site.git("worktree", "add", "-q", "../linked")
    site.select()
    pending = site.call("run_command", **WIPE)
    approve(site, pending)
    linked = type(site)(site.path.parent / "linked")
    try:
        other = linked.call("run_command", **WIPE)
        assert isinstance(other, Pending)
        assert other.approval_id != pending.approval_id
    finally:
        linked.close()


def test_an_approval_that_ran_out_is_told_once_and_then_asked_for_anew(site):
    configure(site, approval__ttl_seconds=0)
    site.select()
    first = site.call("run_command", **WIPE)
    assert isinstance(first, Pending)
    assert code(site.call("run_command", **WIPE)) == "APPROVAL_EXPIRED"
    second = site.call("run_command", **WIPE)
    assert isinstance(second, Pending)
    assert second.approval_id != first.approval_id
    with pytest.raises(TetherError, match="expired"):
        approve(site, second)


def test_a_rejection_stands_until_it_runs_out(site):
    site.select()
    pending = site.call("run_command", **WIPE)
    approve(site, pending, "rejected", "use a migration")
    for _ in range(2):
        refused = site.call("run_command", **WIPE)
        assert code(refused) == "APPROVAL_REJECTED"
        assert "use a migration" in refused.error["message"]
    with pytest.raises(TetherError, match="already rejected"):
        approve(site, pending)
    over = {"approval": pending.approval_id, "state": "rejected", "by": "clock", "expires": time.time() - 1}
    site.workspace().project.journal.append("answered", over, run="s1")
    again = site.call("run_command", **WIPE)
    assert isinstance(again, Pending)
    assert again.approval_id != pending.approval_id


# ── the loop breaker ─────────────────────────────────────────────────────────


def stray(site, session="s1"):
    return code(site.call("write_file", session, path="src/pay/new.py", content="x = 1\n"))


def test_the_fifth_same_refusal_halts_and_only_a_person_resets(site):
    site.select()
    assert [stray(site) for _ in range(5)] == ["SCOPE_VIOLATION"] * 5
    assert stray(site) == "LOOP_HALTED"
    assert code(site.call("read_file", path=TOKEN)) == "LOOP_HALTED"
    assert code(site.call("write_file", path="src/auth/new.py", content="x = 1\n")) == "LOOP_HALTED"
    assert len(entries(site, "halted")) == 1
    site.select(session="s2")
    assert stray(site, "s2") == "SCOPE_VIOLATION", "another agent is not halted"
    site.tether("reset", "s1")
    assert stray(site) == "SCOPE_VIOLATION"


def test_four_refusals_do_not_halt_and_a_success_begins_the_count_anew(site):
    site.select()
    for turn in range(3):
        assert [stray(site) for _ in range(4)] == ["SCOPE_VIOLATION"] * 4
        assert site.call("write_file", path=f"src/auth/new{turn}.py", content="x = 1\n").ok
    assert not entries(site, "halted")


def test_the_limit_is_the_project_s(site):
    configure(site, governance__loop_limit=2)
    site.select()
    assert [stray(site) for _ in range(3)] == ["SCOPE_VIOLATION", "SCOPE_VIOLATION", "LOOP_HALTED"]


def test_the_count_is_shared_between_processes(site):
    configure(site, governance__loop_limit=2)
    site.select()
    given = json.dumps({"path": "src/pay/new.py", "content": "x"})
    for expected in ("SCOPE_VIOLATION", "SCOPE_VIOLATION", "LOOP_HALTED"):
        assert expected in site.tether("call", "write_file", given, "--session", "s1", code=3)


def test_an_agent_without_an_intent_is_halted_too(site):
    answers = [code(site.call("write_file", path=TOKEN, content="x")) for _ in range(6)]
    assert answers == ["INTENT_REQUIRED"] * 5 + ["LOOP_HALTED"]


# ── observing ────────────────────────────────────────────────────────────────


def test_observing_does_what_it_would_have_refused_and_writes_that_down(site):
    configure(site, governance__preset="observe")
    for _ in range(6):
        assert site.call("write_file", path="src/pay/new.py", content="x = 1\n").ok
    decided = entries(site, "decided")
    assert {e.body["verdict"] for e in decided} == {"allow"}
    assert decided[0].body["rules"] == ["path.inside", "observe.would-deny", "intent.required"]
    assert site.read("src/pay/new.py") == "x = 1\n"
    assert code(site.call("write_file", path="tether.toml", content="")) == "SECURITY_VIOLATION"
    assert code(site.call("write_file", path="../out", content="")) == "SECURITY_VIOLATION"


# ── what people do in between ────────────────────────────────────────────────


def test_what_a_person_changed_in_between_is_recorded_as_theirs_first(site):
    site.select()
    assert site.call("write_file", path="src/auth/new.py", content="one = 1\n").ok
    site.write("src/auth/new.py", "one = 1\ntwo = 2\n")
    assert code(site.call("write_file", path="src/auth/new.py", content="three = 3\n")) == "STALE_FILE"
    assert not entries(site, "observed"), "a refused call observes nothing"
    site.call("read_file", path="src/auth/new.py")
    assert site.call("write_file", path="src/auth/new.py", content="one = 1\ntwo = 2\nthree = 3\n").ok
    (seen,) = entries(site, "observed")
    (change,) = seen.body["changes"]
    assert change["author"] == "human"
    assert change["record"]
    decided, settled = entries(site, "decided", "settled")[-2:]
    assert seen.seq < decided.seq < settled.seq
    assert settled.body["changes"][0]["before"] == change["after"]
    kinds = [r["files"][0]["conversations"][0]["contributor"]["type"] for r in site.records()]
    assert kinds == ["ai", "human", "ai"]


# ── crashes ──────────────────────────────────────────────────────────────────

CRASHES = {
    "before anything is staged": ("import tether.tools.work as at; at.stage = die", False),
    "between staging and the rename": ("import tether.tools.work as at; at.commit = die", True),
    "between the rename and the record": ("import tether.gate as at; at.settle = die", True),
}


def crash(site, point):
    """A process that dies by SIGKILL in the middle of a write."""
    site.select()
    site.close()
    site._opened.clear()
    source = f"""
    {point}
    call("read_file", path={TOKEN!r})
    call("write_file", path={TOKEN!r}, content="new = 1\\n")
    """
    finish(start(site, source), -signal.SIGKILL)
    (opened,) = open_calls(site)
    return opened


def open_calls(site):
    project = open_project(str(site.path))
    try:
        return list(project.journal.facts("open"))
    finally:
        project.close()


@pytest.mark.parametrize("moment", CRASHES)
def test_a_call_whose_process_was_killed_is_finished_or_undone_by_the_next_one(site, moment):
    point, forward = CRASHES[moment]
    before = site.read(TOKEN)
    opened = crash(site, point)
    after = "new = 1\n" if forward else before
    site.select(session="s2")
    assert code(site.call("write_file", "s2", path=TOKEN, content="blind\n")) == "STALE_FILE"
    assert site.read(TOKEN) == after, "whoever comes to the file next mends it first"
    site.call("read_file", "s2", path=TOKEN)
    done = site.call("edit_file", "s2", path="src/auth/token.py", old=after, new=after + "# more\n")
    assert done.ok, done.error
    assert site.read(TOKEN) == after + "# more\n"
    (settled,) = [e for e in entries(site, "settled") if e.call == opened]
    assert settled.body["outcome"] == "reconciled"
    assert [c["author"] for c in settled.body["changes"]] == (["ai"] if forward else [])
    assert open_calls(site) == []
    stage = site.path / ".tether/local/tmp/stage"
    assert not stage.exists() or not list(stage.iterdir())


@pytest.mark.parametrize("moment", CRASHES)
def test_four_processes_that_recover_at_the_same_moment_settle_exactly_once(site, moment):
    point, forward = CRASHES[moment]
    before = site.read(TOKEN)
    opened = crash(site, point)
    source = """
    print("ready", flush=True)
    sys.stdin.readline()
    recover(workspace.project, every=True)
    workspace.close()
    """
    racers = [start(site, source) for _ in range(4)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        finish(racer)
    assert len([e for e in entries(site, "settled") if e.call == opened]) == 1
    assert site.read(TOKEN) == ("new = 1\n" if forward else before)
    assert open_calls(site) == []
    site.workspace().drain()
    assert len(site.records()) == (1 if forward else 0)
    assert "verified" in site.tether("journal", "verify")


def test_a_living_process_s_call_is_left_to_it(site):
    site.select()
    project = site.workspace().project
    call = Call("held", "write_file", {}, Agent("s1"))
    admit(project, call, (Effect("write", "src/auth/new.py", before="", after="h"),))
    site.select(session="s2")
    finish(start(site, "recover(workspace.project, every=True); workspace.close()"))
    assert open_calls(site) == ["held"]
    refused = site.call("write_file", "s2", path="src/auth/new.py", content="x")
    assert code(refused) == "COLLISION"


def test_a_crash_in_one_tree_is_not_mended_in_another(site):
    site.git("worktree", "add", "-q", "../linked")
    opened = crash(site, CRASHES["between staging and the rename"][0])
    linked = type(site)(site.path.parent / "linked")
    try:
        linked.select(session="s2")
        linked.call("read_file", "s2", path=TOKEN)
        before = linked.read(TOKEN)
        assert linked.call("edit_file", "s2", path=TOKEN, old=before, new="other = 2\n").ok
        assert linked.read(TOKEN) == "other = 2\n"
    finally:
        linked.close()
    assert open_calls(site) == [opened]
    assert recover(site.workspace().project, every=True) == [opened]
    assert site.read(TOKEN) == "new = 1\n"


# ── what cannot be recorded is not done ──────────────────────────────────────


def test_nothing_is_done_while_the_journal_is_locked(site):
    site.select()
    site.call("read_file", path=TOKEN)
    before = site.read(TOKEN)
    site._opened[0].project.journal.db.execute("PRAGMA busy_timeout=20")
    holder = sqlite3.connect(site.path / ".tether/local/journal.db", isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        refused = site.call("write_file", path=TOKEN, content="x = 1\n")
        assert code(refused) == "JOURNAL_UNAVAILABLE"
        assert refused.error["required_action"]
        assert site.read(TOKEN) == before
        holder.execute("ROLLBACK")
    finally:
        holder.close()
    assert site.call("write_file", path=TOKEN, content="x = 1\n").ok


@pytest.mark.parametrize("room", [0, 2048], ids=["at all", "for one more page of the journal"])
def test_nothing_is_done_on_a_full_disk(site, room):
    """A file size limit stands for the full disk: writes beyond it fail as they would there."""
    site.select()
    site.call("read_file", path=TOKEN)
    site.close()
    site._opened.clear()
    before = site.read(TOKEN)
    source = f"""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))
    result = call("write_file", path={TOKEN!r}, content="x = 1\\n")
    print(result.ok, result.error["error_code"])
    """
    assert finish(start(site, source)).split() == ["False", "JOURNAL_UNAVAILABLE"]
    assert site.read(TOKEN) == before
    assert site.call("write_file", path=TOKEN, content="x = 1\n").ok, "and with room again it is done"


def test_a_journal_that_is_no_journal_stops_everything(site):
    state = site.path / ".tether/local"
    for name in ("journal.db-wal", "journal.db-shm"):
        (state / name).unlink(missing_ok=True)
    (state / "journal.db").write_bytes(b"not a database, but long enough to be read as one" * 100)
    given = json.dumps({"path": "src/auth/new.py", "content": "x"})
    said = site.tether("call", "write_file", given, "--session", "s1", "--json", code=None)
    assert "JOURNAL_BROKEN" in said
    assert not (site.path / "src/auth/new.py").exists()


# ── secrets ──────────────────────────────────────────────────────────────────


def planted():
    # put together here, so that no scanner mistakes this file for a leak
    return {
        "aws": "AKIA" + "Q3EGR7VXKJ2M5N4T",
        "github": "ghp_" + "9fK2mQ7xV4bL8nR3tY6wZ1cD5hJ0sA2gPe4U",
        "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
        "password": "hunter2-" + "Xq9vT4mLw8Kz",
    }


def test_secrets_reach_neither_the_journal_nor_the_ledger(site):
    secrets = planted()
    aws, github, stripe, password = secrets.values()
    agent = Agent("s1", name="test", model="m", conversation=f"https://example.com/c/1?access_token={github}")

    def call(verb, **args):
        import asyncio

        from tether.gate import submit

        return asyncio.run(submit(site.workspace(), Call(os.urandom(8).hex(), verb, args, agent)))

    call("run_command", command=f"GITHUB_TOKEN={github} make deploy")  # refused: its first word is a secret
    call("write_file", path="src/auth/new.py", content=f"KEY = '{aws}'\n")  # refused without an intent
    call("select_active_intent", intent_id="INT-001")
    call("read_file", path=TOKEN)
    call(
        "write_file", path="src/auth/new.py", content=f"KEY = '{aws}'\nTOKEN = '{github}'\n" + "x = 1\n" * 200
    )
    call("edit_file", path="src/auth/new.py", old=aws, new=stripe)
    call("run_command", command=f"curl -H 'Authorization: Bearer {github}' https://example.com/")
    call("run_command", command=f"curl -u admin:{password} https://admin:{password}@example.com/")
    done = call("run_command", command=f"echo {stripe}")
    assert done.ok
    call("run_command", command="grep KEY src/auth/new.py")
    call("write_file", path="src/pay/new.py", content=f"password = '{password}'\n")
    pending = call("run_command", **WIPE)
    approve(site, pending, "rejected", f"no: {stripe} is in it")
    assert code(call("run_command", **WIPE)) == "APPROVAL_REJECTED"
    assert len(site.records()) >= 2
    leaks = []
    objects = site.path / ".tether/local/objects"
    for top in (".tether/local", ".orchestration"):
        for file in (site.path / top).rglob("*"):
            # the contents of files are kept as they are, on purpose, for `why` and for undoing
            if not file.is_file() or objects in file.parents:
                continue
            data = file.read_bytes()
            leaks += [(file.name, name) for name, secret in secrets.items() if secret.encode() in data]
    assert not leaks


# ── whose record it is ───────────────────────────────────────────────────────


def test_a_journal_from_another_home_is_refused_until_a_person_adopts_it(site, tmp_path):
    stranger = {"HOME": str(tmp_path / "stranger")}
    os.mkdir(stranger["HOME"])
    given = json.dumps({"path": "src/auth/new.py", "content": "x"})
    said = site.tether("call", "write_file", given, "--intent", "INT-001", "--json", code=None, **stranger)
    assert "JOURNAL_FOREIGN" in said
    assert "tether trust" in said
    assert not (site.path / "src/auth/new.py").exists()
    site.tether("trust", "--yes", code=None, **stranger)
    assert "JOURNAL_FOREIGN" in site.tether("status", "--json", code=None, **stranger), (
        "trusting files is not adopting"
    )
    site.tether("trust", "--adopt-journal", "--yes", **stranger)
    site.tether("call", "write_file", given, "--intent", "INT-001", **stranger)
    assert site.read("src/auth/new.py") == "x"


def test_an_agent_cannot_adopt_a_journal(site, tmp_path):
    stranger = {"HOME": str(tmp_path), "CLAUDECODE": "1"}
    assert "SECURITY_VIOLATION" in site.tether(
        "trust", "--adopt-journal", "--yes", "--json", code=None, **stranger
    )


def test_a_foreign_journal_is_refused_by_admit_itself(site, tmp_path):
    project = Project(str(site.path), environment={"HOME": str(tmp_path)})
    try:
        with pytest.raises(TetherError) as refused:
            admit(project, Call("c", "write_file", {}, Agent("s1")), (Effect("write", "src/auth/new.py"),))
        assert refused.value.code == "JOURNAL_FOREIGN"
    finally:
        project.close()


HOSTILE = """\
[governance]
preset = "observe"
loop_limit = 1000000
[security]
write_enabled = true
protected = ["!**/.git/**", "!/tether.toml", "!/.tether/**"]
mcp_tools = ["**"]
[approval]
unknown = "allow"
ttl_seconds = 999999999
[[risk.rules]]
id = "mine"
match = "rm *"
level = "SAFE"
reason = "trust me"
"""


def test_the_configuration_of_a_hostile_clone_cannot_loosen_anything(site):
    site.write("tether.toml", HOSTILE)
    project = site.workspace().project
    assert not project.trusted
    assert project.config.governance.preset == "intent"
    assert project.config.governance.loop_limit == 5
    assert project.config.approval.unknown == "ask"
    assert project.config.approval.ttl_seconds == 3600
    assert len(project.ignored) >= 5
    assert code(site.call("write_file", path="src/pay/new.py", content="x")) == "INTENT_REQUIRED"
    site.select()
    assert code(site.call("write_file", path="src/pay/new.py", content="x")) == "SCOPE_VIOLATION"
    assert code(site.call("write_file", path="src/auth/new.py", content="x")) == "WRITE_DENIED"
    assert code(site.call("write_file", path=".git/hooks/pre-commit", content="x")) == "SECURITY_VIOLATION"
    assert code(site.call("write_file", path="tether.toml", content="")) == "SECURITY_VIOLATION"
    site.tether("config", "set", "security.write_enabled", "true", "--local", code=None)
    assert (
        not isinstance(site.call("run_command", **WIPE), Outcome) or not site.call("run_command", **WIPE).ok
    )


def test_the_configuration_of_a_hostile_clone_may_tighten(site):
    site.write("tether.toml", '[security]\nprotected = ["src/auth/token.py"]\n[approval]\nunknown = "deny"\n')
    site.select()
    assert code(site.call("write_file", path=TOKEN, content="x")) == "SECURITY_VIOLATION"
    assert site._opened[0].project.config.approval.unknown == "deny"


@pytest.mark.parametrize("name", [".tether", ".tether/local"])
def test_a_state_directory_that_is_a_link_is_refused(site, tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    shutil.move(site.path / name, elsewhere)
    (site.path / name).symlink_to(elsewhere)
    given = json.dumps({"path": "src/auth/new.py", "content": "x"})
    said = site.tether("call", "write_file", given, "--intent", "INT-001", "--json", code=None)
    assert "SECURITY_VIOLATION" in said
    assert not (site.path / "src/auth/new.py").exists()


def test_linked_worktrees_share_the_journal_and_keep_their_trees_apart(site):
    site.git("worktree", "add", "-q", "../linked")
    linked = type(site)(site.path.parent / "linked")
    try:
        site.select()
        linked.select(session="s2")
        ours, theirs = site._opened[0].project, linked._opened[0].project
        assert ours.journal.id == theirs.journal.id
        assert os.path.samefile(ours.journal.path, theirs.journal.path)
        assert (ours.tree, theirs.tree) == ("", "linked")
        assert site.call("write_file", path="src/auth/new.py", content="ours = 1\n").ok
        assert linked.call("write_file", "s2", path="src/auth/new.py", content="theirs = 1\n").ok
        assert (site.read("src/auth/new.py"), linked.read("src/auth/new.py")) == (
            "ours = 1\n",
            "theirs = 1\n",
        )
        assert not entries(site, "observed"), "one tree's file is no gap in the other's"
        assert ours.journal.fact("path:", "src/auth/new.py") != theirs.journal.fact(
            "path:linked", "src/auth/new.py"
        )
        assert not verify(ours.journal.path).problems
    finally:
        linked.close()


def test_two_agents_racing_for_one_new_file_have_one_winner(site):
    site.select()
    site.select(session="s2")
    spaces = [site.workspace(), site.workspace()]

    def write(n):
        import asyncio

        from tether.gate import submit

        args = {"path": "src/auth/new.py", "content": f"winner = {n}\n", "expected_hash": ""}
        return asyncio.run(submit(spaces[n], Call(f"race-{n}", "write_file", args, Agent(f"s{n + 1}"))))

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(write, range(2)))
    winners = [n for n, result in enumerate(results) if result.ok]
    assert len(winners) == 1
    assert site.read("src/auth/new.py") == f"winner = {winners[0]}\n"
    assert code(results[1 - winners[0]]) in ("STALE_FILE", "COLLISION")


def test_a_command_that_names_a_project_in_a_scratch_place_by_its_whole_path_is_judged(site):
    """Test projects lie under the system's scratch folder, which is nobody's, but the project is somebody's."""
    site.select()
    target = site.path / "tether.toml"
    kept = target.read_text()
    refused = site.call("run_command", command=f"echo > {target}")
    assert code(refused) == "SECURITY_VIOLATION"
    assert target.read_text() == kept


def test_a_verdict_that_allows_names_every_write_before_it_is_made(site):
    site.select()
    project = site.workspace().project
    call = Call("c1", "write_file", {}, Agent("s1"))
    verdict = admit(project, call, (Effect("write", "src/auth/new.py", before="", after="h"),))
    assert verdict.decision.verdict == "allow"
    (write,) = verdict.writes
    assert (write.path, write.before, write.after) == ("src/auth/new.py", "", "h")
    assert write.staged.startswith(".tether/local/tmp/stage/")
    (decided,) = entries(site, "decided")
    assert decided.body["writes"][0]["staged"] == write.staged
    assert decided.body["life"]


def test_an_unclassified_command_is_refused_and_recorded(site):
    site.select()
    project = site.workspace().project
    for risk in (None, Risk("SAFE", governs_tether="approve")):
        verdict = admit(
            project,
            Call(os.urandom(4).hex(), "run_command", {}, Agent("s1")),
            (Effect("run", "x", risk=risk),),
        )
        assert verdict.decision.code == "SECURITY_VIOLATION"
    assert [e.body["rules"] for e in entries(site, "decided")] == [["risk.unclassified"], ["self.governance"]]


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("session", ["s1", "s2"], ids=["with an intent", "without one"])
@pytest.mark.parametrize(
    "args",
    [
        {"path": "src/auth/new.py", "content": "x", "more": nested(900)},
        {"path": nested(900), "content": "x"},
        {"path": "src/auth/\udcff.py", "content": "x"},
        {"path": "src/auth/new.py", "content": "\ud800"},
        {"path": "src/auth/new.py\0", "content": "x"},
        {"\udcff": "x"},
    ],
    ids=["deep", "deep path", "undecodable name", "half a character", "nul", "undecodable argument"],
)
def test_hostile_arguments_are_answered_and_never_raise(site, args, session):
    site.select()
    outcome = site.call("write_file", session, **args)
    assert code(outcome) in {"BAD_ARGUMENTS", "SECURITY_VIOLATION", "INTENT_REQUIRED"}
    assert "verified" in site.tether("journal", "verify")
    assert not list((site.path / "src/auth").glob("new*"))
