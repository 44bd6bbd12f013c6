"""The six acceptance criteria of governed edits, each through real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tether.record import trace

SCHEMA = json.loads(Path(trace.__file__).with_name("agent_trace.schema.json").read_text())


def call(site, verb, args, *, session="s1", code=0, more=()):
    said = site.tether("call", verb, json.dumps(args), "--session", session, "--json", *more, code=code)
    return json.loads(said.splitlines()[0])


def test_1_no_mutation_before_a_valid_handshake(site):
    attempts = {
        "write_file": {"path": "src/auth/new.py", "content": "x"},
        "edit_file": {"path": "src/auth/token.py", "old": "> 0", "new": "> 1"},
        "apply_patch": {"patch": "src/auth/token.py\n<<<<<<< SEARCH\n> 0\n=======\n> 1\n>>>>>>> REPLACE\n"},
        "delete_file": {"path": "src/auth/token.py"},
        "move_file": {"source": "src/auth/token.py", "destination": "src/auth/t.py"},
        "run_command": {"command": "touch src/auth/new.py"},
    }
    for n, (verb, args) in enumerate(attempts.items()):
        answer = call(site, verb, args, session=f"fresh-{n}", code=3)
        assert answer["error"]["error_code"] == "INTENT_REQUIRED", verb
        assert answer["error"]["message"] == "You must cite a valid active Intent ID before mutating tools."
        assert answer["error"]["recoverable"] is True
        assert answer["error"]["required_action"]
    assert site.git("status", "--short") == ""
    for bad, code in (("INT-404", "INTENT_INVALID"), ("INT-002", "INTENT_INVALID")):
        answer = call(site, "select_active_intent", {"intent_id": bad}, code=1)
        assert answer["error"]["error_code"] == code
    context = call(site, "select_active_intent", {"intent_id": "INT-001"})["value"]
    assert context.startswith("<intent_context>")
    assert context.endswith("</intent_context>")
    assert call(site, "edit_file", attempts["edit_file"])["ok"]


def test_2_out_of_scope_writes_are_blocked_with_a_deterministic_error(site):
    args = {"path": "src/pay/index.py", "old": "cents", "new": "pence", "replace_all": True}
    first = call(site, "edit_file", args, more=("--intent", "INT-001"), code=3)
    second = call(site, "edit_file", args, code=3)
    assert first["error"] == second["error"]
    assert first["error"]["error_code"] == "SCOPE_VIOLATION"
    assert first["error"]["message"] == "Scope Violation: INT-001 is not authorized to edit src/pay/index.py"
    assert first["error"]["required_action"] == "Request scope expansion or choose a valid intent"
    assert first["error"]["rules"] == ["scope.outside"]
    assert first["error"]["policy"]
    assert "cents" in site.read("src/pay/index.py")


def test_3_every_mutation_appends_a_valid_trace_record(site):
    call(site, "edit_file", {"path": "src/auth/token.py", "old": "> 0", "new": ">= 0"},
         more=("--intent", "INT-001", "--model", "acme/m-1", "--conversation", "https://example.com/c/1"))  # fmt: skip
    call(site, "write_file", {"path": "src/auth/new.py", "content": "a = 1\nb = 2\n"})
    call(site, "move_file", {"source": "src/auth/new.py", "destination": "src/auth/old.py"})
    call(site, "delete_file", {"path": "src/auth/old.py"})
    records = site.records()
    assert len(records) == 4
    revision = site.git("rev-parse", "HEAD").strip()
    for record in records:
        jsonschema.validate(record, SCHEMA, format_checker=jsonschema.FormatChecker())
        assert record["vcs"] == {"type": "git", "revision": revision}
        conversation = record["files"][0]["conversations"][0]
        assert {"type": "intent", "url": "urn:intent:INT-001"} in conversation["related"]
        assert conversation["contributor"]["type"] == "ai"
        assert record["metadata"]["dev.tether"]["decision"]["rules"]
    conversation = records[0]["files"][0]["conversations"][0]
    assert conversation["contributor"]["model_id"] == "acme/m-1"
    assert conversation["url"] == "https://example.com/c/1"
    assert conversation["ranges"][0]["start_line"] == 2
    assert conversation["ranges"][0]["content_hash"].startswith("sha256:")


def test_4_destructive_commands_need_explicit_approval(site):
    args = {"command": "rm -rf src/auth"}
    pending = call(site, "run_command", args, more=("--intent", "INT-001"), code=4)["pending"]
    assert os.path.exists(site.path / "src/auth/token.py")
    assert pending["decision"]["code"] == "RISK_APPROVAL_REQUIRED"
    again = call(site, "run_command", args, code=4)["pending"]
    assert again["approval_id"] == pending["approval_id"], "asking twice asks once"
    other = call(site, "run_command", {"command": "rm -rf src/auth "}, code=4)["pending"]
    assert other["approval_id"] != pending["approval_id"], "an approval is for exactly one call"
    site.tether("approve", pending["approval_id"])
    assert call(site, "run_command", args)["ok"]
    assert not os.path.exists(site.path / "src/auth/token.py")
    reused = call(site, "run_command", args, code=4)
    assert reused["pending"]["approval_id"] != pending["approval_id"], "an approval is used once"
    site.tether("reject", other["approval_id"], "--reason", "no")
    assert (
        call(site, "run_command", {"command": "rm -rf src/auth "}, code=3)["error"]["error_code"]
        == "APPROVAL_REJECTED"
    )


def test_5_stale_writes_are_rejected(site):
    call(site, "read_file", {"path": "src/auth/token.py"}, more=("--intent", "INT-001"))
    site.write("src/auth/token.py", "def valid(token):\n    return token > 7\n")
    answer = call(site, "write_file", {"path": "src/auth/token.py", "content": "mine\n"}, code=3)
    assert answer["error"]["error_code"] == "STALE_FILE"
    assert "7" in site.read("src/auth/token.py")
    call(site, "read_file", {"path": "src/auth/token.py"})
    assert call(site, "write_file", {"path": "src/auth/token.py", "content": "mine\n"})["ok"]


def test_6_shared_brain_and_intent_map_grow_incrementally(site):
    site.write("AGENTS.md", "# Ours\n\nhand-written\n")
    call(
        site,
        "edit_file",
        {"path": "src/auth/token.py", "old": "> 0", "new": ">= 1"},
        more=("--intent", "INT-001"),
    )
    first = site.read(".orchestration/intent_map.md")
    assert "INT-001" in first
    assert "src/auth/token.py" in first
    assert "valid" in first, "the function that changed is named"
    call(site, "write_file", {"path": "src/auth/more.py", "content": "def more():\n    return 1\n"})
    second = site.read(".orchestration/intent_map.md")
    assert "src/auth/more.py" in second
    assert "src/auth/token.py" in second
    call(site, "run_command", {"command": "git reset --hard"}, code=4)
    approval = json.loads(site.tether("approvals", "--json"))[0]["id"]
    site.tether("reject", approval, "--reason", "never reset by force")
    call(site, "edit_file", {"path": "src/auth/more.py", "old": "1", "new": "2"})
    brain = site.read("AGENTS.md")
    assert brain.startswith("# Ours\n\nhand-written\n")
    assert "never reset by force" in brain
    site.tether("trace", "list")
    assert site.read("AGENTS.md") == brain, "nothing new, nothing changed"


def test_an_agents_shell_cannot_approve_for_itself(site):
    call(site, "run_command", {"command": "rm -rf src/auth"}, more=("--intent", "INT-001"), code=4)
    approval = json.loads(site.tether("approvals", "--json"))[0]["id"]
    for command in (
        f"tether approve {approval}",
        f"bash -c 'tether approve {approval}'",
        f"{sys.executable} -m tether approve {approval}",
        f"env X=1 nohup tether approve {approval}",
        "tether config set security.write_enabled true",
        "TETHER_GOVERNANCE__PRESET=observe tether call write_file '{}'",
    ):
        answer = call(site, "run_command", {"command": command}, code=3)
        assert answer["error"]["error_code"] == "SECURITY_VIOLATION", command
    said = site.tether("approve", approval, code=1, CLAUDECODE="1")
    assert "for people" in said


@pytest.mark.parametrize(
    "rounds", [10, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])]
)
def test_eight_processes_racing_on_one_file_lose_nothing(site, tmp_path, rounds):
    site.write("src/auth/count.txt", "0\n")
    script = tmp_path / "race.py"
    script.write_text(
        """
