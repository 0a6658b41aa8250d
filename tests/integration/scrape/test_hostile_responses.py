"""Servers of pods that send what no HTTP server should, over a real socket."""

import asyncio
import errno
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from itertools import repeat
from pathlib import Path

import pytest

from reporter.scrape.limits import (
    MAX_CHUNKS,
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_LARGE_PAGES,
    MAX_PAGE_BYTES,
    MAX_RESPONSE_BYTES,
    SMALL_PAGE_BYTES,
)
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.schedule import LastOutcome
from tests.integration.scrape.fetcher_fixture import (
    PAGE,
    POD,
    AtPort,
    failure,
    reading_directly,
)
from tests.support.loading_pods import a_loading_pod
from tests.support.stubs.api_servers import until


SIZE = len(PAGE)
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: %d\r\n" % SIZE
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ONE_CHUNK = b"%x\r\n%b\r\n" % (SIZE, PAGE)
LAST_CHUNK = b"0\r\n\r\n"
NEVER = timedelta(minutes=10)
"""A timeout that does not pass: what ends the exchange is something else."""

SHORT = timedelta(seconds=0.1)

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_pod(answer: Answer, **how) -> AsyncIterator[AtPort]:
    """Yield the reader of a pod that answers a request so, and closes the connection then."""

    open_connections = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_connections
        open_connections += 1
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            await answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        open_connections -= 1

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield reading_directly(port, is_allowed=lambda _: True, **({"timeout": NEVER} | how))
        await until(lambda: not open_connections)


