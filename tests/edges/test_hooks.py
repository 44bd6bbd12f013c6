"""Agents that run their own tools are governed by the installed hook command, a real process each time."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from tether.edges.hooks.settings import ENTRY, hook_command, plan_install, plan_uninstall
from tether.edges.hooks.wires import WIRES


def event(site, name, tool, given, use="u1", session="c1", **more):
    return {
        "session_id": session,
        "transcript_path": "/nowhere.jsonl",
        "cwd": str(site.path),
        "permission_mode": "default",
        "hook_event_name": name,
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": use,
        **more,
    }


def before(site, tool, given, use="u1", session="c1"):
    answer = site.hook("claude-code", event(site, "PreToolUse", tool, given, use, session))
    return answer.get("hookSpecificOutput", {})


def after(site, tool, given, use="u1", session="c1", name="PostToolUse"):
    return site.hook("claude-code", event(site, name, tool, given, use, session, tool_response={}))


def path(site, name):
    return str(site.path / name)


def edit(site, old, new, name="src/auth/token.py"):
    return {"file_path": path(site, name), "old_string": old, "new_string": new}


def perform(site, given):
    """What the agent's own Edit tool does between the two hooks."""
    name = os.path.relpath(given["file_path"], site.path)
    site.write(name, site.read(name).replace(given["old_string"], given["new_string"], 1))


def test_a_fresh_agent_is_told_how_to_select_an_intent(site):
    answer = before(site, "Edit", edit(site, "> 0", "> 1"))
    assert answer["permissionDecision"] == "deny"
    reason = answer["permissionDecisionReason"]
    assert "You must cite a valid active Intent ID before mutating tools." in reason
    assert "intent select INT-001 --session c1" in reason
    command = next(line.strip() for line in reason.splitlines() if "intent select" in line).split("#")[0]
    assert before(site, "Bash", {"command": command}) == {}, "the way it was told is open to it"
    done = subprocess.run(["bash", "-c", command], cwd=site.path, capture_output=True, text=True, check=True)
    assert "<intent_context>" in done.stdout
    assert before(site, "Edit", edit(site, "> 0", "> 1")).get("permissionDecision") != "deny"


def test_an_edit_is_admitted_traced_and_attributed_to_the_agent(site):
    site.select(session="c1")
    given = edit(site, "> 0", ">= 0")
    first = before(site, "Edit", given)
    assert "<intent_context>" in first["additionalContext"], "the context comes once"
    perform(site, given)
    assert after(site, "Edit", given) == {}
    record = site.records()[-1]
    conversation = record["files"][0]["conversations"][0]
    assert conversation["contributor"]["type"] == "ai"
    assert conversation["url"] == "urn:claude-code:session:c1"
    again = edit(site, ">= 0", ">= 1")
    assert before(site, "Edit", again, "u2") == {}
    perform(site, again)
    after(site, "Edit", again, "u2")
    assert len(site.records()) == 2


def test_out_of_scope_protected_and_outside_are_denied(site):
    site.select(session="c1")
    for name, code in (
        ("src/pay/index.py", "SCOPE_VIOLATION"),
        (".git/hooks/pre-commit", "SECURITY_VIOLATION"),
        (".claude/settings.json", "SECURITY_VIOLATION"),
        ("tether.toml", "SECURITY_VIOLATION"),
        (".orchestration/active_intents.yaml", "SECURITY_VIOLATION"),
        (".tether/local/journal.db", "SECURITY_VIOLATION"),
        ("../elsewhere.txt", "SECURITY_VIOLATION"),
    ):
        answer = before(site, "Write", {"file_path": path(site, name), "content": "x"}, session="c1")
        assert answer["permissionDecision"] == "deny", name
        assert answer["permissionDecisionReason"].startswith(code), name
    assert before(site, "Read", {"file_path": "/etc/passwd"})["permissionDecision"] == "deny"


