"""What the protocol says, as data: versions, codes, and the answers that need no project.

Light on purpose: a client waits for the first answer, so nothing here imports a runtime.
"""

from __future__ import annotations

from typing import Any

from tether import __version__
from tether.types import noun

MODERN = ("2026-07-28",)  # each request says its own version
LEGACY = ("2025-11-25", "2025-06-18")  # agreed on once, by `initialize`

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
RESOURCE_NOT_FOUND = -32002  # handshake versions only; the newer one says INVALID_PARAMS

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

SERVER = {"name": "tether", "title": "Tether", "version": __version__}
INSTRUCTIONS = (
    "Tether governs changes to this project. Before changing anything, call `select_active_intent` with the id "
    "of an active intent (resource `tether://intents`). A refusal is an answer: read `required_action` and do it. "
    "A call that waits for a person is retried unchanged after they approve."
)
# how long a client may keep what it was told, in milliseconds, and whether it is the same for everyone
KEEP: dict[str, tuple[int, str]] = {
    "server/discover": (300_000, "public"),
    "tools/list": (60_000, "public"),
    "prompts/list": (60_000, "public"),
    "resources/list": (0, "private"),
    "resources/templates/list": (60_000, "public"),
    "resources/read": (0, "private"),
}
PULSE = 0.1  # seconds between two progress notifications of one call
LONGEST = 500  # characters of one progress message
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Fault(Exception):  # noqa: N818  an answer, not a failure of ours
    """A JSON-RPC error: the message could not be served at all."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def wire(self) -> dict[str, Any]:
        """The `error` member of the answer."""
        told: dict[str, Any] = {"code": self.code, "message": self.message}
        return told if self.data is None else {**told, "data": self.data}


@noun
class Client:
    """Who is at the other end, as it describes itself: for the record, never for a decision."""

    name: str = ""
    version: str = ""
    forms: bool = False  # whether it can put a form to its user
    modern: bool = False


def capabilities(*, modern: bool) -> dict[str, Any]:
    """What this server can do."""
    offered: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
    return offered if modern else {**offered, "logging": {}}


def initialize(params: dict[str, Any]) -> tuple[Client, dict[str, Any]]:
    """The handshake: the client, and the answer. An unknown version is answered with the newest we share a form of."""
    version, offered, info = (params.get(k) for k in ("protocolVersion", "capabilities", "clientInfo"))
    if not isinstance(version, str) or not isinstance(offered, dict) or not isinstance(info, dict):
        raise Fault(INVALID_PARAMS, "`initialize` needs `protocolVersion`, `capabilities` and `clientInfo`")
    answer = {
        "protocolVersion": version if version in LEGACY else LEGACY[0],
        "capabilities": capabilities(modern=False),
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    }
    return _client(info, offered, modern=False), answer


def discover() -> dict[str, Any]:
    """What a client of the newer protocol learns before it asks for anything."""
    return {
        "supportedVersions": list(MODERN),
        "capabilities": capabilities(modern=True),
        "instructions": INSTRUCTIONS,
    }


def is_modern(params: dict[str, Any]) -> bool:
    """Whether a request carries its own protocol version."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def read_envelope(params: dict[str, Any]) -> Client:
    """The client a request of the newer protocol describes in its `_meta`."""
    meta = params["_meta"]
    version = meta[VERSION_KEY]
    if not isinstance(version, str) or not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise Fault(
            INVALID_PARAMS, f"`_meta` needs `{VERSION_KEY}` (a string) and `{CAPABILITIES_KEY}` (an object)"
        )
    if version not in MODERN:
        # what is listed is every version a request may be made in, by either way of agreeing on it
        supported = {"supported": [*MODERN, *LEGACY], "requested": version[:100]}
        raise Fault(UNSUPPORTED_VERSION, "unsupported protocol version", supported)
    info = meta.get(CLIENT_KEY)
    return _client(info if isinstance(info, dict) else {}, meta[CAPABILITIES_KEY], modern=True)


def finish(method: str, result: dict[str, Any], *, modern: bool) -> dict[str, Any]:
    """The result as its protocol version wants it."""
    if not modern:
        return result
    done = {"resultType": "complete", **result}
    if method in KEEP and done["resultType"] == "complete":
        done["ttlMs"], done["cacheScope"] = KEEP[method]
    done["_meta"] = {**result.get("_meta", {}), SERVER_KEY: SERVER}
    return done


def _client(info: dict[str, Any], offered: dict[str, Any], *, modern: bool) -> Client:
    asks = offered.get("elicitation")
    return Client(
        name=_word(info.get("name")),
        version=_word(info.get("version")),
        # an empty object means forms, as it did before there were other ways to ask
        forms=isinstance(asks, dict) and ("form" in asks or not asks),
        modern=modern,
    )


def _word(value: Any) -> str:
    """A name as the record may keep it."""
    text = value if isinstance(value, str) else ""
    return "".join(c for c in text if c.isprintable())[:80].encode("utf-8", "replace").decode()
