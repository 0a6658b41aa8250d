"""The chart on a real node: installed with its default values, upgraded and rolled back in an outage."""

from e2e.controlplane import until_quiet
from e2e.node import stack
from e2e.node.release import REPLICAS, Release
from e2e.suite.reporters import is_ready


BBR = "clusterBBRNotReady"
SILENT_SECONDS = 120
"""Longer than the startup grace and every hold of a component."""


def test_two_replicas_are_ready_and_silent_after_the_installation(quiet: Release) -> None:
    quiet.uninstall()
    events = quiet.events_from_now()
    quiet.install()
    written = until_quiet(
        events.all,
        quiet=SILENT_SECONDS,
        within=SILENT_SECONDS,
        what="the Events",
    )
    assert written == []
    pods = quiet.reporters.pods()
    assert [is_ready(pod) for pod in pods] == [True] * REPLICAS
    assert [pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods] == [0, 0]
    assert quiet.cluster_state() == "Current"


def test_outage_stays_one_event_during_upgrade_and_rollback(quiet: Release) -> None:
    client, component = quiet.cluster.client, stack.component("body-based-router")
    events = quiet.events_from_now()
    stack.NO_IMAGE.cause(client, component)
    try:
        first = events.wait_for(BBR, stack.ABSENT_IMAGE)
        quiet.upgrade("--set=extraArgs={--heartbeat-seconds=30,--log-format=json}")
        again = events.wait_for(BBR, count=first.count + 1)
        assert (again.uid, again.first) == (first.uid, first.first)
        quiet.roll_back()
    finally:
        stack.repair(client, component)
    events.wait_for("clusterReady")
    assert [each.uid for each in events.all(BBR)] == [first.uid]
    assert [each.reason for each in events.all()] == [BBR, "clusterReady"]
