"""Read the metrics page of one pod through the API server's proxy, and refuse odd targets."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from devcluster.server import DevCluster
from reporter.scrape.fetcher import ProxyFetcher
from reporter.scrape.limits import MAX_PROXIED_PAGE_BYTES
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.schedule import LastOutcome
from tests.integration.scrape.fetcher_fixture import (
    PAGE,
    POD,
    AtPort,
    a_pod_page,
    always,
    failure,
    port_of,
    reading_directly,
)
from tests.support.loading_pods import a_loading_pod
from tests.support.stubs.api_servers import (
    a_kubeconfig,
    connected,
    serving,
)


@asynccontextmanager
async def through_server(tmp_path, handler):
    """
    Yield an API server, a pod with this handler behind it, and the fetcher that reads it through
    the server.
    """
    async with DevCluster() as server, serving(handler) as pod:
        _put(server)
        async with connected(a_kubeconfig(tmp_path, server.url)) as api:
            yield server, pod, AtPort(ProxyFetcher(api), port_of(pod))


def _put(server: DevCluster) -> None:
    meta = POD.metadata
    for manifest in (
        {"kind": "Namespace", "metadata": {"name": meta.namespace}},
        {
            "kind": "Pod",
            "metadata": {"name": meta.name, "namespace": meta.namespace},
            "status": {"podIP": "127.0.0.1"},
        },
    ):
        server.cluster.upsert({"apiVersion": "v1", **manifest})


async def test_a_page_is_read_through_the_api_server(tmp_path):
    async with through_server(tmp_path, always(a_pod_page)) as (server, pod, pages):
        assert await pages.fetch(POD, LastOutcome.SUCCEEDED) == PAGE
        path = f"/api/v1/namespaces/team-a/pods/qwen-7rk2p-0:{pod.url[-5:]}/proxy/metrics"
        assert list(server.requests) == [("GET", path)]
        assert pod.requests[0].headers["Accept"] == "text/plain;version=0.0.4"


async def test_without_the_permission_the_result_is_forbidden(tmp_path):
    async with through_server(tmp_path, always(a_pod_page)) as (server, pod, pages):
        server.deny("get", "", "pods/proxy", "team-a")
        result, why = await failure(pages)
        assert (result, pod.requests) == (ScrapeResult.FORBIDDEN, [])
        assert "pods/proxy" in why


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (lambda: a_pod_page(b"", 404), ScrapeResult.FAILED),
        (lambda: a_pod_page(b"", 503), ScrapeResult.FAILED),
        (lambda: a_pod_page(b"<html></html>\n", Content_Type="text/html"), ScrapeResult.UNUSABLE),
        (lambda: a_pod_page(b"x" * (MAX_PROXIED_PAGE_BYTES + 1)), ScrapeResult.UNUSABLE),
    ],
    ids=["not found", "not ready", "html", "too large"],
)
async def test_other_responses_through_the_api_server_are_errors(tmp_path, answer, result):
    async with through_server(tmp_path, always(answer)) as (_, _, pages):
        assert (await failure(pages))[0] == result


async def test_a_redirect_of_a_pod_behind_the_api_server_is_not_followed(tmp_path):
    async with serving(always(a_pod_page)) as elsewhere:

        async def redirect(request):
            return a_pod_page(b"", 302, Location=f"{elsewhere.url}/metrics")

        async with through_server(tmp_path, redirect) as (_, pod, pages):
            result, why = await failure(pages)
        assert (len(pod.requests), elsewhere.requests) == (1, [])
        assert result == ScrapeResult.FAILED
        assert "redirects elsewhere" in why


async def test_a_deleted_pod_or_a_closed_port_has_no_page(tmp_path):
    async with (
        through_server(tmp_path, always(a_pod_page)) as (server, _, _),
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        closed = AtPort(ProxyFetcher(api), 1)
        assert (await failure(closed))[0] == ScrapeResult.FAILED
        assert (await failure(closed, a_loading_pod("gone")))[0] == ScrapeResult.FAILED


# ---------------------------------------------------------------- whatever its status


class UnreachableApi:
    """An API server that must not receive a request."""

    async def call(self, method, path, **_):
        raise AssertionError(f"{method} {path}")


@pytest.mark.parametrize(
    "changes",
    [
        *({"name": name} for name in ("../../../nodes/x", "..", "a/../b", "a?x", "a#b", "a%2fb")),
        *({"name": name} for name in ("", "A", "a..b", "a:1", "a\n", "a" * 254)),
        {"namespace": "../../nodes"},
        {"namespace": ""},
    ],
)
async def test_no_pod_name_can_change_the_request_path(changes):
    pod = a_loading_pod(**{"name": "p", **changes})
    result, why = await failure(AtPort(ProxyFetcher(UnreachableApi()), 5000), pod)
    assert (result, why) == (ScrapeResult.BARRED, "its name is not a valid pod name")


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"),
        *("169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "224.0.0.1", "fe80::1"),
        *("localhost", "10.0.0.1@127.0.0.1", "127.0.0.1/x", "10.0.0.1:80", "[::1]", "127.1"),
    ],
)
async def test_only_addresses_of_pods_are_connected_to(address):
    requested = []

    async def handler(request):
        requested.append(request.path)
        return a_pod_page()

    async with serving(handler) as server:
        pages = reading_directly(port_of(server))
        result, _ = await failure(pages, a_loading_pod(ip=address))
    assert (result, requested) == (ScrapeResult.BARRED, [])


async def test_a_pod_behind_the_api_server_does_not_set_the_clock(tmp_path):
    """The API server passes on the headers of the pod's response."""

    class Clock:
        offset = 0.0

        def __init__(self):
            self.corrections = 0

        def seconds(self):
            return asyncio.get_running_loop().time()

        def correct(self, bounds):
            self.corrections += 1

    async def page_of_the_year_2100(request):
        return a_pod_page(Date="Fri, 01 Jan 2100 12:00:00 GMT")

    async with DevCluster() as server, serving(page_of_the_year_2100) as pod:
        _put(server)
        clock = Clock()
        async with connected(a_kubeconfig(tmp_path, server.url), clock=clock) as api:
            pages = AtPort(ProxyFetcher(api), port_of(pod))
            assert await pages.fetch(POD, LastOutcome.SUCCEEDED) == PAGE
            assert clock.corrections == 0
            await api.call("GET", "/api/v1/namespaces")
            assert clock.corrections == 1
