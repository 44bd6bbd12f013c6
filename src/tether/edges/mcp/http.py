"""The same server over streamable HTTP, on the official SDK: loopback, a bearer token, checked Host and Origin."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import secrets
import socket
import sys
from typing import TYPE_CHECKING, Any

from tether.edges.mcp import desk
from tether.edges.mcp.asking import WAIT_SECONDS, Seal
from tether.edges.mcp.protocol import (
    INSTRUCTIONS,
    INTERNAL_ERROR,
    LONGEST,
    MODERN,
    PULSE,
    SERVER,
    Client,
    Fault,
    finish,
    initialize,
)
from tether.edges.mcp.runtime import AT_ONCE, Shelf
from tether.edges.mcp.surface import Visit
from tether.edges.mcp.wire import LINE_CAP
from tether.errors import TetherError, to_wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

TOKEN_VARIABLE = "TETHER_MCP_TOKEN"  # noqa: S105  the variable's name
PATH = "/mcp"
SHORTEST = 16  # characters of a token that someone chose
END_SECONDS = 10  # how long open requests may take to end with the server
METHODS = (
    *sorted(desk.NEEDS_PROJECT),
    "tools/list",
    "prompts/list",
    "resources/templates/list",
    "logging/setLevel",
)


async def serve(directory: str, shown: str, address: str, *, remote: bool, hosts: Sequence[str]) -> int:
    """Serves until it is interrupted; the exit code."""
    host, port = read_address(address)
    if not remote and not is_loopback(host):
        raise TetherError(
            "BAD_ARGUMENTS",
            f"`{host}` is reached from other machines",
            action="Use 127.0.0.1, or say `--allow-remote` and put TLS in front",
        )
    token, made = _token()
    try:
        import uvicorn
    except ImportError:
        raise TetherError(
            "CONFIG_INVALID", "`--http` needs the MCP SDK", action="Run `pip install 'tether[mcp]'`"
        ) from None
    with _listen(host, port) as listening:
        port = listening.getsockname()[1]
        shelf = Shelf(directory)
        app = guard(build(shelf, shown, _names(host, port, hosts)), token)
        config = uvicorn.Config(
            app,
            log_level="warning",
            lifespan="on",
            timeout_graceful_shutdown=END_SECONDS,
            server_header=False,
        )
        named = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"tether mcp: http://{named}:{port}{PATH}\n")
        if made:
            sys.stderr.write(f"tether mcp: token {token}\n")
        sys.stderr.flush()
        loop = asyncio.get_running_loop()
        from concurrent.futures import ThreadPoolExecutor

        loop.set_default_executor(ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tether-call"))
        try:
            await uvicorn.Server(config).serve(sockets=[listening])
        finally:
            shelf.close()
    return 0


def read_address(text: str) -> tuple[str, int]:
    """`HOST:PORT`, an IPv6 host in brackets."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise TetherError(
            "BAD_ARGUMENTS", f"`{text}` is not HOST:PORT", action="Say for example 127.0.0.1:8765"
        )
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; a name counts when all it stands for does."""
    try:
        found = {item[4][0] for item in socket.getaddrinfo(host, None)}
        return bool(found) and all(
            ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in found
        )
    except (OSError, ValueError):
        return False


def _token() -> tuple[str, bool]:
    # taken out of the environment, so that nothing we start can find it there
    chosen = os.environ.pop(TOKEN_VARIABLE, "")
    if not chosen:
        return secrets.token_urlsafe(32), True
    if len(chosen) < SHORTEST or not chosen.isascii() or not chosen.isprintable() or " " in chosen:
        raise TetherError(
            "CONFIG_INVALID", f"`{TOKEN_VARIABLE}` must be at least {SHORTEST} visible ASCII characters"
        )
    return chosen, False


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(where[:2], family=family)
    except OSError as error:
        raise TetherError(
            "BAD_ARGUMENTS", f"cannot listen on `{host}:{port}`: {error.strerror or error}"
        ) from None


def _names(host: str, port: int, more: Sequence[str]) -> list[str]:
    """What a request's Host may say: the ways to name this machine, and those a person added."""
    own = (
        [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
        if is_loopback(host)
        else [f"{host}:{port}"]
    )
    return [*own, *more]


def guard(app: Any, token: str) -> Any:
    """The application behind its token: without it nothing is even parsed."""
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            if len(given) != 1 or not hmac.compare_digest(given[0], wanted):
                headers = [(b"www-authenticate", b'Bearer realm="tether"'), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"a bearer token is needed\n"})
                return
        elif scope["type"] != "lifespan":
            return
        await app(scope, receive, send)

    return guarded


