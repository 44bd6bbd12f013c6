"""The server on standard input and output: reads, answers at once what it can, and hands the rest to the runtime.

Standard output carries protocol and nothing else: whatever a tool or library prints goes to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from tether.edges.mcp import desk, wire
from tether.edges.mcp.asking import WAIT_SECONDS, Seal
from tether.edges.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LONGEST,
    PULSE,
    Client,
    Fault,
    finish,
    initialize,
    is_modern,
    read_envelope,
)
from tether.edges.mcp.runtime import Runtime
from tether.edges.mcp.surface import Visit
from tether.types import noun

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from tether.workspace import Workspace

GRACE = 2.0  # seconds that running calls get to finish once the client is gone
PATIENCE = 15.0  # seconds that cancelled calls get to settle


def serve(directory: str, shown: str) -> int:
    """Serves one client until its input ends; the exit code."""
    given, out = _claim_streams()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.write(wake, b"."))
    connection = Connection(wire.Writer(out), Runtime(directory), shown)
    for line in wire.read_lines(given, woken):
        connection.receive(line)
        if connection.writer.gone:
            break
    if not connection.runtime.close(GRACE, PATIENCE):
        sys.stderr.write("tether mcp: calls still ran at the end; `tether doctor` reconciles them\n")
        sys.stderr.flush()
        os._exit(1)
    return 0


def _claim_streams() -> tuple[int, int]:
    """The protocol's own descriptors; 0 and 1 then lead nowhere and to standard error, for tools and children."""
    sys.stdout.flush()
    given, out = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return given, out


@noun
class Open:
    """A request that has not been answered yet."""

    ticket: int
    method: str


