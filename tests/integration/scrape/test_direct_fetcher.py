"""Read the metrics page of one pod at its address, over a real socket."""

import asyncio
import gzip
import socket
from datetime import timedelta

import pytest
from aiohttp import web

from reporter.scrape.limits import (
    MAX_CHUNKS,
    MAX_LARGE_PAGES,
    MAX_PAGE_BYTES,
    SMALL_PAGE_BYTES,
)
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.schedule import LastOutcome
from tests.integration.scrape.fetcher_fixture import (
    PAGE,
    POD,
    a_pod_page,
    always,
    at_pod,
    failure,
    port_of,
    reading_directly,
)
from tests.support.loading_pods import a_loading_pod
from tests.support.ports import refusing_port
from tests.support.stubs.api_servers import (
    abort_connection,
    serving,
    until,
)


PACKET_BYTES = 1448
"""The payload of one TCP packet on Ethernet."""


async def test_a_page_is_read_as_it_is():
    async with at_pod(always(a_pod_page)) as (server, pages):
        assert await pages.fetch(POD, LastOutcome.SUCCEEDED) == PAGE
        (request,) = server.requests
        assert (request.method, request.path) == ("GET", "/metrics")
        assert request.headers["Accept"] == "text/plain;version=0.0.4"
        assert request.headers["Accept-Encoding"] == "identity"
        assert "Authorization" not in request.headers


async def test_a_pod_of_version_six_is_read():
    async def answer(request):
        return a_pod_page()

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    try:
        await web.TCPSite(runner, "::1", 0).start()
        pages = reading_directly(runner.addresses[0][1], is_allowed=lambda _: True)
        assert await pages.fetch(a_loading_pod(ip="::1"), LastOutcome.SUCCEEDED) == PAGE
    finally:
        await runner.cleanup()


async def test_a_special_address_is_never_connected_to():
    async with serving(always(a_pod_page)) as server:
        result, _ = await failure(reading_directly(port_of(server)))
        assert (result, server.requests) == (ScrapeResult.BARRED, [])


async def test_a_redirect_is_not_followed():
    async with serving(always(a_pod_page)) as elsewhere:

        async def redirect(request):
            return a_pod_page(b"", 302, Location=f"{elsewhere.url}/metrics")

        async with at_pod(redirect) as (_, pages):
            result, why = await failure(pages)
        assert result == ScrapeResult.UNUSABLE
        assert "redirects" in why
        assert elsewhere.requests == []


@pytest.mark.parametrize("status", [204, 401, 404, 500, 503])
async def test_a_response_other_than_200_is_an_error_with_its_status(status):
    async with at_pod(always(lambda: a_pod_page(b"", status))) as (_, pages):
        assert await failure(pages) == (ScrapeResult.FAILED, f"it answers with HTTP {status}")


async def test_html_is_not_a_metrics_page():
    html = always(lambda: a_pod_page(b"<html></html>\n", Content_Type="text/html"))
    async with at_pod(html) as (_, pages):
        assert await failure(pages) == (ScrapeResult.UNUSABLE, "its page is HTML")


async def test_a_compressed_page_is_not_unpacked():
    bomb = gzip.compress(b"x" * 50_000_000)
    packed = always(lambda: a_pod_page(bomb, Content_Encoding="gzip"))
    async with at_pod(packed) as (_, pages):
        result, why = await failure(pages)
        assert (result, "compressed" in why) == (ScrapeResult.UNUSABLE, True)


async def test_an_endless_page_is_aborted_at_the_limit():
    sent = 0

    async def endless(request):
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)
            sent += 65536

    async with at_pod(endless) as (_, pages):
        result, why = await failure(pages)
        assert (result, str(MAX_PAGE_BYTES) in why) == (ScrapeResult.TOO_COSTLY, True)
        assert sent < 10 * MAX_PAGE_BYTES


async def test_a_page_of_too_many_chunks_is_aborted_at_the_limit():
    async def chunked(request):
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(MAX_CHUNKS + 1):
            await response.write(b"a")
        return response

    async with at_pod(chunked) as (_, pages):
        result, why = await failure(pages)
        assert (result, str(MAX_CHUNKS) in why) == (ScrapeResult.TOO_COSTLY, True)