def build(shelf: Shelf, shown: str, names: Sequence[str]) -> Any:
    """The application: every method answered as over standard input and output."""
    from mcp.server.lowlevel import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.types import RequestParams

    server: Server[Any] = Server(
        SERVER["name"], version=SERVER["version"], title=SERVER["title"], instructions=INSTRUCTIONS
    )
    seal = Seal()
    for method in METHODS:
        server.add_request_handler(method, RequestParams, _answering(method, shelf, seal, shown))
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LINE_CAP,
        transport_security=TransportSecuritySettings(
            allowed_hosts=list(names),
            allowed_origins=[f"{s}://{n}" for n in names for s in ("http", "https")],
        ),
    )


def _answering(
    method: str, shelf: Shelf, seal: Seal, shown: str
) -> Callable[[Any, Any], Awaitable[dict[str, Any]]]:
    from mcp.shared.exceptions import MCPError

    async def answer(context: Any, _: Any) -> dict[str, Any]:
        client = _client(context)
        params = dict(context.params or {})
        try:
            desk.check(method, params, shown, modern=client.modern)
            if method in desk.AT_ONCE:
                result = desk.answer_at_once(method, params, shown, modern=client.modern)
            else:
                workspace = await asyncio.to_thread(shelf.take)
                visit = Visit(_session(context), client, seal, _pulse(context), _elicit(context, client))
                result = await desk.answer(workspace, method, params, shown, visit)
        except Fault as fault:
            raise MCPError(code=fault.code, message=fault.message, data=fault.data) from None
        except TetherError as error:
            if method != "tools/call":
                raise MCPError(code=INTERNAL_ERROR, message=f"{error.code}: {error.message}") from None
            from tether.edges.mcp.answers import fail

            result = fail(to_wire(error))
        return finish(method, result, modern=client.modern)

    return answer


def _client(context: Any) -> Client:
    told = context.session.client_params
    info = told.client_info.model_dump(by_alias=True, exclude_none=True) if told and told.client_info else {}
    offered = context.session.client_capabilities
    able = offered.model_dump(by_alias=True, exclude_none=True) if offered else {}
    client, _ = initialize({"protocolVersion": "", "capabilities": able, "clientInfo": info})
    modern = context.protocol_version in MODERN
    return Client(name=client.name, version=client.version, forms=client.forms, modern=modern)


def _session(context: Any) -> str:
    """The transport's session where it has one; else one of this request alone, until a call names another."""
    given = context.request.headers.get("mcp-session-id", "") if context.request else ""
    return "mcp-" + (given or os.urandom(16).hex())


def _pulse(context: Any) -> Callable[[str], None]:
    """Progress, from the thread that makes it to the loop that sends it."""
    loop = asyncio.get_running_loop()
    sent = [0.0, 0]

    def emit(text: str) -> None:
        now = loop.time()
        if now - sent[0] >= PULSE:
            sent[0], sent[1] = now, sent[1] + 1
            report = context.session.report_progress(sent[1], None, text[-LONGEST:])
            asyncio.run_coroutine_threadsafe(report, loop)

    return emit


def _elicit(context: Any, client: Client) -> Callable[[dict[str, Any]], Awaitable[Any]] | None:
    if client.modern or not client.forms or not context.session.can_send_request:
        return None

    async def elicit(question: dict[str, Any]) -> Any:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                said = await context.session.elicit_form(
                    question["message"], question["requestedSchema"], context.request_id
                )
        except TimeoutError:
            return None
        return said.model_dump(by_alias=True, exclude_none=True)

    return elicit
