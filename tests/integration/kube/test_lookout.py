"""
Discovery over the wire, aggregated and not, and when it is asked.
"""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from aiohttp import web

from reporter.kube.discovery import discover
from reporter.kube.errors import Refused, Unreachable
from reporter.kube.lookout import Lookout
from reporter.kube.means import Means
from reporter.model.kinds import DEPLOYMENTS, ResourceKind
from reporter.model.objects import ApiObject
from reporter.model.observations import Discovery
from tests.integration.kube.servers import (
    a_kubeconfig,
    a_page,
    a_status,
    an_answer,
    connected,
    serving,
    until,
)
from tests.integration.kube.watching import HASTE, LocalClock


WORKSPACES = ResourceKind("workspaces", "kaito.sh", ("v1",), "Workspace", ApiObject)
WANTED = ("workspaces.kaito.sh", "gateways.gateway.networking.k8s.io")
GROUPS = frozenset({"kaito.sh", "gateway.networking.k8s.io"})


def a_group(name, **versions):
    """
    Versions as v1=["workspaces"], or v1=None for one that is stale.
    """
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
    return an_answer(body, ETag=f'"{etag}"', Content_Type=content_type)


async def found(folder, handler, *, before=None):
    async with serving(handler) as server, connected(a_kubeconfig(folder, server.url)) as api:
        return await discover(api, GROUPS, before=before), server


KAITO = a_group("kaito.sh", v1=["workspaces", "inferencesets"], v1beta1=["workspaces"])
SERVED = {"workspaces.kaito.sh": ("v1", "v1beta1"), "inferencesets.kaito.sh": ("v1",)}


@pytest.mark.parametrize("version", ["v2", "v2beta1"])
async def test_one_answer_tells_all_versions_of_wanted_groups(tmp_path, version):
    async def handler(request):
        return aggregated(KAITO, a_group("other.io", v1=["things"]), version=version)

    answer, server = await found(tmp_path, handler)
    assert answer.discovery == Discovery(SERVED)
    assert [request.path for request in server.requests] == ["/apis"]
    assert "v=v2;as=APIGroupDiscoveryList" in server.requests[0].headers["Accept"]


async def test_a_group_that_the_server_could_not_ask_is_stale(tmp_path):
    async def handler(request):
        return aggregated(KAITO, a_group("gateway.networking.k8s.io", v1=None))

    answer, _ = await found(tmp_path, handler)
    assert answer.discovery == Discovery(SERVED, frozenset({"gateway.networking.k8s.io"}))


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
        return an_answer({"kind": "APIGroupList", "groups": groups})

    return handler


def resources(*names):
    return an_answer({"kind": "APIResourceList", "resources": [{"name": name} for name in names]})


async def test_a_server_without_aggregated_discovery_is_asked_group_by_group(tmp_path):
    answers = {
        "/apis/kaito.sh/v1": resources("workspaces", "workspaces/status", "inferencesets"),
        "/apis/kaito.sh/v1beta1": resources("workspaces"),
    }
    answer, server = await found(tmp_path, one_by_one(answers))
    assert answer.discovery == Discovery(SERVED)
    assert len(server.requests) == 3


async def test_a_group_that_fails_alone_is_stale(tmp_path):
    answers = {
        "/apis/kaito.sh/v1": resources("workspaces"),
        "/apis/kaito.sh/v1beta1": a_status(503, "ServiceUnavailable"),
    }
    answer, _ = await found(tmp_path, one_by_one(answers))
    assert answer.discovery.stale == {"kaito.sh"}


