"""A local service that speaks the embeddings wire, and can fail, rate-limit and hang."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tether.embed.hashed import HashedModel


class Service:
    """What the double was asked, and how it should answer: a list of moods, the last one for good."""

    def __init__(self, dimension: int = 8) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.moods = ["well"]
        self.dimension = dimension
        service = self

        class Wire(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.asked.append(body)
                service.keys.append(self.headers.get("Authorization", ""))
                mood = service.moods.pop(0) if len(service.moods) > 1 else service.moods[0]
                getattr(self, f"answer_{mood}")(body)

            def answer_well(self, body: dict[str, Any]) -> None:
                rows = HashedModel(service.dimension).embed(body["input"])
                items = [{"index": n, "embedding": [float(x) for x in row]} for n, row in enumerate(rows)]
                self.reply(200, {"data": items[::-1]})

            def answer_broken(self, body: dict[str, Any]) -> None:
                self.reply(500, {})

            def answer_limited(self, body: dict[str, Any]) -> None:
                self.reply(429, {}, {"Retry-After": "0.01"})

            def answer_refused(self, body: dict[str, Any]) -> None:
                self.reply(401, {})

            def answer_short(self, body: dict[str, Any]) -> None:
                self.reply(200, {"data": [{"index": 0, "embedding": [1.0]}]})

            def answer_nonsense(self, body: dict[str, Any]) -> None:
                self.reply(200, "<html>")

            def answer_elsewhere(self, body: dict[str, Any]) -> None:
                self.reply(307, {}, {"Location": "http://127.0.0.1:9/embeddings"})

            def answer_never(self, body: dict[str, Any]) -> None:
                time.sleep(1.5)
                self.reply(200, {"data": []})

            def reply(self, code: int, value: object, headers: dict[str, str] | None = None) -> None:
                data = json.dumps(value).encode()
                try:
                    self.send_response(code)
                    for name, text in (headers or {}).items():
                        self.send_header(name, text)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client gave up, as it should

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Wire)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    double = Service()
    yield double
    double.stop()
