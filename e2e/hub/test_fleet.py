"""
Each fault of a fleet ends as ruled: never wrongly Current, and Current again once it is over.
"""

import time
from collections.abc import Iterator

import pytest

from e2e.controlplane import until
from e2e.hub.parts import engines, hub_process
from e2e.hub.parts.fleet import (
    EAST,
    SEEN_WITHIN,
    UNKNOWN_WITHIN,
    WEST,
    Fleet,
    running_fleet,
)
from e2e.hub.parts.hub_process import INTERVAL, STALE, HubProcess
from e2e.hub.parts.pages import shifted_page
from e2e.support.production_stack import inference_sets
from tests.support import kstatus


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]


@pytest.fixture(scope="module")
def running() -> Iterator[Fleet]:
    with running_fleet(EAST, WEST) as fleet:
        yield fleet


@pytest.fixture
def fleet(running: Fleet) -> Fleet:
    """Return the fleet once both clusters are Current."""
    running.until_all("Current", within=UNKNOWN_WITHIN)
    return running


def test_people_get_the_right_answer_from_kubectl_and_from_the_command(fleet: Fleet) -> None:
    table = fleet.east.plane.kubectl("get", "psc", "--namespace=hub").splitlines()
    assert [line.split()[:2] for line in table[1:]] == [[EAST, "Ready"], [WEST, "Ready"]]
    asked = fleet.ask("--exit-code")
    assert asked.returncode == 0, asked.stderr
    rows = [line.split() for line in asked.stdout.splitlines()]
    assert [row[:4] for row in rows] == [
        ["NAME", "STATE", "SETS", "READY"],
        [EAST, "Ready", "2/2", "2/2"],
        [WEST, "Ready", "2/2", "2/2"],
    ]
    document = fleet.document()
    uids = {each["name"]: each["uid"] for each in document["clusters"]}
    for cluster in (fleet.east, fleet.west):
        found = cluster.plane.client.get("/api/v1/namespaces/kube-system")
        assert uids[cluster.name] == found["metadata"]["uid"]
    assert document["scope"] == "fleet"
    assert fleet.ask("--exit-code", "north").returncode == 6


def test_a_failing_set_is_counted_and_its_namespace_named(fleet: Fleet) -> None:
    inference_sets.misconfigure(fleet.west.plane.client, 0)
    try:
        until(
            lambda: fleet.status(WEST)["inferenceSets"].get("failed") == 1,
            within=SEEN_WITHIN,
            what="one set failed",
        )
        assert fleet.line(WEST) == "Current", "one user's error makes no cluster Failed"
        assert fleet.status(EAST)["inferenceSets"] == {"total": 2, "current": 2}
        named = "Namespace:     team-0 Failed: inferencesetScalingMisconfigured"
        # The agent may send the series of a page in several requests.
        until(lambda: named in fleet.ask(WEST).stdout, within=SEEN_WITHIN, what=named)
    finally:
        inference_sets.repair(fleet.west.plane.client, 0)
    until(
        lambda: fleet.status(WEST)["inferenceSets"] == {"total": 2, "current": 2},
        within=SEEN_WITHIN,
        what="it is repaired",
    )


def test_a_cluster_whose_agent_is_killed_is_silent(fleet: Fleet) -> None:
    fleet.west.agent.kill()
    try:
        fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
        assert fleet.status(WEST)["lastKnown"] == "Current"
        assert fleet.line(EAST) == "Current"
        found = hub_process.read(fleet.east.plane.client, WEST)
        assert kstatus.compute(found) == kstatus.IN_PROGRESS
        assert fleet.hub.metric("hub_unknown_clusters", code="Silent") == 1
        assert fleet.ask("--exit-code").returncode == 5
    finally:
        fleet.west.agent.start()


def test_a_cluster_whose_reporter_is_stopped_is_silent(fleet: Fleet) -> None:
    fleet.west.reporter.stop()
    try:
        fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
    finally:
        fleet.west.reporter.start()


def test_a_label_that_is_renamed_is_left_out_and_named(fleet: Fleet) -> None:
    fleet.west.relabel("north")
    try:
        fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
        dropped = {each["why"]: each["names"] for each in fleet.document()["fleet"]["dropped"]}
        assert dropped == {"not_engaged": ["north"]}
        assert fleet.line(EAST) == "Current"
    finally:
        fleet.west.relabel(WEST)


def test_a_missing_label_is_never_taken_for_the_hubs_own_cluster(fleet: Fleet) -> None:
    fleet.west.relabel("")
    try:
        until(
            lambda: fleet.hub.metric("hub_dropped_series_total", why="no_label") > 0,
            within=SEEN_WITHIN,
            what="its series are left out",
        )
        fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
        assert fleet.line(EAST) == "Current"
    finally:
        fleet.west.relabel(WEST)


