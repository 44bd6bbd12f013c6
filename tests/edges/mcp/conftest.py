"""A real server process and a client that speaks to it line by line."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 120  # seconds before a missing answer fails the test, never a measure of speed


class Wire:
    """One `tether mcp` process; what is sent and received is exactly what stands on the wire."""

    def __init__(self, root: Path, *words: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "tether", "mcp", "-C", str(root), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        self.held = bytearray()
        self.count = 0
        self.notices: list[dict[str, Any]] = []

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, params: Any = None, **more: Any) -> int:
        """One request; its id."""
        self.count += 1
        given = {} if params is None else {"params": params}
        message = {"jsonrpc": "2.0", "id": self.count, "method": method, **given, **more}
        self.raw(json.dumps(message).encode() + b"\n")
        return self.count

    def notify(self, method: str, params: Any = None) -> None:
        """One notification."""
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}).encode() + b"\n")

    def answer(self, identity: Any, result: Any) -> None:
        """An answer to what the server asked."""
        self.raw(json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}).encode() + b"\n")

    def next(self) -> dict[str, Any]:
        """The next message, whatever it is."""
        assert self.process.stdout
        fd = self.process.stdout.fileno()
        while b"\n" not in self.held:
            ready, _, _ = select.select([fd], [], [], PATIENCE)
            assert ready, "no answer came"
            data = os.read(fd, 1 << 16)
            assert data, (self.process.wait(), self.process.stderr.read() if self.process.stderr else b"")
            self.held += data
        line, _, rest = bytes(self.held).partition(b"\n")
        self.held = bytearray(rest)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def wait(self, identity: Any) -> dict[str, Any]:
        """The answer to one request; what else comes is kept."""
        while True:
            message = self.next()
            if "method" not in message and message.get("id") == identity:
                return message
            self.notices.append(message)

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """A request and its result."""
        message = self.wait(self.send(method, params))
        assert "result" in message, message
        return message["result"]

    def fault(self, method: str, params: Any = None) -> dict[str, Any]:
        """A request and its error."""
        message = self.wait(self.send(method, params))
        assert "error" in message, message
        return message["error"]

    def hello(self, version: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
        """The handshake."""
        info = {"name": "wire-test", "version": "1"}
        given = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        result = self.ask("initialize", given)
        self.notify("notifications/initialized")
        return result

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """A tool's result."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def end(self) -> int:
        """Closes the input; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """Ends the process and lets go of its pipes."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass  # the server left before it read what was sent last


@pytest.fixture
def serve():
    """Starts servers and ends them with the test."""
    opened: list[Wire] = []

    def start(root: Path, *words: str, **environment: str) -> Wire:
        opened.append(Wire(root, *words, **environment))
        return opened[-1]

    yield start
    for wire in opened:
        wire.close()


@pytest.fixture
def wire(serve, site):
    """A server on a set-up project, not yet greeted."""
    return serve(site.path)
