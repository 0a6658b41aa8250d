"""The HTTP endpoints and their addresses."""

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import timedelta

import aiohttp
import pytest
from aiohttp import web
from msgspec.structs import replace

from reporter.metrics.process import Exposition
from reporter.server.limits import ConnectionTimeouts
from reporter.server.server import HttpServer
from tests.integration.server.served_pages import ALWAYS_OK, ServedPages, free, serving
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.metrics_text import some_metrics


async def test_metrics_are_served_in_the_text_format_of_prometheus():
    async with serving() as served:
        status, kind, text = await served.get(served.metrics, "/metrics")
        assert (status, text) == (200, "a 1\n")
        assert kind == "text/plain; version=0.0.4; charset=utf-8"


async def test_metrics_are_served_as_openmetrics_where_that_is_asked_for():
    metrics = some_metrics(DEFAULT_CATALOGUE)
    async with (
        serving(replace(ALWAYS_OK, metrics=metrics.expose)) as served,
        aiohttp.ClientSession() as session,
    ):
        url = f"http://{served.metrics}/metrics"
        accept = {"Accept": "application/openmetrics-text;version=1.0.0"}
        async with session.get(url, headers=accept) as response:
            assert response.headers["Content-Type"].startswith("application/openmetrics-text")
            assert (await response.text()).endswith("# EOF\n")
        async with session.get(url) as response:
            assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")


async def test_other_pages_are_served_while_metrics_are_formatted():
    begun, end = threading.Event(), threading.Event()

    def slow() -> bytes:
        begun.set()
        assert end.wait(60)
        return b"a 1\n"

    page = lambda _: Exposition("text/plain", slow)  # noqa: E731
    async with serving(replace(ALWAYS_OK, metrics=page)) as served:
        waiting = asyncio.create_task(served.get(served.metrics, "/metrics"))
        try:
            await asyncio.to_thread(begun.wait, 60)
            assert (await served.get(served.health, "/livez"))[0] == 200
            assert not waiting.done()
        finally:
            end.set()
        assert (await waiting)[2] == "a 1\n"


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz"])
async def test_a_passing_probe_answers_ok(path: str):
    async with serving() as served:
        status, _, text = await served.get(served.health, path)
        assert (status, text) == (200, "ok\n")


async def test_a_failing_probe_answers_why():
    pages = replace(
        ALWAYS_OK, livez=lambda: "no pass was finished for 91s", readyz=lambda: "listing"
    )
    async with serving(pages) as served:
        for path in ("/livez", "/healthz"):
            status, _, text = await served.get(served.health, path)
            assert (status, text) == (503, "no pass was finished for 91s\n")
        assert (await served.get(served.health, "/readyz"))[::2] == (503, "listing\n")


async def test_the_status_is_json_that_people_can_read():
    async with serving(
        replace(ALWAYS_OK, status=lambda: iter(('{"name":\n', '"ü"}\n')))
    ) as served:
        status, kind, text = await served.get(served.health, "/status")
        assert (status, kind) == (200, "application/json; charset=utf-8")
        assert json.loads(text) == {"name": "ü"}
        assert (await served.get(served.health, "/status", "HEAD"))[::2] == (200, "")


async def test_all_else_has_its_turn_between_two_parts_of_the_status():
    turns, seen = 0, []

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def parts() -> Iterator[str]:
        for _ in range(5):
            seen.append(turns)
            yield " "
        yield "1"

    async with serving(replace(ALWAYS_OK, status=parts)) as served:
        counting = asyncio.create_task(count())
        assert (await served.get(served.health, "/status"))[2] == " " * 5 + "1"
        counting.cancel()
    assert sorted(set(seen)) == seen
    assert len(seen) == 5