def sending(*parts: bytes) -> Answer:
    """Answer with these bytes, each of the parts in a packet of its own."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)

    return answer


def endless(begin: bytes, part: bytes) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        for each in repeat(part):
            writer.write(each)
            await writer.drain()

    return answer


def in_ways(response: bytes) -> dict[str, Answer]:
    """Send a response at once, and byte by byte."""
    return {
        "at once": sending(response),
        "byte by byte": sending(*(bytes((each,)) for each in response)),
    }


@pytest.mark.parametrize("how", ["at once", "byte by byte"])
@pytest.mark.parametrize(
    "response",
    [
        pytest.param(OK + LENGTH + b"\r\n" + PAGE, id="its length"),
        pytest.param(OK + b"\r\n" + PAGE, id="until the connection ends"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n" + PAGE, id="HTTP/1.0"),
        pytest.param(CHUNKED + ONE_CHUNK + LAST_CHUNK, id="chunks"),
        pytest.param(CHUNKED + ONE_CHUNK + b"0\r\nA: b\r\n\r\n", id="a trailer"),
        pytest.param(
            CHUNKED + b"%x;a=b\r\n%b\r\n" % (SIZE, PAGE) + LAST_CHUNK, id="a chunk extension"
        ),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n\r\n"
            + (OK + LENGTH + b"\r\n" + PAGE),
            id="interim responses",
        ),
        pytest.param(OK.replace(b"\r", b"") + b"A: b\n\n" + PAGE, id="bare line feeds"),
        pytest.param(OK + b"Transfer-Encoding: identity\r\n\r\n" + PAGE, id="identity"),
        pytest.param(
            OK + b"Upgrade: h2c\r\nConnection: upgrade\r\n" + LENGTH + b"\r\n" + PAGE,
            id="an offered upgrade",
        ),
        pytest.param(OK + LENGTH + b"A:" + b" " * 50_000 + b"\r\n\r\n" + PAGE, id="spaces"),
        pytest.param(OK + LENGTH + b"\r\n" + PAGE + b"more 1\n", id="more than its length"),
        pytest.param(
            OK + LENGTH + b"Connection: close\r\n\r\n" + PAGE + b"more 1\n",
            id="more after a close",
        ),
        pytest.param(
            2 * (OK + LENGTH + b"Connection: keep-alive\r\n\r\n" + PAGE), id="two responses"
        ),
        pytest.param(CHUNKED + ONE_CHUNK + LAST_CHUNK + b"\0\xff", id="garbage after the end"),
    ],
)
async def test_a_whole_response_is_read_and_nothing_after_it(response, how):
    if how == "byte by byte" and len(response) > MAX_CHUNKS:
        response = response.replace(b" " * 50_000, b" " * 1000)
    async with raw_pod(in_ways(response)[how]) as pages:
        assert await pages.fetch(POD, LastOutcome.SUCCEEDED) == PAGE


@pytest.mark.parametrize("how", ["at once", "byte by byte"])
@pytest.mark.parametrize(
    ("response", "result", "why"),
    [
        pytest.param(b"", "failed", "closes the connection", id="nothing"),
        pytest.param(OK, "failed", "closes the connection", id="half a head"),
        pytest.param(b"HTTP/1.1 100 \r\n\r\n", "failed", "closes the connection", id="interim"),
        pytest.param(OK + LENGTH + b"\r\n", "failed", "closes the connection", id="no body"),
        pytest.param(
            OK + LENGTH + b"\r\n" + PAGE[:-1], "failed", "closes the connection", id="cut off"
        ),
        pytest.param(CHUNKED + ONE_CHUNK, "failed", "closes the connection", id="no last chunk"),
        pytest.param(
            CHUNKED + ONE_CHUNK + b"0\r\nA: b\r\n", "failed", "closes the connection", id="trailer"
        ),
        pytest.param(
            CHUNKED + ONE_CHUNK[:-10], "failed", "closes the connection", id="half a chunk"
        ),
        pytest.param(PAGE, "failed", "not HTTP", id="HTTP/0.9"),
        pytest.param(b"\x16\x03\x01\x02\x00", "failed", "not HTTP", id="TLS"),
        pytest.param(b"HTTP/0.9 200 OK\r\n\r\n" + PAGE, "failed", "not HTTP", id="old version"),
        pytest.param(b"HTTP/2.0 200 OK\r\n\r\n" + PAGE, "failed", "not HTTP", id="new version"),
        pytest.param(b"HTTP/1.1 abc\r\n\r\n" + PAGE, "failed", "not HTTP", id="no status"),
        pytest.param(OK + 2 * LENGTH + b"\r\n" + PAGE, "failed", "not HTTP", id="two lengths"),
        pytest.param(
            OK + LENGTH + CHUNKED[len(OK) :] + ONE_CHUNK + LAST_CHUNK,
            *("failed", "not HTTP"),
            id="a length and chunks",
        ),
        pytest.param(
            OK + b"Content-Length: -1\r\n\r\n" + PAGE, "failed", "not HTTP", id="negative"
        ),
        pytest.param(OK + b"Content-Length: 9" + b"9" * 30, "failed", "not HTTP", id="overflow"),
        pytest.param(CHUNKED + b"x\r\n" + PAGE, "failed", "not HTTP", id="no chunk size"),
        pytest.param(CHUNKED + b"f" * 30 + b"\r\n", "failed", "not HTTP", id="endless chunk size"),
        pytest.param(
            CHUNKED + b"1\r\nab\r\n" + LAST_CHUNK, "failed", "not HTTP", id="longer than its size"
        ),
        pytest.param(OK + b": b\r\n\r\n" + PAGE, "failed", "not HTTP", id="no header name"),
        pytest.param(
            b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n" + PAGE,
            *("failed", "it answers with HTTP 101"),
            id="an upgrade",
        ),
        pytest.param(b"HTTP/1.1 101 x\r\n\r\n" + PAGE, "failed", "HTTP 101", id="half an upgrade"),
        pytest.param(b"HTTP/1.1 307 x\r\n\r\n", "unusable", "redirects", id="redirect"),
        pytest.param(
            OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + ONE_CHUNK + LAST_CHUNK,
            *("unusable", "compressed"),
            id="compressed chunks",
        ),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + PAGE,
            *("unusable", "compressed"),
            id="two codings",
        ),
        pytest.param(
            OK + b"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n\r\n" + PAGE,
            *("unusable", "compressed"),
            id="compressed all the same",
        ),
        pytest.param(
            OK + b"CONTENT-TYPE:\r\n TEXT/HTML\r\n\r\n" + PAGE, "unusable", "HTML", id="HTML"
        ),
    ],
)
async def test_any_other_response_is_no_page_and_never_a_shorter_one(response, result, why, how):
    async with raw_pod(in_ways(response)[how]) as pages:
        found, text = await failure(pages)
    assert (found, why in text) == (result, True), text


@pytest.mark.parametrize(
    ("begin", "part", "result", "limit"),
    [
        (OK, b"A: b\r\n", ScrapeResult.FAILED, MAX_HEADERS),
        (OK + b"A: ", b"x" * 1000, ScrapeResult.FAILED, MAX_HEAD_BYTES),
        (OK + b"A:", b" " * 1000, ScrapeResult.FAILED, MAX_HEAD_BYTES),
        (OK, b"x" * 1000, ScrapeResult.FAILED, MAX_HEAD_BYTES),
        (b"HTTP/1.1 200 ", b"x" * 1000, ScrapeResult.FAILED, MAX_HEAD_BYTES),
        (b"", b"\r\n" * 500, ScrapeResult.FAILED, MAX_HEAD_BYTES),
        (b"", b"HTTP/1.1 100 \r\n\r\n", ScrapeResult.FAILED, MAX_HEADERS),
        (CHUNKED + b"0\r\n", b"A: b\r\n", ScrapeResult.FAILED, MAX_HEADERS),
        (CHUNKED + b"0\r\nA: ", b"x" * 1000, ScrapeResult.FAILED, MAX_HEAD_BYTES),
        (CHUNKED + b"1;", b"x" * 1000, ScrapeResult.FAILED, MAX_HEAD_BYTES),
        (CHUNKED, b"1\r\na\r\n" * 1000, ScrapeResult.TOO_COSTLY, MAX_CHUNKS),
        (CHUNKED, b"1;%b\r\na\r\n" % (b"x" * 60_000), ScrapeResult.TOO_COSTLY, MAX_RESPONSE_BYTES),
        (OK + b"\r\n", b"a 1\n" * 1000, ScrapeResult.TOO_COSTLY, MAX_PAGE_BYTES),
        (
            OK + b"Content-Length: 9999999999\r\n\r\n",
            b"a 1\n" * 1000,
            ScrapeResult.TOO_COSTLY,
            MAX_PAGE_BYTES,
        ),
    ],
    ids=[
        *("headers", "header value", "spaces", "header name", "reason", "empty lines", "interim"),
        *("trailers", "trailer value", "chunk extension", "chunks", "long chunk extensions"),
        *("body", "long body"),
    ],
)
async def test_an_endless_response_ends_at_a_limit(begin, part, result, limit):
    async with raw_pod(endless(begin, part)) as pages:
        found, why = await failure(pages)
    assert (found, str(limit) in why) == (result, True), why


async def test_a_connection_that_is_reset_is_no_page():
    async def reset(_, writer):
        writer.write(OK + b"\r\n" + PAGE)
        await writer.drain()
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    async with raw_pod(reset) as pages:
        found, why = await failure(pages)
    assert (found, why) == (ScrapeResult.FAILED, "it sends no page: Connection reset by peer")


async def test_an_address_that_the_kernel_refuses_is_unreachable_and_says_why():
    pages = reading_directly(9, is_allowed=lambda _: True)
    found, why = await failure(pages, a_loading_pod(ip="255.255.255.255"))
    assert found == ScrapeResult.UNREACHABLE
    assert why.partition(": ")[2] in {os.strerror(errno.EACCES), os.strerror(errno.ENETUNREACH)}


async def test_a_name_is_not_resolved():
    """Resolving it would hold the event loop, and lead to any address."""
    async with raw_pod(sending(OK + LENGTH + b"\r\n" + PAGE)) as pages:
        found, _ = await failure(pages, a_loading_pod(ip="localhost"))
    assert found == ScrapeResult.UNREACHABLE


@pytest.mark.parametrize(
    ("response", "limit", "is_cancelled"),
    [
        pytest.param(OK + LENGTH + b"\r\n" + PAGE, NEVER, False, id="a page"),
        pytest.param(PAGE, NEVER, False, id="no HTTP"),
        pytest.param(OK + b"Content-Type: text/html\r\n\r\n", NEVER, False, id="HTML"),
        pytest.param(CHUNKED + b"x", NEVER, False, id="a wrong chunk"),
        pytest.param(OK + LENGTH + b"\r\n" + PAGE[:-1], SHORT, False, id="a timeout"),
        pytest.param(OK + LENGTH + b"\r\n" + PAGE[:-1], NEVER, True, id="cancelled"),
    ],
)
async def test_no_connection_stays_open(response, limit, is_cancelled):
    """The pod would keep it open, and ends when it sees that the reader has closed it."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def answer(reader, writer):
        writer.write(response)
        begun.set()
        with suppress(ConnectionError):
            await reader.read()
        ended.set()

    before = _open_files()
    async with raw_pod(answer, timeout=limit) as pages:
        reading = asyncio.create_task(pages.fetch(POD, LastOutcome.SUCCEEDED))
        await begun.wait()
        if is_cancelled:
            await asyncio.sleep(0.05)
            assert not reading.done()
            reading.cancel()
        await asyncio.wait([reading])
        await ended.wait()
    assert reading.cancelled() is is_cancelled
    assert is_cancelled or (reading.exception() is None) is response.endswith(
        LENGTH + b"\r\n" + PAGE
    )
    await until(lambda: _open_files() <= before)


