"""Reflectors, discovery and the real store together, against an API server with faults."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random

import pytest

from devcluster.example.crds import crd
from devcluster.server import DevCluster
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.kaito import WORKSPACES as KAITO_WORKSPACES
from reporter.kinds.objects import ApiObject
from reporter.kube.discovery import DiscoveryLoop
from reporter.kube.reflector import Reflector
from reporter.kube.watch_context import WatchContext
from reporter.model.observations import NotServed, Watching, WatchLost
from reporter.store.store import Store
from tests.integration.kube.reflector_fixture import FAST_TIMING, LocalClock
from tests.support.catalogue_fixture import SUBJECTS
from tests.support.ports import free_port
from tests.support.stubs.api_servers import connected, until


WORKSPACES = replace(KAITO_WORKSPACES, versions=("v1", "v1beta1"), type=ApiObject)
WORKSPACES_CRD = crd("workspaces.kaito.sh")
BUILT_IN = (NAMESPACES, PODS, DEPLOYMENTS)


@dataclass
class StoreSync:
    server: DevCluster
    store: Store

    def table(self, kind):
        return self.store.snapshot().tables[kind.resource]

    def watch_state(self, kind):
        return self.table(kind).watch_state

    def names(self, kind):
        return {each.metadata.name for each in self.table(kind).objects.values()}

    def replicas(self, name):
        return self.table(DEPLOYMENTS).objects.get(("default", name)).spec.replicas

    async def is_watched(self, *kinds):
        await until(lambda: all(self.watch_state(kind) == Watching() for kind in kinds))


@pytest.fixture
async def synced_store(tmp_path):
    at = free_port()  # which is still free after an outage
    async with DevCluster(port=at) as server, running_sync(server, tmp_path) as following:
        yield following


@asynccontextmanager
async def running_sync(server, folder):
    kinds = (*BUILT_IN, WORKSPACES)
    store = Store(kinds, [WORKSPACES.group_resource], subjects=SUBJECTS)
    kubeconfig = str(server.write_kubeconfig(folder / "kubeconfig"))
    async with connected(kubeconfig) as api, asyncio.TaskGroup() as group:
        context = WatchContext(api, LocalClock(), FAST_TIMING, Random(5))
        lookout = DiscoveryLoop(context, store, [WORKSPACES.group_resource])
        reflectors = [Reflector(context, kind, store, lookout) for kind in kinds]
        tasks = [group.create_task(each.run()) for each in reflectors]
        tasks.append(group.create_task(lookout.run()))
        yield StoreSync(server, store)
        for task in tasks:
            task.cancel()


def a_deployment(name, **spec):
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "a", "image": "a"}]},
            },
        }
        | spec,
    }


async def test_what_is_made_changed_and_deleted_is_followed(synced_store):
    await synced_store.is_watched(*BUILT_IN)
    cluster = synced_store.server.cluster
    cluster.upsert(a_deployment("web"))
    await until(lambda: "web" in synced_store.names(DEPLOYMENTS))
    cluster.patch("deployments.apps", "default", "web", {"spec": {"replicas": 0}})
    await until(lambda: synced_store.replicas("web") == 0)
    cluster.delete("deployments.apps", "default", "web")
    await until(lambda: "web" not in synced_store.names(DEPLOYMENTS))


async def test_a_crd_that_comes_goes_and_comes_again_needs_no_restart(synced_store):
    cluster = synced_store.server.cluster
    await until(lambda: synced_store.watch_state(WORKSPACES) == NotServed())
    for name in ("first", "second"):
        cluster.upsert(WORKSPACES_CRD)
        await synced_store.is_watched(WORKSPACES)
        cluster.upsert(a_workspace(name, synced_store.store.served_version(WORKSPACES)))
        await until(lambda: synced_store.names(WORKSPACES))
        assert synced_store.names(WORKSPACES) == {name}
        cluster.delete("customresourcedefinitions.apiextensions.k8s.io", "", "workspaces.kaito.sh")
        await until(lambda: synced_store.watch_state(WORKSPACES) == NotServed())
        await until(lambda: not synced_store.names(WORKSPACES))


def a_workspace(name, version):
    return {
        "apiVersion": f"kaito.sh/{version}",
        "kind": "Workspace",
        "metadata": {"name": name, "namespace": "default"},
    }


async def test_changes_during_an_outage_are_in_the_store_afterwards(synced_store):
    cluster = synced_store.server.cluster
    cluster.upsert(a_deployment("old"))
    await until(lambda: "old" in synced_store.names(DEPLOYMENTS))
    await synced_store.server.stop()
    await until(lambda: isinstance(synced_store.watch_state(DEPLOYMENTS), WatchLost))
    assert synced_store.names(DEPLOYMENTS) == {"old"}
    cluster.delete("deployments.apps", "default", "old")
    cluster.upsert(a_deployment("new"))
    synced_store.server.compact_history()
    await synced_store.server.start()
    await synced_store.is_watched(*BUILT_IN)
    await until(lambda: synced_store.names(DEPLOYMENTS) == {"new"})


async def test_a_permission_that_is_revoked_and_granted_needs_no_restart(synced_store):
    await synced_store.is_watched(*BUILT_IN)
    denial = synced_store.server.deny(resource="deployments")
    synced_store.server.end_watches("deployments.apps")
    await until(lambda: isinstance(synced_store.watch_state(DEPLOYMENTS), WatchLost))
    assert synced_store.watch_state(DEPLOYMENTS).why == "may not watch deployments.apps"
    synced_store.server.allow(denial)
    await synced_store.is_watched(*BUILT_IN)


async def test_a_group_that_discovery_cannot_reach_leaves_everything_as_it_was(synced_store):
    synced_store.server.cluster.upsert(WORKSPACES_CRD)
    await synced_store.is_watched(WORKSPACES)
    synced_store.server.stale_groups.add("kaito.sh")
    presence = synced_store.store.snapshot().presences
    await until(
        lambda: synced_store.store.snapshot().presences[WORKSPACES.group_resource].why_unknown
    )
    assert presence[WORKSPACES.group_resource].versions
    assert synced_store.watch_state(WORKSPACES) == Watching()
