"""
One Event for each finding, as of the earlier reporter: without rank, without suppression, or without one row.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.production_stack.changes import changed_spec, scaled_to_zero
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from tests.support.mounted_file import MountedFile


pytestmark = pytest.mark.controlplane

ISTIO, BBR = "clusterIstioControlPlaneNotReady", "clusterBBRNotReady"
CLASS = "modelharnessGatewayClassMissing"
SLOW = 60
GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/team-0/gateways"


@pytest.fixture
def broken(plane: ControlPlane) -> Iterator[ControlPlane]:
    """
    Yield a plane without istiod and body-based routing, with a Gateway of a class that does not exist.
    """
    client = plane.client
    (gateway,) = client.list(GATEWAYS)
    path = f"{GATEWAYS}/{gateway['metadata']['name']}"
    with (
        changed_spec(client, path, {"gatewayClassName": "nobody"}),
        scaled_to_zero(client, ISTIOD),
        scaled_to_zero(client, BODY_BASED_ROUTER),
    ):
        yield plane


def without_row() -> str:
    return json.dumps({"reasons": {ISTIO: {"does-not-suppress": [CLASS]}}})


def test_by_default_the_cause_is_announced_and_names_the_others(broken: ControlPlane) -> None:
    with ReporterProcess(broken, *SHORT_FLAGS) as reporter:
        event = events.wait_for(broken.client, ISTIO, within=PROMPT_TIMEOUT, containing=CLASS)
        assert f"(also: {BBR})" in event.message
        assert event.message.endswith(
            f"(suppressing downstream reasons: {CLASS} in 1 namespace(s))"
        )
        assert (
            reporter.metric(
                "reason_state", state="suppressed", reason=CLASS, workload_namespace="team-0"
            )
            == 1
        )
        assert events.reasons(broken.client) == [ISTIO]


def test_without_rank_and_suppression_each_finding_has_its_event(broken: ControlPlane) -> None:
    client = broken.client
    with ReporterProcess(broken, *SHORT_FLAGS, "--emission=all", "--suppression=off"):
        found = [
            events.wait_for(client, each, within=PROMPT_TIMEOUT) for each in (ISTIO, BBR, CLASS)
        ]
        assert sorted(events.reasons(client)) == sorted((ISTIO, BBR, CLASS))
        assert not [each for each in found if "suppressing downstream reasons" in each.message]


def test_with_emission_alone_suppression_stays(broken: ControlPlane) -> None:
    client = broken.client
    with ReporterProcess(broken, *SHORT_FLAGS, "--emission=all"):
        events.wait_for(client, BBR, within=PROMPT_TIMEOUT)
        events.wait_for(client, ISTIO, within=PROMPT_TIMEOUT, containing=CLASS)
        assert sorted(events.reasons(client)) == sorted((ISTIO, BBR))


def test_one_row_is_switched_off_by_an_overlay_and_on_again(
    broken: ControlPlane, tmp_path: Path
) -> None:
    client, overlay = broken.client, MountedFile(tmp_path / "overlay", "{}")
    with ReporterProcess(broken, *SHORT_FLAGS, f"--catalogue-overlay={overlay.path}") as reporter:
        events.wait_for(client, ISTIO, within=PROMPT_TIMEOUT, containing=CLASS)
        overlay.write(without_row())
        events.wait_for(client, CLASS, within=SLOW)
        assert (
            reporter.metric(
                "reason_state", state="suppressed", reason=CLASS, workload_namespace="team-0"
            )
            == 0
        )
        overlay.write("{}")
        until(
            lambda: (
                reporter.metric(
                    "reason_state", state="suppressed", reason=CLASS, workload_namespace="team-0"
                )
                == 1
            ),
            within=SLOW,
            what="the row is in effect again",
        )
