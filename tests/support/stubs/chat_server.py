"""A Gateway with one model behind it, as a client of chat completions sees them."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


PATH = "/v1/chat/completions"


@dataclass
class ChatServer:
    """
    *status* and *body*: its answer; without a body that of a model. *breaks*: it closes instead.

    *requests*: the bodies received, each with the headers beside it.
    """

    status: int = 200
    body: bytes | None = None
    breaks: bool = False
    port: int = 0
    requests: list[tuple[Any, dict[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, model: str) -> bytes:
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": "Ready."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return json.dumps(
            {"object": "chat.completion", "model": model, "choices": [choice]}
        ).encode()


@contextlib.contextmanager
def chat_server(**settings: Any) -> Iterator[ChatServer]:
    server = ChatServer(**settings)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            server.requests.append((body, dict(self.headers)))
            if server.breaks:
                self.close_connection = True
                return
            answer = server.answer(body["model"])
            self.send_response(server.status if self.path == PATH else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Keep the output of tests free of requests."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
