"""Clients that hold connections, read slowly or send anything at all, over real sockets."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from reporter.model.enums import ClosedConnection
from reporter.server.limits import (
    BACKLOG,
    MAX_CONNECTIONS,
    ConnectionTimeouts,
)
from reporter.server.server import HttpServer, Pages
from reporter.settings import BindAddress
from tests.integration.server.served_pages import (
    ALWAYS_OK,
    ServedPages,
    a_page,
    exchange,
    free,
    serving,
)
from tests.support.stubs.api_servers import until


SHORT = ConnectionTimeouts(*[timedelta(seconds=0.3)] * 3)
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = LIVEZ[:-2] + b"Connection: close\r\n\r\n"
STATUS = LIVEZ.replace(b"livez", b"status")
ADDRESS, OTHER = "127.0.0.1", "127.0.0.2"


class Closed(Counter[ClosedConnection]):
    def record(self, why: ClosedConnection, _: str) -> None:
        self[why] += 1


@asynccontextmanager
async def counted(
    pages: Pages = ALWAYS_OK, timeouts: ConnectionTimeouts | None = None
) -> AsyncIterator[tuple[ServedPages, Closed]]:
    closed = Closed()
    async with serving(pages, on_closed=closed.record, timeouts=timeouts) as served:
        yield served, closed


async def connect(
    stack: ExitStack, address: BindAddress, send: bytes = b"", *, source: str = ADDRESS
) -> socket.socket:
    """Return a socket that has sent; a server may have closed it already."""
    each = stack.enter_context(socket.socket())
    each.setblocking(False)
    each.bind((source, 0))
    await asyncio.get_running_loop().sock_connect(each, tuple(address))
    with suppress(ConnectionError):
        each.sendall(send)
    return each


async def receive(sock: socket.socket) -> bytes:
    async with asyncio.timeout(60):
        return await asyncio.get_running_loop().sock_recv(sock, 2**16)


async def open_many(stack: ExitStack, many: int, address: BindAddress, send: bytes = b"") -> None:
    for _ in range(many):
        await connect(stack, address, send)


@pytest.mark.parametrize("send", [b"", b"G", LIVEZ, LIVEZ + b"GET"])
async def test_1100_idle_connections_of_one_client_keep_nobody_from_an_answer(send):
    async with counted() as (served, closed):
        with ExitStack() as stack:
            idle = await connect(stack, served.health, source=OTHER)
            await open_many(stack, 1_100, served.health, send)
            for path in ("/livez", "/readyz", "/status"):
                assert (await served.get(served.health, path))[0] == 200
            assert (await served.get(served.metrics, "/metrics"))[0] == 200
            assert open_sockets() < 1_100 + 1 + MAX_CONNECTIONS + BACKLOG + 40
            assert closed[ClosedConnection.CROWDED_OUT] >= 1_100 - MAX_CONNECTIONS
            idle.sendall(LIVEZ)  # a client with one connection keeps it
            assert (await receive(idle)).startswith(b"HTTP/1.1 200 OK\r\n")


def open_sockets() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_an_address_has_connections_of_its_own():
    async with counted() as (served, closed):
        with ExitStack() as stack:
            await open_many(stack, MAX_CONNECTIONS, served.health)
            assert (await served.get(served.metrics, "/metrics"))[0] == 200
            assert not closed


async def test_of_the_client_with_most_connections_one_that_waits_is_closed_first():
    reading = asyncio.Event()

    def endless() -> Iterator[str]:
        reading.set()
        while True:
            yield "x" * 2**16

    async with counted(replace(ALWAYS_OK, status=endless)) as (served, closed):
        with ExitStack() as stack:
            busy = await connect(stack, served.health, STATUS)
            await reading.wait()
            await open_many(stack, MAX_CONNECTIONS + 10, served.health)
            assert (await served.get(served.health, "/livez"))[0] == 200
            assert closed[ClosedConnection.CROWDED_OUT] > 10
            for _ in range(100):  # more than the kernel buffers
                assert await receive(busy)


async def test_slow_readers_are_closed_in_favour_of_a_probe():
    def endless() -> Iterator[str]:
        while True:
            yield "x" * 2**16

    async with counted(replace(ALWAYS_OK, status=endless)) as (served, closed):
        with ExitStack() as stack:
            await open_many(stack, MAX_CONNECTIONS + 1, served.health, STATUS)
            assert (await served.get(served.health, "/livez"))[0] == 200
            assert closed[ClosedConnection.CROWDED_OUT] > 0


@pytest.mark.parametrize(
    ("send", "why", "answer"),
    [
        (b"", ClosedConnection.IDLE, b""),
        (b"GET /livez HTTP/1.1\r\nHos", ClosedConnection.SLOW_REQUEST, b"HTTP/1.1 408 "),
        (LIVEZ, ClosedConnection.IDLE, b"HTTP/1.1 200 "),
        (LIVEZ + b"GET", ClosedConnection.IDLE, b"HTTP/1.1 200 "),
    ],
)
async def test_a_client_that_sends_nothing_more_is_closed_after_a_time(send, why, answer):
    async with counted(timeouts=SHORT) as (served, closed):
        received = await exchange(served.health, send)
        assert (received[: len(answer)], bool(received)) == (answer, bool(answer))
        await until(lambda: closed == {why: 1})


async def test_a_head_that_comes_by_the_byte_is_not_waited_for_longer():
    async with counted(timeouts=replace(SHORT, idle=timedelta(minutes=1))) as (served, closed):
        reader, writer = await asyncio.open_connection(*served.health)
        writer.write(LIVEZ)
        await reader.readuntil(b"ok\n")
        writer.write(b"GET /")
        async with asyncio.timeout(60):
            while not closed:
                writer.write(b"a")
                await asyncio.sleep(0.02)
        assert closed == {ClosedConnection.SLOW_REQUEST: 1}
        writer.transport.abort()


async def test_who_does_not_read_the_metrics_to_their_end_is_left():
    page = replace(ALWAYS_OK, metrics=a_page(b"a 1\n" * 2**23))
    async with counted(page, timeouts=SHORT) as (served, closed):
        with ExitStack() as stack:
            await connect(stack, served.metrics, LIVEZ.replace(b"livez", b"metrics"))
            await until(lambda: closed == {ClosedConnection.SLOW_READER: 1})


async def test_requests_in_a_row_are_answered_in_their_order():
    async with counted() as (served, closed):
        last = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        answers = (await exchange(served.health, LIVEZ * 300 + STATUS + last)).split(b"HTTP/1.1 ")
        assert [each[:3] for each in answers[1:]] == [*[b"200"] * 301, b"404"]
        assert not closed


async def test_a_request_with_a_body_is_answered():
    async with counted() as (served, _):
        head = b"POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n"
        answer = await exchange(served.health, head + b"x" * 60_000 + LAST)
        assert answer.startswith(b"HTTP/1.1 405 ")
        assert b"\r\nAllow: GET,HEAD\r\n" in answer
        assert answer.endswith(b"\r\n\r\nok\n")


async def test_http_1_0_has_parts_without_chunks():
    async with counted() as (served, _):
        for more in (b"", b"Connection: keep-alive\r\n"):
            answer = await exchange(served.health, b"GET /status HTTP/1.0\r\n" + more + b"\r\n")
            head, _, body = answer.partition(b"\r\n\r\n")
            assert body == b"{}\n"
            assert b"chunked" not in head


@pytest.mark.parametrize(
    ("request_", "answer", "why"),
    [
        (LIVEZ, b"HTTP/1.1 200 ", ClosedConnection.IDLE),
        (STATUS, b"HTTP/1.1 200 ", ClosedConnection.IDLE),
        (b"GET /livez\r\n", b"HTTP/1.1 408 ", ClosedConnection.SLOW_REQUEST),
        (b"\x16\x03\x01", b"HTTP/1.0 400 ", ClosedConnection.MALFORMED),
        (b"G" * 20_000, b"HTTP/1.0 400 ", ClosedConnection.MALFORMED),
        (b"\r\n" * 9_000, b"HTTP/1.1 408 ", ClosedConnection.SLOW_REQUEST),
    ],
)
async def test_no_answer_or_line_of_log_has_a_version_or_a_traceback(
    request_, answer, why, caplog
):
    async with counted(timeouts=SHORT) as (served, closed):
        received = await exchange(served.health, request_)
        assert received.startswith(answer)
        assert b"\r\nServer: productionstack-status-reporter\r\n" in received
        assert b"aiohttp" not in received
        assert b"Traceback" not in received
        await until(lambda: closed == {why: 1})
    assert caplog.records == []


@pytest.mark.parametrize("version", [b"0.9", b"2.0", b"9.9"])
async def test_no_other_version_of_http_is_answered(version):
    async with counted() as (served, closed):
        answer = await exchange(served.health, LIVEZ.replace(b"1.1", version))
        assert answer == b"" or answer.startswith(b"HTTP/1.0 400 ")
        await until(lambda: closed == {ClosedConnection.MALFORMED: 1})


async def test_a_part_that_fails_resets_the_connection(caplog):
    def broken() -> Iterator[str]:
        yield "{"
        raise RuntimeError("broken")

    async with counted(replace(ALWAYS_OK, status=broken)) as (served, _):
        answer = await exchange(served.health, STATUS)
        assert not answer.endswith(b"0\r\n\r\n")
        assert (await served.get(served.health, "/livez"))[0] == 200
    assert [each.getMessage() for each in caplog.records] == ["/status cannot be rendered"]


async def test_every_interface_is_served_without_a_host():
    port = free().port
    anywhere = HttpServer(ALWAYS_OK, metrics=None, health=BindAddress("", port), status=None)
    await anywhere.start()
    try:
        for host in ("127.0.0.1", "::1"):
            answer = await exchange(BindAddress(host, port), LAST)
            assert answer.startswith(b"HTTP/1.1 200 ")
    finally:
        await anywhere.stop()


async def test_a_response_that_has_begun_may_end_when_the_server_stops():
    begun = asyncio.Event()

    def parts() -> Iterator[str]:
        begun.set()
        for _ in range(100):
            yield "x"

    async with counted(replace(ALWAYS_OK, status=parts)) as (served, _):
        answer = asyncio.create_task(exchange(served.health, STATUS))
        await begun.wait()
    assert (await answer).endswith(b"0\r\n\r\n")
