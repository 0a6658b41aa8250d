"""
Two and three replicas, all of which watch and evaluate while one announces, and the leader stops.

The bounds suit a busy machine; the measured times are printed.
"""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.controlplane.faults import IMAGE_PULL, clear_pod_fault, set_pod_fault
from e2e.faults.support.altered_reporter import PRETENDED_VERSION
from e2e.faults.support.proxy_rules import ProxyRule
from e2e.faults.support.replicas import (
    ProxiedReplica,
    running_replica,
    running_replicas,
    wait_for_leader,
    wait_for_write_of,
)
from e2e.support import events
from e2e.support.elections import LEASE_SECONDS
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD, KEDA_OPERATOR
from e2e.support.reporter_process import LEASE
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS, holds_overlay_flag


BBR, ISTIO, KEDA = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady", "clusterKedaNotReady"
READY = "clusterReady"
DEFAULT_LEASE_SECONDS = 15
HEARTBEAT = 11
BEATING = (*SHORT_FLAGS, "--heartbeat-seconds=10")
BY_DEFAULT = (
    f"--lease-duration-seconds={DEFAULT_LEASE_SECONDS}",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)

TAKEN_OVER = LEASE_SECONDS + PROMPT_TIMEOUT


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


# ---------------------------------------------------------------- killed, or stopped


def test_after_a_killed_and_a_stopped_leader_no_event_is_lost_or_repeated(
    plane: ControlPlane,
) -> None:
    with running_replicas(plane, 3, *BEATING, "--emission=all") as (one, *others):
        components.scale(plane.client, KEDA_OPERATOR, 0)
        first = events.wait_for(plane.client, KEDA, within=PROMPT_TIMEOUT)
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        killed = _kill(one)
        components.scale(plane.client, ISTIOD, 0)
        announced = events.wait_for(plane.client, ISTIO, within=TAKEN_OVER)
        print(f"killed: the next one announces {time.monotonic() - killed:.2f} s after")
        two = wait_for_leader(others, within=PROMPT_TIMEOUT)
        (three,) = (each for each in others if each is not two)
        assert announced.raw["reportingInstance"] == two.name
        events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        assert three.writes() == 0

        (last,) = events.reporter_events(plane.client, KEDA)
        stopped = time.monotonic()
        os.kill(two.pid, signal.SIGTERM)
        until(lambda: three.is_leader, within=PROMPT_TIMEOUT, what="the third leads")
        print(f"stopped: the next one leads {time.monotonic() - stopped:.2f} s after")
        within = HEARTBEAT + PROMPT_TIMEOUT
        again = wait_for_write_of(plane, KEDA, three.name, within=within)
        assert (again.uid, again.first) == (first.uid, first.first)
        assert again.count > last.count

        _heal(plane)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert sorted(events.reasons(plane.client)) == sorted([BBR, ISTIO, KEDA, READY])


@pytest.mark.slow
def test_figures_of_a_failover_with_the_default_terms(plane: ControlPlane) -> None:
    took: dict[signal.Signals, list[float]] = {signal.SIGKILL: [], signal.SIGTERM: []}
    with running_replicas(plane, 2, *SHORT_FLAGS, *BY_DEFAULT) as pair:
        for number in (*took, *took, *took):
            old, new = sorted(pair, key=lambda each: not each.is_leader)
            begun = time.monotonic()
            os.kill(old.pid, number)
            components.scale(plane.client, BODY_BASED_ROUTER, 0)
            before = events.reporter_events(plane.client, READY)
            within = PROMPT_TIMEOUT + (DEFAULT_LEASE_SECONDS if number is signal.SIGKILL else 0)
            announced = events.wait_for(plane.client, BBR, within=within)
            took[number].append(time.monotonic() - begun)
            assert announced.raw["reportingInstance"] == new.name
            _restart(old)
            _heal(plane)
            events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT, besides=before)
            events.clear(plane.client)
    for number, seconds in took.items():
        print(
            f"{number.name}: the next one announces after {[round(each, 2) for each in seconds]} s"
        )


# ---------------------------------------------------------------- hung, or cut off


@pytest.mark.parametrize("seconds", [LEASE_SECONDS + 5, pytest.param(60, marks=pytest.mark.slow)])
def test_hung_leader_writes_nothing_and_rolls_nothing_up_when_it_wakes(
    plane: ControlPlane, seconds: int
) -> None:
    with running_replicas(plane, 2, *BEATING) as (one, two):
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        until(lambda: _rolled_up(one), within=PROMPT_TIMEOUT, what="the leader has rolled up")
        assert not _rolled_up(two)
        os.kill(one.pid, signal.SIGSTOP)
        hung = time.monotonic()
        components.scale(plane.client, ISTIOD, 0)
        announced = events.wait_for(plane.client, ISTIO, within=TAKEN_OVER)
        assert announced.raw["reportingInstance"] == "two"
        until(lambda: _rolled_up(two), within=PROMPT_TIMEOUT, what="the next one has rolled up")
        time.sleep(max(seconds - (time.monotonic() - hung), 0))

        woken = time.monotonic()
        os.kill(one.pid, signal.SIGCONT)
        assert not _rolled_up(one), "the first answer of a leader that was paused"
        until(
            lambda: one.reporter.lines("no longer leading"),
            within=PROMPT_TIMEOUT,
            what="it notices",
        )
        until(
            lambda: {BBR, ISTIO} <= one.reporter.states().keys(),
            within=PROMPT_TIMEOUT,
            what="it sees it",
        )
        events.wait_for(
            plane.client, ISTIO, within=HEARTBEAT + PROMPT_TIMEOUT, count=announced.count + 1
        )
        assert one.writes(since=woken) == 0
        assert two.is_leader
        assert not one.is_leader


