"""
An API server that is down for a while: no finding is raised or cleared, and all is known again
soon after its return.

These outages last until every kind is Unknown, which takes 30 s without a watch.
"""

import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from e2e.controlplane import ControlPlane, Json, reporter_rights, until
from e2e.faults.support.cuttable_connection import CuttableConnection, cuttable_connection
from e2e.faults.support.fault_check import FaultCheck
from e2e.support import events
from e2e.support.elections import STEADY_LEASE
from e2e.support.events import Event
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.timeouts import DEPLOYMENT_REASONS, PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


SHORT = 5
UNKNOWN_WITHIN = 30 + PROMPT_TIMEOUT
BACK = 60
"""Seconds within which all is known again, on a machine where other tests run."""

HEARTBEAT = 10
OFTEN = (f"--heartbeat-seconds={HEARTBEAT}", "--resync-seconds=5")
"""An outage lasts longer than a heartbeat, and longer than the process may be without a pass."""

BBR, READY = "clusterBBRNotReady", "clusterReady"


@pytest.fixture(scope="module")
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


# ---------------------------------------------------------------- the API server is stopped


@dataclass
class ObservedOutage:
    """The observations of an outage in the middle of an episode, which ends after it."""

    warning: Event
    during: Json = field(default_factory=dict)
    unknown: dict[str, float] = field(default_factory=dict)
    watching: float = -1
    is_live: bool = False
    states: dict[str, str] = field(default_factory=dict)
    after: list[Event] = field(default_factory=list)
    renewed: Event | None = None
    at_the_end: list[Event] = field(default_factory=list)
    log: str = ""


@pytest.fixture(scope="module")
def outage(plane: ControlPlane) -> ObservedOutage:
    with ReporterProcess(plane, *SHORT_FLAGS, *OFTEN) as reporter:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        seen = ObservedOutage(events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT))
        with plane.paused("kwok"), plane.api_server_down():
            _until_all_unknown(reporter)
            seen.during, seen.unknown = reporter.status(), _unknown_metrics(reporter)
            seen.watching = reporter.metric("watch_up")
            seen.is_live = _livez(reporter)
        begun = time.monotonic()
        until(lambda: _sees_all(reporter), within=BACK, what="all is known again")
        print(f"all is known again {time.monotonic() - begun:.1f} s after the return")
        seen.states = reporter.states()
        seen.after = events.reporter_events(plane.client)
        again = seen.warning.count + 1
        within = HEARTBEAT + PROMPT_TIMEOUT
        seen.renewed = events.wait_for(plane.client, BBR, within=within, count=again)
        components.scale(plane.client, BODY_BASED_ROUTER, 2)
        components.until_ready(plane.client, BODY_BASED_ROUTER)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        seen.at_the_end, seen.log = events.reporter_events(plane.client), reporter.log()
    return seen


def test_outage_raises_nothing_and_clears_nothing(outage: ObservedOutage) -> None:
    verdicts = [each for subject in outage.during["subjects"] for each in subject["verdicts"]]
    assert {each["state"] for each in verdicts} == {"unknown"}
    assert outage.states == {BBR: "announced"}
    assert [(each.reason, each.uid) for each in outage.after] == [(BBR, outage.warning.uid)]


def test_the_status_page_shows_the_outage(outage: ObservedOutage) -> None:
    assert all(sight.startswith("not watched since") for sight in outage.during["kinds"].values())
    assert all(each.startswith("unknown: ") for each in outage.during["crds"].values())
    assert not outage.during["leading"]


def test_the_metrics_show_the_outage(outage: ObservedOutage) -> None:
    assert outage.watching == 0
    assert all(outage.unknown[reason] == 1 for reason in DEPLOYMENT_REASONS)
    assert outage.unknown["clusterCRDMissing"] == 1


def test_outage_is_logged_once_per_kind_and_is_no_reason_to_be_restarted(
    outage: ObservedOutage,
) -> None:
    assert outage.is_live
    lost = "deployments.apps: not watched: Cannot connect to host"
    assert outage.log.count(lost) == 1
    assert "deployments.apps: watching again" in outage.log


def test_episode_goes_on_under_the_same_event_and_ends_once(outage: ObservedOutage) -> None:
    assert outage.renewed is not None
    assert outage.renewed.uid == outage.warning.uid
    assert [each.reason for each in outage.at_the_end] == [BBR, READY]


# ---------------------------------------------------------------- the way to it is cut


@pytest.fixture
def cuttable(plane: ControlPlane) -> Iterator[CuttableConnection]:
    with restore.healthy_stack(plane), cuttable_connection(plane) as way:
        yield way


def test_changes_during_a_long_outage_are_announced_after_it(
    plane: ControlPlane, cuttable: CuttableConnection
) -> None:
    with _over(cuttable, plane) as reporter:
        check = FaultCheck(plane, reporter)
        check.prepare()
        cuttable.cut()
        check.change_stack(unseen=True)
        _until_all_unknown(reporter)
        assert events.reasons(plane.client) == [BBR]
        cuttable.connect()
        check.fault_ended()
        check.wait_recovered()
        check.assert_expected_events()
        check.assert_cheap()
        check.assert_logged("deployments.apps: not watched: Cannot connect to host")


def test_a_short_cut_makes_nothing_unknown_and_only_delays_events(
    plane: ControlPlane, cuttable: CuttableConnection
) -> None:
    with _over(cuttable, plane) as reporter:
        cuttable.cut()
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        time.sleep(SHORT)
        assert not any(_unknown_metrics(reporter)[reason] for reason in DEPLOYMENT_REASONS)
        assert events.reporter_events(plane.client) == []
        cuttable.connect()
        events.wait_for(plane.client, BBR, within=BACK)


# ---------------------------------------------------------------- used above


def _over(way: CuttableConnection, plane: ControlPlane) -> ReporterProcess:
    reporter_rights.install(plane.client, NAMESPACE)
    kubeconfig = plane.service_account_kubeconfig(NAMESPACE, reporter_rights.NAME)
    config = f"--kubeconfig={way.kubeconfig(kubeconfig)}"
    return ReporterProcess(plane, *SHORT_FLAGS, *STEADY_LEASE, "--emission=all", config)


def _until_all_unknown(reporter: ReporterProcess) -> None:
    """Wait, while the outage lasts, for the pass after the last kind became unknown."""

    def all_unknown() -> bool:
        status = reporter.status()
        states = {e["state"] for subject in status["subjects"] for e in subject["verdicts"]}
        # The metrics are read last: what is read in a loop counts as the cost of the outage.
        return (
            states == {"unknown"}
            and not status["leading"]
            and all(_unknown_metrics(reporter).values())
        )

    until(all_unknown, within=UNKNOWN_WITHIN, what="all is unknown")


def _sees_all(reporter: ReporterProcess) -> bool:
    status = reporter.status()
    watched = set(status["kinds"].values()) == {"watched"}
    return watched and status["leading"] and not any(_unknown_metrics(reporter).values())


def _livez(reporter: ReporterProcess) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{reporter.health_port}/livez") as answer:
        return bool(answer.status == 200)


def _unknown_metrics(reporter: ReporterProcess) -> dict[str, float]:
    """Return for each reason whether its metric says Unknown."""
    unknown = reporter.metric_by("reason", "reason_state", state="unknown")
    return {reason: unknown[reason] for reason in (*DEPLOYMENT_REASONS, "clusterCRDMissing")}
