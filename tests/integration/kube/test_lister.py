"""Lists and pages of one kind, from small API servers on real sockets."""

import pytest
from aiohttp import web

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES
from reporter.kube.errors import Expired, KubeError, Unreachable
from reporter.kube.lister import ListResult, list_all, list_one
from reporter.kube.watch_events import UndecodableObject
from tests.integration.kube.reflector_fixture import (
    FAST_TIMING,
    ScriptedServer,
    a_deployment,
    a_list_response,
)
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    a_status_response,
    abort_connection,
    an_html_response,
    connected,
    serving,
)


async def listed(folder, *lists) -> tuple[ListResult | KubeError, list[dict[str, str]]]:
    """Return the list or its error, and the queries of the requests."""
    cluster = ScriptedServer(lists=lists)
    async with serving(cluster) as server, connected(a_kubeconfig(folder, server.url)) as api:
        found: ListResult | KubeError
        try:
            found = await list_all(api, DEPLOYMENTS, "v1", page_timeout=FAST_TIMING.list_timeout)
        except KubeError as err:
            found = err
    return found, [dict(request.query) for request in cluster.listed]


def names(listing) -> list[str]:
    return [each.metadata.name for each in listing.objects]


async def breaks_off(request) -> web.StreamResponse:
    """Announce a whole body and cut it after a part."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = 1000
    await response.prepare(request)
    await response.write(b'{"metadata":{"resourceVersion":"9"},"items":[')
    abort_connection(request)
    return response


async def test_a_list_is_requested_as_a_whole(tmp_path):
    listing, asked = await listed(tmp_path, a_list_response(a_deployment("a"), a_deployment("b")))
    assert (names(listing), listing.resource_version) == (["a", "b"], "10")
    assert asked == [{}]


@pytest.mark.parametrize("keeps", [True, False])
async def test_the_connection_of_a_list_ends_with_it_unless_it_is_kept(tmp_path, keeps: bool):
    """Its buffers, which have grown with the list, would stay with the watch that follows."""
    clients: list[tuple[str, int]] = []

    async def handler(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        clients.append(request.transport.get_extra_info("peername"))
        return a_list_response(a_deployment("a")) if len(clients) == 2 else a_json_response(b"{}")

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        await api.call("GET", "/version")
        timeout = FAST_TIMING.list_timeout
        await list_all(api, DEPLOYMENTS, "v1", page_timeout=timeout, keeps_connection=keeps)
        await api.call("GET", "/version")
        await api.call("GET", "/version")
    assert clients[0] == clients[1]
    assert clients[2] == clients[3]
    assert (clients[1] == clients[2]) is keeps


@pytest.mark.parametrize(
    "broken", [breaks_off, a_json_response(b'{"metadata":{},"items":[')], ids=["cut", "cut short"]
)
async def test_a_list_that_breaks_off_is_requested_in_pages(tmp_path, broken):
    listing, asked = await listed(
        tmp_path,
        broken,
        a_list_response(a_deployment("a"), version="11", token="p+1"),
        a_list_response(a_deployment("b"), version="11"),
    )
    assert (names(listing), listing.resource_version) == (["a", "b"], "11")
    assert asked == [{}, {"limit": "500"}, {"limit": "500", "continue": "p+1"}]


async def test_pages_whose_token_expires_are_started_over(tmp_path):
    listing, asked = await listed(
        tmp_path,
        breaks_off,
        a_list_response(a_deployment("old"), token="1"),
        a_status_response(410, "Expired"),
        a_list_response(a_deployment("new")),
    )
    assert names(listing) == ["new"]
    assert [query.get("continue") for query in asked] == [None, None, "1", None]


async def test_pages_whose_token_always_expires_are_no_list(tmp_path):
    page, expired = (
        a_list_response(a_deployment("a"), token="1"),
        a_status_response(410, "Expired"),
    )
    failed, asked = await listed(tmp_path, breaks_off, *[page, expired] * 9)
    assert isinstance(failed, Expired)
    assert len(asked) == 1 + 3 * 2


async def test_pages_that_were_not_requested_are_read_to_the_end(tmp_path):
    listing, asked = await listed(
        tmp_path, a_list_response(a_deployment("a"), token="1"), a_list_response(a_deployment("b"))
    )
    assert names(listing) == ["a", "b"]
    assert asked == [{}, {"continue": "1"}]


@pytest.mark.parametrize(
    "answer",
    [a_status_response(500), a_status_response(503), an_html_response(502), an_html_response(200)],
)
async def test_a_list_without_a_first_byte_is_not_requested_again(tmp_path, answer):
    failed, asked = await listed(tmp_path, answer)
    assert isinstance(failed, Unreachable)
    assert asked == [{}]


# ---------------------------------------------------------------- one object


async def one(folder, *answers, kind=DEPLOYMENTS, name=("shop", "a")):
    """Return what a list of one object finds, and the request."""
    cluster = ScriptedServer(lists=answers)
    async with serving(cluster) as server, connected(a_kubeconfig(folder, server.url)) as api:
        answer = await list_one(api, kind, "v1", name, timeout=FAST_TIMING.list_timeout)
    (request,) = cluster.listed
    assert answer.resource_version == "10"
    return answer.found, request


async def test_one_object_is_listed_by_its_name_without_a_resource_version(tmp_path):
    found, request = await one(tmp_path, a_list_response(a_deployment("a")))
    assert found is not None
    assert found.metadata.name == "a"
    assert request.path == "/apis/apps/v1/namespaces/shop/deployments"
    assert dict(request.query) == {"fieldSelector": "metadata.name=a"}


async def test_one_object_of_a_kind_without_namespaces_is_listed(tmp_path):
    found, request = await one(tmp_path, a_list_response(), kind=NAMESPACES, name=("", "shop"))
    assert found is None
    assert request.path == "/api/v1/namespaces"


async def test_one_object_that_is_not_there_is_none(tmp_path):
    assert (await one(tmp_path, a_list_response()))[0] is None


async def test_another_object_than_the_one_that_was_asked_for_is_none(tmp_path):
    assert (await one(tmp_path, a_list_response(a_deployment("b"))))[0] is None


async def test_one_object_that_cannot_be_decoded_is_told_from_a_missing_one(tmp_path):
    found, _ = await one(tmp_path, a_list_response(a_deployment("a", replicas="two")))
    assert isinstance(found, UndecodableObject)


async def test_one_object_that_may_not_be_listed_is_an_error(tmp_path):
    with pytest.raises(KubeError):
        await one(tmp_path, a_status_response(403, "Forbidden", "no"))
