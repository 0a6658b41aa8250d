"""Connections are used again, and not for as long as a server keeps them."""

import http.client
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from e2e.controlplane.connections import Connections
from e2e.hub.parts.pages import serving


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(http.HTTPStatus.NO_CONTENT)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def port() -> Iterator[int]:
    with serving(_Handler) as port:
        yield port


def _ask_twice(port: int, **how: float) -> list[http.client.HTTPConnection]:
    connections = Connections(lambda: http.client.HTTPConnection("127.0.0.1", port), **how)
    used = []
    for _ in range(2):
        with connections.one() as connection:
            connection.request("GET", "/")
            assert connection.getresponse().read() == b""
            used.append(connection)
    return used


def test_a_connection_is_used_again(port: int) -> None:
    first, second = _ask_twice(port)
    assert first is second


def test_one_that_its_server_may_close_at_any_moment_is_closed(port: int) -> None:
    first, second = _ask_twice(port, reused_within=0.0)
    assert first is not second
    assert first.sock is None
