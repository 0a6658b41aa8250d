"""Closing the client: no socket of an abandoned request outlives it."""

import asyncio
import gc
import socket
import ssl
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.stubs.api_servers import a_kubeconfig, connected, until
from tests.support.stubs.certificates import a_certificate, a_context


HEADERS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
)
TURNS = 40
"""More turns of the event loop than a request takes until it waits for the server."""

MORE_THAN_BUFFERS_TAKE = 2**24
"""Bytes that the buffers of a connection cannot hold."""


class SilentServer:
    """
    Accepts one connection at a time, runs *script* on it and then reads and sends nothing.

    It does not confirm the end of a TLS connection either, as a server that hangs.
    """

    def __init__(self, script: Callable[[socket.socket], socket.socket]) -> None:
        self._script, self._accepted = script, list[socket.socket]()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.reached = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                accepted, _ = self._listening.accept()
                self._accepted.append(accepted)
                with suppress(OSError):
                    self._accepted.append(self._script(accepted))
                    self.reached.set()

    @contextmanager
    def running(self) -> Iterator["SilentServer"]:
        self._thread.start()
        try:
            yield self
        finally:
            self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
            self._thread.join()
            for each in self._accepted:
                each.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return a_certificate(tmp_path_factory.mktemp("certificates"), "server")


def plain(accepted: socket.socket) -> socket.socket:
    return accepted


def tls(context: ssl.SSLContext, answer: bytes = b"") -> Callable[[socket.socket], socket.socket]:
    def script(accepted: socket.socket) -> socket.socket:
        stream = context.wrap_socket(accepted, server_side=True)
        stream.recv(2**16)
        stream.sendall(answer)
        return stream

    return script


async def cancel_once(server: SilentServer, kubeconfig: str) -> None:
    async with connected(kubeconfig) as api, asyncio.TaskGroup() as group:
        request = group.create_task(api.call("GET", "/api", timeout=timedelta(minutes=1)))
        await until(server.reached.is_set)
        request.cancel()


async def cancel_after(turns: int, kubeconfig: str) -> None:
    async with connected(kubeconfig) as api, asyncio.TaskGroup() as group:
        request = group.create_task(api.call("GET", "/api", timeout=timedelta(minutes=1)))
        for _ in range(turns):
            await asyncio.sleep(0)
        request.cancel()


async def abandon_a_watch(kubeconfig: str) -> None:
    async with (
        connected(kubeconfig) as api,
        api.open_watch("/api/v1/pods", (), idle_timeout=timedelta(minutes=1)),
    ):
        pass


@contextmanager
def no_socket_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if the block leaves a socket or a transport open."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect()
    texts = [str(each.message) for each in caught if each.category is ResourceWarning]
    assert [text for text in texts if text.startswith("unclosed")] == []


def over_tls(tmp_path: Path, server: SilentServer, certificate: tuple[Path, Path]) -> str:
    url = f"https://127.0.0.1:{server.port}"
    return a_kubeconfig(tmp_path, url, **{"certificate-authority": str(certificate[0])})


def test_a_cancelled_request_leaves_no_tls_connection(tmp_path, certificate, monkeypatch):
    script = tls(a_context(*certificate))
    with SilentServer(script).running() as server, no_socket_left(monkeypatch):
        asyncio.run(cancel_once(server, over_tls(tmp_path, server, certificate)))


def test_an_abandoned_watch_leaves_no_tls_connection(tmp_path, certificate, monkeypatch):
    script = tls(a_context(*certificate), HEADERS)
    with SilentServer(script).running() as server, no_socket_left(monkeypatch):
        asyncio.run(abandon_a_watch(over_tls(tmp_path, server, certificate)))


def test_a_request_cancelled_while_its_connection_opens_leaves_none(
    tmp_path, certificate, monkeypatch
):
    with SilentServer(plain).running() as server, no_socket_left(monkeypatch):
        kubeconfig = over_tls(tmp_path, server, certificate)
        for turns in range(TURNS):
            asyncio.run(cancel_after(turns, kubeconfig))
        assert server.reached.wait(60), "the thread of the server may be late"


def test_a_request_whose_body_is_not_read_leaves_no_connection(tmp_path, monkeypatch):
    async def cancel_a_large_request() -> None:
        async with (
            connected(a_kubeconfig(tmp_path, f"http://127.0.0.1:{server.port}")) as api,
            asyncio.TaskGroup() as group,
        ):
            body = "x" * MORE_THAN_BUFFERS_TAKE
            request = group.create_task(api.call("POST", "/api", body=body))
            await until(server.reached.is_set)
            request.cancel()

    def read_some(accepted: socket.socket) -> socket.socket:
        accepted.recv(2**16)
        return accepted

    with SilentServer(read_some).running() as server, no_socket_left(monkeypatch):
        asyncio.run(cancel_a_large_request())
