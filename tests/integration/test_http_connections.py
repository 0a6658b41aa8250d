"""
Clients that hold connections, read slowly or send anything at all, over real sockets.
"""

import asyncio
import resource
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

import pytest

from reporter.model.enums import ClosedConnection
from reporter.runtime.http.limits import MAX_CONNECTIONS, ConnectionTimeouts
from reporter.runtime.http.listener import Listener
from reporter.runtime.http.responses import text_response
from reporter.runtime.http.server import HttpServer, Pages
from reporter.settings import BindAddress
from tests.integration.test_server import ALWAYS_OK, ServedPages, free, serving
from tests.support.stubs.api_servers import until


SHORT = ConnectionTimeouts(*[timedelta(seconds=0.3)] * 3)
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
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


async def exchange(address: BindAddress, sent: bytes, *, end: bool = False) -> bytes:
    """
    Send and return all that is received until the server closes.
    """
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(sent)
        if end:
            writer.write_eof()
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.transport.abort()


async def connect(
    stack: ExitStack, address: BindAddress, send: bytes = b"", *, source: str = ADDRESS
) -> socket.socket:
    """
    Return a socket that has sent; a server may have closed it already.
    """
    each = stack.enter_context(socket.socket())
    each.setblocking(False)
    each.bind((source, 0))
    await asyncio.get_running_loop().sock_connect(each, tuple(address))
    with suppress(ConnectionError):
        each.sendall(send)
    return each


async def receive(sock: socket.socket) -> bytes:
    async with asyncio.timeout(10):
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
            assert open_sockets() < 1_100 + 1 + MAX_CONNECTIONS + 40
            assert closed[ClosedConnection.CROWDED_OUT] >= 1_100 - MAX_CONNECTIONS
            idle.sendall(LIVEZ)  # a client with one connection keeps it
            assert (await receive(idle)).startswith(b"HTTP/1.1 200 OK\r\n")


def open_sockets() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_connection_that_is_closed_before_it_is_served_leaves_no_file_open():
    before, address = open_sockets(), free()
    listener = Listener(address, lambda _: text_response(HTTPStatus.OK), max_connections=2)
    await listener.start()
    with ExitStack() as stack:
        # All are in the backlog before the first is accepted, so that some are closed unserved.
        for _ in range(20):
            each = stack.enter_context(socket.socket())
            each.setblocking(False)
            each.connect_ex(tuple(address))
        await until(lambda: open_sockets() <= before + 20 + 2 + 1)
        last = await connect(stack, address, LIVEZ)
        assert (await receive(last)).startswith(b"HTTP/1.1 200 ")
    await listener.stop()
    await until(lambda: open_sockets() <= before)


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


async def test_readers_that_are_slow_make_room_for_a_probe():
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
        (LIVEZ + b"GET", ClosedConnection.SLOW_REQUEST, b"HTTP/1.1 200 "),
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
        async with asyncio.timeout(10):
            while not closed:
                writer.write(b"G")
                await asyncio.sleep(0.02)
        assert closed == {ClosedConnection.SLOW_REQUEST: 1}
        writer.transport.abort()


async def test_who_does_not_read_the_metrics_to_their_end_is_left():
    page = replace(ALWAYS_OK, metrics=lambda: b"a 1\n" * 2**23)
    async with counted(page, timeouts=SHORT) as (served, closed):
        with ExitStack() as stack:
            await connect(stack, served.metrics, LIVEZ.replace(b"livez", b"metrics"))
            await until(lambda: closed == {ClosedConnection.SLOW_READER: 1})


async def test_readers_at_the_same_time_share_one_rendering_of_the_metrics():
    rendered = 0

    def render() -> bytes:
        nonlocal rendered
        rendered += 1
        time.sleep(0.02)
        return b"a %d\n" % rendered

    async with counted(replace(ALWAYS_OK, metrics=render)) as (served, _):
        metrics = LIVEZ.replace(b"livez", b"metrics")
        with ExitStack() as stack:
            readers = [await connect(stack, served.metrics, metrics) for _ in range(50)]
            answers = [await receive(each) for each in readers]
        seen = rendered
        assert {each.rpartition(b"\r\n\r\n")[2] for each in answers} == {
            b"a %d\n" % (number + 1) for number in range(seen)
        }
        assert seen < len(readers) / 2
        await asyncio.sleep(0.2)
        assert (await served.get(served.metrics, "/metrics"))[2] == f"a {seen + 1}\n"


