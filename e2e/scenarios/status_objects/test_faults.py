"""
A right, the CRD or the leader is lost, or the CRD is of another release: Events come as ever.
"""

import os
import signal
import time
from typing import Any

import pytest

from e2e.controlplane import ControlPlane, Json, crds, until
from e2e.controlplane.reporter_rights import revoked
from e2e.faults.support.replicas import ProxiedReplica, running_replicas, wait_for_leader
from e2e.support import events, status_objects
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON, READY_REASON
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.reporter_waits import until_all_known, until_logged, until_metric
from e2e.support.status_objects import FLAGS
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from tests.support.status_objects import CRD, STATUSES


pytestmark = pytest.mark.controlplane

TEAM = "team-0"
SLOW = 2 * PROMPT_TIMEOUT
DROPS = "the CRD of status objects drops"
DISCOVERY, SECOND_LOOK = 32, 12
"""Seconds from one discovery to the next, and until a loss is confirmed."""


def test_right_that_is_taken_away_is_named_once_and_stops_no_event(plane: ControlPlane) -> None:
    client = plane.client
    status_objects.create(client, TEAM)
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter:
        status_objects.until_state(client, TEAM, "Current", within=SLOW)
        right = f"{STATUSES.partition('.')[0]}/status"
        with revoked(client, NAMESPACE, right, status_objects=True):
            inference_sets.misconfigure(client, 0)
            events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)
            until(lambda: _writes(reporter, "refused") > 1, within=SLOW, what="it is tried again")
            until_metric(reporter, 1, "status_objects_failing")
            assert status_objects.read(client, TEAM)["status"]["state"] == "Current"
            assert len(reporter.lines("ERROR", "status objects are not written:")) == 1
            until_metric(reporter, 1, "missing_rights", verb="patch")
        status_objects.until_state(client, TEAM, "Failed", within=60)
        until_metric(reporter, 0, "status_objects_failing")


def test_right_to_list_that_is_missing_from_the_start_is_in_the_table(plane: ControlPlane) -> None:
    client = plane.client
    status_objects.create(client, TEAM)
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS, grant=True) as first:
        first.until_leading()
    resource = STATUSES.partition(".")[0]
    with (
        revoked(client, NAMESPACE, resource, "list", "watch", status_objects=True),
        ReporterProcess(plane, *SHORT_FLAGS, *FLAGS, grant=False) as reporter,
    ):
        until(
            lambda: reporter.lines("list, watch", resource[:12]),
            within=SLOW,
            what="the missing right is logged",
        )
        until_all_known(reporter)
        until_metric(reporter, 0, "watch_up", kind=STATUSES)
        inference_sets.misconfigure(client, 0)
        events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)


@pytest.mark.slow
def test_crd_comes_goes_and_comes_again(plane: ControlPlane) -> None:
    client = plane.client
    crds.remove(client, STATUSES)
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter:
        inference_sets.misconfigure(client, 0)
        events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)
        assert len(reporter.lines(STATUSES, "not served")) == 1
        until_all_known(reporter)
        for _ in range(2):
            crds.install(client, [CRD])
            status_objects.create(client, TEAM)
            status_objects.until_state(client, TEAM, "Failed", within=DISCOVERY + SLOW)
            crds.remove(client, STATUSES)
            time.sleep(SECOND_LOOK)
        inference_sets.repair(client, 0)
        events.wait_for(client, READY_REASON, within=SETTLE + PROMPT_TIMEOUT)
        assert "Traceback" not in reporter.log()


def test_status_that_the_crd_does_not_allow_is_our_fault_and_counted(plane: ControlPlane) -> None:
    client = plane.client
    with (
        status_objects.changed_schema(client, _without_state("Failed")),
        ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter,
    ):
        status_objects.create(client, TEAM)
        status_objects.create(client, TEAM, "others", inferenceSets=["model-1"])
        inference_sets.misconfigure(client, 0)
        until(lambda: _writes(reporter, "invalid") > 0, within=SLOW, what="it is refused")
        status_objects.until_state(client, TEAM, "Current", "others", within=SLOW)
        events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)
        assert len(reporter.lines("ERROR", "is not allowed by its CRD")) == 1
        status_objects.put_version(client, CRD["spec"]["versions"][0])
        status_objects.until_state(client, TEAM, "Failed", within=60)


def _without_state(state: str) -> Any:
    def change(schema: Json) -> None:
        schema["properties"]["status"]["properties"]["state"]["enum"].remove(state)

    return change


@pytest.mark.slow
def test_crd_of_an_earlier_release_costs_no_more_writes(plane: ControlPlane) -> None:
    """The API server drops fields that the CRD does not have."""
    client = plane.client
    status_objects.create(client, TEAM)
    inference_sets.misconfigure(client, 0)
    with (
        status_objects.changed_schema(client, _without_blocking),
        ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter,
    ):
        found = status_objects.until_state(client, TEAM, "Failed", within=SLOW)
        assert "blocking" not in found["status"]
        until_logged(reporter, "WARNING", DROPS)  # by the answer, with which the write is counted
        written = _writes(reporter, "written")
        time.sleep(5)
        assert _writes(reporter, "written") == written
        assert len(reporter.lines("WARNING", DROPS)) == 1


def _without_blocking(schema: Json) -> None:
    del schema["properties"]["status"]["properties"]["blocking"]


@pytest.mark.slow
def test_spec_that_cannot_be_decoded_is_not_written_to(plane: ControlPlane) -> None:
    client = plane.client
    with (
        status_objects.changed_schema(client, _with_any_spec),
        ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter,
    ):
        status_objects.create(client, TEAM, "odd", inferenceSets={"all": True})
        status_objects.create(client, TEAM)
        status_objects.until_state(client, TEAM, "Current", within=SLOW)
        odd = status_objects.read(client, TEAM, "odd")
        assert odd["status"] == {"observedGeneration": -1}
        assert reporter.metric("decode_errors_total", kind=STATUSES) >= 1
        assert len(reporter.lines("WARNING", f"{TEAM}/odd cannot be decoded")) == 1


def _with_any_spec(schema: Json) -> None:
    schema["properties"]["spec"] = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }


def test_of_two_replicas_one_writes_and_the_other_goes_on_after_it(plane: ControlPlane) -> None:
    client = plane.client
    status_objects.create(client, TEAM)
    with running_replicas(plane, 2, *SHORT_FLAGS, *FLAGS) as replicas:
        one, two = replicas
        status_objects.until_state(client, TEAM, "Current", within=SLOW)
        assert (_patches(one) > 0, _patches(two)) == (True, 0)
        os.kill(one.pid, signal.SIGKILL)
        inference_sets.misconfigure(client, 0)
        assert wait_for_leader([two], within=SLOW) is two
        found = status_objects.until_state(client, TEAM, "Failed", within=SLOW)
        assert status_objects.reason(found) == INVALID_REASON
        before = _patches(two)
        time.sleep(3)
        assert _patches(two) == before, "a status that is there is not written again"


def _patches(replica: ProxiedReplica) -> int:
    return replica.proxy.count(r"/productionstackstatuses/", methods=("PATCH",))


def _writes(reporter: ReporterProcess, result: str) -> float:
    return reporter.metric("status_object_writes_total", result=result)
