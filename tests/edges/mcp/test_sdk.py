"""The official SDK's client against real servers, over both transports and both ways of agreeing on a version."""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPConnection

import pytest

from tether.edges.mcp.wire import LINE_CAP

CLEAN = "for n in 1 2 3; do echo $n; sleep 0.2; done; git clean -fdx src/auth/build"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


class Http:
    """A `tether mcp --http` process on a port of its own."""

    def __init__(self, root, *words, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "tether", "mcp", "-C", str(root), "--http", "127.0.0.1:0", *words],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.url = re.search(r"http\S+", self.process.stderr.readline())[0]
        self.token = environment.get("TETHER_MCP_TOKEN") or self.process.stderr.readline().split()[-1]

    def post(self, method="initialize", params=HELLO, **headers):
        """One raw request; the status and the body."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        given = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.url, data, {k: v for k, v in given.items() if v})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture
def http(site):
    server = Http(site.path)
    yield server
    server.close()


@contextlib.asynccontextmanager
async def connect(site, transport, mode, server=None, **callbacks):
    import httpx2
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    from mcp import Client

    if transport == "stdio":
        words = ["-I", "-m", "tether", "mcp", "-C", str(site.path)]
        given = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(given, mode=mode, **callbacks) as client:
            yield client
        return
    headers = {"Authorization": f"Bearer {server.token}"}
    web = httpx2.AsyncClient(headers=headers, timeout=120)
    client = Client(streamable_http_client(server.url, http_client=web), mode=mode, **callbacks)
    async with web, client:
        yield client


async def story(client, site, modern):
    """No intent, an intent, a write, out of scope, a person's leave; what a client sees of each."""
    listed = (await client.list_tools()).tools
    assert {"write_file", "select_active_intent", "run_command"} <= {tool.name for tool in listed}
    refused = await client.call_tool("write_file", {"path": "src/auth/new.py", "content": "x\n"})
    assert refused.is_error
    assert refused.structured_content["error"]["error_code"] == "INTENT_REQUIRED"
    chosen = await client.call_tool("select_active_intent", {"intent_id": "INT-001"})
    assert not chosen.is_error
    named = {"session": chosen.structured_content["session"]} if modern else {}
    done = await client.call_tool("write_file", {"path": "src/auth/new.py", "content": "x\n", **named})
    assert not done.is_error, done
    outside = await client.call_tool("write_file", {"path": "src/pay/new.py", "content": "x\n", **named})
    assert outside.structured_content["error"]["error_code"] == "SCOPE_VIOLATION"
    site.write("src/auth/build/out.txt", "built\n")
    steps = []

    async def progress(step, total, message):
        steps.append(step)

    ran = await client.call_tool("run_command", {"command": CLEAN, **named}, progress_callback=progress)
    assert ran.structured_content["ok"], ran
    assert steps == sorted(steps) and steps
    assert not (site.path / "src/auth/build").exists()
    resources = [str(r.uri) for r in (await client.list_resources()).resources]
    assert "tether://intents/INT-001" in resources
    recent = json.loads((await client.read_resource("tether://trace/recent")).contents[0].text)
    (record,) = [r for r in recent["records"] if r["files"][0]["path"] == "src/auth/new.py"]
    assert record["files"][0]["conversations"][0]["url"].startswith("urn:mcp:session:mcp-")
    prompt = await client.get_prompt("start-governed-task", {"intent_id": "INT-001"})
    assert "INT-001" in prompt.messages[0].content.text


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_whole_story_as_the_official_client_lives_it(site, request, transport, mode):
    from mcp.types import ElicitResult

    asked = []

    async def elicit(context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"decision": "approve", "reason": "fine"})

    server = request.getfixturevalue("http") if transport == "http" else None
    async with connect(site, transport, mode, server, elicitation_callback=elicit) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        await story(client, site, modern=mode == "auto")
    assert len(asked) == 1
    assert "git clean" in asked[0]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_calls_of_two_clients_over_http_do_not_share_an_intent(site, http, mode):
    async with connect(site, "http", mode, http) as one, connect(site, "http", mode, http) as two:
        await one.call_tool("select_active_intent", {"intent_id": "INT-001"})
        told = await two.call_tool("write_file", {"path": "src/auth/x.py", "content": ""})
        assert told.structured_content["error"]["error_code"] == "INTENT_REQUIRED"


async def test_a_client_over_http_cancels_and_the_call_is_settled(site, http):
    from tether.project import open_project

    async with connect(site, "http", "legacy", http) as client:
        await client.call_tool("select_active_intent", {"intent_id": "INT-001"})
        command = "touch src/auth/began; sleep 600"
        call = asyncio.create_task(client.call_tool("run_command", {"command": command}))
        while not (site.path / "src/auth/began").exists():
            assert not call.done(), call.result()
            await asyncio.sleep(0.05)
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
        project = open_project(str(site.path))
        try:
            while not (settled := list(project.journal.entries(kinds=("settled",)))):
                await asyncio.sleep(0.1)
        finally:
            project.close()
        assert settled[0].body["outcome"] == "cancelled"


def test_http_wants_its_token_its_own_host_and_no_foreign_origin(http):
    assert http.post()[0] == 200
    assert http.post(Authorization="")[0] == 401
    assert http.post(Authorization="Bearer wrong")[0] == 401
    assert http.post(Authorization=f"Basic {http.token}")[0] == 401
    assert http.post(Host="evil.example.com")[0] == 421
    assert http.post(Host="127.0.0.1.evil.example.com:80")[0] == 421
    assert http.post(Origin="http://evil.example.com")[0] == 403
    assert http.post(Origin=http.url.removesuffix("/mcp"))[0] == 200


def test_http_refuses_a_body_beyond_the_cap_and_lives_on(http):
    place = urllib.parse.urlsplit(http.url)
    opened = HTTPConnection(place.hostname, place.port)
    headers = {"Authorization": f"Bearer {http.token}", "Content-Length": str(LINE_CAP + 1)}
    # the length alone decides: not one byte of the body is waited for
    opened.request("POST", place.path, headers={**headers, "Content-Type": "application/json"})
    assert opened.getresponse().status == 413
    opened.close()
    assert http.post()[0] == 200


def test_a_chosen_token_is_not_shown_and_not_passed_on(site):
    server = Http(site.path, TETHER_MCP_TOKEN="a-token-that-someone-chose")
    try:
        status, body = server.post()
        assert status == 200
        # urllib sees an event stream or JSON: either way the session's own id is in neither
        assert server.token not in body
    finally:
        server.process.terminate()
        server.process.wait()
        told = server.process.stderr.read()
        server.process.stderr.close()
    assert server.token not in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--http", "0.0.0.0:0"], "--allow-remote"),
        (["--http", "[::]:0"], "--allow-remote"),
        (["--http", "8765"], "HOST:PORT"),
        (["--http", "127.0.0.1:99999"], "HOST:PORT"),
        (["--http", "127.0.0.1:x"], "HOST:PORT"),
    ],
)
def test_http_listens_nowhere_that_was_not_said_plainly(site, words, says):
    assert says in site.tether("mcp", *words, code=2)


def test_a_weak_chosen_token_is_refused(site):
    assert "TETHER_MCP_TOKEN" in site.tether("mcp", "--http", "127.0.0.1:0", code=2, TETHER_MCP_TOKEN="short")