async def test_who_does_not_read_the_status_to_its_end_is_left():
    made, left = 0, asyncio.Event()

    def endless() -> Iterator[str]:
        nonlocal made
        try:
            while True:
                made += 1
                yield "x" * 2**16
        finally:
            left.set()

    timeouts = ConnectionTimeouts(response=timedelta(seconds=0.3))
    async with serving(replace(ALWAYS_OK, status=endless), timeouts=timeouts) as served:
        _, writer = await asyncio.open_connection(served.health.host, served.health.port)
        writer.write(b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(60):
            await left.wait()
        writer.transport.abort()
        assert made < 1_000
        assert (await served.get(served.health, "/livez"))[0] == 200


async def test_a_status_that_cannot_be_made_is_an_error():
    def broken() -> Iterator[str]:
        yield str(1 // 0)

    async with serving(replace(ALWAYS_OK, status=broken)) as served:
        assert (await served.get(served.health, "/status"))[0] == 500
        assert (await served.get(served.health, "/status", "HEAD"))[0] == 500


async def test_each_address_has_its_own_pages_only():
    async with serving() as served:
        for address, path in (
            (served.metrics, "/livez"),
            (served.metrics, "/status"),
            (served.health, "/metrics"),
            (served.health, "/"),
        ):
            assert (await served.get(address, path))[0] == 404


async def test_nothing_can_be_written_to():
    async with serving() as served:
        for method in ("POST", "PUT", "DELETE"):
            assert (await served.get(served.health, "/status", method))[0] == 405


async def test_a_page_that_fails_ends_nothing():
    def broken() -> bytes:
        raise RuntimeError("broken")

    page = lambda _: Exposition("text/plain", broken)  # noqa: E731
    async with serving(replace(ALWAYS_OK, metrics=page)) as served:
        assert (await served.get(served.metrics, "/metrics"))[0] == 500
        assert (await served.get(served.health, "/livez"))[0] == 200


async def test_an_address_of_none_is_not_served():
    quiet, address = HttpServer(ALWAYS_OK, metrics=None, health=None, status=None), free()
    await quiet.start()
    await quiet.stop()
    only = HttpServer(ALWAYS_OK, metrics=None, health=address, status=address)
    await only.start()
    async with aiohttp.ClientSession() as session:
        assert (await ServedPages(address, address, session).get(address, "/livez"))[0] == 200
    await only.stop()


async def test_an_address_that_is_taken_is_an_error_that_names_it():
    async with serving() as served:
        second = HttpServer(ALWAYS_OK, metrics=served.metrics, health=None, status=None)
        with pytest.raises(OSError, match=str(served.metrics.port)):
            await second.start()
        await second.stop()


async def test_a_client_that_sends_nothing_holds_up_neither_others_nor_the_end():
    async with serving() as served:
        _, idle = await asyncio.open_connection(*served.health)
        assert (await served.get(served.health, "/livez"))[0] == 200
    idle.close()


async def test_a_handler_ends_with_its_connection():
    began, ended = asyncio.Event(), asyncio.Event()

    async def wait(_: web.Request) -> web.Response:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return web.Response()

    async with serving(replace(ALWAYS_OK, status_v1={"/status/v1": wait})) as served:
        _, writer = await asyncio.open_connection(*served.health)
        writer.write(b"GET /status/v1?wait=30 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(60):
            await began.wait()
            writer.transport.abort()
            await ended.wait()
        assert (await served.get(served.health, "/livez"))[0] == 200


async def test_what_is_unknown_follows_an_ok():
    pages = replace(ALWAYS_OK, limits=lambda: "unknown: modelharness: why")
    async with serving(pages) as served:
        text = (await served.get(served.health, "/readyz"))[2]
        assert text == "ok\nunknown: modelharness: why\n"


async def test_status_can_be_where_only_this_machine_reads_it():
    alone = free()
    async with serving(replace(ALWAYS_OK, status=lambda: iter(('{"a": 1}',))), alone) as served:
        assert (await served.get(alone, "/status"))[0] == 200
        assert (await served.get(served.health, "/status"))[0] == 404
        assert (await served.get(alone, "/readyz"))[0] == 404
        assert (await served.get(served.health, "/readyz"))[0] == 200
