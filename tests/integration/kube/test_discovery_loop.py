"""Discovery over HTTP, aggregated and not, and the moments at which it runs."""

import asyncio
import dataclasses
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random

import pytest
from aiohttp import web
from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.kaito import WORKSPACES as KAITO_WORKSPACES
from reporter.kinds.objects import ApiObject
from reporter.kube.discovery import DiscoveryLoop, discover
from reporter.kube.errors import Refused, Unreachable
from reporter.kube.watch_context import WatchContext
from reporter.model.observations import DiscoveryResult
from tests.integration.kube.reflector_fixture import FAST_TIMING, LocalClock
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    a_status_response,
    an_html_response,
    connected,
    serving,
    until,
)


WORKSPACES = dataclasses.replace(KAITO_WORKSPACES, versions=("v1",), type=ApiObject)
WANTED = ("workspaces.kaito.sh", "gateways.gateway.networking.k8s.io")
GROUPS = frozenset({"kaito.sh", "gateway.networking.k8s.io"})


def a_group(name, **versions):
    """Versions as v1=["workspaces"], or v1=None for one that is stale."""
    return {
        "metadata": {"name": name},
        "versions": [
            {
                "version": version,
                "freshness": "Stale" if resources is None else "Current",
                "resources": [
                    {"resource": each, "subresources": [{"subresource": "status"}]}
                    for each in resources or ()
                ],
            }
            for version, resources in versions.items()
        ],
    }


def aggregated(*groups, etag="1", version="v2"):
    content_type = f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    body = {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "items": groups,
    }
    return a_json_response(body, ETag=f'"{etag}"', Content_Type=content_type)


async def found(folder, handler, *, before=None):
    async with serving(handler) as server, connected(a_kubeconfig(folder, server.url)) as api:
        return await discover(api, GROUPS, previous=before), server


KAITO = a_group("kaito.sh", v1=["workspaces", "inferencesets"], v1beta1=["workspaces"])
SERVED = {"workspaces.kaito.sh": ("v1", "v1beta1"), "inferencesets.kaito.sh": ("v1",)}


@pytest.mark.parametrize("version", ["v2", "v2beta1"])
async def test_one_response_lists_all_versions_of_wanted_groups(tmp_path, version):
    async def handler(request):
        return aggregated(KAITO, a_group("other.io", v1=["things"]), version=version)

    answer, server = await found(tmp_path, handler)
    assert answer.discovery == DiscoveryResult(SERVED)
    assert [request.path for request in server.requests] == ["/apis"]
    assert "v=v2;as=APIGroupDiscoveryList" in server.requests[0].headers["Accept"]


async def test_a_group_that_the_server_could_not_ask_is_stale(tmp_path):
    async def handler(request):
        return aggregated(KAITO, a_group("gateway.networking.k8s.io", v1=None))

    answer, _ = await found(tmp_path, handler)
    assert answer.discovery == DiscoveryResult(SERVED, frozenset({"gateway.networking.k8s.io"}))


async def test_an_unchanged_answer_costs_nothing(tmp_path):
    async def handler(request):
        if request.headers.get("If-None-Match") == '"1"':
            return web.Response(status=304)
        return aggregated(KAITO)

    first, _ = await found(tmp_path, handler)
    second, _ = await found(tmp_path, handler, before=first)
    assert second is first


def one_by_one(answers):
    async def handler(request):
        if request.path != "/apis":
            return answers[request.path]
        versions = [{"groupVersion": "kaito.sh/v1", "version": "v1"}, {"version": "v1beta1"}]
        groups = [{"name": "kaito.sh", "versions": versions}, {"name": "other.io", "versions": []}]
        return a_json_response({"kind": "APIGroupList", "groups": groups})

    return handler


def resources(*names):
    return a_json_response(
        {"kind": "APIResourceList", "resources": [{"name": name} for name in names]}
    )


async def test_without_aggregated_discovery_each_group_is_requested(tmp_path):
    answers = {
        "/apis/kaito.sh/v1": resources("workspaces", "workspaces/status", "inferencesets"),
        "/apis/kaito.sh/v1beta1": resources("workspaces"),
    }
    answer, server = await found(tmp_path, one_by_one(answers))
    assert answer.discovery == DiscoveryResult(SERVED)
    assert len(server.requests) == 3


async def test_a_group_that_fails_alone_is_stale(tmp_path):
    answers = {
        "/apis/kaito.sh/v1": resources("workspaces"),
        "/apis/kaito.sh/v1beta1": a_status_response(503, "ServiceUnavailable"),
    }
    answer, _ = await found(tmp_path, one_by_one(answers))
    assert answer.discovery.failed_groups == {"kaito.sh"}


async def test_a_version_that_vanished_meanwhile_is_not_served(tmp_path):
    answers = {
        "/apis/kaito.sh/v1": resources("workspaces"),
        "/apis/kaito.sh/v1beta1": a_json_response(b"404 page not found\n", status=404),
    }
    answer, _ = await found(tmp_path, one_by_one(answers))
    assert answer.discovery == DiscoveryResult({"workspaces.kaito.sh": ("v1",)})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda: an_html_response(200), Unreachable),
        (lambda: a_json_response(b"[]"), Unreachable),
        (lambda: a_json_response(b"oops"), Unreachable),
        (lambda: a_status_response(403, "Forbidden"), Refused),
    ],
    ids=["page", "array", "garbage", "forbidden"],
)
async def test_no_answer_is_an_error(tmp_path, answer, expected):
    async def handler(request):
        return answer()

    with pytest.raises(expected):
        await found(tmp_path, handler)