def test_a_write_over_a_file_never_read_is_refused_until_it_is_read(site):
    site.select(session="c1")
    given = {"file_path": path(site, "src/auth/token.py"), "content": "new\n"}
    assert before(site, "Write", given)["permissionDecisionReason"].startswith("STALE_FILE")
    after(site, "Read", {"file_path": path(site, "src/auth/token.py")})
    assert before(site, "Write", given).get("permissionDecision") != "deny"


def test_what_a_person_mixed_in_while_the_tool_ran_is_mixed(site):
    site.select(session="c1")
    given = edit(site, "> 0", "> 5")
    before(site, "Edit", given)
    perform(site, given)
    site.write("src/auth/token.py", site.read("src/auth/token.py") + "# by hand\n")
    after(site, "Edit", given)
    conversation = site.records()[-1]["files"][0]["conversations"][0]
    assert conversation["contributor"]["type"] == "mixed"
    owners = {
        a["line"]: a["contributor"] for a in json.loads(site.tether("why", "src/auth/token.py", "--json"))
    }
    assert (owners[2], owners[3]) == ("ai", "human"), "and each line is still its author's"
    late = {"file_path": path(site, "src/auth/token.py"), "content": "all new\n"}
    assert before(site, "Write", late, "u2")["permissionDecisionReason"].startswith("STALE_FILE")


def test_edits_by_a_person_between_two_edits_are_not_the_agents(site):
    site.select(session="c1")
    first = edit(site, "> 0", "> 5")
    before(site, "Edit", first)
    perform(site, first)
    after(site, "Edit", first)
    site.write("src/auth/token.py", site.read("src/auth/token.py") + "BY_HAND = 1\n")
    after(site, "Read", {"file_path": path(site, "src/auth/token.py")})
    second = edit(site, "> 5", "> 6")
    before(site, "Edit", second, "u2")
    perform(site, second)
    after(site, "Edit", second, "u2")
    kinds = [r["files"][0]["conversations"][0]["contributor"]["type"] for r in site.records()]
    assert kinds == ["ai", "human", "ai"]
    answers = json.loads(site.tether("why", "src/auth/token.py", "--json"))
    owner = {a["line"]: a["contributor"] for a in answers}
    lines = site.read("src/auth/token.py").splitlines()
    assert owner[lines.index("BY_HAND = 1") + 1] == "human"
    assert owner[lines.index("    return token > 6") + 1] == "ai"


def test_a_command_is_swept_and_what_it_changed_outside_is_reported_and_undone(site):
    site.select(session="c1")
    site.tether("config", "set", "approval.unknown", "allow")
    command = {"command": "python3 make_things.py"}
    assert before(site, "Bash", command).get("permissionDecision") != "deny"
    site.write("src/auth/made.py", "a = 1\n")
    site.write("src/pay/index.py", "broken\n")
    answer = after(site, "Bash", command)
    assert answer["decision"] == "block"
    assert "SCOPE_VIOLATION" in answer["reason"]
    assert "src/pay/index.py" in answer["reason"]
    assert {f["path"] for f in site.records()[-1]["files"]} == {"src/auth/made.py", "src/pay/index.py"}
    undo = answer["reason"].split("`")[1]
    assert before(site, "Bash", {"command": undo}) == {}, (
        "an agent may take back what it should not have touched"
    )
    subprocess.run(["bash", "-c", undo], cwd=site.path, check=True, capture_output=True)
    assert "charge" in site.read("src/pay/index.py")
    assert site.read("src/auth/made.py") == "a = 1\n"


def test_a_destructive_command_waits_for_a_person_and_then_passes_once(site):
    site.select(session="c1")
    command = {"command": "git reset --hard"}
    reason = before(site, "Bash", command)["permissionDecisionReason"]
    assert reason.startswith("RISK_APPROVAL_REQUIRED")
    approval = json.loads(site.tether("approvals", "--json"))[0]["id"]
    assert approval in reason
    site.tether("approve", approval)
    assert before(site, "Bash", command).get("permissionDecision") != "deny"
    after(site, "Bash", command)
    assert before(site, "Bash", command, "u2")["permissionDecision"] == "deny"


