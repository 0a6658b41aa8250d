"""Silences where people read objects: in a ProductionStackStatus and in a HealthEvent."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support import health_events, status_objects
from e2e.support.health_events import until_phases
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.silences import HOUR, SLOW, annotate, in_future, take_back, until_silenced
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from tests.support.health_events import CRD


pytestmark = pytest.mark.controlplane

TEAM = "team-0"
FLAGS = (*SHORT_FLAGS, *health_events.FLAGS, "--status-objects")
ACTIVE = f"{INVALID_REASON} {TEAM}/model-0 Active"
ORIGIN = f"InferenceSet {TEAM}/model-0"


@pytest.fixture
def with_crds(plane: ControlPlane) -> Iterator[ControlPlane]:
    with status_objects.installed_crd(plane), health_events.installed_crd(plane):
        yield plane


def shown(plane: ControlPlane) -> tuple[Any, Any]:
    """Return the silence in the status of the package, and in that of the only HealthEvent."""
    package = status_objects.read(plane.client, TEAM)["status"]
    (kept,) = until_phases(plane.client, ACTIVE, within=SLOW)
    return package.get("blocking", {}).get("silenced"), kept["status"].get("silenced")


def test_objects_show_who_silenced_their_cause_and_until_when(with_crds: ControlPlane) -> None:
    plane, client, end = with_crds, with_crds.client, in_future(HOUR)
    status_objects.create(client, TEAM)
    with ReporterProcess(plane, *FLAGS) as reporter:
        inference_sets.misconfigure(client, 0)
        inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        status_objects.until_state(client, TEAM, "Failed", within=SLOW)
        assert shown(plane) == (None, None)
        annotate(client, 0, until=end)
        until_silenced(reporter, 0)
        wanted = {"until": end, "by": "alice", "origin": ORIGIN}
        until(lambda: shown(plane) == (wanted, wanted), within=SLOW, what="both show the silence")
        assert status_objects.read(client, TEAM)["status"]["state"] == "Failed"
        assert reporter.metric("rollup_inferencesets", workload_namespace="", state="failed") == 1
        take_back(client, 0)
        # Of one HealthEvent the course is written once a minute.
        until(
            lambda: shown(plane) == (None, None), within=2 * SLOW, what="neither shows it any more"
        )


def test_a_crd_of_an_earlier_release_is_named(plane: ControlPlane) -> None:
    older, client = copy.deepcopy(CRD), plane.client
    for version in older["spec"]["versions"]:
        del version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["silenced"]
    flags = (*SHORT_FLAGS, *health_events.FLAGS)
    with health_events.installed_crd(plane, older), ReporterProcess(plane, *flags) as reporter:
        inference_sets.misconfigure(client, 0)
        until_phases(client, ACTIVE, within=SLOW)
        annotate(client, 0, until=in_future(HOUR))
        until(
            lambda: reporter.lines("has no field for the silence of an episode"),
            within=SLOW,
            what="the log names the CRD",
        )
        (kept,) = until_phases(client, ACTIVE, within=SLOW)
        assert "silenced" not in kept.get("status", {})
        assert reporter.metric("store_up") == 1
