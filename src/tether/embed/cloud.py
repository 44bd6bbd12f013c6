"""An embeddings service: OpenAI's, or any that speaks its wire. Never called unless a person turned it on."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tether.embed.model import normalise
from tether.errors import TetherError

if TYPE_CHECKING:
    from tether.embed.model import Vectors

OPENAI: Final = "https://api.openai.com/v1"
MODEL: Final = "text-embedding-3-small"
DIMENSION: Final = 1536
BATCH: Final = 64
WAITS: Final = (0.0, 0.5, 2.0)  # seconds before each attempt; after the last, give up
LONGEST_WAIT: Final = 10.0
MOST_BYTES: Final = 64_000_000
MOST_CHARS: Final = 24_000  # of one text


class CloudModel:
    """Texts go to the service, vectors come back."""

    local = False

    def __init__(
        self,
        key: str,
        *,
        url: str = OPENAI,
        model: str = MODEL,
        dimension: int = DIMENSION,
        timeout: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        near = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and near):
            raise TetherError("CONFIG_INVALID", f"`{url}` is not an https address")
        if parts.username or parts.password:
            raise TetherError("CONFIG_INVALID", "the address of the embeddings service holds a password")
        self.name = model
        self.dimension = dimension
        self._url = url.rstrip("/") + "/embeddings"
        self._key = key
        self._timeout = timeout
        self._sleep = sleep

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        import numpy

        rows: list[list[float]] = []
        for at in range(0, len(texts), BATCH):
            rows += self._ask([text[:MOST_CHARS] or " " for text in texts[at : at + BATCH]])
        return normalise(numpy.array(rows, dtype=numpy.float32).reshape(len(texts), self.dimension))

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        reason = "no answer"
        wait_for = 0.0
        for wait in WAITS:
            self._sleep(max(wait, wait_for))
            try:
                return self._read(self._send(texts), len(texts))
            except urllib.error.HTTPError as error:
                reason = f"HTTP {error.code}"
                with error:
                    wait_for = _retry_after(error.headers.get("Retry-After"))
                if error.code not in (408, 409, 425, 429) and error.code < 500:
                    break  # asking again will not help
            except (urllib.error.URLError, OSError) as error:
                reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise TetherError("EMBEDDING_FAILED", f"the embeddings service failed: {reason}")

    def _send(self, texts: Sequence[str]) -> bytes:
        body = json.dumps({"model": self.name, "input": list(texts), "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310  the scheme was checked
        with _OPENER.open(request, timeout=self._timeout) as answer:
            data: bytes = answer.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise TetherError("EMBEDDING_FAILED", "the embeddings service answered too much")
        return data

    def _read(self, data: bytes, many: int) -> list[list[float]]:
        try:
            items: list[Any] = sorted(json.loads(data)["data"], key=lambda item: item["index"])
            rows = [[float(number) for number in item["embedding"]] for item in items]
        except (ValueError, KeyError, TypeError) as error:
            raise TetherError("EMBEDDING_FAILED", "the embeddings service answered no vectors") from error
        if len(rows) != many or any(len(row) != self.dimension for row in rows):
            raise TetherError("EMBEDDING_FAILED", f"not {many} vectors of {self.dimension} numbers")
        return rows


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """INVARIANT: code is sent to the configured address alone; a redirect is an error."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirect)


def _retry_after(given: str | None) -> float:
    try:
        return min(LONGEST_WAIT, max(0.0, float(given or 0)))
    except ValueError:
        return 0.0
