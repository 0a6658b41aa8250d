"""The loss of the leader: the other replica continues its Events."""

import pytest

from e2e.controlplane import until
from e2e.suite.breakages import scaled_to_zero
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import events_from_now
from e2e.suite.reporters import is_ready
from e2e.support.production_stack.components import BODY_BASED_ROUTER


BBR = "clusterBBRNotReady"


def test_other_replica_goes_on_with_the_event_of_a_lost_leader(cluster: ClusterUnderTest) -> None:
    reporters = cluster.reporters
    if len(reporters.pods()) < 2:
        pytest.skip("NOT RUN: there is only one replica, so none can take over")
    within, replicas = cluster.timeouts.announce_timeout, len(reporters.pods())
    events = events_from_now(cluster)
    with scaled_to_zero(cluster, cluster.component(BODY_BASED_ROUTER)):
        first = events.wait_for(BBR)
        lost = reporters.leader()
        assert first.raw["reportingInstance"] == lost
        reporters.delete_pod(lost)
        until(
            lambda: reporters.leader() not in {"", lost},
            within=within,
            what="another replica leads",
        )
        count = events.newest(BBR).count
        again = events.wait_for(BBR, count=count + 1)
        assert (again.uid, again.first) == (first.uid, first.first)
        assert again.raw["reportingInstance"] == reporters.leader()
    ready = events.wait_for("clusterReady")
    assert [(event.reason, event.uid) for event in events.all()] == [
        (BBR, first.uid),
        ("clusterReady", ready.uid),
    ]

    def is_complete() -> bool:
        pods = reporters.pods()
        return len(pods) == replicas and all(is_ready(pod) for pod in pods)

    until(is_complete, within=180, what=f"there are {replicas} replicas again")
