"""Looking back: why, trace, journal, rollback, approvals at a terminal."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
import time


def edit(site, old, new, path="src/auth/token.py"):
    outcome = site.call("edit_file", path=path, old=old, new=new)
    assert outcome.ok, outcome.error
    return outcome


def owners(site, path="src/auth/token.py"):
    return [a["contributor"] for a in json.loads(site.tether("why", path, "--json"))]


def test_why_tells_the_whole_chain(site):
    site.select()
    edit(site, "> 0", "> 1")
    answer = json.loads(site.tether("why", "src/auth/token.py:2", "--json"))
    assert answer["contributor"] == "ai"
    assert answer["intent"] == "INT-001"
    assert "scope.owned" in answer["decision"]["rules"]
    assert answer["decision"]["policy"]
    assert answer["model"] == "test/model"
    assert answer["conversation"].startswith("urn:")
    assert answer["record"] == site.records()[-1]["id"]
    assert json.loads(site.tether("why", "src/auth/token.py:1", "--json"))["contributor"] != "ai"
    assert "2 lines" in site.tether("why", "src/auth/token.py:99", code=2)


def test_why_survives_moves_renames_amend_squash_and_a_fresh_clone(site, tmp_path):
    body = "".join(f"def step_{n}(value):\n    return value + {n}\n\n\n" for n in range(8))
    site.write("src/auth/token.py", body + site.read("src/auth/token.py"))
    site.git("commit", "-qam", "longer")
    site.select()
    edit(site, "    return token > 0\n", "    checked = token\n    return checked > 0\n")
    assert owners(site)[-2:] == ["ai", "ai"]
    assert "ai" not in owners(site)[:-2]
    site.git("add", "-A")
    site.git("commit", "-q", "-m", "agent")
    site.write("src/auth/token.py", "# new top\n\n" + site.read("src/auth/token.py"))
    assert owners(site)[-2:] == ["ai", "ai"], "lines that moved down"
    site.git("commit", "-qam", "person")
    site.git("mv", "src/auth/token.py", "src/auth/moved.py")
    assert owners(site, "src/auth/moved.py")[-2:] == ["ai", "ai"], "git mv"
    site.git("commit", "-qam", "rename")
    site.git("commit", "-q", "--amend", "-m", "renamed")
    site.git("reset", "-q", "--soft", "HEAD~3")
    site.git("commit", "-q", "-m", "squashed")
    found = owners(site, "src/auth/moved.py")
    assert found[-2:] == ["ai", "ai"]
    assert "ai" not in found[:2]
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(site.path), str(clone)], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "tether", "why", "src/auth/moved.py", "--json"],
        cwd=clone,
        capture_output=True,
        text=True,
        check=True,
    )
    cloned = [a["contributor"] for a in json.loads(done.stdout)]
    assert cloned[-2:] == ["ai", "ai"], "from the ledger alone"
    assert "ai" not in cloned[:2]


def test_trace_lists_shows_counts_and_exports(site):
    site.select()
    edit(site, "> 0", "> 1")
    edit(site, "> 1", "> 2")
    rows = json.loads(site.tether("trace", "list", "--json"))
    assert [r["class"] for r in rows] == ["INTENT_EVOLUTION"] * 2
    assert json.loads(site.tether("trace", "show", rows[0]["id"][:8], "--json"))["id"] == rows[0]["id"]
    assert "no record" in site.tether("trace", "show", "zzz", code=1)
    stats = json.loads(site.tether("trace", "stats", "--json"))
    assert stats["intent"]["INT-001"] == {"changes": 2, "lines": 2}
    assert stats["model"]["test/model"]["changes"] == 2
    table = list(csv.DictReader(io.StringIO(site.tether("trace", "export", "--format", "csv"))))
    assert [row["path"] for row in table] == ["src/auth/token.py"] * 2
    site.tether("trace", "export", "--format", "git-notes")
    note = site.git("notes", "--ref", "refs/notes/agent-trace", "show", "HEAD")
    assert [json.loads(line)["id"] for line in note.splitlines()] == [r["id"] for r in rows[::-1]]


def test_a_rename_only_change_is_a_refactor(site):
    site.select()
    edit(
        site,
        "def valid(token):\n    return token > 0",
        "def valid(token):\n    # positive\n    return token > 0",
    )
    assert site.records()[-1]["metadata"]["dev.tether"]["class"] == "AST_REFACTOR"
    edit(site, "> 0", ">= 0")
    assert site.records()[-1]["metadata"]["dev.tether"]["class"] == "INTENT_EVOLUTION"


def test_journal_tail_and_verify(site):
    site.select()
    edit(site, "> 0", "> 1")
    lines = site.tether("journal", "tail", "-n", "3", "--json").splitlines()
    assert [json.loads(line)["kind"] for line in lines][-2:] == ["decided", "settled"]
    follow = subprocess.Popen(
        [sys.executable, "-m", "tether", "journal", "tail", "-n", "0", "--follow", "--json"],
        cwd=site.path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    time.sleep(1.0)
    edit(site, "> 1", "> 2")
    first = json.loads(follow.stdout.readline())
    follow.kill()
    follow.communicate()
    assert first["kind"] in ("decided", "read")
    assert "verified" in site.tether("journal", "verify")


def test_rollback_restores_what_a_call_did_and_leaves_what_changed_since(site):
    site.select()
    call_before = site.read("src/auth/token.py")
    edit(site, "> 0", "> 1")
    call_id = next(iter(site.workspace().project.journal.recent(1, kinds=("settled",)))).call
    site.tether("rollback", call_id)
    assert site.read("src/auth/token.py") == call_before
    site.call("read_file", path="src/auth/token.py")
    edit(site, "> 0", "> 3")
    call_id = next(iter(site.workspace().project.journal.recent(1, kinds=("settled",)))).call
    site.write("src/auth/token.py", site.read("src/auth/token.py") + "# mine\n")
    assert "changed since" in site.tether("rollback", call_id, code=1)
    assert "# mine" in site.read("src/auth/token.py")
    site.tether("journal", "verify")


def test_a_person_at_a_terminal_answers_as_calls_come(site):
    site.select()
    assert site.call("run_command", command="git reset --hard").approval_id
    master, slave = pty.openpty()
    watch = subprocess.Popen(
        [sys.executable, "-m", "tether", "approvals", "--watch"],
        cwd=site.path,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    while b"[a]pprove" not in seen:
        seen += os.read(master, 4096)
    assert b"git reset --hard" in seen
    os.write(master, b"a\n")
    for _ in range(100):
        if json.loads(site.tether("approvals", "--all", "--json"))[0]["state"] == "approved":
            break
        time.sleep(0.1)
    watch.kill()
    watch.wait()
    os.close(master)
    assert site.call("run_command", command="git reset --hard").ok


def test_quality_checks_run_after_a_write_and_come_back_as_data(site):
    checks = [
        {
            "glob": "*.py",
            "format": "sed -i 's/[ ]*$//' {path}",
            "lint": "grep -Hn BAD {path} && exit 1 || exit 0",
        }
    ]
    site.write("tether.toml", site.read("tether.toml"))
    site.tether("config", "set", "quality.checks", json.dumps(checks))
    site.select()
    outcome = site.call("write_file", path="src/auth/new.py", content="x = 1   \nBAD = 2\n")
    assert site.read("src/auth/new.py") == "x = 1\nBAD = 2\n", "the formatter ran"
    finding = outcome.findings[0]
    assert (finding["check"], finding["file"], finding["line"]) == ("lint", "src/auth/new.py", 2)
    record = site.records()[-1]
    assert len(site.records()) == 1, "what the formatter rewrote belongs to the same record"
    after = site.call("edit_file", path="src/auth/new.py", old="BAD", new="GOOD")
    assert after.ok, "the agent is taken to have seen the formatted file"
    assert after.findings == ()
    assert record["metadata"]["dev.tether"]["files"][0]["after"]
