"""Each episode as an object, by the reporter as it runs in a cluster."""

import json
import os
import signal

import msgspec
import pytest

from e2e.controlplane import ControlPlane, Json, until
from e2e.faults.support.proxy_rules import WATCH, ProxyRule
from e2e.faults.support.replicas import running_replica, running_replicas, wait_for_leader
from e2e.support import events, health_events
from e2e.support.health_events import FLAGS, PATH, until_phases
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.reporter_waits import until_metric
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from tests.support.command_line import run_command_line
from tests.support.health_events import a_spec


pytestmark = pytest.mark.controlplane

SLOW = 60
FULL = "clusterHealthEventStoreFull"
ACTIVE = "inferencesetScalingMisconfigured team-0/model-{} Active"
CLEARED = "inferencesetScalingMisconfigured team-0/model-{} Resolved Cleared"


def test_episode_is_an_object_with_a_beginning_and_an_end(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter:
        inference_sets.misconfigure(client, 0)
        (kept,) = until_phases(client, ACTIVE.format(0), within=SLOW)
        event = events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)
        assert kept["metadata"]["name"] == event.raw["metadata"]["name"]
        assert kept["metadata"]["namespace"] == NAMESPACE
        assert kept["spec"]["message"] == event.raw["message"]
        until_metric(reporter, 1, "store_up")
        until_metric(reporter, 1, "store_objects", phase="Active")
        inference_sets.repair(client, 0)
        (over,) = until_phases(client, CLEARED.format(0), within=SLOW)
        assert over["status"]["resolvedTime"] >= over["spec"]["generatedTimestamp"]
        until_metric(reporter, 1, "episodes_total", reason=INVALID_REASON)
        assert reporter.metric("episode_duration_seconds_sum", reason=INVALID_REASON) >= SETTLE
        inference_sets.misconfigure(client, 0)
        until_phases(client, ACTIVE.format(0), CLEARED.format(0), within=SLOW)


@pytest.mark.slow
def test_finding_without_place_is_counted_and_kept_once_there_is_one(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS, "--store-max=2") as reporter:
        for number in range(3):
            inference_sets.misconfigure(client, number)
        until(
            lambda: (
                len(health_events.objects(client)) == 2
                and reporter.metric("store_rejected_total", limit="cluster") == 1
            ),
            within=SLOW,
            what="two have a place and one has none",
        )
        until(
            lambda: len(events.reporter_events(client, INVALID_REASON)) == 3,
            within=SLOW,
            what="each has an Event",
        )
        full = events.wait_for(client, FULL, within=SLOW)
        assert "1 announced episode is not kept, because of --store-max=2" in full.message
        until_metric(
            reporter, 2, "store_objects", phase="Active"
        )  # the reason of the store has none
        kept = {each["spec"]["subject"] for each in health_events.objects(client)}
        (without,) = {f"team-0/model-{number}" for number in range(3)} - kept
        repaired = int(min(kept)[-1])
        inference_sets.repair(client, repaired)
        health_events.wait_for(
            client, lambda each: each["spec"]["subject"] == without, within=SLOW, what=without
        )
        assert len(health_events.objects(client)) == 2
        until(lambda: FULL not in reporter.states(), within=SLOW, what="all have a place")
        assert reporter.metric("store_rejected_total", limit="cluster") == 1


@pytest.mark.slow
def test_object_is_deleted_after_its_time_and_those_of_others_are_not(plane: ControlPlane) -> None:
    client = plane.client
    mine = _manifest("mine", **{"app.kubernetes.io/managed-by": "somebody"})
    client.create(PATH, mine)
    ours = {"app.kubernetes.io/managed-by": "productionstack-status-reporter"}
    client.create(PATH, _manifest("old", **ours))
    health_events.set_status(client, "old", phase="Resolved", resolvedTime="2026-01-01T00:00:00Z")
    limits = ("--store-retention-seconds=60", "--store-max=1")
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS, *limits):
        until(
            lambda: (
                [each["metadata"]["name"] for each in health_events.objects(client)] == ["mine"]
            ),
            within=SLOW,
            what="only the object of somebody else is there",
        )
        inference_sets.misconfigure(client, 0)
        others = "clusterBBR cluster Active"
        until_phases(client, ACTIVE.format(0), others, within=SLOW)
        assert health_events.objects(client, fieldSelector="metadata.name=mine")


