"""The server on standard input and output, driven line by line as a real process."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tether.edges.mcp.wire import LINE_CAP
from tether.project import open_project

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "modern-test", "version": "1"},
}
ABLE = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
CLEAN = "git clean -fdx src/auth/build"


def journal(site, kind):
    """Entries of one kind, as another process sees them."""
    project = open_project(str(site.path))
    try:
        return [{"call": e.call, "body": e.body} for e in project.journal.entries(kinds=(kind,))]
    finally:
        project.close()


def test_the_handshake_agrees_on_a_version_both_know(serve, tmp_path):
    for asked, agreed in (
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
    ):
        told = serve(tmp_path).hello(asked)
        assert told["protocolVersion"] == agreed
        assert told["serverInfo"]["name"] == "tether"
        assert set(told["capabilities"]) == {"tools", "resources", "prompts", "logging"}


def test_the_first_answers_need_no_project_and_import_nothing_heavy(tmp_path):
    script = """
import json, os, sys
from tether.cli.frame import run
read, write = os.pipe()
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
for number, (method, params) in enumerate([("initialize", hello), ("ping", {}), ("tools/list", {})]):
    os.write(write, json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\\n")
os.close(write); os.dup2(read, 0)
code = run(["mcp", "-C", sys.argv[1]])
sys.stderr.write(json.dumps([code, sorted(sys.modules)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["id"] for a in answers] == [0, 1, 2]
    assert len(answers[2]["result"]["tools"]) >= 9
    code, loaded = json.loads(done.stderr)
    assert code == 0
    heavy = {
        "mcp",
        "pydantic",
        "asyncio",
        "tether.index",
        "tether.gate",
        "tree_sitter",
        "ruamel",
        "rich",
        "numpy",
    }
    assert not heavy & set(loaded)


def test_every_verb_is_a_typed_tool(wire, site):
    from tether.workspace import VERBS

    wire.hello()
    tools = {tool["name"]: tool for tool in wire.ask("tools/list")["tools"]}
    assert set(tools) == set(VERBS) == set(site.workspace().verbs)
    for name, verb in VERBS.items():
        assert tools[name]["inputSchema"] == verb.schema
        assert tools[name]["description"] == verb.summary
        assert tools[name]["annotations"]["readOnlyHint"] is not verb.mutating
        assert tools[name]["annotations"].get("destructiveHint", False) is verb.mutating
        # the newer protocol adds this one to each, so no verb may have it
        assert "session" not in verb.schema["properties"]


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (b"not json", -32700, "not JSON"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": NaN}}', -32700, "NaN"),
        (b"\x00\xff\xfe\x80 binary \x01\x02", -32700, "UTF-8"),
        (b"[" * 100_000, -32700, "nested"),
        (b'{"n": ' + b"9" * 10_000 + b"}", -32700, "not JSON"),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, "batch"),
        (b'"ping"', -32600, "object"),
        (b'{"id": 1, "method": "ping"}', -32600, "jsonrpc"),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, "id"),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, "id"),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, "id"),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', -32600, "id"),
        (b'{"jsonrpc": "2.0", "id": "x", "method": 7}', -32600, "method"),
        (b'{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": [1]}', -32602, "params"),
        (b'{"jsonrpc": "2.0", "id": "x", "method": "tools/list"}', -32602, "initialize"),
        (b'{"jsonrpc": "2.0", "id": "x", "method": "initialize", "params": {}}', -32602, "protocolVersion"),
    ],
)
def test_what_cannot_be_served_is_a_clear_error_and_the_server_lives_on(wire, line, code, says):
    wire.raw(line + b"\n")
    error = wire.next()["error"]
    assert error["code"] == code
    assert says in error["message"]
    assert wire.ask("ping") == {}


def test_an_oversized_line_is_refused_with_its_cap_and_the_next_line_is_read(wire):
    wire.raw(b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (LINE_CAP + 10) + b'"}\n')
    error = wire.next()["error"]
    assert error["code"] == -32600
    assert str(LINE_CAP) in error["message"]
    assert wire.ask("ping") == {}


