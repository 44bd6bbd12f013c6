"""Setting a project up: init, config, trust, shadow."""

import fcntl
import json
import subprocess

from tests.conftest import Site


def fresh(tmp_path, name="repo", **files):
    root = tmp_path / name
    root.mkdir()
    site = Site(root)
    for path, text in files.items():
        site.write(path.replace("__", "/"), text)
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    return site


def test_init_detects_writes_and_is_safe_to_run_twice(tmp_path):
    site = fresh(tmp_path, **{"pyproject.toml": "", ".gitignore": "*.pyc", "AGENTS.md": "# ours\n"})
    first = json.loads(site.tether("init", "--yes", "--json"))
    assert first["detected"]["languages"] == ["Python"]
    assert first["detected"]["brain"] == ["AGENTS.md"]
    assert first["write_enabled"] is False
    assert "python -m pytest -q" in site.read("tether.toml")
    assert site.read(".gitignore") == "*.pyc\n.tether/local/\ntether.local.toml\n"
    assert "merge=union" in site.read(".gitattributes")
    before = {p: p.read_bytes() for p in site.path.rglob("*") if p.is_file() and ".git/" not in str(p)}
    second = json.loads(site.tether("init", "--yes", "--json"))
    assert second["written"] == []
    after = {p: p.read_bytes() for p in site.path.rglob("*") if p.is_file() and ".git/" not in str(p)}
    changed = [p.name for p in before if before[p] != after[p]]
    assert changed == [] or set(changed) <= {"journal.db-shm", "journal.db-wal", "journal.db"}


def test_without_allow_writes_nothing_is_written_until_the_shadow_passes(tmp_path):
    site = fresh(tmp_path, **{"src__a.py": "x = 1\n", "check.sh": "grep -q 'x = 2' src/a.py\n"})
    site.git("add", "-A")
    site.git("commit", "-q", "-m", "first")
    site.tether("init", "--yes")
    site.tether("intent", "new", "Work", "--scope", "src/**", "--activate")
    site.select()
    refused = site.call("edit_file", path="src/a.py", old="1", new="2")
    assert refused.error["error_code"] == "WRITE_DENIED"
    assert "nothing to validate with" in site.tether("shadow", code=2)
    site.tether("config", "set", "shadow.commands", '["sh check.sh"]')
    assert "failed" in site.tether("shadow", code=1)
    site.write("src/a.py", "x = 2\n")
    said = json.loads(site.tether("shadow", "--json"))
    assert said["passed"]
    assert said["write_enabled"]
    assert said["pending_files"] >= 1
    assert site.git("worktree", "list").count("\n") == 1, "the throw-away worktree is thrown away"
    assert site.call("edit_file", path="src/a.py", old="2", new="3").ok
    site.tether("shadow", "--off")
    assert site.call("edit_file", path="src/a.py", old="3", new="4").error["error_code"] == "WRITE_DENIED"


def test_a_clone_may_tighten_but_not_loosen_until_it_is_trusted(tmp_path):
    config = "[governance]\npreset = 'observe'\n[security]\nwrite_enabled = true\nprotected = ['infra/**']\n"
    site = fresh(tmp_path, **{"tether.toml": config, "a.txt": "a\n"})
    site.tether("init", "--yes")
    shown = json.loads(site.tether("config", "show", "--json"))
    values = {row["key"]: (row["value"], row["origin"]) for row in shown["settings"]}
    assert values["governance.preset"] == ("intent", "default")
    assert values["security.write_enabled"] == (False, "default")
    assert values["security.protected"] == (["infra/**"], "tether.toml")
    assert len(shown["ignored"]) == 2
    site.tether("trust", "--yes")
    shown = json.loads(site.tether("config", "show", "--json"))
    values = {row["key"]: row["value"] for row in shown["settings"]}
    assert values["governance.preset"] == "observe"
    assert shown["ignored"] == []
    site.write("tether.toml", config.replace("infra", "other"))
    assert len(json.loads(site.tether("config", "show", "--json"))["ignored"]) == 2, (
        "a change needs a new word"
    )


def test_config_set_keeps_comments_and_says_where_values_came_from(site):
    before = site.read("tether.toml")
    site.tether("config", "set", "governance.loop_limit", "7")
    after = site.read("tether.toml")
    assert after.startswith(before.split("[security]")[0].rstrip())
    assert "# What agents may do" in after
    rows = {r["key"]: r for r in json.loads(site.tether("config", "show", "--json"))["settings"]}
    assert rows["governance.loop_limit"]["value"] == 7
    assert rows["governance.loop_limit"]["origin"] == "tether.toml"
    site.tether("config", "set", "approval.ttl_seconds", "9", "--local")
    rows = {r["key"]: r for r in json.loads(site.tether("config", "show", "--json"))["settings"]}
    assert rows["approval.ttl_seconds"]["origin"] == "tether.local.toml"
    assert "did you mean `governance.preset`" in site.tether("config", "set", "governance.prest", "x", code=2)
    assert "must be one of" in site.tether("config", "set", "governance.preset", "lax", code=2)
    assert json.loads(site.tether("config", "schema"))["title"] == "tether.toml"


def test_status_tells_what_is_selected_pending_and_halted(site):
    site.select(session="s1")
    site.call("run_command", command="git reset --hard")
    for _ in range(5):
        site.call("write_file", path="src/pay/x.py", content="x")
    state = json.loads(site.tether("status", "--json"))
    assert state["sessions"] == {"s1": "INT-001"}
    assert list(state["halted"]) == ["s1"]
    assert len(state["pending"]) == 1
    text = site.tether("status")
    assert "HALTED" in text
    assert "WAITS" in text


def test_doctor_finds_each_thing_and_says_how_to_mend_it(site):
    assert "no agent is connected" in site.tether("doctor")
    site.write(".orchestration/active_intents.yaml", "active_intents: [\n")
    said = site.tether("doctor", code=1)
    assert "active_intents.yaml:" in said
    assert "→" in said
    blocked = site.call("write_file", "fresh", path="src/auth/x.py", content="x")
    assert blocked.error["error_code"] == "INTENTS_MALFORMED"


def test_doctor_tells_of_locks_that_are_held_and_clears_what_was_left(site):
    site.select()
    assert site.call("edit_file", path="src/auth/token.py", old="> 0", new="> 1").ok
    stage = site.path / ".tether/local/tmp/stage"
    stage.mkdir(parents=True, exist_ok=True)
    (stage / "left-behind").write_text("x")
    assert "locks: none held" in site.tether("doctor")
    assert (stage / "left-behind").exists(), "too young to be anyone's remains"
    lock = next((site.path / ".tether/local/locks").iterdir())
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "1 locks are held" in site.tether("doctor")
    assert "locks: none held" in site.tether("doctor")