def test_objects_are_listed_once_and_watched(plane: ControlPlane) -> None:
    client = plane.client
    with running_replica(plane, "one", *SHORT_FLAGS, *FLAGS, leading=True) as replica:
        for number in range(2):
            inference_sets.misconfigure(client, number)
        until_phases(client, ACTIVE.format(0), ACTIVE.format(1), within=SLOW)
        inference_sets.repair(client, 0)
        until_phases(client, CLEARED.format(0), ACTIVE.format(1), within=SLOW)
        watches = replica.proxy.count(rf"/healthevents.*{WATCH}", methods=("GET",))
        reads = replica.proxy.count(r"/healthevents", methods=("GET",))
        assert (watches, reads) == (1, 2)


def test_history_shows_what_was_wrong_and_how_often(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        for _ in range(2):
            inference_sets.misconfigure(client, 0)
            health_events.wait_for(
                client, lambda each: each["status"]["phase"] == "Active", within=SLOW, what="it is"
            )
            inference_sets.repair(client, 0)
            until(
                lambda: not health_events.objects(client, fieldSelector="status.phase=Active"),
                within=SLOW,
                what="it is over",
            )
    (row,) = _history(plane, "--no-headers", "team-0/model-0").splitlines()
    assert row.split()[:5] == [INVALID_REASON, "team-0/model-0", "-", "Resolved", "2"]
    wide = _history(plane, "--no-headers", "--since=1h", "-o", "wide").splitlines()
    assert [line.split()[:5] for line in wide] == [
        [INVALID_REASON, "team-0/model-0", "-", "Resolved", "Cleared"]
    ] * 2
    every = json.loads(_history(plane, "-o", "json", "team-0"))
    assert [each["phase"] for each in every] == ["Resolved", "Resolved"]
    assert all(each["lastedSeconds"] >= 0 and each["ended"] >= each["began"] for each in every)
    assert json.loads(_history(plane, "-o", "json", "team-1")) == []


def _history(plane: ControlPlane, *argv: str) -> str:
    config = f"--kubeconfig={plane.kubeconfig()}"
    ended = run_command_line("status", "--history", *argv, config)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
def test_active_object_that_is_deleted_by_hand_is_made_again(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        inference_sets.misconfigure(client, 0)
        (kept,) = until_phases(client, ACTIVE.format(0), within=SLOW)
        client.delete(f"{PATH}/{kept['metadata']['name']}")
        again = health_events.wait_for(
            client,
            lambda each: each["metadata"]["uid"] != kept["metadata"]["uid"],
            within=SLOW,
            what="another object of that name",
        )
        assert again["metadata"]["name"] == kept["metadata"]["name"]


def test_leader_that_is_killed_in_a_create_leaves_one_object(plane: ControlPlane) -> None:
    client = plane.client
    with running_replicas(plane, 2, *SHORT_FLAGS, *FLAGS) as replicas:
        one, two = replicas
        lost = ProxyRule(r"/healthevents", ("POST",), drop_answer=True, hang=True)
        with one.proxy.with_rule(lost):
            inference_sets.misconfigure(client, 0)
            (kept,) = until_phases(client, ACTIVE.format(0), within=SLOW)
            os.kill(one.pid, signal.SIGKILL)
        assert wait_for_leader([two], within=SLOW) is two
        inference_sets.repair(client, 0)
        (over,) = until_phases(client, CLEARED.format(0), within=SLOW)
        assert over["metadata"]["uid"] == kept["metadata"]["uid"]


def test_trouble_that_ended_while_nothing_ran_is_resolved(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        inference_sets.misconfigure(client, 0)
        until_phases(client, ACTIVE.format(0), within=SLOW)
    inference_sets.repair(client, 0)
    events.clear(client)
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        until_phases(client, CLEARED.format(0), within=SLOW)


def _manifest(name: str, **labels: str) -> Json:
    spec = msgspec.to_builtins(a_spec(episode=1))
    return {
        "apiVersion": "reporter.productionstack.kaito.sh/v1alpha1",
        "kind": "HealthEvent",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": spec,
    }
