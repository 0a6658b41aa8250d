"""Lifetimes of connections and responses, over real sockets."""

import asyncio
import gc
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta

from msgspec.structs import replace

from reporter.server.connection import Connection
from reporter.server.limits import STOP_TIMEOUT, ConnectionTimeouts
from reporter.server.server import HttpServer
from tests.integration.server.served_pages import ALWAYS_OK, a_page, free
from tests.integration.server.test_http_connections import (
    LIVEZ,
    SHORT,
    STATUS,
    connect,
    counted,
    receive,
)
from tests.support.stubs.api_servers import until


LONG = ConnectionTimeouts(*[timedelta(minutes=1)] * 3)


async def test_a_request_that_follows_early_does_not_end_the_response_before_it():
    page = replace(ALWAYS_OK, metrics=a_page(b"a 1\n" * 2**22))
    request = LIVEZ.replace(b"livez", b"metrics")
    async with counted(page, timeouts=replace(LONG, request=SHORT.request)) as (served, closed):
        reader, writer = await asyncio.open_connection(*served.metrics)
        writer.write(request)
        received = len(await reader.readexactly(2**16))
        writer.write(request)
        await asyncio.sleep(2 * SHORT.request.total_seconds())
        while received < 2**25:
            received += len(await reader.readexactly(2**16))
        assert not closed
        writer.transport.abort()


async def test_a_connection_that_is_lost_during_its_response_stays_no_longer():
    def endless() -> Iterator[str]:
        while True:
            yield "x" * 2**16

    async with counted(replace(ALWAYS_OK, status=endless)) as (served, _):
        with ExitStack() as stack:
            lost = await connect(stack, served.health, STATUS)
            assert await receive(lost)
            assert open_connections() == 1
            lost.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await until(lambda: open_connections() == 0)


def open_connections() -> int:
    gc.collect()
    return sum(type(each) is Connection for each in gc.get_objects())


async def test_addresses_whose_clients_do_not_read_stop_together():
    def endless() -> Iterator[str]:
        while True:
            yield "x" * 2**16

    metrics, health, status = (free() for _ in range(3))
    pages = replace(ALWAYS_OK, status=endless, metrics=a_page(b"a 1\n" * 2**23))
    server = HttpServer(pages, metrics=metrics, health=health, status=status)
    await server.start()
    with ExitStack() as stack:
        for address, request in ((metrics, LIVEZ.replace(b"livez", b"metrics")), (status, STATUS)):
            await receive(await connect(stack, address, request))
        async with asyncio.timeout(3 * STOP_TIMEOUT.total_seconds()):
            await server.stop()
