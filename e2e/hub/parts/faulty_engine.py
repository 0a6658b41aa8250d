"""
A server between the hub and its engine that makes answers slow, wrong, partial or far too large.
"""

import contextlib
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple, TypeAlias

from e2e.hub.parts.pages import serving
from e2e.support.metrics_process import MetricsProcess


MIB = 2**20
SLOW_SECONDS = 60.0


class EngineAnswer(NamedTuple):
    """*length*: what the header says, if that is not the length of the body."""

    status: int
    body: bytes
    length: int | None = None


Fault: TypeAlias = Callable[[EngineAnswer], EngineAnswer]


def failing(_: EngineAnswer) -> EngineAnswer:
    error = {"status": "error", "errorType": "internal", "error": "no space left on device"}
    return EngineAnswer(500, json.dumps(error).encode())


def throttling(_: EngineAnswer) -> EngineAnswer:
    return EngineAnswer(503, b'{"status":"error","errorType":"unavailable","error":"too busy"}')


def partial(answer: EngineAnswer) -> EngineAnswer:
    """Answer as Thanos does without one of its stores: with half of the series, and a warning."""
    found = json.loads(answer.body)
    result = found["data"]["result"]
    found["data"]["result"] = result[: len(result) // 2]
    return EngineAnswer(200, json.dumps({**found, "warnings": ["a store is missing"]}).encode())


def marked_partial(answer: EngineAnswer) -> EngineAnswer:
    """Answer as a cluster of VictoriaMetrics does without one of its nodes."""
    return EngineAnswer(200, json.dumps({**json.loads(answer.body), "isPartial": True}).encode())


def cut_off(answer: EngineAnswer) -> EngineAnswer:
    return EngineAnswer(200, answer.body[: len(answer.body) // 2], len(answer.body))


def too_large(answer: EngineAnswer) -> EngineAnswer:
    """Answer with more than 64 MiB, all of which is valid JSON."""
    return EngineAnswer(200, answer.body + b" " * (65 * MIB))


def login_page(_: EngineAnswer) -> EngineAnswer:
    return EngineAnswer(200, b"<html><title>Log in</title></html>")


class FaultyEngine:
    """
    *fault*: what becomes of answers; None leaves them as they are. *is_slow*: they take a minute.
    """

    def __init__(self, engine: MetricsProcess) -> None:
        self._engine = engine
        self.url = ""
        self.fault: Fault | None = None
        self._may_answer = threading.Event()
        self._may_answer.set()

    def answer(self, path: str, form: bytes, kind: str) -> EngineAnswer:
        self._may_answer.wait(SLOW_SECONDS)
        connection = http.client.HTTPConnection("127.0.0.1", self._engine.port, timeout=30)
        try:
            connection.request("POST", path, form, {"Content-Type": kind})
            response = connection.getresponse()
            found = EngineAnswer(response.status, response.read())
        except OSError:
            found = EngineAnswer(502, b"")
        finally:
            connection.close()
        return found if self.fault is None else self.fault(found)

    @contextlib.contextmanager
    def broken(self, fault: Fault | None) -> Iterator[None]:
        """Break the answers for a while; None makes them slow."""
        self.fault = fault
        if fault is None:
            self._may_answer.clear()
        try:
            yield
        finally:
            self.fault = None
            self._may_answer.set()


@contextlib.contextmanager
def between(engine: MetricsProcess) -> Iterator[FaultyEngine]:
    """Serve in front of an engine."""
    faulty = FaultyEngine(engine)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"]))
            answer = faulty.answer(self.path, form, self.headers["Content-Type"])
            length = len(answer.body) if answer.length is None else answer.length
            with contextlib.suppress(OSError):  # the hub does not read all of it
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None: ...

    with serving(Handler) as port:
        faulty.url = f"http://127.0.0.1:{port}"
        yield faulty
