"""Outside judges: the protocol's own conformance suite and its inspector, against a real server.

Most scenarios of the suite need a server with its own `test_*` tools, resources and prompts. Those listed here
are the ones that say something of any server.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / ".venv/mcp/node_modules"
SCENARIOS = {
    "2025-11-25": [
        "server-initialize",
        "logging-set-level",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ],
    "2026-07-28": [
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "caching",
        "input-required-result-unsupported-methods",
        "http-header-validation",
    ],
}
# the suite has no way to send a token, which has tests of its own: here the application is served without it
SERVER = """
import asyncio, socket, sys, uvicorn
from tether.edges.mcp.http import build
from tether.edges.mcp.runtime import Shelf
listening = socket.create_server(("127.0.0.1", 0))
name = f"127.0.0.1:{listening.getsockname()[1]}"
print(name, flush=True)
app = build(Shelf(sys.argv[1]), "tools", [name, name.replace("127.0.0.1", "localhost")])
asyncio.run(uvicorn.Server(uvicorn.Config(app, log_level="error")).serve(sockets=[listening]))
"""


@pytest.fixture
def address(site):
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(site.path)],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    yield f"http://{process.stdout.readline().strip()}/mcp"
    process.terminate()
    process.wait()
    process.stdout.close()


def node(*words):
    subprocess.run([str(ROOT / ".ci/mcp")], check=True, capture_output=True)
    return subprocess.run(
        [str(TOOLS / ".bin/node"), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        # the launcher starts others by name
        env={**os.environ, "PATH": f"{TOOLS / '.bin'}:{os.environ['PATH']}"},
    )


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(SCENARIOS))
def test_the_conformance_suite_finds_nothing_in_what_any_server_must_do(address, tmp_path, version):
    program = TOOLS / "@modelcontextprotocol/conformance/dist/index.js"
    done = node(program, "server", "--url", address, "--requirements", version, "-o", tmp_path)
    told = dict(re.findall(r"^[✓✗] ([\w-]+): (\d+ passed, \d+ failed)", done.stdout, re.M))
    failed = {name: told.get(name, "not run") for name in SCENARIOS[version]}
    wrong = {name: said for name, said in failed.items() if not said.endswith(" 0 failed")}
    assert not wrong, (wrong, done.stdout[-3000:], done.stderr[-1000:])


@pytest.mark.slow
def test_the_inspector_lists_and_calls(address):
    def inspect(*words):
        program = TOOLS / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        done = node(program, "--cli", address, "--transport", "http", *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    listed = {tool["name"] for tool in inspect("--method", "tools/list")["tools"]}
    assert {"read_file", "select_active_intent"} <= listed
    call = ("--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=src/auth/token.py")
    assert "def valid" in inspect(*call)["structuredContent"]["value"]["content"]
