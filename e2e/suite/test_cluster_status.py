"""Outages of control-plane components."""

import contextlib
import time

import pytest

from e2e.suite.breakages import scaled_to_zero, without_crd
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import ExpectedOutage, events_from_now
from e2e.support.production_stack import components


BBR = "clusterBBRNotReady"
COMPONENTS_BY_RANK = {
    reason: each.component for reason, each in reversed(components.evaluated_components().items())
}
"""Lowest rank first."""

MAX_NAMED = 3
"""Maximum number of outranked reasons that an Event names."""


@pytest.mark.announces(BBR, "clusterReady")
def test_component_at_zero_is_announced_until_it_is_back(cluster: ClusterUnderTest) -> None:
    component = cluster.component(components.BODY_BASED_ROUTER)
    outage = ExpectedOutage(
        BBR, component.namespace, at_zero(component), "clusterReady", release(cluster)
    )
    outage.run(cluster, scaled_to_zero(cluster, component))


@pytest.mark.announces(*COMPONENTS_BY_RANK)
def test_each_outage_of_higher_rank_is_announced(
    cluster: ClusterUnderTest,
) -> None:
    events = events_from_now(cluster)
    outranked: list[str] = []
    with contextlib.ExitStack() as outages:
        for reason, default in configured_components(cluster).items():
            component = cluster.component(default)
            outages.enter_context(scaled_to_zero(cluster, component))
            warning = events.wait_for(reason, at_zero(component))
            assert (warning.type, warning.involved) == (
                "Warning",
                ("Namespace", component.namespace),
            )
            names = ", ".join(sorted(outranked)[:MAX_NAMED])
            assert f"(also: {names}" in warning.message or not outranked
            outranked.append(reason)
    ready = events.wait_for("clusterReady")
    assert ready.involved == ("Namespace", release(cluster))
    later = events_from_now(cluster)
    # An active heartbeat would repeat the Event within the quiet period.
    time.sleep(cluster.timeouts.quiet_period)
    assert later.all() == []
    assert sorted(event.reason for event in events.all()) == sorted([*outranked, "clusterReady"])


@pytest.mark.announces("clusterCRDMissing")
def test_missing_crd_is_announced_until_it_is_back(own_cluster: ClusterUnderTest) -> None:
    name = "scaledobjects.keda.sh"
    outage = ExpectedOutage(
        *("clusterCRDMissing", name, name, "clusterReady", release(own_cluster)),
        kind="CustomResourceDefinition",
    )
    outage.run(own_cluster, without_crd(own_cluster, name))


def configured_components(cluster: ClusterUnderTest) -> dict[str, components.StackComponent]:
    """
    Return the components that the reporters of this cluster look for. Skip if there are none.
    """
    found = {
        reason: each for reason, each in COMPONENTS_BY_RANK.items() if cluster.component(each).name
    }
    if not found:
        pytest.skip("NOT RUN: the reporters look for none of these components")
    for reason in COMPONENTS_BY_RANK.keys() - found.keys():
        print(f"NOT RUN for {reason}, whose component the reporters do not look for")
    return found


def at_zero(component: components.StackComponent) -> str:
    return f"Deployment {component.namespace}/{component.name} is scaled to zero replicas"


def release(cluster: ClusterUnderTest) -> str:
    return cluster.reporters.flags().get("release-namespace", "kube-system")
