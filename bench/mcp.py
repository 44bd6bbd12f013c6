"""Whole-process time to an MCP server's first answers against an empty interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from bench._row import Row, interleave

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 20
BOUND = 10.0
HELLO: dict[str, object] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def run() -> Iterator[Row]:
    """Each server is started as clients start it, asked, and ended when the answer is there."""
    with tempfile.TemporaryDirectory() as place:
        home, root = os.path.join(place, "home"), os.path.join(place, "repo")
        os.makedirs(home)
        os.makedirs(root)
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        tether = [sys.executable, "-I", "-m", "tether"]
        for words in (["git", "init", "-q"], [*tether, "init", "--yes"]):
            subprocess.run(words, cwd=root, env=environment, check=True, capture_output=True)
        with open(os.path.join(root, "a.txt"), "w") as file:
            file.write("text\n")
        server = [*tether, "mcp", "--surface", "tools", "--project", root]
        read = {"name": "read_file", "arguments": {"path": "a.txt"}}

        def ask(*sent: tuple[str, dict[str, object]]) -> None:
            with subprocess.Popen(
                server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
            ) as process:
                assert process.stdin and process.stdout
                for number, (method, params) in enumerate(sent):
                    told = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                    process.stdin.write(json.dumps(told).encode() + b"\n")
                process.stdin.flush()
                for _ in sent:
                    assert b'"result"' in process.stdout.readline()
                process.kill()

        empty = [sys.executable, "-I", "-c", "pass"]
        hello: tuple[str, dict[str, object]] = ("initialize", HELLO)
        rows: list[tuple[str, float | None, list[tuple[str, dict[str, object]]]]] = [
            ("initialize", BOUND, [hello]),
            ("initialize and tools/list", BOUND, [hello, ("tools/list", {})]),
            ("server/discover", BOUND, [("server/discover", {"_meta": MODERN})]),
            ("initialize and the first call, project opened", None, [hello, ("tools/call", dict(read))]),
        ]
        for what, bound, sent in rows:
            base, answered = interleave(
                ROUNDS,
                lambda: subprocess.run(empty, env=environment, check=True),
                lambda sent=sent: ask(*sent),  # type: ignore[misc]
            )
            yield Row(what, answered / base, "an empty interpreter", bound)