def test_empty_lines_unknown_notifications_and_unasked_answers_are_nothing(wire):
    wire.raw(b"\n  \n\r\n")
    wire.notify("notifications/whatever", {"x": 1})
    wire.answer("never-asked", {"action": "accept"})
    assert wire.ask("ping") == {}
    assert wire.notices == []


def test_unknown_methods_tools_resources_prompts_and_cursors_are_errors_of_the_protocol(wire):
    wire.hello()
    assert wire.fault("tools/fly")["code"] == -32601
    assert wire.fault("server/discover")["code"] == -32601
    assert wire.fault("tools/call", {"name": "fly", "arguments": {}})["code"] == -32602
    assert wire.fault("tools/call", {"arguments": {}})["code"] == -32602
    assert wire.fault("tools/call", {"name": "read_file", "arguments": [1]})["code"] == -32602
    assert wire.fault("resources/read", {"uri": "tether://nothing"})["code"] == -32002
    assert wire.fault("resources/read", {"uri": "file:///etc/passwd"})["code"] == -32002
    assert wire.fault("prompts/get", {"name": "nothing"})["code"] == -32602
    assert wire.fault("tools/list", {"cursor": "made-up"})["code"] == -32602
    assert wire.fault("initialize", {})["code"] == -32600
    assert wire.fault("logging/setLevel", {"level": "loud"})["code"] == -32602
    assert wire.ask("logging/setLevel", {"level": "error"}) == {}


def test_a_directory_without_tether_answers_calls_with_what_to_do(serve, tmp_path):
    wire = serve(tmp_path)
    wire.hello()
    result = wire.call("read_file", path="x")
    assert result["isError"]
    assert result["structuredContent"]["error"]["error_code"] == "NOT_A_PROJECT"
    assert "NOT_A_PROJECT" in wire.fault("resources/list")["message"]
    assert wire.fault("tools/call", {"name": "fly"})["code"] == -32602
    assert wire.ask("ping") == {}


def test_the_whole_story_no_intent_then_one_then_scope_then_a_person(wire, site):
    wire.hello(elicitation={})
    refused = wire.call("write_file", path="src/auth/new.py", content="x = 1\n")
    assert refused["isError"]
    error = refused["structuredContent"]["error"]
    assert error["error_code"] == "INTENT_REQUIRED"
    assert {"message", "recoverable", "required_action", "rules", "policy"} <= set(error)
    chosen = wire.call("select_active_intent", intent_id="INT-001")
    assert chosen["structuredContent"]["value"].startswith("<intent_context>")
    assert chosen["content"][0]["text"].startswith("<intent_context>")
    done = wire.call("write_file", path="src/auth/new.py", content="x = 1\n")
    assert "isError" not in done
    assert site.read("src/auth/new.py") == "x = 1\n"
    outside = wire.call("write_file", path="src/pay/new.py", content="x = 1\n")
    assert outside["structuredContent"]["error"]["error_code"] == "SCOPE_VIOLATION"

    site.write("src/auth/build/out.txt", "built\n")
    number = wire.send("tools/call", {"name": "run_command", "arguments": {"command": CLEAN}})
    asked = wire.next()
    assert asked["method"] == "elicitation/create"
    assert CLEAN in asked["params"]["message"]
    assert asked["params"]["requestedSchema"]["properties"]["decision"]["enum"] == ["approve", "reject"]
    assert (site.path / "src/auth/build/out.txt").exists()
    wire.answer(asked["id"], {"action": "accept", "content": {"decision": "approve", "reason": "yes"}})
    assert wire.wait(number)["result"]["structuredContent"]["ok"]
    assert not (site.path / "src/auth/build/out.txt").exists()
    (said,) = journal(site, "answered")
    assert said["body"]["state"] == "approved"
    assert "wire-test" in said["body"]["by"]
    assert wire.end() == 0

    (record,) = [r for r in site.records() if r["files"][0]["path"] == "src/auth/new.py"]
    conversation = record["files"][0]["conversations"][0]
    assert conversation["url"].startswith("urn:mcp:session:mcp-")
    assert conversation["related"] == [{"type": "intent", "url": "urn:intent:INT-001"}]


