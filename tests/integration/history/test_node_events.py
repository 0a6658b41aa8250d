"""Episodes of nodes in NVSentinel's kind, over real sockets."""

import asyncio

import msgspec
from msgspec.structs import replace

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.kinds.health_events import StoreLimits
from reporter.kube.client import RestClient
from reporter.model.verdicts import Cause, ObjectRef
from tests.integration.announcing.publisher_fixture import BBR, ISTIO
from tests.integration.history.store_fixture import StoreFixture, node_parts, running_store
from tests.integration.kube.test_elector import api, server
from tests.support.builders import a_trouble, an_active_verdict
from tests.support.health_events import NAMESPACE, a_spec
from tests.support.node_events import KIND, a_node_event


__all__ = ["api", "server"]

SETTLED = 31


def trouble_on(*nodes: str, key=ISTIO):
    troubles = [
        replace(a_trouble(), cause=Cause(ObjectRef("nodes", "", node), "Memory")) for node in nodes
    ]
    return an_active_verdict(key, *troubles)


def healthy_by_node(store: StoreFixture) -> list[tuple[str, bool]]:
    return sorted((each["spec"]["nodeName"], each["spec"]["isHealthy"]) for each in store.existing)


async def until_held(store: StoreFixture, *desired: tuple[str, bool]) -> None:
    await store.events.until(lambda: healthy_by_node(store) == sorted(desired), within=30)


def jump(store: StoreFixture, seconds: float) -> None:
    """Let time pass at once."""
    store.clock.advance(seconds)
    store.events.run_pass()


async def test_recovery_is_a_second_object_and_both_are_deleted_after_their_time(
    server: DevCluster, api: RestClient
):
    async with running_store(server, api, parts=node_parts) as store:
        store.events.set_verdicts(trouble_on("n1", "n2"), an_active_verdict(BBR))
        await until_held(store, ("n1", False), ("n2", False))
        first = {each["metadata"]["name"]: each["spec"] for each in store.existing}
        store.events.set_clear(ISTIO)
        await store.advance(SETTLED)
        await until_held(store, ("n1", False), ("n1", True), ("n2", False), ("n2", True))
        now = {each["metadata"]["name"]: each["spec"] for each in store.existing}
        assert {name: now[name] for name in first} == first, "neither ever changes"
        assert now.keys() - first.keys() == {f"{name}-recovered" for name in first}
        jump(store, 86_400 - 60)
        await asyncio.sleep(1.5)
        assert len(store.existing) == 4
        jump(store, 61)
        await until_held(store)
        assert store.writes("PATCH") == 0


async def test_trouble_that_returns_to_a_node_is_a_new_fault_there(
    server: DevCluster, api: RestClient
):
    async with running_store(server, api, parts=node_parts) as store:
        store.events.set_verdicts(trouble_on("n1", "n2"))
        await until_held(store, ("n1", False), ("n2", False))
        uids = {each["spec"]["nodeName"]: each["metadata"]["uid"] for each in store.existing}
        store.events.set_verdicts(trouble_on("n1"))
        existing = [("n1", False), ("n2", False), ("n2", True)]
        async with asyncio.timeout(60):
            while healthy_by_node(store) != existing:
                await store.advance(SETTLED)
                await asyncio.sleep(1)  # for a plan, which is made twice a second
        store.listed()
        await store.advance(61)
        store.events.set_verdicts(trouble_on("n1", "n2"))
        await store.until_result("deleted")
        store.listed()
        await until_held(store, ("n1", False), ("n2", False))
        again = {each["spec"]["nodeName"]: each["metadata"]["uid"] for each in store.existing}
        assert again["n1"] == uids["n1"]
        assert again["n2"] != uids["n2"], "who follows the objects sees that it is back"