async def test_a_page_that_comes_in_small_chunks_and_small_packets_is_read():
    """Write chunks as a Go server does, in packets that end where no chunk does."""
    chunk = b"800\r\n" + b"x" * 2048 + b"\r\n"
    sent = chunk * (MAX_PAGE_BYTES // 2048) + b"0\r\n\r\n"

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for at in range(0, len(sent), PACKET_BYTES):
            writer.write(sent[at : at + PACKET_BYTES])
            await writer.drain()
            for _ in range(4):  # until the fetcher has read it
                await asyncio.sleep(0)
        writer.close()
        await writer.wait_closed()
        ended.set()

    ended = asyncio.Event()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    limit = timedelta(minutes=1)
    pages = reading_directly(port, is_allowed=lambda _: True, timeout=limit)
    async with server:
        assert len(await pages.fetch(POD, LastOutcome.SUCCEEDED)) == MAX_PAGE_BYTES
        await ended.wait()


async def test_a_page_of_the_largest_size_is_read():
    async with at_pod(always(lambda: a_pod_page(b"x" * MAX_PAGE_BYTES))) as (_, pages):
        assert len(await pages.fetch(POD, LastOutcome.SUCCEEDED)) == MAX_PAGE_BYTES


async def test_a_page_that_takes_too_long_is_given_up():
    async def trickle(request):
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"a 1\n")
            await asyncio.sleep(0.02)

    async with at_pod(trickle, timeout=timedelta(seconds=0.3)) as (_, pages), asyncio.timeout(60):
        assert (await failure(pages))[0] == ScrapeResult.TIMED_OUT


async def test_a_pod_that_sends_nothing_is_given_up_sooner_at_its_first_scrape():
    async def late(request):
        await asyncio.sleep(0.6)
        return a_pod_page()

    async with at_pod(late, first_read_timeout=timedelta(seconds=0.2)) as (_, pages):
        assert (await failure(pages, last_outcome=LastOutcome.NEW))[0] == ScrapeResult.TIMED_OUT
        for last_outcome in (LastOutcome.FAILED, LastOutcome.SUCCEEDED):
            assert await pages.fetch(POD, last_outcome) == PAGE


async def test_a_pod_that_sends_has_the_whole_timeout_at_its_first_scrape():
    async def slowly(request):
        response = web.StreamResponse()
        await response.prepare(request)
        for line in PAGE.splitlines(keepends=True):
            await response.write(line)
            await asyncio.sleep(0.05)
        return response

    quiet_time = timedelta(seconds=0.3)
    assert PAGE.count(b"\n") * 0.05 > quiet_time.total_seconds()
    async with at_pod(slowly, first_read_timeout=quiet_time) as (_, pages):
        assert await pages.fetch(POD, LastOutcome.NEW) == PAGE


async def test_only_so_many_large_pages_are_received_at_once_and_no_others_wait():
    """The first pages do not end until the test ends them."""
    large = b"# a comment\n" * (2 * SMALL_PAGE_BYTES // 12)
    begun, end = 0, asyncio.Event()

    async def answer(request):
        nonlocal begun
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(PAGE if small else large)
        begun += 1
        if begun <= MAX_LARGE_PAGES:
            await end.wait()
        return response

    small = False
    async with at_pod(answer) as (_, pages), asyncio.TaskGroup() as group:
        first = [
            group.create_task(pages.fetch(POD, LastOutcome.NEW)) for _ in range(MAX_LARGE_PAGES)
        ]
        await until(lambda: begun == MAX_LARGE_PAGES)
        late = group.create_task(pages.fetch(POD, LastOutcome.FAILED))
        await until(lambda: begun > MAX_LARGE_PAGES)
        assert await pages.fetch(POD, LastOutcome.SUCCEEDED) == large
        small = True
        assert await pages.fetch(POD, LastOutcome.NEW) == PAGE
        assert not late.done()
        end.set()
    assert {each.result() for each in (late, *first)} == {large}


async def test_a_page_that_is_cut_off_is_no_page():
    async def half(request):
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(PAGE[:100])
        abort_connection(request)
        return response

    async with at_pod(half) as (_, pages):
        assert (await failure(pages))[0] == ScrapeResult.FAILED


async def test_a_cookie_is_not_sent_back():
    async with at_pod(always(lambda: a_pod_page(Set_Cookie="a=b"))) as (server, pages):
        await pages.fetch(POD, LastOutcome.SUCCEEDED)
        await pages.fetch(POD, LastOutcome.SUCCEEDED)
        assert "Cookie" not in server.requests[1].headers


async def test_no_proxy_of_the_environment_is_used(monkeypatch):
    async with serving(always(a_pod_page)) as proxy, at_pod(always(a_pod_page)) as (pod, pages):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await pages.fetch(POD, LastOutcome.SUCCEEDED)
        assert (len(pod.requests), proxy.requests) == (1, [])


async def test_a_port_at_which_nothing_listens_refuses():
    with refusing_port() as port:
        pages = reading_directly(port, is_allowed=lambda _: True)
        refused = ScrapeResult.REFUSED, f"nothing listens at port {port}"
        assert await failure(pages) == refused


async def test_dropped_packets_differ_from_a_refusal():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        waiting = []
        for _ in range(4):  # until the queue is full, and further SYNs are dropped
            each = socket.socket()
            each.setblocking(False)
            each.connect_ex(address)
            waiting.append(each)
        result, why = await failure(reading_directly(address[1], is_allowed=lambda _: True))
    for each in waiting:
        each.close()
    assert (result, why) == (ScrapeResult.UNREACHABLE, "connecting to it timed out")