def test_one_label_for_two_clusters_is_neither_of_them(fleet: Fleet) -> None:
    fleet.west.relabel(EAST)
    try:
        fleet.until(EAST, "Unknown DuplicateCluster")
        fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
        assert fleet.line(EAST) == "Unknown DuplicateCluster"
        (found,) = (each for each in fleet.document()["clusters"] if each["name"] == EAST)
        assert len(found["otherUids"]) == 2
    finally:
        fleet.west.relabel(WEST)


def test_a_cluster_that_has_the_label_of_a_silent_one_too_is_not_shown_for_it(
    fleet: Fleet,
) -> None:
    """Both labels have one UID then, and only a person knows which is wrong."""
    port = fleet.east.reporter.metrics_port
    wrong = engines.agent(fleet.east.plane, "agent-wrong", fleet.engine, port, label=WEST)
    fleet.west.agent.kill()
    wrong.start()
    try:
        fleet.until(WEST, "Unknown DuplicateCluster")
        fleet.until(EAST, "Unknown DuplicateCluster")
    finally:
        wrong.stop()
        fleet.west.agent.start()


def test_an_engine_that_is_gone_is_not_the_fault_of_clusters(fleet: Fleet) -> None:
    stopped = time.monotonic()
    fleet.engine.stop()

    def outlasted() -> bool:
        lines = {fleet.line(name) for name in (EAST, WEST)}
        gap = time.monotonic() - stopped
        assert lines == {"Current"} or gap > STALE - 2 * INTERVAL, "shorter than the stale time"
        return gap > STALE / 2

    try:
        until(outlasted, within=STALE, what="half of the stale time is over")
        for name in (EAST, WEST):
            fleet.until(name, "Unknown EngineUnavailable", within=UNKNOWN_WITHIN)
    finally:
        fleet.engine.start()


def test_an_engine_with_an_empty_disk_makes_nobody_wrongly_current(fleet: Fleet) -> None:
    fleet.west.agent.kill()
    fleet.engine.restart_with_empty_disk()
    try:
        fleet.until(WEST, "Unknown Silent", within=2 * UNKNOWN_WITHIN)
        fleet.until(EAST, "Current", within=UNKNOWN_WITHIN)
    finally:
        fleet.west.agent.start()


def test_a_clock_that_is_an_hour_off_is_shown_and_decides_nothing(fleet: Fleet) -> None:
    with shifted_page(fleet.west.reporter.metrics_port, 3600.0) as port:
        fleet.west.relabel(WEST, port=port)
        try:
            until(
                lambda: fleet.status(WEST).get("clockSkewed"),
                within=SEEN_WITHIN,
                what="the skew is shown",
            )
            assert fleet.line(WEST) == "Current"
            (found,) = (each for each in fleet.document()["clusters"] if each["name"] == WEST)
            assert 3500 < found["skewSeconds"] < 3700
            fleet.west.agent.kill()
            fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
        finally:
            fleet.west.agent.start()
            fleet.west.relabel(WEST)


def test_another_hub_takes_over_what_this_one_knew(fleet: Fleet) -> None:
    """The second one leads only once the first is killed. What stands does not flap meanwhile."""
    fleet.west.agent.kill()
    try:
        fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
        first, second = fleet.hub, HubProcess(fleet.east.plane, fleet.engine, name="hub-1")
        second.start(leading=False)
        try:
            first.kill()
            second.until_leading()
            fleet.hub = second
            seen = set()
            ends = time.monotonic() + 3 * INTERVAL
            while time.monotonic() < ends:
                seen.add((fleet.line(EAST), fleet.line(WEST).split()[0]))
                time.sleep(0.5)
            assert seen == {("Current", "Unknown")}
            fleet.until(WEST, "Unknown Silent", within=UNKNOWN_WITHIN)
        finally:
            fleet.hub = first
            second.stop()
    finally:
        if not fleet.hub.running:
            fleet.hub.start()
        fleet.west.agent.start()


def test_a_hub_that_starts_again_keeps_nobody_current_who_is_gone(fleet: Fleet) -> None:
    fleet.hub.kill()
    fleet.west.agent.kill()
    try:
        fleet.hub.start()
        assert fleet.line(EAST) == "Current"
        fleet.until(WEST, "Unknown Silent", within=2 * UNKNOWN_WITHIN)
        assert fleet.status(WEST)["lastKnown"] == "Current"
        assert fleet.line(EAST) == "Current"
    finally:
        fleet.west.agent.start()


def test_a_hub_that_starts_without_an_engine_shows_no_old_state(fleet: Fleet) -> None:
    fleet.hub.kill()
    fleet.engine.stop()
    try:
        fleet.hub.start()
        for name in (EAST, WEST):
            fleet.until(name, "Unknown NotAsked", within=UNKNOWN_WITHIN)
            assert fleet.status(name)["lastKnown"] == "Current"
    finally:
        fleet.engine.start()