async def test_one_part_is_rendered_at_a_time_however_many_readers_there_are():
    turn, in_turn = 0, Counter[int]()

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    def parts() -> Iterator[str]:
        yield "first"
        for _ in range(20):
            in_turn[turn] += 1
            yield "x"

    async with counted(replace(ALWAYS_OK, status=parts)) as (served, _):
        counting = asyncio.create_task(count_turns())
        with ExitStack() as stack:
            readers = [await connect(stack, served.health, STATUS) for _ in range(30)]
            for each in readers:
                assert await receive(each)
            await until(lambda: sum(in_turn.values()) == 30 * 20)
        counting.cancel()
    assert set(in_turn.values()) == {1}


async def test_requests_in_a_row_are_answered_in_their_order():
    async with counted() as (served, closed):
        last = b"GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        answers = (await exchange(served.health, LIVEZ * 300 + STATUS + last)).split(b"HTTP/1.1 ")
        assert [each[:3] for each in answers[1:]] == [*[b"200"] * 301, b"404"]
        assert not closed


async def test_the_client_may_end_its_side_after_the_request():
    async with counted() as (served, _):
        assert (await exchange(served.health, LIVEZ, end=True)).endswith(b"ok\n")


async def test_a_request_with_a_body_is_answered_and_its_connection_closed():
    async with counted() as (served, _):
        head = b"POST /status HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"
        answer = await exchange(served.health, head + b"x" * 60_000)
        assert answer.startswith(b"HTTP/1.1 405 ")
        assert b"\r\nAllow: GET, HEAD\r\n" in answer
        assert b"\r\nConnection: close\r\n" in answer
        smuggled = LIVEZ[:-2] + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        assert (await exchange(served.health, smuggled + LIVEZ)).count(b"HTTP/1.1") == 1


async def test_http_1_0_has_parts_without_chunks():
    async with counted() as (served, _):
        for more in (b"", b"Connection: keep-alive\r\n"):
            answer = await exchange(served.health, b"GET /status HTTP/1.0\r\n" + more + b"\r\n")
            head, _, body = answer.partition(b"\r\n\r\n")
            assert body == b"{}\n"
            assert b"chunked" not in head
            assert head.endswith(b"Connection: close")


async def test_no_answer_names_the_program_or_is_of_http_0_9(caplog):
    requests = (LIVEZ, STATUS, b"GET /livez\r\n", b"\x16\x03\x01", b"G" * 20_000, b"\r\n" * 9_000)
    async with counted(timeouts=SHORT) as (served, closed):
        for each in requests:
            answer = await exchange(served.health, each)
            assert answer.startswith(b"HTTP/1.1 ")
            assert b"server:" not in answer.lower()
            assert b"Traceback" not in answer
        await until(lambda: closed == {ClosedConnection.MALFORMED: 4, ClosedConnection.IDLE: 2})
    assert caplog.records == []


async def test_a_part_that_fails_resets_the_connection(caplog):
    def broken() -> Iterator[str]:
        yield "{"
        raise RuntimeError("broken")

    async with counted(replace(ALWAYS_OK, status=broken)) as (served, _):
        answer = await exchange(served.health, STATUS)
        assert not answer.endswith(b"0\r\n\r\n")
        assert (await served.get(served.health, "/livez"))[0] == 200
    assert [each.getMessage() for each in caplog.records] == [
        "a page could not be rendered to its end"
    ]


async def test_without_a_free_file_a_waiting_connection_makes_room():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with counted() as (served, closed):
        with ExitStack() as stack:
            await open_many(stack, 20, served.health)
            await asyncio.sleep(0.1)
            probe = stack.enter_context(socket.socket())
            probe.setblocking(False)
            resource.setrlimit(resource.RLIMIT_NOFILE, (probe.fileno() + 1, hard))
            try:
                with suppress(OSError):
                    while True:
                        stack.enter_context(socket.socket())
                await asyncio.get_running_loop().sock_connect(probe, tuple(served.health))
                probe.sendall(LIVEZ)
                answer = await receive(probe)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert closed[ClosedConnection.NO_FILES] > 0


async def test_every_interface_is_served_without_a_host():
    port = free().port
    anywhere = HttpServer(ALWAYS_OK, metrics=None, health=BindAddress("", port), status=None)
    await anywhere.start()
    try:
        for host in ("127.0.0.1", "::1"):
            answer = await exchange(BindAddress(host, port), LIVEZ, end=True)
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