async def test_a_slot_for_large_pages_comes_back_from_each_that_fails_or_is_cancelled():
    large = OK + b"Content-Length: %d\r\n\r\n" % MAX_PAGE_BYTES + b"a 1\n" * SMALL_PAGE_BYTES
    whole = False
    begun = 0

    async def answer(reader, writer):
        nonlocal begun
        begun += 1
        writer.write(large)
        if whole:
            writer.write(b"a 1\n" * (MAX_PAGE_BYTES // 4 - SMALL_PAGE_BYTES))
        elif begun > MAX_LARGE_PAGES:
            await reader.read()

    async with raw_pod(answer) as pages:
        for _ in range(MAX_LARGE_PAGES):
            assert (await failure(pages))[0] == ScrapeResult.FAILED
        async with asyncio.TaskGroup() as group:
            reading = [
                group.create_task(pages.fetch(POD, LastOutcome.SUCCEEDED))
                for _ in range(2 * MAX_LARGE_PAGES)
            ]
            await until(lambda: begun == 3 * MAX_LARGE_PAGES)
            await asyncio.sleep(0.05)
            for each in reading:
                each.cancel()
        whole = True
        async with asyncio.TaskGroup() as group:
            read = [
                group.create_task(pages.fetch(POD, LastOutcome.SUCCEEDED))
                for _ in range(2 * MAX_LARGE_PAGES)
            ]
    assert {len(each.result()) for each in read} == {MAX_PAGE_BYTES}


async def test_a_large_page_is_not_received_without_a_slot():
    """Its server is held up by what the kernel buffers, far below the size of the page."""
    sent, release = 0, asyncio.Event()

    async def answer(_, writer):
        nonlocal sent
        writer.transport.set_write_buffer_limits(0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        begun.append(writer)
        writer.write(OK + b"\r\n")
        if len(begun) <= MAX_LARGE_PAGES:
            writer.write(b"a 1\n" * SMALL_PAGE_BYTES)
            await release.wait()
            return
        for _ in range(MAX_PAGE_BYTES // 4096):
            writer.write(b"a 1\n" * 1024)
            await writer.drain()
            sent += 4096

    begun: list[asyncio.StreamWriter] = []
    async with raw_pod(answer) as pages, asyncio.TaskGroup() as group:
        for _ in range(MAX_LARGE_PAGES):
            group.create_task(pages.fetch(POD, LastOutcome.SUCCEEDED))
        await until(lambda: len(begun) == MAX_LARGE_PAGES)
        await asyncio.sleep(0.05)
        late = group.create_task(pages.fetch(POD, LastOutcome.SUCCEEDED))
        await until(lambda: sent > SMALL_PAGE_BYTES)
        await asyncio.sleep(0.2)
        assert sent < MAX_PAGE_BYTES // 2
        assert not late.done()
        release.set()
    assert len(late.result()) == sent == MAX_PAGE_BYTES


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
