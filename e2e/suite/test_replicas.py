"""
One of two replicas is lost: what it had begun to tell, the other goes on telling.
"""

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
        pytest.skip("NOT RUN: there is one replica, and nothing to take over from it")
    within, wanted = cluster.timeouts.announce_timeout, len(reporters.pods())
    said = events_from_now(cluster)
    with scaled_to_zero(cluster, cluster.component(BODY_BASED_ROUTER)):
        first = said.wait_for(BBR)
        lost = reporters.leader()
        assert first.raw["reportingInstance"] == lost
        reporters.delete_pod(lost)
        until(
            lambda: reporters.leader() not in {"", lost}, within=within, what="another one leads"
        )
        taken_up = said.newest(BBR).count
        again = said.wait_for(BBR, count=taken_up + 1)
        assert (again.uid, again.first) == (first.uid, first.first)
        assert again.raw["reportingInstance"] == reporters.leader()
    ready = said.wait_for("clusterReady")
    assert [(each.reason, each.uid) for each in said.all()] == [
        (BBR, first.uid),
        ("clusterReady", ready.uid),
    ]

    def whole() -> bool:
        found = reporters.pods()
        return len(found) == wanted and all(is_ready(each) for each in found)

    until(whole, within=180, what=f"there are {wanted} replicas again")
