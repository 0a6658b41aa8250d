"""A model server with requests: llm-d-inference-sim, and clients that wait for its answers."""

import contextlib
import http.client
import itertools
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

from e2e.controlplane import ControlPlane, assets, until
from tests.support.ports import free_port


PROGRAM = "llm-d-inference-sim"
MODEL = "model-0"
FIRST_TOKEN, NEXT_TOKEN = "20ms", "5ms"
NEVER = "10h"
MAX_RUNNING = 3
REQUEST_EVERY = 0.2
"""Seconds between two requests."""

_NUMBERS = itertools.count(1)


class ModelServer:
    """A simulated model server of this machine, at *address*; start it with ``start``."""

    def __init__(self, plane: ControlPlane, address: str) -> None:
        self._plane, self._address, self.port = plane, address, free_port()
        self._command = [
            *(assets.program(PROGRAM), f"--port={self.port}", f"--model={MODEL}"),
            *("--force-dummy-tokenizer", "--mode=echo", f"--max-num-seqs={MAX_RUNNING}"),
            *(f"--time-to-first-token={FIRST_TOKEN}", f"--inter-token-latency={NEXT_TOKEN}"),
        ]

    def start(self) -> None:
        self._process = self._plane.run(f"model-server-{next(_NUMBERS)}", self._command)
        until(self._listens, within=60, what="the model server listens")

    def restart(self) -> None:
        """Start it anew: its counters begin at zero, and its requests are lost."""
        self._process.kill()
        self.start()

    def stop(self) -> None:
        self._process.kill()

    def page(self) -> bytes:
        with urllib.request.urlopen(self._url("/metrics"), timeout=5) as answer:
            found: bytes = answer.read()
        return found

    def hang(self) -> None:
        """Let requests make no progress any more; the server accepts them, and is healthy."""
        self._post("/admin/config", {"time-to-first-token": NEVER})

    def is_healthy(self) -> bool:
        with urllib.request.urlopen(self._url("/health"), timeout=5) as answer:
            return bool(answer.status == 200)

    @contextlib.contextmanager
    def requests(self) -> Iterator[None]:
        """Send requests all the time, whether earlier ones were answered or not."""
        stopped = threading.Event()

        def send() -> None:
            while not stopped.wait(REQUEST_EVERY):
                threading.Thread(target=self._complete, daemon=True).start()

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        try:
            yield
        finally:
            stopped.set()
            sender.join()

    def _complete(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            self._post("/v1/completions", {"model": MODEL, "prompt": "a b c d", "max_tokens": 4})

    def _post(self, path: str, body: dict[str, Any]) -> None:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._url(path), json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()

    def _url(self, path: str) -> str:
        return f"http://{self._address}:{self.port}{path}"

    def _listens(self) -> bool:
        try:
            socket.create_connection((self._address, self.port), timeout=1).close()
        except OSError:
            return False
        return True
