"""Pages of which only the wanted samples are asked for, of servers that select and of others."""

from contextlib import asynccontextmanager
from math import isnan

import pytest
from aiohttp import web
from msgspec.structs import replace
from prometheus_client import CollectorRegistry, Counter

from tests.integration.scrape.fetcher_fixture import port_of
from tests.integration.scrape.scraper_fixture import scraping
from tests.support.engines import HISTORY, scrape_of
from tests.support.loading_pods import a_loading_pod
from tests.support.stubs import metrics_pages
from tests.support.stubs.api_servers import serving, until


POD = a_loading_pod("serving-0", ip="127.0.0.1", ready=True)
WHOLE, BY_NAMES = "/metrics", "/metrics/"


class ModelServer:
    """
    A server with the routes of vLLM: the whole page at one path, at the other the samples that are named.

    *select*: what the second path responds, by the names; *reads* the paths in order.
    """

    def __init__(self) -> None:
        self.registry = metrics_pages.vllm_registry(engines=1)
        self.reads: list[str] = []
        self.select = self.select_by_names

    def select_by_names(self, names: list[str]) -> web.Response:
        return self.respond(metrics_pages.select(self.registry, names))

    def respond(self, body: bytes, status: int = 200) -> web.Response:
        response = web.Response(body=body, status=status, content_type="text/plain")
        response.force_close()
        return response

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.reads.append(request.path)
        if request.path == BY_NAMES:
            return self.select(request.query.getall("name[]"))
        return self.respond(metrics_pages.whole(self.registry))

    def add_rejected(self) -> None:
        """Register a family that is wanted, and on no page so far."""
        Counter("kaito_ratelimit_rejected", "", registry=self.registry).inc(3)

    def wait_by_names(self, many: int) -> bool:
        return self.reads.count(BY_NAMES) >= many


@asynccontextmanager
async def scraped(folder):
    """Yield a model server, and the scraper that reads its page for the reasons of engines."""
    server = ModelServer()
    async with serving(server.answer) as stub:
        scrapes = {HISTORY: replace(scrape_of("inferencesetEngineStalled"), port=port_of(stub))}
        async with scraping(folder, POD, scrapes=scrapes) as (run, _):
            yield server, run


def numbers(run) -> dict[str, float]:
    """Return the numbers of the pod's newest page, by the first name of each column."""
    history = run.store.snapshot().scrape_history(POD, HISTORY)
    readings = history.engines
    row = readings.by_engine["0"].rows[-1] if "0" in readings.by_engine else ()
    rows = zip(readings.columns, row, strict=False)
    return {column.families[0]: value for column, value in rows if not isnan(value)}


def has_numbers(run) -> bool:
    history = run.store.snapshot().scrape_history(POD, HISTORY)
    return history is not None and history.engines is not None


async def test_the_wanted_samples_are_asked_for_once_the_page_is_known(tmp_path):
    async with scraped(tmp_path) as (server, run):
        await until(lambda: server.reads[:1] == [WHOLE] and has_numbers(run))
        whole = numbers(run)
        await until(lambda: server.wait_by_names(2))
        assert numbers(run) == whole
        assert whole["vllm:generation_tokens_total"] == 48211
        assert whole["vllm:iteration_tokens_total"] == 1
        assert run.results.keys() == {"read"}


async def test_a_family_that_appears_later_is_read_by_its_name(tmp_path):
    async with scraped(tmp_path) as (server, run):
        await until(lambda: server.wait_by_names(1))
        server.add_rejected()
        del server.reads[:]
        await until(lambda: pod_row(run).get("kaito_ratelimit_rejected_total") == 3)
        assert WHOLE not in server.reads


def pod_row(run) -> dict[str, float]:
    readings = run.store.snapshot().scrape_history(POD, HISTORY).engines
    pairs = zip(readings.columns, readings.by_engine[""].rows[-1], strict=True)
    return {column.families[0]: value for column, value in pairs}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 200),  # several processes: the collector has no names
        (b"<html></html>\n", 200),
        (b"not found", 404),
        (b"", 307),
        (b'# TYPE vllm:num_requests_running gauge\n{"a": 1}\n', 200),
    ],
)
async def test_a_server_that_does_not_select_loses_no_page(tmp_path, body, status):
    async with scraped(tmp_path) as (server, run):
        server.select = lambda _: server.respond(body, status)
        await until(lambda: server.wait_by_names(1) and server.reads[-2:] == [WHOLE, WHOLE])
        assert server.reads.count(BY_NAMES) == 1
        assert numbers(run)["vllm:generation_tokens_total"] == 48211
        assert run.results.keys() == {"read"}


async def test_a_server_that_stops_to_select_loses_no_page(tmp_path):
    async with scraped(tmp_path) as (server, run):
        await until(lambda: server.wait_by_names(2))
        server.select = lambda _: server.respond(b"")
        del server.reads[:]
        await until(lambda: server.reads[-2:] == [WHOLE, WHOLE])
        assert server.reads.count(BY_NAMES) == 1
        assert run.results.keys() == {"read"}


async def test_a_server_whose_registry_is_new_is_read_by_names_on(tmp_path):
    async with scraped(tmp_path) as (server, run):
        await until(lambda: server.wait_by_names(1))
        server.registry = CollectorRegistry()
        server.add_rejected()
        del server.reads[:]
        await until(lambda: WHOLE in server.reads)
        assert run.results.keys() == {"read"}


async def test_a_page_that_failed_is_read_as_a_whole(tmp_path):
    async with scraped(tmp_path) as (server, run):
        await until(lambda: server.wait_by_names(1))
        selects, server.registry = server.registry, None
        await until(lambda: run.results["failed"] >= 1)
        server.registry = selects
        del server.reads[:]
        await until(lambda: len(server.reads) >= 2)
        assert server.reads[0] == WHOLE
