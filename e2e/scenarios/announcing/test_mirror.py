"""Events beside their InferenceSets, as their owners see them."""

import pytest

from e2e.controlplane import ControlPlane, reporter_rights, until
from e2e.support import events
from e2e.support.events import SOURCE, Event
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.reporter_waits import until_metric
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from reporter.kube.access_review import Permission


pytestmark = pytest.mark.controlplane

SLOW = 60
READY = "inferencesetReady"
CLASS_MISSING = "modelharnessGatewayClassMissing"
EVERYWHERE = "events in all namespaces"
FLAGS = (*SHORT_FLAGS, "--mirror-events")


def mirrors(plane: ControlPlane) -> list[Event]:
    found = plane.client.list("/api/v1/namespaces/team-0/events", fieldSelector=f"source={SOURCE}")
    return sorted((Event.of(each) for each in found), key=lambda each: int(each.version))


def wait_for_mirrors(plane: ControlPlane, *wanted: tuple[str, int]) -> list[Event]:
    """Wait until these reasons, each with its count or a higher one, have mirrors."""

    def read() -> list[Event]:
        found = mirrors(plane)
        there = sorted(each.reason for each in found) == sorted(reason for reason, _ in wanted)
        counts = dict(wanted)
        return found if there and all(e.count >= counts[e.reason] for e in found) else []

    return until(read, within=SLOW, what=f"mirrors {wanted}")


@pytest.fixture(autouse=True)
def no_mirrors(plane: ControlPlane) -> None:
    for each in mirrors(plane):
        plane.client.delete(f"/api/v1/namespaces/team-0/events/{each.name}")


def test_describe_shows_what_is_announced_and_that_it_is_over(plane: ControlPlane) -> None:
    client, name = plane.client, inference_sets.name(0).partition("/")[2]
    with ReporterProcess(plane, *FLAGS, "--heartbeat-seconds=10") as reporter:
        inference_sets.misconfigure(client, 0)
        event = inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        (mirror,) = wait_for_mirrors(plane, (INVALID_REASON, 1))
        assert mirror.involved == ("InferenceSet", name)
        assert (mirror.message, mirror.first) == (event.message, event.first)
        assert mirror.raw["metadata"]["labels"] == event.raw["metadata"]["labels"]
        assert INVALID_REASON in plane.kubectl("describe", "inferenceset", "-n", "team-0", name)
        wait_for_mirrors(plane, (INVALID_REASON, 2))
        inference_sets.repair(client, 0)
        inference_sets.wait_for(client, READY, 0, within=SETTLE + PROMPT_TIMEOUT)
        wait_for_mirrors(plane, (INVALID_REASON, 2), (READY, 1))
        assert READY in plane.kubectl("describe", "inferenceset", "-n", "team-0", name)
        until_metric(reporter, 2, "mirror_writes_total", result="created")
        assert reporter.metric("missing_rights", verb="create", resource="events") == 0


def test_without_the_right_only_the_event_in_kube_system_is_written(plane: ControlPlane) -> None:
    client = plane.client
    reporter_rights.install(client, NAMESPACE)
    anywhere = Permission("create", "", "events")
    reporter_rights.until_allowed(client, NAMESPACE, anywhere, allowed=False)
    with ReporterProcess(plane, *FLAGS, grant=False) as reporter:
        inference_sets.misconfigure(client, 0)
        inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        until(
            lambda: (
                reporter.metric("mirror_writes_total", result="refused") >= 1
                and reporter.metric("missing_rights", verb="create", resource=EVERYWHERE) == 1
            ),
            within=SLOW,
            what="the missing right is shown",
        )
        assert reporter.metric("missing_rights", verb="create", resource="events") == 0
        inference_sets.misconfigure(client, 1)
        inference_sets.wait_for(client, INVALID_REASON, 1, within=PROMPT_TIMEOUT)
        assert mirrors(plane) == []
        reporter_rights.install(client, NAMESPACE, mirror=True)
        until(lambda: len(mirrors(plane)) == 2, within=2 * SLOW, what="they are written then")


def test_mirrors_are_off_unless_switched_on(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS):
        inference_sets.misconfigure(client, 0)
        inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        inference_sets.repair(client, 0)
        inference_sets.wait_for(client, READY, 0, within=SETTLE + PROMPT_TIMEOUT)
        assert mirrors(plane) == []
        assert len(events.reporter_events(client)) == 2


GATEWAY = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "Gateway",
    "metadata": {
        "name": "a-gateway",
        "namespace": "team-0",
        "labels": {"kaito.sh/owned-by": "modelharness"},
    },
    "spec": {
        "gatewayClassName": "nobody",
        "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
    },
}


def test_an_event_about_the_gateway_is_beside_it(plane: ControlPlane) -> None:
    gateways = plane.client.collection(GATEWAY)
    plane.client.create(gateways, GATEWAY)
    try:
        with ReporterProcess(plane, *FLAGS, "--heartbeat-seconds=3600"):
            event = events.wait_for(plane.client, CLASS_MISSING, within=SLOW)
            (mirror,) = wait_for_mirrors(plane, (CLASS_MISSING, 1))
        assert mirror.involved == ("Gateway", "a-gateway")
        assert mirror.message == event.message
        described = plane.kubectl("describe", "gateway", "-n", "team-0", "a-gateway")
        assert CLASS_MISSING in described
    finally:
        plane.client.delete(f"{gateways}/a-gateway")