import asyncio, os, sys
from tether.gate import submit
from tether.types import Agent, Call
from tether.workspace import open_workspace
root, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
workspace = open_workspace(root)
workspace.drain = lambda: None
async def call(verb, **args):
    return await submit(workspace, Call(os.urandom(8).hex(), verb, args, Agent(name)))
async def main():
    await call("select_active_intent", intent_id="INT-001")
    won = tries = 0
    while won < rounds and tries < rounds * 400:
        tries += 1
        seen = await call("read_file", path="src/auth/count.txt", format="raw")
        value = int(seen.value["content"])
        done = await call("write_file", path="src/auth/count.txt", content=f"{value + 1}\\n",
                          expected_hash=seen.value["hash"])
        if getattr(done, "ok", False):
            won += 1
        else:
            assert done.error["error_code"] in ("STALE_FILE", "COLLISION"), done.error
    print(won)
asyncio.run(main())
workspace.close()
"""
    )
    running = [
        subprocess.Popen(
            [sys.executable, str(script), str(site.path), f"w{n}", str(rounds)], stdout=subprocess.PIPE
        )
        for n in range(8)
    ]
    won = [int(process.communicate()[0]) for process in running]
    assert won == [rounds] * 8
    assert site.read("src/auth/count.txt") == f"{8 * rounds}\n"
    site.tether("journal", "verify")
    site.tether("doctor")
    assert len(site.records()) == 8 * rounds