async def test_a_version_that_vanished_meanwhile_is_not_served(tmp_path):
    answers = {
        "/apis/kaito.sh/v1": resources("workspaces"),
        "/apis/kaito.sh/v1beta1": an_answer(b"404 page not found\n", status=404),
    }
    answer, _ = await found(tmp_path, one_by_one(answers))
    assert answer.discovery == Discovery({"workspaces.kaito.sh": ("v1",)})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda: a_page(200), Unreachable),
        (lambda: an_answer(b"[]"), Unreachable),
        (lambda: an_answer(b"oops"), Unreachable),
        (lambda: a_status(403, "Forbidden"), Refused),
    ],
    ids=["page", "array", "garbage", "forbidden"],
)
async def test_no_answer_is_an_error(tmp_path, answer, expected):
    async def handler(request):
        return answer()

    with pytest.raises(expected):
        await found(tmp_path, handler)


class Board:
    """
    Keeps what it is told.
    """

    def __init__(self) -> None:
        self.told: list[Discovery | str] = []
        self.doubting = False

    def discovered(self, answer, why="", *, now) -> None:
        self.told.append(why if answer is None else answer)


@asynccontextmanager
async def looking(folder, handler, pace):
    board = Board()
    async with (
        serving(handler) as server,
        connected(a_kubeconfig(folder, server.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        lookout = Lookout(Means(api, LocalClock(), pace, Random(1)), board, WANTED)
        task = group.create_task(lookout.run())
        yield lookout, board
        task.cancel()


SELDOM = replace(HASTE, discovery=timedelta(hours=1), second_look=timedelta(hours=1))


async def always(request):
    return aggregated(KAITO)


async def test_discovery_is_asked_regularly(tmp_path):
    async with looking(tmp_path, always, HASTE) as (_, board):
        await until(lambda: len(board.told) >= 3)
    assert set(map(str, board.told)) == {str(Discovery(SERVED))}


async def test_whoever_doubts_gets_an_answer_soon_but_not_one_each(tmp_path):
    pace = replace(SELDOM, discovery_spacing=timedelta(milliseconds=200))
    async with looking(tmp_path, always, pace) as (lookout, board):
        await until(lambda: len(board.told) == 1)
        waiting = asyncio.create_task(lookout.answered())
        start = asyncio.get_running_loop().time()
        for _ in range(50):
            lookout.ask()
        await asyncio.wait_for(waiting, 10)
        assert asyncio.get_running_loop().time() - start >= 0.15
        assert len(board.told) == 2


async def test_a_loss_is_looked_at_a_second_time_soon(tmp_path):
    pace = replace(SELDOM, second_look=timedelta(milliseconds=50))
    async with looking(tmp_path, always, pace) as (_, board):
        board.doubting = True
        await until(lambda: len(board.told) >= 2)
        board.doubting = False
        await until(lambda: len(board.told) >= 3)
        told = len(board.told)
        await asyncio.sleep(0.2)
        assert len(board.told) == told


async def test_a_failure_is_told_and_mended_by_the_next_answer(tmp_path, caplog):
    caplog.set_level("INFO")
    failures = [a_status(503, "ServiceUnavailable", "starting"), a_page()]

    async def handler(request):
        return failures.pop(0) if failures else aggregated(KAITO)

    async with looking(tmp_path, handler, SELDOM) as (_, board):
        await until(lambda: board.told[-1:] == [Discovery(SERVED)])
    assert board.told[0] == "discover API groups: HTTP 503: starting"
    told = [r.getMessage() for r in caplog.records if r.name == "reporter.kube.lookout"]
    assert len(told) == 2


async def test_only_an_answer_about_its_group_says_that_a_kind_is_lacking(tmp_path):
    answers = [aggregated(a_group("kaito.sh", v1=["inferencesets"]))]
    answers += [aggregated(a_group("kaito.sh", v1=None), etag="2"), aggregated(KAITO, etag="3")]

    async def handler(request):
        return answers.pop(0)

    async with looking(tmp_path, handler, SELDOM) as (lookout, board):
        lacking = [lookout.lacks(WORKSPACES)]
        for _ in range(3):
            await until(lambda: len(board.told) == len(lacking))
            lacking.append(lookout.lacks(WORKSPACES))
            lookout.ask()
            if not answers:
                break
        assert lacking == [False, True, False, False]
        assert not lookout.lacks(DEPLOYMENTS)
