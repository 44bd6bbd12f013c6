"""Hook events as a hostile or careless agent sends them: whatever is not understood is not waved through."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tether.edges.hooks.events import answer
from tether.edges.hooks.settings import hook_command, plan_install
from tether.edges.hooks.wires import WIRES


def ask(site, agent, body):
    """One event in this process: what the agent would be told."""
    wire = WIRES[agent]
    event = wire.read(json.dumps(body).encode())
    text, code = wire.write(event, answer(event, str(site.path)))
    assert code == 0
    return json.loads(text) if text else {}


def claude(site, name, tool, given, **more):
    return {
        "session_id": "c1",
        "cwd": str(site.path),
        "hook_event_name": name,
        "tool_name": tool,
        "tool_input": given,
        **more,
    }


def denial(site, tool, given, **more):
    said = ask(site, "claude-code", claude(site, "PreToolUse", tool, given, **more))
    return said.get("hookSpecificOutput", {}).get("permissionDecisionReason", "")


def raw(site, agent, data, **environment):
    """The installed command itself, fed bytes."""
    return subprocess.run(
        ["sh", "-c", hook_command(agent, str(site.path), sys.executable)],
        input=data,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )


def blocks(agent, done):
    """Whether the agent would take this for a no."""
    if done.returncode == 2:
        return True
    told = json.loads(done.stdout or b"{}")
    if agent == "cline":
        return told.get("cancel") is True
    if agent == "gemini":
        return told.get("decision") in ("deny", "block")
    return told.get("hookSpecificOutput", {}).get("permissionDecision") == "deny"


def test_tools_nobody_knows_are_asked_about_and_never_waved_through(site):
    site.select(session="c1")
    for tool in ("PowerShell", "EnterWorktree", "write", "BASH", "SuperEdit", "save_memory", "write_stdin"):
        assert "RISK_APPROVAL_REQUIRED" in denial(site, tool, {"command": "ls", "chars": "rm -rf .\n"}), tool
    assert denial(site, "TodoWrite", {"todos": []}) == ""
    assert denial(site, "Monitor", {"command": "rm -rf src/auth"}).startswith("RISK_APPROVAL_REQUIRED")


def test_every_tool_of_every_agent_reaches_the_hook(site):
    for agent in ("claude-code", "gemini", "codex"):
        (plan,) = plan_install(agent, str(site.path), sys.executable)
        for name, groups in json.loads(plan.after)["hooks"].items():
            if "Tool" in name:
                assert [group["matcher"] for group in groups] == [".*"], (agent, name)


def test_searching_is_bound_to_the_project_as_reading_is(site):
    for tool in ("Grep", "Glob", "LS", "Read"):
        key = "file_path" if tool == "Read" else "path"
        said = denial(site, tool, {"pattern": ".", key: "/etc"}, session_id=f"fresh-{tool}")
        assert said.startswith("SECURITY_VIOLATION"), tool
    assert denial(site, "Grep", {"pattern": "x"}) == ""
    assert denial(site, "Grep", {"pattern": "x", "path": str(site.path / "src")}) == ""


@pytest.mark.parametrize("agent", sorted(WIRES))
@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b"{", b'"x"', b"\xff\xfe", b"{}", b'{"session_id": 1, "tool_name": "Edit"}',
     b"[" * 100_000],
    ids=["empty", "null", "list", "torn", "text", "bytes", "nothing", "types", "deep"],
)  # fmt: skip
def test_what_is_no_event_blocks(site, agent, data):
    assert blocks(agent, raw(site, agent, data))


def test_an_event_without_a_name_is_not_passed_over(site):
    body = claude(site, "", "Edit", {"file_path": str(site.path / "src/auth/token.py")})
    assert blocks("claude-code", raw(site, "claude-code", json.dumps(body).encode()))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tool=st.sampled_from(["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "Read", "Grep", "mcp__x__y"]),
    given_=st.dictionaries(
        st.sampled_from(["file_path", "content", "old_string", "new_string", "edits", "command", "path"]),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.text(max_size=30),
            st.lists(st.text(max_size=5), max_size=3),
            st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
            st.sampled_from(["../../etc/passwd", "~/.ssh/id_rsa", "\ud800", "/", "src/auth/../pay/index.py"]),
        ),
    ),
)
def test_no_input_is_allowed_to_change_anything_without_an_intent(site, tool, given_):
    body = claude(site, "PreToolUse", tool, given_, session_id=f"s{os.urandom(4).hex()}")
    wire = WIRES["claude-code"]
    event = wire.read(json.dumps(body).encode())
    try:
        reply = answer(event, str(site.path))
    except Exception:
        return  # an error blocks: `main` answers for it
    if tool not in ("Read", "Grep", "Bash"):
        assert reply.deny


def test_relative_folders_and_other_peoples_folders_open_no_way_out(site, tmp_path):
    site.select(session="c1")
    given_ = {"file_path": "token.py", "old_string": "> 0", "new_string": "> 1"}
    with pytest.raises(ValueError, match="not absolute"):
        WIRES["claude-code"].read(
            json.dumps(claude(site, "PreToolUse", "Edit", given_, cwd="src/auth")).encode()
        )
    assert denial(site, "Edit", given_, cwd=str(tmp_path)).startswith("SECURITY_VIOLATION")
    (tmp_path / "into").symlink_to(site.path / "src/pay")
    said = denial(site, "Write", {"file_path": "new.py", "content": "x"}, cwd=str(tmp_path / "into"))
    assert said.startswith(("SECURITY_VIOLATION", "SCOPE_VIOLATION"))
    assert denial(site, "Edit", given_, cwd=str(site.path / "src/auth")) == ""


def test_two_uses_without_ids_are_told_apart_by_what_they_do(site):
    site.select(session="g1")

    def event(name, path, content):
        given_ = {"file_path": str(site.path / path), "content": content}
        return {"session_id": "g1", "cwd": str(site.path), "hook_event_name": name,
                "tool_name": "write_file", "tool_input": given_}  # fmt: skip

    uses = [("src/auth/a.py", "a = 1\n"), ("src/auth/b.py", "b = 1\n")]
    for path, text in uses:
        assert ask(site, "gemini", event("BeforeTool", path, text)).get("decision") is None
    for path, text in uses:
        site.write(path, text)
    for path, text in uses:  # the first to begin is the first to be told about
        ask(site, "gemini", event("AfterTool", path, text))
        assert site.records()[-1]["files"][0]["path"] == path
    assert json.loads(site.tether("status", "--json"))["open"] == []


def test_a_report_without_a_question_and_a_question_asked_twice_do_no_harm(site):
    site.select(session="c1")
    given_ = {"file_path": str(site.path / "src/auth/token.py"), "old_string": "> 0", "new_string": "> 2"}
    assert ask(site, "claude-code", claude(site, "PostToolUse", "Edit", given_, tool_use_id="u0")) == {}
    for _ in range(2):
        assert denial(site, "Edit", given_, tool_use_id="u1") == ""
    site.write("src/auth/token.py", site.read("src/auth/token.py").replace("> 0", "> 2"))
    ask(site, "claude-code", claude(site, "PostToolUse", "Edit", given_, tool_use_id="u1"))
    assert len(site.records()) == 1
    assert json.loads(site.tether("status", "--json"))["open"] == []


def test_a_file_with_another_name_is_not_written_in_place(site):
    """An editor that writes in place would change the other name too, however far out of scope it lies."""
    os.link(site.path / "src/pay/index.py", site.path / "src/auth/innocent.py")
    site.select(session="c1")
    given_ = {"file_path": str(site.path / "src/auth/innocent.py"), "old_string": "cents", "new_string": "x"}
    assert denial(site, "Edit", given_).startswith("SECURITY_VIOLATION")


def test_half_characters_block_no_later_call(site):
    site.select(session="c1")
    assert denial(site, "Write", {"file_path": str(site.path / "src/auth/\ud800.py"), "content": "\udfff"})
    said = denial(site, "Bash", {"command": "echo '\ud800' > src/auth/x"}, tool_use_id="\udead")
    assert "Traceback" not in said
    given_ = {"file_path": str(site.path / "src/auth/token.py"), "old_string": "> 0", "new_string": "> 1"}
    assert denial(site, "Edit", given_) == ""
    site.tether("journal", "verify")


def test_a_session_s_name_cannot_become_a_command(site):
    said = denial(site, "Edit", {"file_path": "x", "old_string": "a", "new_string": "b"},
                  session_id="s; rm -rf ~ #")  # fmt: skip
    assert "--session 's; rm -rf ~ #'" in said
    with pytest.raises(ValueError, match="names no session"):
        WIRES["claude-code"].read(b'{"hook_event_name": "PreToolUse", "session_id": "a\\u001b[2J"}')


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "codex"])
def test_an_interpreter_that_is_gone_blocks(site, agent):
    command = hook_command(agent, str(site.path), str(site.path / "no/such/python"))
    assert (
        subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False).returncode == 2
    )


def test_cline_is_answered_in_json_even_by_a_hook_that_cannot_start(site):
    plans = {
        p.path: p.after for p in plan_install("cline", str(site.path), str(site.path / "no/such/python"))
    }
    script = plans[".clinerules/hooks/PreToolUse"]
    done = subprocess.run(["sh", "-c", script], input=b"{}", capture_output=True, check=False)
    assert json.loads(done.stdout)["cancel"] is True


def test_an_answer_nobody_can_hear_blocks(site):
    body = json.dumps(claude(site, "PreToolUse", "Edit", {"file_path": "x"})).encode()
    command = hook_command("claude-code", str(site.path), sys.executable)
    done = subprocess.run(["sh", "-c", f"({command}) >&-"], input=body, capture_output=True, check=False)
    assert done.returncode == 2


def test_a_hook_that_would_hang_answers_no(site):
    """An agent takes a hook that never answers for leave to go on, so it answers before that."""
    script = (
        "import sys; from tether.edges import hooks; hooks.SECONDS['claude-code'] = 0.3\n"
        "sys.exit(hooks.main(['claude-code', '--project', sys.argv[1]]))"
    )
    reader, writer = os.pipe()  # an input that nobody closes
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", script, str(site.path)],
            stdin=reader,
            capture_output=True,
            check=False,
        )
    finally:
        os.close(reader)
        os.close(writer)
    assert blocks("claude-code", done)


def test_cline_s_other_workspace_folders_are_not_taken_for_this_one(site):
    site.select(session="t1")
    body = {"hookName": "PreToolUse", "taskId": "t1", "workspaceRoots": [str(site.path)],
            "preToolUse": {"toolName": "write_to_file",
                           "parameters": {"path": "@backend:src/auth/x.py", "content": "x"}}}  # fmt: skip
    assert blocks("cline", raw(site, "cline", json.dumps(body).encode()))


def test_settings_that_lead_out_of_the_project_are_not_written(site, tmp_path):
    (tmp_path / "home-settings.json").write_text("{}")
    (site.path / ".claude").mkdir()
    (site.path / ".claude/settings.json").symlink_to(tmp_path / "home-settings.json")
    said = site.tether("install", "claude-code", "--yes", code=1)
    assert "no plain file of the project" in said
    assert (tmp_path / "home-settings.json").read_text() == "{}"
