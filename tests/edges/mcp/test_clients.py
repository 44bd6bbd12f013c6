"""Connecting clients: their settings stay theirs, twice is once, and the entry really starts a server."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.edges.mcp.clients import CLIENTS, plan_install, plan_uninstall
from tether.errors import TetherError

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_an_installed_client_starts_a_server_that_answers(site, client):
    site.tether("install", client, "--mcp", "--yes")
    place = CLIENTS[client]
    entry = json.loads(site.read(place.path))[place.member]["tether"]
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n"
    done = subprocess.run(
        [entry["command"], *entry["args"]], input=hello, text=True, capture_output=True, check=True, cwd="/"
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "tether"
    assert "nothing to change" in site.tether("install", client, "--mcp", "--yes")
    site.tether("uninstall", client, "--mcp", "--yes")
    assert not (site.path / place.path).exists()


def test_hooks_and_servers_of_one_agent_are_installed_apart(site):
    site.tether("install", "gemini", "--yes")
    hooked = json.loads(site.read(".gemini/settings.json"))
    site.tether("install", "gemini", "--mcp", "--yes")
    both = json.loads(site.read(".gemini/settings.json"))
    assert both["hooks"] == hooked["hooks"]
    assert "tether" in both["mcpServers"]
    site.tether("uninstall", "gemini", "--mcp", "--yes")
    assert json.loads(site.read(".gemini/settings.json")) == hooked


@pytest.mark.parametrize("client", ["cursor", "vscode", "zed"])
def test_clients_without_hooks_need_no_option(site, client):
    site.tether("install", client, "--yes")
    assert "tether" in json.loads(site.read(CLIENTS[client].path))[CLIENTS[client].member]


def test_a_backup_is_kept_and_the_difference_shown(site):
    site.write(".mcp.json", '{\n    "mcpServers": {"other": {"command": "x"}}\n}\n')
    said = site.tether("install", "claude-code", "--mcp", "--yes")
    assert '+        "tether": {' in said
    (backup,) = (site.path / ".tether/local/backups").iterdir()
    assert "other" in backup.read_text()
    assert json.loads(site.read(".mcp.json"))["mcpServers"]["other"] == {"command": "x"}


@pytest.mark.parametrize("agent", ["codex", "cline"])
def test_agents_that_keep_no_servers_in_the_project_are_refused(site, agent):
    assert "keeps no MCP servers" in site.tether("install", agent, "--mcp", "--yes", code=2)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"mcpServers": []}', "CONFIG_INVALID"),
        ("[]", "CONFIG_INVALID"),
        ('{"mcpServers": // mine\n{}}', "CONFIG_INVALID"),
        ('{"mcpServers": {"tether": {"command": "something-else"}}}', "ALREADY_EXISTS"),
    ],
)
def test_a_file_that_is_not_understood_is_left_alone(tmp_path, text, code):
    (tmp_path / ".mcp.json").write_text(text)
    with pytest.raises(TetherError) as caught:
        plan_install("claude-code", str(tmp_path), sys.executable)
    assert caught.value.code == code
    assert (tmp_path / ".mcp.json").read_text() == text


def test_another_server_of_the_same_name_is_not_uninstalled(tmp_path):
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"tether": {"command": "something-else"}}}')
    assert plan_uninstall("claude-code", str(tmp_path), sys.executable) == []


def test_what_a_person_added_to_the_entry_stays(tmp_path):
    (first,) = plan_install("claude-code", str(tmp_path), sys.executable)
    held = json.loads(first.after)
    held["mcpServers"]["tether"]["env"] = {"X": "1"}
    (tmp_path / ".mcp.json").write_text(json.dumps(held))
    (again,) = plan_install("claude-code", str(tmp_path), "/other/python")
    entry = json.loads(again.after)["mcpServers"]["tether"]
    assert entry["env"] == {"X": "1"}
    assert entry["command"] == "/other/python"


@given(
    others=st.dictionaries(
        st.text(min_size=1).filter(lambda n: n != "tether"), st.just({"command": "x"}), max_size=3
    ),
    rest=st.dictionaries(st.text(min_size=1).filter(lambda n: n != "mcpServers"), st.integers(), max_size=3),
)
def test_installing_and_uninstalling_leaves_every_other_setting(tmp_path_factory, others, rest):
    root = tmp_path_factory.mktemp("r")
    before = {**rest, **({"mcpServers": others} if others else {})}
    if before:
        (root / ".mcp.json").write_text(json.dumps(before))
    (plan,) = plan_install("claude-code", str(root), sys.executable)
    (root / ".mcp.json").write_text(plan.after)
    (undone,) = plan_uninstall("claude-code", str(root), sys.executable)
    assert (json.loads(undone.after) if undone.after else {}) == before
