"""Event writes that the API server refuses, and Events that another client deletes."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e.controlplane import Client, ControlPlane, reporter_rights, until
from e2e.faults.support.fault_cost import measured_cost
from e2e.support import events
from e2e.support.event_denial import denied_events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON, READY_REASON
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


HEARTBEAT, LATE_HEARTBEAT = 10, 30
# The Ready pods of the example have no page, of which the log speaks.
BEATING = (*SHORT_FLAGS, f"--heartbeat-seconds={HEARTBEAT}", "--scrape=loading")
MANY = 12
"""InferenceSets in two namespaces, in none of which enough for one Event of all."""

BACK_OFF = 60
"""Seconds that a refused write waits at the longest."""

SPENT: dict[str, Any] = {"cpu": 5.0, "peak": 16.0}
"""The most that any of these faults may cost, in seconds of CPU and MiB."""

QUOTA = "exceeded quota: events, requested: count/events=1, used: count/events=9, limited: 9"


@pytest.fixture(scope="module")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, MANY) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> ControlPlane:
    return inference_sets.healthy_models(bare)


# ---------------------------------------------------------------- taken away


def test_event_deleted_in_mid_episode_comes_back_while_it_is_true_and_only_then(
    plane: ControlPlane,
) -> None:
    """The heartbeat is so late that it finds the one cured when its Event is deleted."""
    lasting, cured, client = 0, 1, plane.client
    late = f"--heartbeat-seconds={LATE_HEARTBEAT}"
    with ReporterProcess(plane, *BEATING, late) as reporter:
        for number in (lasting, cured):
            inference_sets.misconfigure(client, number)
        before = inference_sets.wait_for(client, INVALID_REASON, lasting, within=PROMPT_TIMEOUT)
        inference_sets.wait_for(client, INVALID_REASON, cured, within=PROMPT_TIMEOUT)
        with measured_cost(reporter, "Events deleted by hand") as spent:
            events.clear(client)
            inference_sets.repair(client, cured)
            inference_sets.wait_for(client, READY_REASON, cured, within=SETTLE + PROMPT_TIMEOUT)
            again = inference_sets.wait_for(
                client, INVALID_REASON, lasting, within=LATE_HEARTBEAT + PROMPT_TIMEOUT
            )
        assert again.uid != before.uid
        assert (again.name, again.count > before.count) == (before.name, True)
        inference_sets.repair(client, lasting)
        inference_sets.wait_for(client, READY_REASON, lasting, within=SETTLE + PROMPT_TIMEOUT)
        expected = [
            (INVALID_REASON, "model-0"),
            (READY_REASON, "model-0"),
            (READY_REASON, "model-1"),
        ]
        assert sorted(inference_sets.model_events(client)) == sorted(expected)
    spent.assert_within(**SPENT, lines=6)


# ---------------------------------------------------------------- refused


@pytest.mark.slow
def test_an_event_refused_by_a_quota_is_written_later_if_it_is_still_true(
    plane: ControlPlane,
) -> None:
    """A ResourceQuota never counts Events, so a policy refuses with the text of a quota."""
    client, healed = plane.client, {2, 11}
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        with measured_cost(reporter, f"{MANY} Events refused") as spent:
            with denied_events(client, QUOTA):
                for number in range(MANY):
                    inference_sets.misconfigure(client, number)
                until(
                    lambda: reporter.metric("event_writes_total", result="refused") > 2 * MANY,
                    within=30,
                    what="every write was refused more than twice",
                )
                for number in healed:
                    inference_sets.repair(client, number)
                for number in healed:
                    inference_sets.wait_state(
                        reporter, number, "clear", within=SETTLE + PROMPT_TIMEOUT
                    )
                assert events.reporter_events(client) == []
            lasting = [inference_sets.name(each) for each in range(MANY) if each not in healed]
            _until_announced(client, INVALID_REASON, lasting)
        _cured_again(client, lasting)
        _announced_once(client, lasting)
        assert len(reporter.lines("was refused")) == 1
        assert QUOTA in reporter.lines("was refused")[0]
    spent.assert_within(**SPENT, lines=5 * MANY)


def test_without_the_right_to_patch_new_events_are_written_and_old_ones_renewed_later(
    plane: ControlPlane,
) -> None:
    old, news, client = 0, 1, plane.client
    with ReporterProcess(plane, *BEATING) as reporter:
        inference_sets.misconfigure(client, old)
        inference_sets.wait_for(client, INVALID_REASON, old, within=PROMPT_TIMEOUT)
        with measured_cost(reporter, "the right to patch revoked") as spent:
            with reporter_rights.revoked(client, NAMESPACE, "events", "patch"):
                # Only now: until the right is gone a heartbeat may be written.
                first = inference_sets.wait_for(client, INVALID_REASON, old, within=PROMPT_TIMEOUT)
                until(
                    lambda: reporter.lines("was refused"),
                    within=HEARTBEAT + PROMPT_TIMEOUT,
                    what="403",
                )
                for _ in range(2):
                    inference_sets.misconfigure(client, news)
                    inference_sets.wait_for(client, INVALID_REASON, news, within=PROMPT_TIMEOUT)
                    inference_sets.repair(client, news)
                    inference_sets.wait_for(
                        client, READY_REASON, news, within=SETTLE + PROMPT_TIMEOUT
                    )
                    _forget(client, news)
                assert (
                    inference_sets.wait_for(client, INVALID_REASON, old, within=1).version
                    == first.version
                )
            renewed = inference_sets.wait_for(
                client,
                INVALID_REASON,
                old,
                within=BACK_OFF + PROMPT_TIMEOUT,
                count=first.count + 1,
            )
        assert (renewed.uid, renewed.first) == (first.uid, first.first)
        assert len(reporter.lines("was refused")) == 1
        # The Event is seen before its writer has the answer.
        written = partial(reporter.lines, "its Event is written, after")
        until(written, within=PROMPT_TIMEOUT, what="it is logged")
        assert len(written()) == 1
    spent.assert_within(**SPENT, lines=20)


# ---------------------------------------------------------------- rationed


@pytest.fixture
def rationed(tmp_path: Path) -> Iterator[ControlPlane]:
    """A server that takes one Event a second of each user, and two more at first."""
    limit = {"type": "User", "qps": 1, "burst": 3, "cacheSize": 100}
    version = "eventratelimit.admission.k8s.io/v1alpha1"
    plugin = {"apiVersion": version, "kind": "Configuration", "limits": [limit]}
    config = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "EventRateLimit", "configuration": plugin}],
    }
    path = tmp_path / "admission.json"
    path.write_text(json.dumps(config))
    flags = (
        "--enable-admission-plugins=EventRateLimit",
        f"--admission-control-config-file={path}",
    )
    with inference_sets.bare_plane(MANY, apiserver_flags=flags) as plane:
        yield plane


@pytest.mark.slow
def test_server_that_rations_events_gets_them_all_one_by_one(rationed: ControlPlane) -> None:
    client, everyone = rationed.client, [inference_sets.name(each) for each in range(MANY)]
    with ReporterProcess(rationed, *SHORT_FLAGS) as reporter:
        with measured_cost(reporter, f"{MANY} Events rationed") as spent:
            for number in range(MANY):
                inference_sets.misconfigure(client, number)
            _until_announced(client, INVALID_REASON, everyone)
        assert reporter.metric("event_writes_total", result="throttled") > 0
        _cured_again(client, everyone)
        _announced_once(client, everyone)
        assert reporter.lines("refused") == []
    spent.assert_within(**SPENT, lines=4 * MANY)


# ---------------------------------------------------------------- expired


@pytest.mark.slow
def test_event_that_expires_is_renewed_by_the_heartbeat_and_still_gets_its_ready() -> None:
    """
    Both Events are written within a minute, the shortest time that an API server keeps Events
    here.
    """
    lasting, cured, beat = 0, 1, 90
    with inference_sets.bare_plane(2, apiserver_flags=("--event-ttl=1m",)) as plane:
        client = plane.client
        flags = (*SHORT_FLAGS, f"--heartbeat-seconds={beat}")
        with ReporterProcess(plane, *flags) as reporter:
            for number in (lasting, cured):
                inference_sets.misconfigure(client, number)
            before = inference_sets.wait_for(
                client, INVALID_REASON, lasting, within=PROMPT_TIMEOUT
            )
            inference_sets.wait_for(client, INVALID_REASON, cured, within=PROMPT_TIMEOUT)
            with measured_cost(reporter, "Events expired") as spent:
                until(
                    lambda: not events.reporter_events(client), within=90, what="both are expired"
                )
                inference_sets.repair(client, cured)
                inference_sets.wait_for(
                    client, READY_REASON, cured, within=SETTLE + PROMPT_TIMEOUT
                )
                again = inference_sets.wait_for(client, INVALID_REASON, lasting, within=1.1 * beat)
            assert (again.name, again.count) == (before.name, 2)
            inference_sets.repair(client, lasting)
            inference_sets.wait_for(client, READY_REASON, lasting, within=SETTLE + PROMPT_TIMEOUT)
            assert (INVALID_REASON, "model-1") not in inference_sets.model_events(client)
    spent.assert_within(**SPENT, lines=8)


# ---------------------------------------------------------------- used above


def _until_announced(client: Client, reason: str, names: Iterable[str]) -> None:
    """
    Wait for the Events of these models. Models of two namespaces may have the same name, and each
    counts.
    """
    wanted = Counter(each.partition("/")[2] for each in names)
    until(
        lambda: (
            Counter(model for r, model in inference_sets.model_events(client) if r == reason)
            >= wanted
        ),
        within=2 * BACK_OFF,
        what=f"{reason} is announced for {sorted(wanted)}",
    )


def _cured_again(client: Client, names: Iterable[str]) -> None:
    inference_sets.repair_all(client)
    _until_announced(client, READY_REASON, names)


def _announced_once(client: Client, names: Iterable[str]) -> None:
    """
    Assert that each name has one Warning and one Ready, written once each, and no other name has
    any.
    """
    own = [each.partition("/")[2] for each in names]
    assert sorted(inference_sets.model_events(client)) == sorted(
        (r, m) for m in own for r in (INVALID_REASON, READY_REASON)
    )
    assert all(each.count == 1 for each in events.reporter_events(client))


def _forget(client: Client, number: int) -> None:
    for each in events.reporter_events(client):
        if inference_sets.name(number) in each.message:
            client.delete(f"{events.PATH}/{each.name}")
