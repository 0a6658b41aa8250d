"""
The HTTP endpoints and their addresses.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from reporter.app import Reporter
from reporter.embedded.server import EmbeddedServer
from reporter.kube.client.client import RestClient
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching
from reporter.runtime.http.limits import ConnectionTimeouts
from reporter.runtime.http.server import HttpServer, Pages
from reporter.runtime.process.clock import Clock
from reporter.settings import load_settings
from reporter.settings.parsers import BindAddress
from tests.integration.test_elector import api, server
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.ports import free_port


__all__ = ["api", "server"]

ALWAYS_OK = Pages(
    metrics=lambda: b"a 1\n", status=lambda: iter(("{}\n",)), livez=lambda: "", readyz=lambda: ""
)


def free() -> BindAddress:
    return BindAddress("127.0.0.1", free_port())


class ServedPages:
    def __init__(
        self, metrics: BindAddress, health: BindAddress, session: aiohttp.ClientSession
    ) -> None:
        self.metrics, self.health, self._session = metrics, health, session

    async def get(
        self, address: BindAddress, path: str, method: str = "GET"
    ) -> tuple[int, str, str]:
        """
        Return status, type and text.
        """
        async with self._session.request(method, f"http://{address}{path}") as response:
            kind = response.headers["Content-Type"]
            return response.status, kind, await response.text()


@asynccontextmanager
async def serving(
    pages: Pages = ALWAYS_OK, status: BindAddress | None = None, **how
) -> AsyncIterator[ServedPages]:
    metrics, health = free(), free()
    server = HttpServer(pages, metrics=metrics, health=health, status=status or health, **how)
    await server.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield ServedPages(metrics, health, session)
    finally:
        await server.stop()


async def test_metrics_are_served_in_the_text_format_of_prometheus():
    async with serving() as served:
        status, kind, text = await served.get(served.metrics, "/metrics")
        assert (status, text) == (200, "a 1\n")
        assert kind == "text/plain; version=0.0.4; charset=utf-8"


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
        writer.write(b"GET /status HTTP/1.1\r\nHost: reporter\r\n\r\n")
        async with asyncio.timeout(10):
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

    async with serving(replace(ALWAYS_OK, metrics=broken)) as served:
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


async def test_a_client_that_says_nothing_holds_up_neither_others_nor_the_end():
    async with serving() as served:
        _, idle = await asyncio.open_connection(*served.health)
        assert (await served.get(served.health, "/livez"))[0] == 200
    idle.close()


# ------------------------------------------------------------ what the process answers


@pytest_asyncio.fixture
async def reporter(server: EmbeddedServer, api: RestClient) -> Reporter:
    """
    A reporter that is wired but not running.
    """
    settings = load_settings([], {}, hostname="laptop", namespace_file=Path("/nowhere"))
    return Reporter(settings, DEFAULT_CATALOGUE, api, Clock())


def mark_all_watched(reporter: Reporter) -> None:
    for kind in reporter._store.kinds:
        reporter._store.set_watch_state(kind, Watching())


async def test_ready_means_every_kind_listed_and_a_pass_finished(reporter: Reporter):
    every = ", ".join(kind.group_resource for kind in reporter._store.kinds)
    assert reporter._health.why_not_ready() == (
        f"not every kind was listed yet\n{every}: being listed"
    )
    mark_all_watched(reporter)
    assert reporter._health.why_not_ready() == "no pass was finished yet"
    reporter._controller.run_pass(full=True)
    assert reporter._health.why_not_ready() == ""
    reporter._store.set_watch_state(NAMESPACES, NotSynced("may not list namespaces"))
    assert reporter._health.why_not_ready() == "", "ready once is ready"


async def test_ready_waits_for_a_list_that_nobody_but_the_api_server_may_refuse(
    reporter: Reporter,
):
    mark_all_watched(reporter)
    reporter._store.set_watch_state(NAMESPACES, NotSynced("HTTP 407: proxy"))
    reporter._controller.run_pass(full=True)
    assert reporter._health.why_not_ready() == (
        "not every kind was listed yet\nnamespaces: HTTP 407: proxy"
    )
    refused = NotSynced("may not list namespaces", refused=True)
    reporter._store.set_watch_state(NAMESPACES, refused)
    reporter._controller.run_pass(full=True)
    assert reporter._health.why_not_ready() == ""
    assert reporter._health.describe_unknown().splitlines() == [
        f"unknown: {layer}: namespaces not listed yet: may not list namespaces"
        for layer in ("modelharness", "modeldeployment")
    ]


async def test_ready_does_not_wait_for_a_kind_of_which_no_version_can_be_read(
    reporter: Reporter,
):
    mark_all_watched(reporter)
    reporter._store.set_watch_state(INFERENCE_SETS, NotServed())
    served = DiscoveryResult({INFERENCE_SETS.group_resource: ("v2",)})
    reporter._store.record_discovery(served, now=Clock().now())
    reporter._controller.run_pass(full=True)
    assert reporter._health.why_not_ready() == ""
    assert "served as v2 only" in reporter._health.describe_unknown()


async def test_readyz_shows_what_a_leader_waits_for_before_it_announces(reporter: Reporter):
    assert reporter._health.describe_unknown() == ""
    reporter._publisher.waiting_for = "earlier Events are read again after 60 s: why"
    assert reporter._health.describe_unknown() == (
        "nothing is announced: earlier Events are read again after 60 s: why"
    )


async def test_what_is_unknown_follows_an_ok():
    pages = replace(ALWAYS_OK, unknown=lambda: "unknown: modelharness: why")
    async with serving(pages) as served:
        text = (await served.get(served.health, "/readyz"))[2]
        assert text == "ok\nunknown: modelharness: why\n"


async def test_live_means_a_pass_within_three_resyncs(reporter: Reporter):
    now = asyncio.get_running_loop().time()
    mark_all_watched(reporter)
    reporter._controller.run_pass(full=True)
    reporter._controller.pass_times.finished = now - 80
    assert reporter._health.why_not_live() == ""
    reporter._controller.pass_times.finished = now - 95
    assert reporter._health.why_not_live() == "no pass was finished for 95s"


async def test_a_server_that_lists_slowly_is_not_mended_by_another_start(reporter: Reporter):
    reporter._health.started_at = asyncio.get_running_loop().time() - 600
    assert reporter._health.why_not_live() == ""
    mark_all_watched(reporter)
    assert reporter._health.why_not_live() == "no pass was finished for 600s"


async def test_the_status_of_a_process_that_saw_nothing_yet(reporter: Reporter):
    status = json.loads("".join(reporter._status_page.render()))
    assert (status["leading"], status["lastPass"]) == (False, None)
    assert status["identity"].startswith("laptop_")
    assert set(status["kinds"].values()) == {"being listed"}
    mark_all_watched(reporter)
    reporter._controller.run_pass(full=True)
    status = json.loads("".join(reporter._status_page.render()))
    assert status["lastPass"]
    (cluster,) = (s for s in status["subjects"] if s["layer"] == "cluster")
    (missing,) = (v for v in cluster["verdicts"] if v["reason"] == "clusterBBRNotReady")
    assert missing["state"] == "held"


async def test_status_can_be_where_only_this_machine_reads_it():
    alone = free()
    async with serving(replace(ALWAYS_OK, status=lambda: iter(('{"a": 1}',))), alone) as served:
        assert (await served.get(alone, "/status"))[0] == 200
        assert (await served.get(served.health, "/status"))[0] == 404
        assert (await served.get(alone, "/readyz"))[0] == 404
        assert (await served.get(served.health, "/readyz"))[0] == 200


async def test_by_default_the_status_is_served_inside_the_pod_alone(
    server: EmbeddedServer, api: RestClient, monkeypatch
):
    """
    A server on all interfaces answers at 127.0.0.2 as well; one at 127.0.0.1 does not.
    """
    inside, metrics, health = free(), free(), free()
    monkeypatch.setattr("reporter.settings.effective.STATUS_ADDRESS", inside)
    flags = (
        f"--metrics-bind-address=:{metrics.port}",
        f"--health-probe-bind-address=:{health.port}",
    )
    settings = load_settings(flags, {}, hostname="laptop", namespace_file=Path("/nowhere"))
    reporter = Reporter(settings, DEFAULT_CATALOGUE, api, Clock())
    await reporter._server.start()
    try:
        async with aiohttp.ClientSession() as session:
            outside = [BindAddress("127.0.0.2", each.port) for each in (metrics, health, inside)]
            served = ServedPages(outside[0], outside[1], session)
            for path in ("/livez", "/healthz", "/readyz"):
                assert (await served.get(outside[1], path))[0] in {200, 503}
            assert (await served.get(outside[0], "/metrics"))[0] == 200
            assert [(await served.get(each, "/status"))[0] for each in outside[:2]] == [404, 404]
            with pytest.raises(aiohttp.ClientConnectionError):
                await served.get(outside[2], "/status")
            assert (await served.get(inside, "/status"))[0] == 200
    finally:
        await reporter._server.stop()