@pytest.mark.parametrize(
    ("said", "code", "state"),
    [
        ({"action": "decline"}, "APPROVAL_REJECTED", "rejected"),
        (
            {"action": "accept", "content": {"decision": "reject", "reason": "no"}},
            "APPROVAL_REJECTED",
            "rejected",
        ),
        ({"action": "cancel"}, "RISK_APPROVAL_REQUIRED", "pending"),
        ({"action": "accept"}, "RISK_APPROVAL_REQUIRED", "pending"),
        ({"action": "accept", "content": {"decision": "maybe"}}, "RISK_APPROVAL_REQUIRED", "pending"),
        ({"action": "accept", "content": "approve"}, "RISK_APPROVAL_REQUIRED", "pending"),
        ("approve", "RISK_APPROVAL_REQUIRED", "pending"),
        (None, "RISK_APPROVAL_REQUIRED", "pending"),
    ],
)
def test_only_a_person_who_says_so_approves(wire, site, said, code, state):
    wire.hello(elicitation={"form": {}})
    wire.call("select_active_intent", intent_id="INT-001")
    number = wire.send("tools/call", {"name": "run_command", "arguments": {"command": CLEAN}})
    wire.answer(wire.next()["id"], said)
    told = wire.wait(number)["result"]
    assert told["isError"]
    assert told["structuredContent"]["error"]["error_code"] == code
    held = json.loads(site.tether("approvals", "--all", "--json"))
    assert [row["state"] for row in held] == [state]


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": True}])
def test_a_client_that_cannot_ask_is_told_how_a_person_approves(wire, site, capabilities):
    wire.hello(**capabilities)
    wire.call("select_active_intent", intent_id="INT-001")
    told = wire.call("run_command", command=CLEAN)
    assert told["isError"]
    pending = told["structuredContent"]["pending"]
    assert f"tether approve {pending['approval_id']}" in told["structuredContent"]["error"]["required_action"]
    site.tether("approve", pending["approval_id"])
    assert wire.call("run_command", command=CLEAN)["structuredContent"]["ok"]


def test_a_server_that_an_agent_started_takes_no_answers(serve, site):
    wire = serve(site.path, CLAUDECODE="1")
    wire.hello(elicitation={})
    wire.call("select_active_intent", intent_id="INT-001")
    told = wire.call("run_command", command=CLEAN)
    assert told["structuredContent"]["error"]["error_code"] == "RISK_APPROVAL_REQUIRED"
    assert wire.notices == []


def test_an_agent_may_not_start_a_server_to_approve_itself(site):
    site.select()
    outcome = site.call("run_command", command="tether mcp < lines")
    assert outcome.error["error_code"] == "SECURITY_VIOLATION"


def test_a_call_too_long_to_be_shown_whole_is_not_asked_about_in_a_form(wire):
    wire.hello(elicitation={})
    wire.call("select_active_intent", intent_id="INT-001")
    told = wire.call("run_command", command=f"{CLEAN} # {'x' * 5000}")
    assert "pending" in told["structuredContent"]
    assert wire.notices == []


def test_what_one_connection_selects_is_selected_for_it_alone(serve, site):
    one, two = serve(site.path), serve(site.path)
    for wire in (one, two):
        wire.hello()
    one.call("select_active_intent", intent_id="INT-001")
    assert one.call("write_file", path="src/auth/one.py", content="")["structuredContent"]["ok"]
    refused = two.call("write_file", path="src/auth/two.py", content="")
    assert refused["structuredContent"]["error"]["error_code"] == "INTENT_REQUIRED"