class FakePresenceStore:
    """Keep the presence states that are written to it."""

    def __init__(self) -> None:
        self.recorded: list[DiscoveryResult | str] = []
        self.has_unconfirmed_loss = False

    def record_discovery(self, answer, why="", *, now) -> None:
        self.recorded.append(why if answer is None else answer)


@asynccontextmanager
async def running_discovery(folder, handler, timing):
    board = FakePresenceStore()
    async with (
        serving(handler) as server,
        connected(a_kubeconfig(folder, server.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        lookout = DiscoveryLoop(WatchContext(api, LocalClock(), timing, Random(1)), board, WANTED)
        task = group.create_task(lookout.run())
        yield lookout, board
        task.cancel()


SELDOM = replace(
    FAST_TIMING,
    discovery_interval=timedelta(hours=1),
    loss_confirmation_interval=timedelta(hours=1),
)


async def always(request):
    return aggregated(KAITO)


async def test_discovery_runs_regularly(tmp_path):
    async with running_discovery(tmp_path, always, FAST_TIMING) as (_, board):
        await until(lambda: len(board.recorded) >= 3)
    assert set(map(str, board.recorded)) == {str(DiscoveryResult(SERVED))}


async def test_refresh_requests_are_served_soon_and_together(tmp_path):
    timing = replace(SELDOM, min_discovery_interval=timedelta(milliseconds=200))
    asked: list[float] = []

    async def handler(request):
        asked.append(asyncio.get_running_loop().time())
        return aggregated(KAITO)

    async with running_discovery(tmp_path, handler, timing) as (lookout, board):
        await until(lambda: len(board.recorded) == 1)
        waiting = asyncio.create_task(lookout.wait_for_answer())
        for _ in range(50):
            lookout.request_refresh()
        await asyncio.wait_for(waiting, 60)
        assert len(board.recorded) == 2
        assert asked[1] - asked[0] >= 0.2


async def test_a_loss_is_looked_at_a_second_time_soon(tmp_path):
    timing = replace(SELDOM, loss_confirmation_interval=timedelta(milliseconds=50))
    async with running_discovery(tmp_path, always, timing) as (_, board):
        board.has_unconfirmed_loss = True
        await until(lambda: len(board.recorded) >= 2)
        board.has_unconfirmed_loss = False
        await until(lambda: len(board.recorded) >= 3)
        recorded = len(board.recorded)
        await asyncio.sleep(0.2)
        assert len(board.recorded) == recorded


async def test_a_failure_is_reported_until_the_next_success(tmp_path, caplog):
    caplog.set_level("INFO")
    failures = [a_status_response(503, "ServiceUnavailable", "starting"), an_html_response()]

    async def handler(request):
        return failures.pop(0) if failures else aggregated(KAITO)

    async with running_discovery(tmp_path, handler, SELDOM) as (_, board):
        await until(lambda: board.recorded[-1:] == [DiscoveryResult(SERVED)])
    assert board.recorded[0] == "discover API groups: HTTP 503: starting"
    recorded = [r.getMessage() for r in caplog.records if r.name == "reporter.kube.discovery"]
    assert len(recorded) == 2


async def test_a_kind_is_unserved_or_its_group_fails_only_by_a_response_about_it(tmp_path):
    answers = [aggregated(a_group("kaito.sh", v1=["inferencesets"]))]
    answers += [aggregated(a_group("kaito.sh", v1=None), etag="2"), aggregated(KAITO, etag="3")]

    async def handler(request):
        return answers.pop(0)

    async with running_discovery(tmp_path, handler, SELDOM) as (lookout, board):
        unserved, failing = [lookout.is_unserved(WORKSPACES)], []
        for _ in range(3):
            await until(lambda: len(board.recorded) == len(unserved))
            unserved.append(lookout.is_unserved(WORKSPACES))
            failing.append(lookout.is_group_failing(WORKSPACES))
            lookout.request_refresh()
            if not answers:
                break
        assert unserved == [False, True, False, False]
        assert failing == [False, True, False]
        assert not lookout.is_unserved(DEPLOYMENTS)


async def test_groups_that_are_added_while_an_answer_is_on_its_way_are_in_the_next(tmp_path):
    asked, answer, tags = asyncio.Event(), asyncio.Event(), []

    async def handler(request):
        tags.append(request.headers.get("If-None-Match", ""))
        asked.set()
        await answer.wait()
        return aggregated(KAITO, a_group("keda.sh", v1alpha1=["scaledobjects"]))

    async with running_discovery(tmp_path, handler, FAST_TIMING) as (discovery, board):
        await asked.wait()
        discovery.set_resources([*WANTED, "scaledobjects.keda.sh"])
        answer.set()
        await until(lambda: board.recorded)
        first, *_ = board.recorded
        assert first.served_versions["scaledobjects.keda.sh"] == ("v1alpha1",)
    assert tags[:2] == ["", ""], "the answer about fewer groups is no basis of the next"
