"""Pods whose answers the test defines, and the fetchers that read them."""

from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from reporter.scrape.fetcher import DirectFetcher
from reporter.scrape.samples import ScrapeError
from reporter.scrape.schedule import LastOutcome
from tests.support.loading_pods import a_loading_pod
from tests.support.stubs import metrics_pages
from tests.support.stubs.api_servers import (
    a_json_response,
    serving,
)


PAGE = metrics_pages.pre_download(3.1e6, 500.0)
POD = a_loading_pod(ip="127.0.0.1")


class AtPort:
    """A fetcher, and the port at which it reads every pod."""

    def __init__(self, fetcher, port: int) -> None:
        self._fetcher, self._port = fetcher, port

    async def fetch(self, pod, last_outcome: LastOutcome) -> bytes:
        with await self._fetcher.fetch(pod, self._port, last_outcome) as body:
            return bytes(body)


def port_of(server) -> int:
    return int(server.url.rpartition(":")[2])


def reading_directly(port: int, **how) -> AtPort:
    return AtPort(DirectFetcher(**how), port)


def a_pod_page(body: bytes = PAGE, status: int = 200, **headers) -> web.Response:
    return a_json_response(
        body, status, **({"Content_Type": "text/plain; version=0.0.4"} | headers)
    )


def always(answer):
    async def handler(request):
        return answer()

    return handler


@asynccontextmanager
async def at_pod(handler, **how):
    """Yield the server of a pod with this handler, and the fetcher that reads it."""
    async with serving(handler) as server:
        yield server, reading_directly(port_of(server), is_allowed=lambda _: True, **how)


async def failure(pages, pod=POD, last_outcome=LastOutcome.SUCCEEDED) -> tuple[str, str]:
    with pytest.raises(ScrapeError) as caught:
        await pages.fetch(pod, last_outcome)
    return caught.value.result, caught.value.why