def test_mcp_tools_are_asked_about_unless_listed(site):
    site.select(session="c1")
    answer = before(site, "mcp__github__delete_repo", {"name": "x"})
    assert answer["permissionDecisionReason"].startswith("RISK_APPROVAL_REQUIRED")
    site.tether("config", "set", "security.mcp_tools", "tether/**,github/get_*")
    assert before(site, "mcp__github__get_issue", {"n": 1}) == {}
    assert before(site, "mcp__github__delete_repo", {"name": "y"})["permissionDecision"] == "deny"


def test_the_same_refusal_five_times_halts_the_agent_until_a_person_resets_it(site):
    site.select(session="c1")
    given = {"file_path": path(site, "src/pay/new.py"), "content": "x"}
    codes = [before(site, "Write", given)["permissionDecisionReason"].split(":")[0] for _ in range(6)]
    assert codes == ["SCOPE_VIOLATION"] * 5 + ["LOOP_HALTED"]
    assert before(site, "Bash", {"command": "ls"})["permissionDecision"] == "deny", "a halted agent is halted"
    site.tether("reset", "c1")
    assert before(site, "Bash", {"command": "ls"}) == {}


def test_a_report_that_never_comes_is_reconciled_at_the_next_admit(site):
    site.select(session="c1")
    given = edit(site, "> 0", "> 9")
    before(site, "Edit", given)
    perform(site, given)
    again = edit(site, "> 9", "> 10")
    assert before(site, "Edit", again, "u2").get("permissionDecision") != "deny"
    perform(site, again)
    after(site, "Edit", again, "u2")
    outcomes = [e.body["outcome"] for e in site.workspace().project.journal.entries(kinds=("settled",))]
    assert outcomes == ["reconciled", "done"]
    assert len(site.records()) == 2


def test_a_failed_tool_settles_without_a_change(site):
    site.select(session="c1")
    given = edit(site, "> 0", "> 9")
    before(site, "Edit", given)
    after(site, "Edit", given, name="PostToolUseFailure")
    assert site.records() == []
    site.tether("journal", "verify")


@pytest.mark.parametrize("agent", sorted(WIRES))
@pytest.mark.parametrize(
    "noise", ["", "not json", "[]", "{}", '{"hook_event_name": "PreToolUse"}', "\x00" * 100]
)
def test_noise_blocks(site, agent, noise):
    done = subprocess.run(
        shlex.split(hook_command(agent, str(site.path), sys.executable)),
        input=noise.encode(),
        capture_output=True,
    )
    said = done.stdout.decode() + done.stderr.decode()
    blocked = done.returncode == 2 or '"deny"' in said or '"cancel": true' in said
    assert blocked, (done.returncode, said)


def test_a_hook_outside_any_project_blocks(tmp_path):
    body = {"session_id": "c", "cwd": str(tmp_path), "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": {"file_path": str(tmp_path / "a"), "content": ""}}  # fmt: skip
    argv = [sys.executable, "-I", ENTRY, "claude-code", "--project", str(tmp_path)]
    done = subprocess.run(argv, input=json.dumps(body), text=True, capture_output=True)
    assert '"deny"' in done.stdout


def test_nothing_of_the_project_is_executed(site, tmp_path):
    for name in ("json.py", "os.py", "sqlite3.py", "tether.py", "sitecustomize.py", "usercustomize.py"):
        site.write(name, "raise SystemExit(open('/tmp/owned-by-project', 'w'))\n")
        (tmp_path / name).write_text(f"open({str(tmp_path / 'owned')!r}, 'w').write('x')\n")
    body = event(site, "PreToolUse", "Bash", {"command": "ls"})
    command = hook_command("claude-code", str(site.path), sys.executable)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "json.py")}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=site.path,
        input=json.dumps(body),
        text=True,
        capture_output=True,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert not (tmp_path / "owned").exists()


