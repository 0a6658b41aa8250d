"""Writes to the store, and their moments."""

import asyncio

import pytest

from devcluster.http.faults.rules import (
    CutConnection,
    status_response,
)
from devcluster.server import DevCluster
from reporter.kinds.health_events import StoreLimits, subject_text
from reporter.kube.client import RestClient
from reporter.model.observations import NotServed, NotSynced
from tests.integration.announcing.publisher_fixture import (
    BBR,
    ISTIO,
    MANY,
    MODELS,
    PODS_OF,
)
from tests.integration.history.store_fixture import StoreFixture, running_store
from tests.integration.kube.test_elector import api, server
from tests.support.builders import an_active_verdict


__all__ = ["api", "server"]

POSTS = {"method": "POST", "path": "/healthevents"}
SETTLED = 31


# ------------------------------------------------------------ the course of an episode


async def test_episode_is_kept_and_resolved(server: DevCluster, api: RestClient):
    async with running_store(server, api) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_phases("clusterIstio Active")
        (event,) = store.events.events
        (kept,) = store.existing
        assert kept["metadata"]["name"] == event["metadata"]["name"]
        assert kept["metadata"]["labels"] == event["metadata"]["labels"]
        assert kept["spec"]["message"] == event["message"]
        store.events.set_clear(ISTIO)
        await store.advance(SETTLED)
        await store.until_phases("clusterIstio Resolved")
        await store.until_result("patched")
        assert store.report.results == {"created": 1, "patched": 1}
        assert store.is_up


async def test_other_causes_are_patched_into_the_status(server: DevCluster, api: RestClient):
    async with running_store(server, api) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_phases("clusterIstio Active")
        store.events.set_verdicts(an_active_verdict(BBR))
        await store.until_result("patched")
        (kept,) = store.existing
        assert kept["status"]["also"] == ["clusterBBR"]
        assert "(also: clusterBBR)" in kept["status"]["message"]


async def test_follower_writes_nothing_and_a_new_leader_goes_on(
    server: DevCluster, api: RestClient
):
    async with running_store(server, api) as store:
        store.events.leadership.release()
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await asyncio.sleep(1.5)
        assert store.writes("POST") == 0
        store.events.leadership.acquire()
        await store.until_phases("clusterIstio Active")
        await store.until_result("created")
        store.events.leadership.release()
        await asyncio.sleep(0.1)
        store.events.leadership.acquire()
        store.events.set_clear(ISTIO)
        async with asyncio.timeout(60):
            while store.phases() != ["clusterIstio Resolved"]:
                await store.advance(SETTLED)
                await asyncio.sleep(0.5)  # for its episodes to be read back, and for a plan
        await store.until_result("patched")
        assert store.report.results == {"created": 1, "patched": 1}


@pytest.mark.parametrize("state", [NotSynced(), NotServed()], ids=lambda each: type(each).__name__)
async def test_nothing_is_written_before_the_objects_are_listed(
    server: DevCluster, api: RestClient, state
):
    async with running_store(server, api) as store:
        store.objects.set_watch_state(store.kind, state)
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.events.wait_for_events("clusterIstio x1")
        await asyncio.sleep(1)
        assert (store.writes("POST"), store.is_up) == (0, False)
        store.listed()
        await store.until_phases("clusterIstio Active")
        assert store.is_up


async def test_nothing_is_written_before_the_episodes_of_a_predecessor_are_known(
    server: DevCluster, api: RestClient
):
    unable = status_response(503, "ServiceUnavailable", "unable")
    fault = server.faults.add(unable, method="GET", path="/events")
    async with running_store(server, api) as store:
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.advance(SETTLED)
        await asyncio.sleep(1)
        assert store.writes("POST") == 0
        server.faults.clear(fault)
        await store.until_phases("clusterIstio Active")


async def test_object_of_a_create_without_an_answer_is_found(server: DevCluster, api: RestClient):
    """Cut the connection as at the end of a leader: the API server has created the object."""
    async with running_store(server, api) as store:
        server.faults.add(CutConnection(), times=1, **POSTS)
        store.events.set_verdicts(an_active_verdict(ISTIO))
        await store.until_result("failed")
        name = store.events.events[0]["metadata"]["name"]
        (create,) = _planned(store)
        assert create == name
        copy = {
            "apiVersion": "reporter.productionstack.kaito.sh/v1alpha1",
            "kind": "HealthEvent",
            "metadata": {"name": name, "namespace": "kaito-system"},
            "spec": {"checkName": "clusterIstio"},
        }
        server.cluster.upsert(copy)
        await store.advance(2)
        await store.until_result("found")
        assert len(store.existing) == 1


def _planned(store: StoreFixture) -> list[str]:
    plan = store.plan.make(now=store.clock.now())
    assert plan is not None
    return [each.name for each in plan.creates]


# ------------------------------------------------------------ limits


async def test_what_has_no_place_is_counted_once_and_reported(server: DevCluster, api: RestClient):
    keys = PODS_OF[:5]
    async with running_store(
        server, api, StoreLimits(total=3), catalogue=MANY, subjects=MODELS
    ) as store:
        store.events.set_verdicts(*map(an_active_verdict, keys))
        await store.events.until(lambda: len(store.existing) == 3, within=30)
        await store.events.until(lambda: store.report.rejected["cluster"] == 2, within=30)
        assert len(store.rejections[-1]) == 2
        store.events.run_pass()
        await store.events.wait_idle()
        assert store.report.rejected == {"cluster": 2}
        store.events.set_clear(*keys[:3])
        await store.advance(SETTLED)
        left = {subject_text(key.subject) for key in keys[3:]}
        await store.events.until(lambda: _active(store) == left, within=30)
        await store.events.until(lambda: len(store.existing) == 3, within=30)
        assert not store.rejections[-1]


def _active(store: StoreFixture) -> set[str]:
    running = (
        each for each in store.existing if each.get("status", {}).get("phase") != "Resolved"
    )
    return {each["spec"]["subject"] for each in running}


async def test_writes_are_limited_to_twenty_at_once_and_five_a_second(
    server: DevCluster, api: RestClient
):
    async with running_store(server, api, catalogue=MANY, subjects=MODELS) as store:
        store.events.set_verdicts(*map(an_active_verdict, PODS_OF[:40]))
        await store.events.until(lambda: store.report.results["created"] == 20, within=30)
        store.clock.advance(1)
        store.events.run_pass()
        await store.events.until(lambda: store.report.results["created"] == 25, within=30)
        await asyncio.sleep(1)
        assert store.writes("POST") == 25