def test_many_calls_are_in_flight_at_once_and_pings_do_not_wait(wire):
    wire.hello()
    wire.call("select_active_intent", intent_id="INT-001")
    slow = [
        wire.send("tools/call", {"name": "run_command", "arguments": {"command": f"sleep 2; echo {n}"}})
        for n in range(12)
    ]
    assert wire.ask("ping") == {}
    assert not [m for m in wire.notices if m.get("id") in slow]
    left = set(slow)
    while left:
        message = wire.next()
        assert message["result"]["structuredContent"]["ok"], message
        left.remove(message["id"])


def test_an_id_still_open_may_not_be_used_again(wire):
    wire.hello()
    wire.call("select_active_intent", intent_id="INT-001")
    params = {"name": "run_command", "arguments": {"command": "sleep 1"}}
    number = wire.send("tools/call", params)
    wire.raw(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
        + b"\n"
    )
    refused = wire.next()
    assert refused["id"] is None
    assert refused["error"]["data"] == {"id": str(number)}
    assert wire.wait(number)["result"]["structuredContent"]["ok"]


def test_a_cancelled_call_ends_says_nothing_more_and_is_settled(wire, site):
    wire.hello()
    wire.call("select_active_intent", intent_id="INT-001")
    command = "touch src/auth/began; sleep 600; touch src/auth/ended"
    params = {"name": "run_command", "arguments": {"command": command}, "_meta": {"progressToken": "p"}}
    number = wire.send("tools/call", params)
    until = time.monotonic() + 60
    while not (site.path / "src/auth/began").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    wire.notify("notifications/cancelled", {"requestId": number, "reason": "changed my mind"})
    while not journal(site, "settled"):
        assert time.monotonic() < until
        time.sleep(0.2)
    (settled,) = journal(site, "settled")
    assert settled["body"]["outcome"] == "cancelled"
    assert [c["path"] for c in settled["body"]["changes"]] == ["src/auth/began"]
    assert wire.ask("ping") == {}
    assert not [m for m in wire.notices if m.get("id") == number]


def test_progress_goes_to_a_client_that_gave_a_token_and_only_grows(wire):
    wire.hello()
    wire.call("select_active_intent", intent_id="INT-001")
    command = "for n in 1 2 3 4 5; do echo line $n; sleep 0.2; done"
    given = {"name": "run_command", "arguments": {"command": command}}
    wire.ask("tools/call", given)
    assert wire.notices == []
    wire.ask("tools/call", {**given, "_meta": {"progressToken": 7}})
    steps = [m["params"] for m in wire.notices if m["method"] == "notifications/progress"]
    assert steps
    assert {s["progressToken"] for s in steps} == {7}
    assert [s["progress"] for s in steps] == list(range(1, len(steps) + 1))


@pytest.mark.parametrize("how", ["eof", "sigterm"])
def test_the_end_settles_what_still_runs(wire, site, how):
    wire.hello()
    wire.call("select_active_intent", intent_id="INT-001")
    wire.send("tools/call", {"name": "run_command", "arguments": {"command": "touch src/auth/on; sleep 600"}})
    until = time.monotonic() + 60
    while not (site.path / "src/auth/on").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    if how == "sigterm":
        wire.process.send_signal(signal.SIGTERM)
        assert wire.process.wait(60) == 0
    else:
        assert wire.end() == 0
    (settled,) = journal(site, "settled")
    assert settled["body"]["outcome"] == "cancelled"


def test_calls_sent_before_the_input_ends_are_answered(site):
    lines = [
        (
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "p", "version": "1"},
            },
        ),
        ("tools/call", {"name": "read_file", "arguments": {"path": "src/auth/token.py"}}),
    ]
    given = "".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}) + "\n"
        for n, (method, params) in enumerate(lines)
    )
    told = [json.loads(line) for line in site.tether("mcp", given=given).splitlines()]
    assert [m["id"] for m in told] == [0, 1]
    assert "def valid" in told[1]["result"]["structuredContent"]["value"]["content"]