GEMINI = {"session_id": "g1", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command"}


def test_gemini_speaks_its_own_contract(site):
    body = {**GEMINI, "cwd": str(site.path), "tool_input": {"command": "rm -rf src"}}
    answer = site.hook("gemini", body)
    assert answer["decision"] == "deny"
    assert "You must cite a valid active Intent ID" in answer["reason"]
    site.select(session="g1")
    name = path(site, "src/auth/token.py")
    given = {"file_path": name, "old_string": "> 0", "new_string": "> 2"}
    replace = {**GEMINI, "cwd": str(site.path), "tool_name": "replace", "tool_input": given}
    assert site.hook("gemini", replace).get("decision") != "deny"
    perform(site, given)
    site.hook("gemini", {**replace, "hook_event_name": "AfterTool", "tool_response": {}})
    assert site.records()[-1]["files"][0]["conversations"][0]["contributor"]["type"] == "ai"


def test_codex_patches_are_judged_file_by_file(site):
    site.select(session="x1")
    patch = (
        "*** Begin Patch\n*** Update File: src/auth/token.py\n@@\n def valid(token):\n"
        "-    return token > 0\n+    return token > 3\n*** Add File: src/pay/new.py\n+x = 1\n*** End Patch\n"
    )
    body = event(site, "PreToolUse", "apply_patch", {"command": patch}, session="x1")
    answer = site.hook("codex", body)["hookSpecificOutput"]
    assert answer["permissionDecisionReason"].startswith("SCOPE_VIOLATION")
    inside = patch.replace("src/pay/new.py", "src/auth/new.py")
    allowed = site.hook(
        "codex", event(site, "PreToolUse", "apply_patch", {"command": inside}, "u9", session="x1")
    )
    assert allowed.get("hookSpecificOutput", {}).get("permissionDecision") != "deny"
    shell = event(site, "PreToolUse", "shell", {"command": ["bash", "-lc", "git reset --hard"]}, session="x1")
    assert (
        "RISK_APPROVAL_REQUIRED"
        in site.hook("codex", shell)["hookSpecificOutput"]["permissionDecisionReason"]
    )


def test_cline_speaks_its_own_contract(site):
    body = {
        "hookName": "PreToolUse",
        "taskId": "t1",
        "workspaceRoots": [str(site.path)],
        "preToolUse": {
            "toolName": "write_to_file",
            "parameters": {"path": "src/auth/n.py", "content": "x = 1\n"},
        },
    }
    answer = site.hook("cline", body)
    assert answer["cancel"] is True
    assert "You must cite a valid active Intent ID" in answer["errorMessage"]
    site.select(session="t1")
    assert site.hook("cline", body)["cancel"] is False
    site.write("src/auth/n.py", "x = 1\n")
    report = {**body, "hookName": "PostToolUse", "postToolUse": {**body["preToolUse"], "success": True}}
    del report["preToolUse"]
    assert site.hook("cline", report)["cancel"] is False
    assert site.records()[-1]["files"][0]["path"] == "src/auth/n.py"
    diff = "------- SEARCH\nx = 1\n=======\nx = 2\n+++++++ REPLACE\n"
    body["preToolUse"] = {
        "toolName": "replace_in_file",
        "parameters": {"path": "src/auth/n.py", "diff": diff},
    }
    assert site.hook("cline", body)["cancel"] is False


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "codex"])
def test_install_is_idempotent_and_uninstall_leaves_the_rest_as_it_was(site, agent):
    (file,) = {p.path for p in plan_install(agent, str(site.path), sys.executable)}
    theirs = {"model": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    site.write(file, json.dumps(theirs, indent=4) + "\n")
    original = site.read(file)
    site.tether("install", agent, "--yes")
    installed = site.read(file)
    assert json.loads(installed)["model"] == "x"
    assert ENTRY in installed
    assert " -I " in installed
    assert "nothing to change" in site.tether("install", agent, "--yes")
    assert site.read(file) == installed
    assert "connected" in site.tether("doctor")
    site.tether("uninstall", agent, "--yes")
    assert json.loads(site.read(file)) == json.loads(original)
    assert plan_uninstall(agent, str(site.path), sys.executable)[0].before == site.read(file)


def test_install_for_cline_writes_executables_and_never_over_anothers(site):
    site.tether("install", "cline", "--yes")
    hook = site.path / ".clinerules/hooks/PreToolUse"
    assert os.access(hook, os.X_OK)
    body = {"hookName": "PreToolUse", "taskId": "t", "workspaceRoots": [str(site.path)],
            "preToolUse": {"toolName": "read_file", "parameters": {"path": "src/auth/token.py"}}}  # fmt: skip
    done = subprocess.run([str(hook)], input=json.dumps(body), text=True, capture_output=True, check=True)
    assert json.loads(done.stdout)["cancel"] is False
    site.tether("uninstall", "cline", "--yes")
    assert not hook.exists()
    site.write(".clinerules/hooks/PreToolUse", "#!/bin/sh\n")
    assert "another hook" in site.tether("install", "cline", "--yes", code=1)


def test_settings_that_are_not_json_are_not_touched(site):
    site.write(".claude/settings.json", "{broken")
    assert ".claude/settings.json:1:2" in site.tether("install", "claude-code", "--yes", code=2)
    assert site.read(".claude/settings.json") == "{broken"


def test_an_agent_cannot_install_or_uninstall(site):
    said = site.tether("uninstall", "claude-code", "--yes", code=1, CLAUDECODE="1")
    assert "for people" in said


def test_a_session_start_names_the_active_intents(site):
    body = {"session_id": "c1", "cwd": str(site.path), "hook_event_name": "SessionStart", "model": "acme/big"}
    text = site.hook("claude-code", body)["hookSpecificOutput"]["additionalContext"]
    assert "intent select INT-001 --session c1" in text
    site.select(session="c1")
    text = site.hook("claude-code", body)["hookSpecificOutput"]["additionalContext"]
    assert "<intent_context>" in text
    given = edit(site, "> 0", "> 4")
    before(site, "Edit", given)
    perform(site, given)
    after(site, "Edit", given)
    assert site.records()[-1]["files"][0]["conversations"][0]["contributor"]["model_id"] == "acme/big"


def test_the_hook_path_imports_only_what_is_on_its_list(site):
    """INVARIANT: a hook pays for every import on every tool call."""
    script = (
        "import sys, json, io; before = set(sys.modules)\n"
        "from tether.edges.hooks import main\n"
        "code = main(['claude-code', '--project', sys.argv[1]])\n"
        "sys.stderr.write(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    site.select(session="c1")
    body = event(site, "PreToolUse", "Edit", edit(site, "> 0", "> 1"))
    run = [sys.executable, "-I", "-c", script, str(site.path)]
    subprocess.run(run, input=json.dumps(body), text=True, capture_output=True, check=True)
    done = subprocess.run(run, input=json.dumps(body), text=True, capture_output=True, check=True)
    loaded = set(json.loads(done.stderr))
    heavy = {
        "typing", "dataclasses", "asyncio", "pathlib", "tomllib", "ruamel", "rich", "tree_sitter", "argparse",
        "subprocess", "logging", "inspect", "importlib.resources", "pydantic", "yaml", "shlex", "tempfile", "uuid",
    }  # fmt: skip
    assert not loaded & heavy
    assert not [name for name in loaded if name.startswith(("ruamel", "rich.", "tree_sitter"))]
