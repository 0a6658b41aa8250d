"""
One of two replicas is lost: what it had begun to tell, the other goes on telling.
"""

import pytest

from e2e.controlplane import until
from e2e.stack import BODY_BASED_ROUTER
from e2e.suite.breakages import scaled_to_zero
from e2e.suite.cluster import Cluster
from e2e.suite.reporters import is_ready
from e2e.suite.said import from_now_on


BBR = "clusterBBRNotReady"


def test_other_replica_goes_on_with_the_event_of_a_lost_leader(cluster: Cluster) -> None:
    reporters = cluster.reporters
    if len(reporters.pods()) < 2:
        pytest.skip("NOT RUN: there is one replica, and nothing to take over from it")
    within, wanted = cluster.patience.within, len(reporters.pods())
    said = from_now_on(cluster)
    with scaled_to_zero(cluster, cluster.component(BODY_BASED_ROUTER)):
        first = said.until(BBR)
        lost = reporters.leader()
        assert first.raw["reportingInstance"] == lost
        reporters.lose(lost)
        until(
            lambda: reporters.leader() not in {"", lost}, within=within, what="another one leads"
        )
        taken_up = said.newest(BBR).count
        again = said.until(BBR, count=taken_up + 1)
        assert (again.uid, again.first) == (first.uid, first.first)
        assert again.raw["reportingInstance"] == reporters.leader()
    ready = said.until("clusterReady")
    assert [(each.reason, each.uid) for each in said.all()] == [
        (BBR, first.uid),
        ("clusterReady", ready.uid),
    ]

    def whole() -> bool:
        found = reporters.pods()
        return len(found) == wanted and all(is_ready(each) for each in found)

    until(whole, within=180, what=f"there are {wanted} replicas again")
