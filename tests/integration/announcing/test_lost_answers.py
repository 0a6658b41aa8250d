"""Writes of Events that arrived although their answers were lost."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from devcluster.http.faults.rules import (
    CutConnection,
)
from devcluster.kubeconfig import render_kubeconfig
from devcluster.server import DevCluster
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.events import EventClient
from tests.integration.announcing.lossy_connection import (
    LossyConnection,
    ShortTimeoutApi,
    a_lossy_connection,
)
from tests.integration.announcing.publisher_fixture import (
    BBR,
    running_publisher,
)
from tests.integration.kube.test_elector import api, server
from tests.support.builders import a_trouble, an_active_verdict


__all__ = ["api", "server"]


@pytest_asyncio.fixture
async def lossy_connection(server: DevCluster) -> AsyncIterator[LossyConnection]:
    async with a_lossy_connection(server) as connection:
        yield connection


@pytest_asyncio.fixture
async def lossy_api(
    lossy_connection: LossyConnection, tmp_path: Path
) -> AsyncIterator[RestClient]:
    """A client whose requests go over the lossy connection."""
    path = tmp_path / "wired"
    path.write_text(
        render_kubeconfig(f"http://127.0.0.1:{lossy_connection.port}", None), encoding="utf-8"
    )
    api = await connect(str(path), environ={})
    yield api
    await api.close()


@pytest.mark.parametrize("mute", [False, True], ids=["cut", "timed out"])
async def test_a_create_that_arrived_without_an_answer_is_one_event(
    server: DevCluster, lossy_connection: LossyConnection, lossy_api: RestClient, mute: bool
):
    sink = EventClient(ShortTimeoutApi(lossy_api), "reporter-0")
    async with running_publisher(server, lossy_api, sink=sink) as fixture:
        lossy_connection.lose_answers(1, rb"POST /api/v1/namespaces/kube-system/events", mute=mute)
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.results["uncertain"] == 1)
        assert (lossy_connection.lost, fixture.event_counts) == (1, ["clusterBBR x1"])
        fixture.advance(2)
        await fixture.until(lambda: fixture.results["found"] == 1)
        await fixture.wait_idle()
        assert fixture.event_counts == ["clusterBBR x1"]
        fixture.set_clear(BBR)
        fixture.advance(31)
        await fixture.wait_for_events("clusterBBR x1", "clusterReady x1")
        assert fixture.results == {"uncertain": 1, "found": 1, "created": 1}


async def test_what_changed_before_the_lost_create_is_repeated_is_patched_once(
    server: DevCluster, lossy_connection: LossyConnection, lossy_api: RestClient
):
    async with running_publisher(server, lossy_api) as fixture:
        lossy_connection.lose_answers(1, rb"POST /api/v1/namespaces/kube-system/events")
        fixture.set_verdicts(an_active_verdict(BBR, a_trouble(code="Degraded")))
        await fixture.until(lambda: fixture.results["uncertain"] == 1)
        fixture.set_verdicts(an_active_verdict(BBR, a_trouble("another")))
        fixture.advance(2)
        await fixture.wait_for_events("clusterBBR x2")
        (event,) = fixture.events
        assert event["message"].startswith("Thing another is broken.")
        assert fixture.results == {"uncertain": 1, "patched": 1}


async def test_a_patch_that_arrived_without_an_answer_counts_once(
    server: DevCluster, lossy_connection: LossyConnection, lossy_api: RestClient
):
    async with running_publisher(server, lossy_api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        lossy_connection.lose_answers(1, rb"PATCH ")
        fixture.advance(331)
        await fixture.until(lambda: fixture.results["uncertain"] == 1)
        assert fixture.event_counts == ["clusterBBR x2"]
        fixture.advance(2)
        await fixture.until(lambda: fixture.results["patched"] == 1)
        assert fixture.event_counts == ["clusterBBR x2"]


async def test_a_ready_that_arrived_without_an_answer_is_one_event(
    server: DevCluster, lossy_connection: LossyConnection, lossy_api: RestClient
):
    async with running_publisher(server, lossy_api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.wait_for_events("clusterBBR x1")
        lossy_connection.lose_answers(1, rb"POST /api/v1/namespaces/kube-system/events")
        fixture.set_clear(BBR)
        fixture.advance(31)
        await fixture.until(lambda: fixture.results["uncertain"] == 1)
        fixture.advance(2)
        await fixture.until(lambda: fixture.results["found"] == 1)
        fixture.advance(600)
        await fixture.wait_idle()
        assert fixture.event_counts == ["clusterBBR x1", "clusterReady x1"]


async def test_a_create_that_was_cut_off_before_it_arrived_is_sent_again(
    server: DevCluster, api: RestClient
):
    server.faults.add(CutConnection(), method="POST", path="events", times=1)
    async with running_publisher(server, api) as fixture:
        fixture.set_verdicts(an_active_verdict(BBR))
        await fixture.until(lambda: fixture.results["uncertain"] == 1)
        fixture.advance(2)
        await fixture.wait_for_events("clusterBBR x1")
        assert fixture.results == {"uncertain": 1, "created": 1}
