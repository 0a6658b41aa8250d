from datetime import UTC, datetime, timedelta

import pytest

from devcluster import DevCluster
from devcluster.controllers import loop
from devcluster.example.team import deployment
from devcluster.storage.cluster import Cluster
from devcluster.storage.registry_store import RegistryStore
from reporter.process.clock import Clock


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
START = timedelta(seconds=3)


class DeploymentFixture:
    """A Deployment in a cluster with a manual clock."""

    def __init__(self, replicas):
        self.now = NOON
        self.cluster = Cluster(RegistryStore(now=lambda: self.now))
        self.cluster.upsert({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
        self.cluster.upsert(deployment("a", "web", {"app": "web"}, replicas=replicas))
        self.reconcile()

    def reconcile(self):
        for _ in range(5):
            due = loop.reconcile(self.cluster, now=self.now, start=START)
        return due

    def advance(self, seconds):
        self.now += timedelta(seconds=seconds)
        return self.reconcile()

    def scale(self, replicas):
        patch = {"spec": {"replicas": replicas}}
        self.cluster.patch("deployments.apps", "a", "web", patch, subresource="scale")
        return self.reconcile()

    @property
    def deployment(self):
        return self.cluster.get("deployments.apps", "a", "web")

    @property
    def status(self):
        return self.deployment["status"]

    @property
    def conditions(self):
        return {c["type"]: (c["status"], c["reason"]) for c in self.status["conditions"]}


def test_pods_appear_at_once_and_are_ready_after_their_start():
    stack = DeploymentFixture(2)
    assert len(stack.cluster.list("pods")) == 2
    assert stack.status["unavailableReplicas"] == 2
    assert stack.conditions == {
        "Available": ("False", "MinimumReplicasUnavailable"),
        "Progressing": ("True", "ReplicaSetUpdated"),
    }
    assert stack.reconcile() == NOON + START
    stack.advance(3)
    assert (stack.status["readyReplicas"], stack.status["availableReplicas"]) == (2, 2)
    assert stack.conditions == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    assert stack.reconcile() is None


def test_scaled_to_zero_it_has_no_pods_no_counters_and_is_available():
    stack = DeploymentFixture(2)
    stack.advance(3)
    stack.scale(0)
    assert stack.cluster.list("pods") == []
    assert set(stack.status) == {"observedGeneration", "conditions"}
    assert stack.status["observedGeneration"] == stack.deployment["metadata"]["generation"] == 2
    assert stack.conditions["Available"] == ("True", "MinimumReplicasAvailable")


def test_a_transition_time_stays_while_the_status_does():
    stack = DeploymentFixture(1)
    stack.advance(3)
    before = stack.status["conditions"]
    stack.advance(60)
    stack.scale(2)
    after = stack.status["conditions"]
    progressing = [
        next(c for c in found if c["type"] == "Progressing") for found in (before, after)
    ]
    assert progressing[0]["lastTransitionTime"] == progressing[1]["lastTransitionTime"]
    assert progressing[0]["lastUpdateTime"] < progressing[1]["lastUpdateTime"]


def test_a_new_template_brings_new_pods_before_the_old_go():
    stack = DeploymentFixture(1)
    stack.advance(3)
    (old,) = stack.cluster.list("pods")
    template = {"metadata": {"annotations": {"restarted": "now"}}}
    stack.cluster.patch("deployments.apps", "a", "web", {"spec": {"template": template}})
    stack.reconcile()
    assert len(stack.cluster.list("pods")) == 2
    assert stack.status["availableReplicas"] == 1
    assert stack.conditions["Available"][0] == "True"
    stack.advance(3)
    (new,) = stack.cluster.list("pods")
    assert new["metadata"]["name"] != old["metadata"]["name"]
    assert stack.conditions["Progressing"] == ("True", "NewReplicaSetAvailable")


def test_a_pod_that_is_deleted_comes_back():
    stack = DeploymentFixture(1)
    stack.advance(3)
    (old,) = stack.cluster.list("pods")
    stack.cluster.delete("pods", "a", old["metadata"]["name"])
    stack.advance(1)
    (new,) = stack.cluster.list("pods")
    assert new["metadata"]["uid"] != old["metadata"]["uid"]


def test_replica_sets_and_pods_are_deleted_with_the_deployment():
    stack = DeploymentFixture(2)
    stack.cluster.delete("deployments.apps", "a", "web")
    stack.reconcile()
    assert stack.cluster.list("pods") == stack.cluster.list("replicasets.apps") == []


def test_settled_stack_gets_no_writes():
    stack = DeploymentFixture(2)
    stack.advance(3)
    before = stack.cluster.objects.storage.version
    stack.advance(60)
    assert stack.cluster.objects.storage.version == before


@pytest.mark.asyncio
async def test_the_example_stack_is_healthy_and_stays_as_it_is():
    server = DevCluster()
    server.load_example_stack()
    before = server.cluster.objects.storage.version
    loop.reconcile(server.cluster, now=Clock().now(), start=START)
    assert server.cluster.objects.storage.version == before
    for one in server.cluster.list("deployments.apps"):
        assert one["status"]["availableReplicas"] == one["spec"]["replicas"]
        assert one["status"]["observedGeneration"] == one["metadata"]["generation"]