def test_standard_output_carries_protocol_only(tmp_path):
    script = """
import os, sys
from tether.edges.mcp import desk
from tether.edges.mcp.stdio import serve
true = desk.answer_at_once
def loud(*args, **given):
    print("printed"); os.write(1, b"written\\n"); os.system("echo from a child; cat")
    return true(*args, **given)
desk.answer_at_once = loud
sys.exit(serve(".", "tools"))
"""
    given = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    done = subprocess.run(
        [sys.executable, "-c", script], input=given, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"jsonrpc": "2.0", "id": 1, "result": {}}
    ]
    for word in ("printed", "written", "from a child"):
        assert word in done.stderr


def test_resources_and_the_prompt_tell_the_project_as_it_is_now(wire, site):
    wire.hello()
    wire.call("select_active_intent", intent_id="INT-001")
    (record,) = wire.call("write_file", path="src/auth/new.py", content="x\n")["structuredContent"]["records"]

    def read(uri):
        (content,) = wire.ask("resources/read", {"uri": uri})["contents"]
        assert content["uri"] == uri
        return json.loads(content["text"])

    listed = {r["uri"] for r in wire.ask("resources/list")["resources"]}
    assert {"tether://intents", "tether://intents/INT-001", "tether://trace/recent"} <= listed
    assert [i["id"] for i in read("tether://intents")["intents"]] == ["INT-001", "INT-002"]
    assert "<intent_context>" in read("tether://intents/INT-001")["context"]
    assert read("tether://trace/recent")["records"][0]["id"] == record
    assert read(f"tether://trace/{record}")["files"][0]["path"] == "src/auth/new.py"
    templates = wire.ask("resources/templates/list")["resourceTemplates"]
    assert {t["name"] for t in templates} == {"intent", "trace-record"}

    (prompt,) = wire.ask("prompts/list")["prompts"]
    assert prompt["name"] == "start-governed-task"
    text = wire.ask("prompts/get", {"name": prompt["name"]})["messages"][0]["content"]["text"]
    assert "INT-001" in text and "INT-002" not in text
    chosen = {"name": prompt["name"], "arguments": {"intent_id": "INT-001"}}
    assert "src/auth/**" in wire.ask("prompts/get", chosen)["messages"][0]["content"]["text"]
    draft = {"name": prompt["name"], "arguments": {"intent_id": "INT-002"}}
    assert wire.fault("prompts/get", draft)["code"] == -32602


def test_packs_are_looked_into_and_rated_over_the_wire(wire):
    wire.hello()
    seen = wire.call("zoom_context", type="file", target="src/auth/token.py")
    assert "def valid" in seen["structuredContent"]["value"]["text"]
    rated = wire.call("context_feedback", file_ratings={"src/auth/token.py": {"utility": 1.0}})
    assert rated["structuredContent"]["ok"], rated


# ── the newer protocol, where each request stands for itself ─────────────────


def modern(wire, method, meta=META, **params):
    return wire.ask(method, {**params, "_meta": meta})


