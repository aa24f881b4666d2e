"""A deployment of one sandbox by the documented wire, on a connection that fails as it is told to."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PIECES = [("stderr" if index % 3 == 0 else "stdout", f"{index}: ä€😀\n") for index in range(600)]


def text_of(stream: str | None = None) -> str:
    return "".join(text for name, text in PIECES if stream in (None, name))


def output_from(offset: int) -> bytes:
    at, parts = 0, [_event("start", {"processId": "p"})]
    for stream, text in PIECES:
        data = text.encode()
        start = max(at, offset)
        left = data[start - at :]
        if left:
            shown = left.decode(errors="replace")
            piece = {"stream": stream, "offset": start, "bytes": len(left), "text": shown}
            parts += [_event("output", piece), ":\n\n"]
        at += len(data)
    return "".join([*parts, _event("exit", {"exitCode": 3})]).encode()


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


class WireServer:
    def __init__(self) -> None:
        self.cuts = 0
        self.lost_answers = 0
        self.asked: list[str] = []
        self.files: dict[str, bytes] = {}
        self.upload_ids: list[str | None] = []
        self.log: list[dict[str, Any]] = []
        self.replies: dict[str, Callable[[Any, bytes], None]] = {}
        self.random = random.Random(7)
        wire = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def answer(self, status: int, body: Any = None, **headers: str) -> None:
                if wire.lost_answers > 0:
                    wire.lost_answers -= 1
                    self.close_connection = True
                    self.connection.close()
                    return
                data = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

            def stream(self, data: bytes) -> None:
                """Breaks off after some bytes, also inside of an event or of a character."""
                self.close_connection = True
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if wire.cuts > 0:
                    wire.cuts -= 1
                    data = data[: 40 + wire.random.randrange(600)]
                self.wfile.write(data)

            def handle_any(self) -> None:
                parts = urlsplit(self.path)
                query = parse_qs(parts.query)
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                route = f"{self.command} {parts.path.replace('/api/sessions/s', '')}"
                wire.asked.append(route)
                if route in wire.replies:
                    wire.replies[route](self, body)
                elif route in ("POST /api/sessions", "GET "):
                    self.answer(201, {"id": "s", "kind": "execution"})
                elif route == "GET /processes/p/output":
                    self.stream(output_from(int(query["offset"][0])))
                elif route == "GET /events":
                    self.read_log(int(query["since_index"][0]))
                elif route.startswith("PUT /files/"):
                    self.receive(route, body)
                else:
                    error = {"code": "not_found", "message": "no such route", "requestId": "r"}
                    self.answer(404, {"error": {**error, "suggestions": ["Look."]}})

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = handle_any

            def receive(self, route: str, body: bytes) -> None:
                wire.upload_ids.append(self.headers.get("upload-id"))
                given = self.headers.get("content-range") or f"bytes 0-0/{len(body)}"
                span, total = given.removeprefix("bytes ").split("/")
                start = int(span.split("-")[0])
                whole = wire.files.get(route, b"")[:start] + body
                wire.files[route] = whole
                self.answer(202 if len(whole) < int(total) else 201, {"received": len(whole)})

            def read_log(self, since: int) -> None:
                events = [
                    {**event, "index": index, "at": "", "sessionId": "s"}
                    for index, event in enumerate(wire.log)
                    if index > since
                ]
                self.answer(200, {"lastIndex": len(wire.log) - 1, "events": events[:2]})

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
