"""The format of all written Events, and how kubectl prints them."""

from collections.abc import Iterator

import pytest

from e2e.controlplane import until
from e2e.suite.breakages import scaled_to_zero
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import events_from_now
from e2e.suite.recording import EventRecording
from e2e.support import events
from e2e.support.events import Event
from e2e.support.production_stack.components import BODY_BASED_ROUTER


BBR = "clusterBBRNotReady"


@pytest.fixture(scope="module")
def warning(cluster: ClusterUnderTest) -> Iterator[Event]:
    """A Warning, so that at least one Event exists."""
    component = cluster.component(BODY_BASED_ROUTER)
    query = events_from_now(cluster, component.namespace)
    with scaled_to_zero(cluster, component):
        first = query.wait_for(BBR)
        yield query.wait_for(BBR, count=first.count + 1)


def test_every_written_event_has_the_right_format(
    warning: Event, recording: EventRecording
) -> None:
    until(
        lambda: any(write["metadata"]["uid"] == warning.uid for write in recording.writes()),
        within=60,
        what="kubectl shows the Event",
    )
    writes = recording.writes()
    print(f"{len(writes)} writes, of {sorted({write['reason'] for write in writes})}")
    assert recording.violations() == set()


def test_kubectl_get_lists_it(cluster: ClusterUnderTest, warning: Event) -> None:
    selector = f"--field-selector=source={events.SOURCE},reason={BBR}"
    text = cluster.kubectl("get", "events", "--namespace=kube-system", selector)
    assert warning.message in text
    assert f"namespace/{warning.involved[1]}" in text


def test_kubectl_describe_shows_it_with_its_count(
    cluster: ClusterUnderTest, warning: Event
) -> None:
    text = cluster.kubectl("describe", "event", "--namespace=kube-system", warning.name)
    for line in ("Evaluate", warning.message, warning.reason, events.SOURCE):
        assert line in text


def test_kubectl_events_finds_it_by_its_object(cluster: ClusterUnderTest, warning: Event) -> None:
    involved = f"namespace/{warning.involved[1]}"
    text = cluster.kubectl("events", "--namespace=kube-system", f"--for={involved}")
    assert warning.message in text
    assert warning.reason in text