def test_a_leader_that_is_cut_off_stops_before_another_announces(plane: ControlPlane) -> None:
    with running_replicas(plane, 2, *SHORT_FLAGS) as (one, two):
        one.proxy.add(ProxyRule("/events", ("POST",), hang=True))
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        until(one.writes, within=PROMPT_TIMEOUT, what="its Event is under way")
        one.proxy.freeze()
        announced = events.wait_for(plane.client, BBR, within=TAKEN_OVER)
        assert announced.raw["reportingInstance"] == "two"
        until(
            lambda: one.reporter.lines("no longer leading"), within=PROMPT_TIMEOUT, what="it stops"
        )
        assert one.log_time("no longer leading") < two.log_time("leading: two")

        back = time.monotonic()
        one.proxy.clear_rules()
        until(
            lambda: one.reporter.lines("can be read and written again"),
            within=PROMPT_TIMEOUT,
            what="back",
        )
        _heal(plane)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert one.writes(since=back) == 0
        assert [each.count for each in events.reporter_events(plane.client)] == [1, 1]


# ---------------------------------------------------------------- what goes on


HOLD = 50


@pytest.mark.slow
def test_hold_goes_on_under_the_next_leader(plane: ControlPlane) -> None:
    """
    A hold that began anew would delay the Event to one and a half holds at least. The start of one
    trouble is written in a condition; the start of the other is known only to a replica that saw
    it.
    """
    patient = holds_overlay_flag(plane, dict.fromkeys(("declared", "failed", "lost"), f"{HOLD}s"))
    (pod,) = components.pods(plane.client, ISTIOD)
    with running_replicas(plane, 2, *SHORT_FLAGS, patient, "--emission=all") as (one, two):
        begun = time.monotonic()
        set_pod_fault(plane.client, pod, IMAGE_PULL)
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        held = {ISTIO: "held", BBR: "held"}
        until(lambda: one.reporter.states() == held, within=PROMPT_TIMEOUT, what="it is held")
        time.sleep(HOLD / 2)
        _kill(one)
        until(lambda: two.is_leader, within=TAKEN_OVER, what="the next one leads")
        assert two.reporter.states() == held
        for reason in (ISTIO, BBR):
            events.wait_for(plane.client, reason, within=HOLD)
            took = time.monotonic() - begun
            print(f"{reason}: a hold of {HOLD} s, its leader killed in the middle: {took:.1f} s")
            assert HOLD - 1 < took < 1.5 * HOLD - 1
        clear_pod_fault(plane.client, pod)


def test_recovery_between_two_leaders_gets_its_ready(plane: ControlPlane) -> None:
    with running_replicas(plane, 2, *SHORT_FLAGS) as (one, two):
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        _kill(one)
        # Two waits for as long as the Lease states, or for its own duration once there is none.
        plane.client.patch(LEASE, {"spec": {"leaseDurationSeconds": 3600}})
        _heal(plane)
        assert not two.is_leader
        plane.client.delete(LEASE)
        announced = events.wait_for(plane.client, READY, within=TAKEN_OVER + SETTLE)
        assert announced.raw["reportingInstance"] == "two"
        assert [(each.reason, each.count) for each in events.reporter_events(plane.client)] == [
            (BBR, first.count),
            (READY, 1),
        ]


@pytest.mark.slow
def test_rolling_update_goes_on_with_the_episode(plane: ControlPlane) -> None:
    old_version, new_version = ({PRETENDED_VERSION: each} for each in ("0.1.0", "0.2.0"))
    with running_replica(plane, "old-1", *BEATING, env=old_version, leading=True) as old:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        assert old.reporter.status()["version"] == "0.1.0"
        with running_replica(plane, "new-1", *BEATING, env=new_version) as new:
            (last,) = events.reporter_events(plane.client, BBR)
            assert old.reporter.stop() == 0
            within = HEARTBEAT + PROMPT_TIMEOUT
            again = wait_for_write_of(plane, BBR, "new-1", within=within)
            assert (again.uid, again.first) == (first.uid, first.first)
            assert again.count > last.count
            assert new.reporter.status()["version"] == "0.2.0"
            _heal(plane)
            events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
            assert events.reasons(plane.client) == [BBR, READY]


# ---------------------------------------------------------------- used above


def _rolled_up(replica: ProxiedReplica) -> bool:
    return "rollup_state{" in replica.reporter.metrics()


def _kill(replica: ProxiedReplica) -> float:
    """Kill a replica and return the time, by the monotonic clock."""
    replica.reporter.kill()
    return time.monotonic()


def _restart(replica: ProxiedReplica) -> None:
    until(
        lambda: not replica.reporter.running,
        within=PROMPT_TIMEOUT,
        what=f"{replica.name} has ended",
    )
    replica.reporter.start(leading=False)


def _heal(plane: ControlPlane) -> None:
    for component in (BODY_BASED_ROUTER, ISTIOD, KEDA_OPERATOR):
        components.scale(plane.client, component, component.replicas)
    for component in (BODY_BASED_ROUTER, ISTIOD, KEDA_OPERATOR):
        components.until_ready(plane.client, component)