async def test_fault_that_a_later_one_replaces_is_deleted_and_gets_no_recovery(
    server: DevCluster, api: RestClient
):
    spec = a_spec("clusterIstio", node="n1", episode=1)
    earlier = {
        "apiVersion": f"{KIND.group}/v1",
        "kind": KIND.kind,
        **msgspec.to_builtins(a_node_event("earlier", spec)),
    }
    earlier["metadata"] = {"name": "earlier", "namespace": NAMESPACE}
    async with running_store(server, api, parts=node_parts) as store:
        server.cluster.upsert(earlier)
        store.listed()
        store.events.set_verdicts(trouble_on("n1"))
        await store.events.until(lambda: "earlier" not in names(store), within=30)
        await until_held(store, ("n1", False))


def names(store: StoreFixture) -> set[str]:
    return {each["metadata"]["name"] for each in store.existing}


async def test_fault_goes_before_its_recovery_which_is_deleted_afterwards(
    server: DevCluster, api: RestClient
):
    async with running_store(server, api, parts=node_parts) as store:
        store.events.set_verdicts(trouble_on("n1"))
        await until_held(store, ("n1", False))
        store.events.set_clear(ISTIO)
        await store.advance(SETTLED)
        await until_held(store, ("n1", False), ("n1", True))
        store.listed()
        refused = server.faults.add(
            status_response(403, "Forbidden", "no"), method="DELETE", path="-recovered"
        )
        jump(store, 86_401)
        await store.until_result("refused")
        assert healthy_by_node(store) == [("n1", True)]
        store.listed()
        server.faults.clear(refused)
        await store.advance(61)
        await until_held(store)


async def test_limit_counts_episodes_so_that_each_recovery_has_a_place(
    server: DevCluster, api: RestClient
):
    limits = StoreLimits(total=2)
    async with running_store(server, api, limits, node_parts) as store:
        store.events.set_verdicts(trouble_on("n1", "n2", "n3"))
        await store.events.until(lambda: store.report.rejected["cluster"] == 1, within=30)
        await store.events.until(lambda: len(store.existing) == 2, within=30)
        store.events.set_clear(ISTIO)
        await store.advance(SETTLED)
        await store.events.until(lambda: len(store.existing) == 4, within=30)
        assert [healthy for _, healthy in healthy_by_node(store)].count(True) == 2


async def test_successor_writes_neither_object_again(server: DevCluster, api: RestClient):
    async with running_store(server, api, parts=node_parts) as store:
        store.events.set_verdicts(trouble_on("n1"))
        await until_held(store, ("n1", False))
        store.events.set_clear(ISTIO)
        await store.advance(SETTLED)
        await until_held(store, ("n1", False), ("n1", True))
        await store.until_result("created", 2)
        store.events.leadership.release()
        store.listed()
        store.events.leadership.acquire()
        await store.advance(200)
        await asyncio.sleep(1.5)
        assert store.report.results == {"created": 2}


async def test_episode_goes_on_in_a_new_process_where_no_event_is_left(
    server: DevCluster, api: RestClient
):
    existing = [("n1", False), ("n2", False)]
    async with running_store(server, api, parts=node_parts) as store:
        store.events.set_verdicts(trouble_on("n1", "n2"))
        await until_held(store, *existing)
        first, clock = names(store), store.clock
        (event,) = store.events.events
    server.cluster.delete("events", "kube-system", event["metadata"]["name"])
    clock.advance(331)
    async with running_store(server, api, parts=node_parts, clock=clock) as store:
        store.events.set_verdicts(trouble_on("n1", "n2"))
        await store.events.until(lambda: bool(store.events.events))
        assert store.events.events[0]["metadata"]["name"] == event["metadata"]["name"]
        await asyncio.sleep(1.5)  # for a plan, which is made twice a second
        assert (healthy_by_node(store), names(store)) == (existing, first)
        store.events.set_clear(ISTIO)
        store.listed()
        await store.advance(SETTLED)
        await until_held(store, *existing, ("n1", True), ("n2", True))
