"""Injected faults of the API server in memory, and its other methods for tests."""

import asyncio
import json
from datetime import timedelta

import aiohttp
import pytest

from devcluster import DevCluster
from devcluster.http.faults import rules
from devcluster.storage.storage import WatchEnd
from tests.support.ports import free_port
from tests.support.stubs.api_servers import until


PODS = "/api/v1/pods"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.fixture
async def server():
    async with DevCluster(port=free_port(), bookmark_seconds=0.05) as running:
        yield running


@pytest.fixture
async def session(server):
    async with aiohttp.ClientSession(server.url, timeout=aiohttp.ClientTimeout(60)) as opened:
        yield opened


async def status(session, path=PODS):
    async with session.get(path) as answer:
        return answer.status


@pytest.mark.parametrize(
    ("response", "code", "content_type", "start"),
    [
        (rules.overloaded_response(7), 429, "text/plain", "Too many requests"),
        (rules.rate_limited_response(), 429, "application/json", '{"kind":"Status"'),
        (rules.bad_gateway_response(), 502, "text/html", "<html>"),
        (rules.status_response(500, "InternalError", "etcdserver: request timed out"), 500, "application/json", "{"),
        (rules.truncated_response(), 200, "application/json", '{"kind":"PodList"'),
    ],
)  # fmt: skip
async def test_fault_response_replaces_the_response(
    server, session, response, code, content_type, start
):
    server.faults.add(response, path=PODS)
    async with session.get(PODS) as answer:
        text = await answer.text()
        assert (answer.status, answer.content_type) == (code, content_type)
        assert text.startswith(start)
        assert answer.headers.get("Retry-After") == response.headers.get("Retry-After")


async def test_a_fault_is_for_some_requests_and_so_many_times(server, session):
    fault = server.faults.add(rules.bad_gateway_response(), method="GET", path="/pods", times=2)
    assert await status(session, "/api/v1/namespaces") == 200
    assert [await status(session) for _ in range(3)] == [502, 502, 200]
    assert fault.hits == 2


async def test_a_fault_lasts_until_it_is_cleared(server, session):
    first = server.faults.add(rules.bad_gateway_response(), path="/pods")
    server.faults.add(rules.overloaded_response(), path="/namespaces")
    server.faults.clear(first)
    assert (await status(session), await status(session, "/api/v1/namespaces")) == (200, 429)
    server.faults.clear()
    assert await status(session, "/api/v1/namespaces") == 200


async def test_the_connection_is_cut(server, session):
    server.faults.add(rules.CutConnection())
    with pytest.raises(aiohttp.ClientError):
        async with session.get(PODS) as answer:
            await answer.read()


async def test_hang_lasts_until_the_fault_is_cleared(server, session):
    server.faults.add(rules.Hang())
    async with asyncio.TaskGroup() as group:
        hung = group.create_task(_error_of(session))
        await until(lambda: server.requests)
        done, _ = await asyncio.wait([hung], timeout=0.3)
        assert not done
        server.faults.clear()
    assert isinstance(hung.result(), aiohttp.ClientError)


async def _error_of(session):
    """Return the error of a POST, as the client repeats a failed GET."""
    try:
        async with session.post(PODS) as answer:
            await answer.read()
    except aiohttp.ClientError as err:
        return err


async def watch(session, ending, server, *, within=60.0):
    async with session.get(PODS, params={"watch": "1"}) as answer:
        server.end_watches("pods", ending=ending)
        return await asyncio.wait_for(answer.content.read(), within)


async def test_a_watch_ends(server, session):
    assert await watch(session, WatchEnd.CLEAN, server) == b""


async def test_a_watch_is_cut(server, session):
    with pytest.raises(aiohttp.ClientError):
        await watch(session, WatchEnd.CONNECTION_CUT, server)


async def test_bookmark_follows_changes_of_other_objects(server, session):
    params = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": "2"}
    async with session.get("/api/v1/configmaps", params=params) as answer:
        server.cluster.upsert({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
        frame = json.loads(await asyncio.wait_for(answer.content.readline(), 60))
    assert frame["type"] == "BOOKMARK"
    assert frame["object"]["metadata"] == {
        "resourceVersion": str(server.cluster.objects.storage.version)
    }


async def test_a_stale_group_is_there_without_its_resources(server, session):
    server.stale_groups.update({"apps", "external.metrics.k8s.io"})
    async with session.get("/apis", headers={"Accept": AGGREGATED}) as answer:
        found = {
            item["metadata"]["name"]: item["versions"]
            for item in (await answer.json(content_type=None))["items"]
        }
    assert found["apps"] == [{"version": "v1", "freshness": "Stale"}]
    assert found["external.metrics.k8s.io"] == [{"version": "v1beta1", "freshness": "Stale"}]
    assert found["coordination.k8s.io"][0]["freshness"] == "Current"


async def test_what_is_denied_is_403_until_it_is_allowed_again(server, session):
    denial = server.deny("list", "", "pods")
    assert (await status(session), await status(session, "/api/v1/namespaces")) == (403, 200)
    server.allow(denial)
    assert await status(session) == 200


async def test_a_denial_can_be_of_one_namespace(server, session):
    server.deny("list", "", "pods", "kube-system")
    assert await status(session, "/api/v1/namespaces/kube-system/pods") == 403
    assert await status(session, "/api/v1/namespaces/default/pods") == 200


async def test_a_stopped_server_refuses_and_open_watches_end(server, session):
    async with session.get(PODS, params={"watch": "1"}) as answer:
        await server.stop()
        with pytest.raises(aiohttp.ClientError):
            await answer.content.read()
    with pytest.raises(aiohttp.ClientConnectorError):
        await status(session)


async def test_requests_are_recorded(server, session):
    await status(session, PODS + "?limit=1")
    assert list(server.requests) == [("GET", "/api/v1/pods?limit=1")]


async def test_ten_thousand_pods_are_listed_at_once(server, session):
    for number in range(10_000):
        server.cluster.upsert(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"p{number}", "namespace": "default"},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            }
        )
    async with session.get(PODS) as answer:
        assert len((await answer.json())["items"]) == 10_000


async def test_controllers_scale_a_deployment_down_and_up(server, session):
    server.load_example_stack()
    path = "/apis/apps/v1/namespaces/kaito-system/deployments/body-based-router"
    query = "?watch=1&fieldSelector=metadata.name=body-based-router"
    running = asyncio.create_task(server.run_controllers(start=timedelta(seconds=1)))
    try:
        async with session.get(path.rsplit("/", 1)[0] + query) as answer:
            await answer.content.readline()
            for replicas, ready in ((0, None), (2, 2)):
                patch = {"spec": {"replicas": replicas}}
                form = {"Content-Type": "application/merge-patch+json"}
                async with session.patch(f"{path}/scale", json=patch, headers=form) as scaled:
                    assert scaled.status == 200
                assert await _settled(answer, replicas) == ready
    finally:
        running.cancel()


async def _settled(answer, replicas):
    """readyReplicas once the status is about *replicas* and nothing is on its way."""
    async with asyncio.timeout(60):
        while True:
            found = json.loads(await answer.content.readline())["object"]
            status = found["status"]
            current = status["observedGeneration"] == found["metadata"]["generation"]
            if current and found["spec"]["replicas"] == replicas == status.get("readyReplicas", 0):
                return status.get("readyReplicas")
