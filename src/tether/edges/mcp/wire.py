"""One JSON-RPC message a line, both ways: whatever comes in, the next line is read."""

from __future__ import annotations

import json
import os
import select
import threading
from typing import TYPE_CHECKING, Any

from tether.edges.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_CAP = 16 << 20  # bytes of one message
CHUNK = 1 << 16


def read_lines(fd: int, wake: int) -> Iterator[bytes | None]:
    """Each line that comes in, None for one that is too long; ends at the input's end or when woken."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.register(wake, select.POLLIN)
    held = bytearray()
    skipping = False
    while True:
        ready = {source for source, _ in poll.poll()}
        if wake in ready:
            return
        data = os.read(fd, CHUNK)
        if not data:
            if held and not skipping:
                yield bytes(held)
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if skipping:
                skipping = False
                yield None
            else:
                held += data[start:end]
                yield bytes(held) if len(held) <= LINE_CAP else None
            held.clear()
            start = end + 1
        if not skipping:
            held += data[start:]
            if len(held) > LINE_CAP:
                held.clear()
                skipping = True


def parse(line: bytes | None) -> Any:
    """The value of one line; Fault says what is wrong with it."""
    if line is None:
        raise Fault(INVALID_REQUEST, f"the line is longer than {LINE_CAP} bytes; send less in one message")
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise Fault(PARSE_ERROR, f"the line is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise Fault(PARSE_ERROR, "the message is nested too deeply") from None
    except ValueError as error:
        raise Fault(PARSE_ERROR, f"the line is not JSON: {str(error)[:200]}") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"`{name}` is not JSON")


def spell(message: dict[str, Any]) -> bytes:
    """A message as one line."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=str)
    # a lone surrogate, which JSON can spell and UTF-8 cannot, must not cost the answer
    return text.encode("utf-8", "replace") + b"\n"


class Writer:
    """The way out, shared by all threads: a line is written whole or the other end is gone."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.gone = False
        self._lock = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        """Writes one message; nothing once nobody reads any more."""
        line = memoryview(spell({"jsonrpc": "2.0", **message}))
        with self._lock:
            try:
                while line and not self.gone:
                    line = line[os.write(self.fd, line) :]
            except OSError:
                self.gone = True
