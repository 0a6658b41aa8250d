"""The Lease is owned by the Deployment that runs the pods, whatever happens to either."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest
from msgspec.structs import replace

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.controller.lease_owner import LeaseOwnership
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kube.client import RestClient
from reporter.kube.elector import Elector
from reporter.kube.lease_rules import LeaseTiming
from reporter.kube.leases import Lease
from reporter.process.clock import Clock
from reporter.settings import load_settings
from reporter.store.store import Store
from tests.integration.kube.test_elector import (
    FAST_TIMING,
    api,
    bounded,
    server,
)
from tests.support.builders import a_deployment
from tests.support.catalogue_fixture import SUBJECTS
from tests.support.stubs.api_servers import until


__all__ = ["api", "server"]

LEASE = "leases.coordination.k8s.io"
WHERE = ("default", "productionstack-status-reporter")
NAME = "stack-status-reporter"
FOREIGN = {"apiVersion": "v1", "kind": "ConfigMap", "name": "of-an-operator", "uid": "uid-foreign"}
SLOW = LeaseTiming(
    lease_duration=timedelta(seconds=60),
    renew_deadline=timedelta(seconds=40),
    retry_period=timedelta(seconds=20),
)
"""Long timing, so that the elector writes nothing of its own during the test."""


def our_owner(uid: str) -> dict[str, str]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME, "uid": uid}


@pytest.fixture
def store() -> Store:
    return Store(DEFAULT_KINDS, subjects=SUBJECTS)


def deploy(store: Store, uid: str) -> None:
    """Upsert the Deployment as the watch does."""
    made = a_deployment(NAME, WHERE[0])
    store.upsert(DEPLOYMENTS, replace(made, metadata=replace(made.metadata, uid=uid)))


def ownership_of(api: RestClient, store: Store, deployment: str = NAME) -> LeaseOwnership:
    logged = {"POD_NAMESPACE": WHERE[0], "DEPLOYMENT_NAME": deployment}
    return LeaseOwnership(api, load_settings([], logged), store.snapshot)


@asynccontextmanager
async def leading_with_ownership(
    ownership: LeaseOwnership, terms: LeaseTiming = FAST_TIMING
) -> AsyncIterator[Elector]:
    """A leader that checks its owner all the time."""
    elector = Elector(ownership.lock, terms, identity="a", wall_clock=Clock().now)
    tasks = [
        asyncio.create_task(elector.run()),
        asyncio.create_task(ownership.run(elector, interval=0.05)),
    ]
    try:
        await bounded(elector.wait_acquired())
        yield elector
        assert [task for task in tasks if task.done()] == []
        assert elector.holds_lease()
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def owners(server: DevCluster) -> list[dict[str, str]] | None:
    lease = server.cluster.get(LEASE, *WHERE)
    return lease["metadata"].get("ownerReferences", []) if lease else None


def renewed(server: DevCluster) -> str:
    return server.cluster.get(LEASE, *WHERE)["spec"]["renewTime"]


def lease_left_by_another(server: DevCluster, *references: dict[str, str]) -> None:
    server.cluster.upsert(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "namespace": WHERE[0],
                "name": WHERE[1],
                "labels": {"team": "a"},
                "ownerReferences": list(references),
            },
            "spec": {
                "holderIdentity": "",
                "leaseTransitions": 4,
                "strategy": "OldestEmulationVersion",
            },
        }
    )


def owning_writes(server: DevCluster) -> int:
    return sum(method == "PUT" and "/leases/" in path for method, path in server.requests)


async def test_a_lease_that_another_left_gets_its_owner_and_keeps_all_else(
    server: DevCluster, api: RestClient, store: Store, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    lease_left_by_another(server, FOREIGN)
    deploy(store, "uid-1")
    async with leading_with_ownership(ownership_of(api, store)):
        await until(lambda: owners(server) == [FOREIGN, our_owner("uid-1")])
        before = renewed(server)
        await until(lambda: renewed(server) > before)
        assert owners(server) == [FOREIGN, our_owner("uid-1")]
    kept = server.cluster.get(LEASE, *WHERE)
    assert kept["metadata"]["labels"] == {"team": "a"}
    assert (kept["spec"]["strategy"], kept["spec"]["leaseTransitions"]) == (
        "OldestEmulationVersion",
        5,
    )
    logged = [each for each in caplog.messages if "is deleted with deployment" in each]
    assert logged == [f"lease {'/'.join(WHERE)} is deleted with deployment {NAME}"]
    assert "no longer leading" not in caplog.text


async def test_a_deployment_that_was_made_anew_takes_the_place_of_the_old_one(
    server: DevCluster, api: RestClient, store: Store
):
    deploy(store, "uid-1")
    async with leading_with_ownership(ownership_of(api, store)):
        await until(lambda: owners(server) == [our_owner("uid-1")])
        deploy(store, "uid-2")
        await until(lambda: owners(server) == [our_owner("uid-2")])


async def test_a_lease_that_is_deleted_comes_back_with_its_owner(
    server: DevCluster, api: RestClient, store: Store
):
    deploy(store, "uid-1")
    async with leading_with_ownership(ownership_of(api, store)):
        await until(lambda: owners(server) == [our_owner("uid-1")])
        server.cluster.delete(LEASE, *WHERE)
        await until(lambda: owners(server) is not None)
        assert owners(server) == [our_owner("uid-1")]


async def test_what_is_created_after_its_deployment_is_gone_is_left_for_the_garbage_collector(
    server: DevCluster, api: RestClient, store: Store
):
    deploy(store, "uid-1")
    async with leading_with_ownership(ownership_of(api, store)):
        await until(lambda: owners(server) == [our_owner("uid-1")])
        store.delete(DEPLOYMENTS, WHERE[0], NAME)
        server.cluster.delete(LEASE, *WHERE)
        await until(lambda: owners(server) is not None)
        assert owners(server) == [our_owner("uid-1")]


async def test_a_follower_knows_the_owner_of_a_lease_that_it_has_to_create(
    server: DevCluster, api: RestClient, store: Store
):
    deploy(store, "uid-1")
    async with leading_with_ownership(
        ownership_of(api, Store(DEFAULT_KINDS, subjects=SUBJECTS)), SLOW
    ):
        ownership = ownership_of(api, store)
        follower = Elector(ownership.lock, SLOW, identity="b", wall_clock=Clock().now)
        looking = asyncio.create_task(ownership.run(follower, interval=0.05))
        await asyncio.sleep(0.2)
        looking.cancel()
        store.delete(DEPLOYMENTS, WHERE[0], NAME)
        server.cluster.delete(LEASE, *WHERE)
        following = asyncio.create_task(follower.run())
        await bounded(follower.wait_acquired())
        following.cancel()
        assert owners(server) == [our_owner("uid-1")]


async def test_a_refusal_is_logged_once_and_costs_neither_the_lead_nor_more_requests(
    server: DevCluster, api: RestClient, store: Store, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    async with leading_with_ownership(ownership_of(api, store), SLOW):
        denial = server.deny("update", "coordination.k8s.io", "leases")
        deploy(store, "uid-1")
        await until(lambda: "is not deleted with deployment" in caplog.text)
        asked = owning_writes(server)
        await asyncio.sleep(0.5)
        assert owning_writes(server) == asked == 1
        server.allow(denial)
        deploy(store, "uid-2")
        await until(lambda: owners(server) == [our_owner("uid-2")])
    logged = [
        each for each in caplog.records if "is not deleted with deployment" in each.getMessage()
    ]
    assert [each.levelno for each in logged] == [logging.INFO]


async def test_a_webhook_that_cannot_be_called_for_a_moment_is_asked_again(
    server: DevCluster, api: RestClient, store: Store
):
    async with leading_with_ownership(ownership_of(api, store), SLOW):
        failing = status_response(
            500,
            "InternalError",
            'Internal error occurred: failed calling webhook "w": no endpoints',
        )
        server.faults.add(failing, method="PUT", path="leases", times=1)
        deploy(store, "uid-1")
        await until(lambda: owners(server) == [our_owner("uid-1")])


async def test_an_owner_that_is_right_costs_no_request(
    server: DevCluster, api: RestClient, store: Store
):
    deploy(store, "uid-1")
    async with leading_with_ownership(ownership_of(api, store), SLOW):
        assert owners(server) == [our_owner("uid-1")]
        before = len(list(server.requests))
        await asyncio.sleep(0.5)
        assert len(list(server.requests)) == before


async def test_without_the_name_of_a_deployment_the_lease_is_nobody_s(
    server: DevCluster, api: RestClient, store: Store
):
    deploy(store, "uid-1")
    async with leading_with_ownership(ownership_of(api, store, "")):
        before = renewed(server)
        await until(lambda: renewed(server) > before)
        assert owners(server) == []


async def test_where_no_reason_reads_deployments_the_lease_is_nobody_s(
    server: DevCluster, api: RestClient
):
    async with leading_with_ownership(ownership_of(api, Store((), subjects=SUBJECTS))):
        before = renewed(server)
        await until(lambda: renewed(server) > before)
        assert owners(server) == []


async def test_owners_that_cannot_be_read_are_left_alone(
    server: DevCluster, api: RestClient, store: Store
):
    async with leading_with_ownership(ownership_of(api, store), SLOW) as elector:
        raw = json.loads(elector.lease.raw)
        raw["metadata"]["ownerReferences"] = "mine"
        elector.lease = Lease(elector.lease.record, json.dumps(raw).encode())
        deploy(store, "uid-1")
        await asyncio.sleep(0.2)
        assert owning_writes(server) == 0