def test_a_request_may_carry_its_own_version_and_needs_no_handshake(wire):
    told = modern(wire, "server/discover")
    assert told["supportedVersions"] == ["2026-07-28"]
    assert told["resultType"] == "complete"
    assert told["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "tether"
    listed = modern(wire, "tools/list")
    assert listed["ttlMs"] >= 0 and listed["cacheScope"] in ("public", "private")
    assert all("session" in tool["inputSchema"]["properties"] for tool in listed["tools"])
    for gone in ("ping", "logging/setLevel"):
        assert wire.fault(gone, {"_meta": META})["code"] == -32601


def test_an_unknown_version_is_answered_with_the_known_ones_and_a_half_envelope_is_malformed(wire):
    strange = {**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}
    error = wire.fault("tools/list", {"_meta": strange})
    assert error["code"] == -32022
    assert error["data"]["requested"] == "2030-01-01"
    assert "2026-07-28" in error["data"]["supported"]
    half = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert wire.fault("tools/list", {"_meta": half})["code"] == -32602


def test_the_newer_protocol_asks_by_answering_and_the_state_cannot_be_forged(wire, site):
    chosen = modern(wire, "tools/call", name="select_active_intent", arguments={"intent_id": "INT-001"})
    session = chosen["structuredContent"]["session"]
    given = {"name": "run_command", "arguments": {"command": CLEAN, "session": session}}
    asked = modern(wire, "tools/call", ABLE, **given)
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["approval"]["method"] == "elicitation/create"
    yes = {"approval": {"action": "accept", "content": {"decision": "approve"}}}
    state = asked["requestState"]
    other = {"name": "run_command", "arguments": {"command": "rm -rf src/auth", "session": session}}
    for params in (
        {**given, "inputResponses": yes, "requestState": state[:-1] + ("0" if state[-1] != "0" else "1")},
        {**given, "inputResponses": yes, "requestState": state.replace("A-", "B-")},
        {**given, "inputResponses": yes, "requestState": 7},
        {**other, "inputResponses": yes, "requestState": state},
    ):
        assert wire.fault("tools/call", {**params, "_meta": ABLE})["code"] == -32602
    assert journal(site, "answered") == []
    cancelled = {**given, "inputResponses": {"approval": {"action": "cancel"}}, "requestState": state}
    assert modern(wire, "tools/call", ABLE, **cancelled)["structuredContent"]["pending"]
    done = modern(wire, "tools/call", ABLE, **given, inputResponses=yes, requestState=state)
    assert done["resultType"] == "complete"
    assert done["structuredContent"]["ok"]
    again = modern(wire, "tools/call", ABLE, **given, inputResponses=yes, requestState=state)
    assert "pending" in again["structuredContent"], "an answer is used once"


def test_a_call_of_the_newer_protocol_names_the_session_it_belongs_to(wire):
    chosen = modern(wire, "tools/call", name="select_active_intent", arguments={"intent_id": "INT-001"})
    session = chosen["structuredContent"]["session"]
    named = {"path": "src/auth/a.py", "content": "", "session": session}
    assert modern(wire, "tools/call", name="write_file", arguments=named)["structuredContent"]["ok"]
    stranger = {**named, "path": "src/auth/b.py", "session": "mcp-" + "0" * 32}
    refused = modern(wire, "tools/call", name="write_file", arguments=stranger)
    assert refused["structuredContent"]["error"]["error_code"] == "INTENT_REQUIRED"
    for wrong in ("s1", "", 7, None):
        told = modern(wire, "tools/call", name="write_file", arguments={**named, "session": wrong})
        assert told["structuredContent"]["error"]["error_code"] == "BAD_ARGUMENTS"


@pytest.mark.slow
def test_a_killed_server_loses_nothing(serve, site):
    for round_ in range(5):
        wire = serve(site.path)
        wire.hello()
        wire.call("select_active_intent", intent_id="INT-001")
        for n in range(20):
            path = f"src/auth/r{round_}_{n}.py"
            wire.send("tools/call", {"name": "write_file", "arguments": {"path": path, "content": f"{n}\n"}})
        time.sleep(0.05 * round_)
        os.kill(wire.process.pid, signal.SIGKILL)
        wire.process.wait()
        site.tether("doctor", code=None)
    made = {p.relative_to(site.path).as_posix() for p in (site.path / "src/auth").glob("r*_*.py")}
    site.tether("trace", "list")
    recorded = {f["path"] for r in site.records() for f in r["files"]}
    assert made
    assert made == {path for path in recorded if "/r" in path}
    opened = {e["call"] for e in journal(site, "decided") if e["body"]["verdict"] == "allow"}
    assert opened == {e["call"] for e in journal(site, "settled")}
    site.tether("journal", "verify")
