"""Killed at any moment: nothing lost, nothing doubled, nothing torn, nothing left locked."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

WRITER = r"""
import asyncio, os, sys
from tether.gate import submit
from tether.types import Agent, Call
from tether.workspace import open_workspace
root, name, log = sys.argv[1:4]
workspace = open_workspace(root)
acks = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
async def call(verb, **args):
    identity = os.urandom(8).hex()
    return identity, await submit(workspace, Call(identity, verb, args, Agent(name)))
def body(token):
    return f"{token}\n" + "x\n" * 400 + f"{token}\n"
async def main():
    await call("select_active_intent", intent_id="INT-001")
    n = 0
    while True:
        n += 1
        token = f"{name}-{n}"
        for file in ("a.txt", "b.txt", f"own-{name[0]}.txt"):
            await call("read_file", path=f"src/auth/{file}", max_lines=1)
        if n % 3:
            identity, done = await call("write_file", path=f"src/auth/own-{name[0]}.txt", content=body(token))
        else:
            old = {f: open(os.path.join(root, "src/auth", f)).read() for f in ("a.txt", "b.txt")}
            first = {f: text.splitlines()[0] for f, text in old.items()}
            blocks = "".join(
                f"src/auth/{f}\n<<<<<<< SEARCH\n{first[f]}\nx\n=======\n{token}\nx\n>>>>>>> REPLACE\n"
                f"src/auth/{f}\n<<<<<<< SEARCH\nx\n{first[f]}\n=======\nx\n{token}\n>>>>>>> REPLACE\n"
                for f in ("a.txt", "b.txt")
            )
            identity, done = await call("apply_patch", patch=blocks)
        if getattr(done, "ok", False):
            os.write(acks, (identity + "\n").encode())
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_kill_nine_at_three_hundred_moments(site, tmp_path):
    kills = int(os.environ.get("TETHER_KILLS", "300"))
    for name in ("a.txt", "b.txt"):
        site.write(f"src/auth/{name}", "start\n" + "x\n" * 400 + "start\n")
    script, log = tmp_path / "writer.py", tmp_path / "acks"
    script.write_text(WRITER)
    chance = random.Random(7)
    killed = 0
    while killed < kills:
        names = [f"{role}{killed}" for role in "pq"]
        running = [
            subprocess.Popen(
                [sys.executable, str(script), str(site.path), name, str(log)], stderr=subprocess.PIPE
            )
            for name in names
        ]
        time.sleep(0.5 + chance.random() * 0.8)
        for process in running:
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(chance.random() * 0.02)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            killed += 1
        if killed % 20 == 0:
            inspect(site, log)
    inspect(site, log)


def inspect(site, log):
    """After a recovery, the world is whole."""
    said = site.tether("doctor", "--json")
    assert json.loads(said)["ok"], said
    site.tether("journal", "verify")
    workspace = site.workspace()
    try:
        journal = workspace.project.journal
        assert journal.facts("open") == {}, "every call is settled"
        settled = [e for e in journal.entries(kinds=("settled",)) if e.body["changes"]]
        by_call = {}
        for entry in settled:
            assert entry.call not in by_call, "settled once"
            by_call[entry.call] = entry
        acknowledged = log.read_text().split() if log.exists() else []
        assert len(acknowledged) == len(set(acknowledged))
        assert not set(acknowledged) - set(by_call), "what was answered is recorded"
        carried = [e for e in journal.entries(kinds=("settled", "observed")) if e.body["changes"]]
        records = [r["id"] for r in site.records()]
        assert len(records) == len(set(records)), "no record doubled"
        assert set(records) == {c["record"] for e in carried for c in e.body["changes"]}, "no record lost"
        assert not list(journal.entries(kinds=("observed",))), "no agent's change is blamed on a person"
    finally:
        site._opened.remove(workspace)
        workspace.close()
    tokens = []
    for path in sorted((site.path / "src/auth").glob("*.txt")):
        lines = path.read_text().splitlines()
        assert len(lines) == 402, f"{path.name} is torn"
        assert lines[0] == lines[-1], f"{path.name} is torn"
        if path.name in ("a.txt", "b.txt"):
            tokens.append(lines[0])
    assert tokens[0] == tokens[1], "both files or neither"
    leftovers = list((site.path / "src/auth").glob("*tether*"))
    assert leftovers == []
