"""
Reflectors, discovery and the real store together follow an API server through its troubles.
"""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

import pytest

from reporter.embedded.example_crds import crd
from reporter.embedded.server import EmbeddedServer
from reporter.kube.lookout import Lookout
from reporter.kube.means import Means
from reporter.kube.reflector import Reflector
from reporter.model.kinds import DEPLOYMENTS, NAMESPACES, PODS, ResourceKind
from reporter.model.objects import ApiObject
from reporter.model.observations import Unserved, Unwatched, Watched
from reporter.stages.store import Store
from tests.integration.kube.servers import connected, until
from tests.integration.kube.watching import HASTE, LocalClock


WORKSPACES = ResourceKind("workspaces", "kaito.sh", ("v1", "v1beta1"), "Workspace", ApiObject)
WORKSPACES_CRD = crd("workspaces.kaito.sh")
BUILT_IN = (NAMESPACES, PODS, DEPLOYMENTS)


@dataclass
class Following:
    server: EmbeddedServer
    store: Store

    def table(self, kind):
        return self.store.view().tables[kind.resource]

    def sight(self, kind):
        return self.table(kind).sight

    def names(self, kind):
        return {each.metadata.name for each in self.table(kind).objects.values()}

    def replicas(self, name):
        return self.table(DEPLOYMENTS).objects.get(("default", name)).spec.replicas

    async def is_watched(self, *kinds):
        await until(lambda: all(self.sight(kind) == Watched() for kind in kinds))


@pytest.fixture
async def following(tmp_path):
    async with EmbeddedServer() as server, at_work(server, tmp_path) as following:
        yield following


@asynccontextmanager
async def at_work(server, folder):
    kinds = (*BUILT_IN, WORKSPACES)
    store = Store(kinds, [WORKSPACES.qualified])
    kubeconfig = str(server.kubeconfig(folder / "kubeconfig"))
    async with connected(kubeconfig) as api, asyncio.TaskGroup() as group:
        means = Means(api, LocalClock(), HASTE, Random(5))
        lookout = Lookout(means, store, [WORKSPACES.qualified])
        reflectors = [Reflector(means, kind, store, lookout) for kind in kinds]
        tasks = [group.create_task(each.run()) for each in reflectors]
        tasks.append(group.create_task(lookout.run()))
        yield Following(server, store)
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


async def test_what_is_made_changed_and_deleted_is_followed(following):
    await following.is_watched(*BUILT_IN)
    cluster = following.server.cluster
    cluster.put(a_deployment("web"))
    await until(lambda: "web" in following.names(DEPLOYMENTS))
    cluster.patch("deployments.apps", "default", "web", {"spec": {"replicas": 0}})
    await until(lambda: following.replicas("web") == 0)
    cluster.delete("deployments.apps", "default", "web")
    await until(lambda: "web" not in following.names(DEPLOYMENTS))


async def test_a_crd_that_comes_goes_and_comes_again_needs_no_restart(following):
    cluster = following.server.cluster
    await until(lambda: following.sight(WORKSPACES) == Unserved())
    for name in ("first", "second"):
        cluster.put(WORKSPACES_CRD)
        await following.is_watched(WORKSPACES)
        cluster.put(a_workspace(name, following.store.served(WORKSPACES)))
        await until(lambda: following.names(WORKSPACES))
        assert following.names(WORKSPACES) == {name}
        cluster.delete("customresourcedefinitions.apiextensions.k8s.io", "", "workspaces.kaito.sh")
        await until(lambda: following.sight(WORKSPACES) == Unserved())
        await until(lambda: not following.names(WORKSPACES))


def a_workspace(name, version):
    return {
        "apiVersion": f"kaito.sh/{version}",
        "kind": "Workspace",
        "metadata": {"name": name, "namespace": "default"},
    }


async def test_a_server_that_was_away_is_followed_again_with_what_happened_meanwhile(following):
    cluster = following.server.cluster
    cluster.put(a_deployment("old"))
    await until(lambda: "old" in following.names(DEPLOYMENTS))
    await following.server.stop()
    await until(lambda: isinstance(following.sight(DEPLOYMENTS), Unwatched))
    assert following.names(DEPLOYMENTS) == {"old"}
    cluster.delete("deployments.apps", "default", "old")
    cluster.put(a_deployment("new"))
    following.server.forget_history()
    await following.server.start()
    await following.is_watched(*BUILT_IN)
    await until(lambda: following.names(DEPLOYMENTS) == {"new"})


async def test_a_right_that_is_taken_away_and_given_back_needs_no_restart(following):
    await following.is_watched(*BUILT_IN)
    denial = following.server.deny(resource="deployments")
    following.server.end_watches("deployments.apps")
    await until(lambda: isinstance(following.sight(DEPLOYMENTS), Unwatched))
    assert following.sight(DEPLOYMENTS).why == "may not watch deployments.apps"
    following.server.allow(denial)
    await following.is_watched(*BUILT_IN)


async def test_a_group_that_discovery_cannot_tell_of_leaves_everything_as_it_was(following):
    following.server.cluster.put(WORKSPACES_CRD)
    await following.is_watched(WORKSPACES)
    following.server.stale_groups.add("kaito.sh")
    presence = following.store.view().presences
    await until(lambda: following.store.view().presences[WORKSPACES.qualified].blind)
    assert presence[WORKSPACES.qualified].versions
    assert following.sight(WORKSPACES) == Watched()