class Connection:
    """One client. `receive` takes lines; answers leave through the writer, from whatever thread has them."""

    def __init__(self, writer: wire.Writer, runtime: Runtime, shown: str) -> None:
        self.writer = writer
        self.runtime = runtime
        self.shown = shown
        # INVARIANT: one connection, one session; what it selects is selected for it alone
        self.session = "mcp-" + os.urandom(16).hex()
        self.client: Client | None = None
        self._seal = Seal()
        self._open: dict[str | int, Open] = {}
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._lock = threading.Lock()
        self._tickets = 0

    def receive(self, line: bytes | None) -> None:
        """Takes one line; whatever is wrong with it is answered, never raised."""
        identity: Any = None
        try:
            if line is not None and not line.strip():
                return
            message = wire.parse(line)
            if isinstance(message, list):
                raise Fault(INVALID_REQUEST, "batches are not part of this protocol; send one message a line")
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                raise Fault(INVALID_REQUEST, 'a message is an object with `"jsonrpc": "2.0"`')
            if "method" not in message and ("result" in message or "error" in message):
                self._hear(message)
                return
            identity = _identity(message)
            self._dispatch(identity, "id" in message, message)
        except Fault as fault:
            self._refuse(identity, fault)
        except Exception as error:
            # INVARIANT: the server lives on; the text of an unforeseen error may quote contents, so its type alone goes
            self._refuse(
                identity, Fault(INTERNAL_ERROR, f"unexpected {type(error).__name__}; run `tether doctor`")
            )

    # ── requests ─────────────────────────────────────────────────────────────

    def _dispatch(self, identity: Any, wants_answer: bool, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if not isinstance(method, str):
            raise Fault(INVALID_REQUEST, "`method` must be a string")
        if not wants_answer:
            if isinstance(params, dict):
                self._notice(method, params)
            return
        if not isinstance(params, dict):
            raise Fault(INVALID_PARAMS, "`params` must be an object")
        if method == "initialize":
            self._answer(identity, self._meet(params))
            return
        client = self._whose(method, params)
        desk.check(method, params, self.shown, modern=client.modern)
        if method in desk.AT_ONCE:
            result = desk.answer_at_once(method, params, self.shown, modern=client.modern)
            self._answer(identity, finish(method, result, modern=client.modern))
        else:
            self._begin(identity, method, params, client)

    def _meet(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.client is not None:
            raise Fault(INVALID_REQUEST, "already initialized; open a new connection for another client")
        self.client, answer = initialize(params)
        return answer

    def _whose(self, method: str, params: dict[str, Any]) -> Client:
        if is_modern(params):
            return read_envelope(params)
        if self.client is not None:
            return self.client
        if method == "ping":
            return Client()
        raise Fault(
            INVALID_PARAMS, "send `initialize` first, or name the protocol version in each request's `_meta`"
        )

    def _begin(self, identity: str | int, method: str, params: dict[str, Any], client: Client) -> None:
        with self._lock:
            if identity in self._open:
                # answering with that id would be taken for the answer to the first
                raise Duplicate(identity)
            self._tickets += 1
            opened = Open(self._tickets, method)
            self._open[identity] = opened

        async def job(workspace: Workspace) -> dict[str, Any]:
            visit = Visit(
                self.session, client, self._seal, self._pulse(identity, opened, params), self._elicit(client)
            )
            return await desk.answer(workspace, method, params, self.shown, visit)

        def told(result: dict[str, Any] | BaseException) -> None:
            with self._lock:
                if self._open.get(identity) is not opened:
                    return  # cancelled: nothing more is said of it
                del self._open[identity]
            if isinstance(result, BaseException):
                self._fail(identity, method, result, client)
            else:
                self._answer(identity, finish(method, result, modern=client.modern))

        self.runtime.start(opened.ticket, job, told)

    def _fail(self, identity: str | int, method: str, error: BaseException, client: Client) -> None:
        if isinstance(error, Fault):
            self._refuse(identity, error)
            return
        from tether.edges.mcp.answers import fail
        from tether.errors import to_wire

        told = to_wire(error)
        if method == "tools/call":
            self._answer(identity, finish(method, fail(told), modern=client.modern))
        else:
            self._refuse(identity, Fault(INTERNAL_ERROR, f"{told['error_code']}: {told['message']}", told))

    # ── the other way ────────────────────────────────────────────────────────

    def _notice(self, method: str, params: dict[str, Any]) -> None:
        """Notifications are never answered; only a cancellation changes anything."""
        identity = params.get("requestId")
        if method != "notifications/cancelled" or not isinstance(identity, (str, int)):
            return
        with self._lock:
            opened = self._open.pop(identity, None)
        if opened is not None:
            self.runtime.cancel(opened.ticket)

    def _hear(self, message: dict[str, Any]) -> None:
        """The client's answer to something we asked; one we did not ask is nothing to us."""
        with self._lock:
            waiting = self._asked.pop(str(message.get("id")), None)
        if waiting is not None:
            said = message.get("result")
            self.runtime.call(lambda: None if waiting.done() else waiting.set_result(said))

    def _elicit(self, client: Client) -> Callable[[dict[str, Any]], Awaitable[Any]] | None:
        """A way to put a form to the client's user: by a request of our own, where the version has such."""
        if client.modern or not client.forms:
            return None

        async def elicit(question: dict[str, Any]) -> Any:
            import asyncio

            number = "ask-" + os.urandom(8).hex()
            waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            with self._lock:
                self._asked[number] = waiting
            self.writer.send({"id": number, "method": "elicitation/create", "params": question})
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    return await waiting
            except (TimeoutError, asyncio.CancelledError) as ended:
                self._retract(number)
                if isinstance(ended, TimeoutError):
                    return None
                raise

        return elicit

    def _retract(self, number: str) -> None:
        with self._lock:
            known = self._asked.pop(number, None)
        if known is not None:
            gone = {"requestId": number, "reason": "no longer needed"}
            self.writer.send({"method": "notifications/cancelled", "params": gone})

    def _pulse(self, identity: str | int, opened: Open, params: dict[str, Any]) -> Callable[[str], None]:
        """Progress for a client that asked for it: no more than it can look at, none once the call is answered."""
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if not isinstance(token, (str, int)):
            return lambda _: None
        sent = [0.0, 0]

        def emit(text: str) -> None:
            now = time.monotonic()
            if now - sent[0] < PULSE or self._open.get(identity) is not opened:
                return
            sent[0], sent[1] = now, sent[1] + 1
            told = {"progressToken": token, "progress": sent[1], "message": text[-LONGEST:]}
            self.writer.send({"method": "notifications/progress", "params": told})

        return emit

    def _answer(self, identity: Any, result: dict[str, Any]) -> None:
        self.writer.send({"id": identity, "result": result})

    def _refuse(self, identity: Any, fault: Fault) -> None:
        if isinstance(fault, Duplicate):
            identity = None
        self.writer.send({"id": identity, "error": fault.wire()})


class Duplicate(Fault):
    """A request that uses the id of one still open."""

    def __init__(self, identity: str | int) -> None:
        super().__init__(
            INVALID_REQUEST, "a request with this id is still open; use another", {"id": str(identity)[:100]}
        )


def _identity(message: dict[str, Any]) -> Any:
    """A request's id: a string or an integer, as the protocol wants it."""
    identity = message.get("id")
    if "id" in message and (isinstance(identity, bool) or not isinstance(identity, (str, int))):
        raise Fault(INVALID_REQUEST, "`id` must be a string or an integer")
    return identity
