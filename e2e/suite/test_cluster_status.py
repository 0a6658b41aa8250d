"""
A component of the control plane is out, and comes back.
"""

import contextlib
import time

import pytest

from e2e.suite.breakages import scaled_to_zero, without_crd
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import ExpectedOutage, events_from_now
from e2e.support.production_stack import components


BBR = "clusterBBRNotReady"
RISING = {
    "clusterKedaKaitoScalerNotReady": components.KEDA_KAITO_SCALER,
    "clusterKedaNotReady": components.KEDA_OPERATOR,
    "clusterNodeProvisionerNotReady": components.NODE_PROVISIONER,
    "clusterGatewayAuthNotReady": components.APIKEY_AUTHZ,
    "clusterIstioControlPlaneNotReady": components.ISTIOD,
}
"""
The lowest in rank first.
"""

NAMED = 3
"""
So many of those that are outranked have their names in the Event.
"""


@pytest.mark.announces(BBR, "clusterReady")
def test_component_at_zero_is_told_until_it_is_back(cluster: ClusterUnderTest) -> None:
    component = cluster.component(components.BODY_BASED_ROUTER)
    told = ExpectedOutage(
        BBR, component.namespace, at_zero(component), "clusterReady", release(cluster)
    )
    told.run(cluster, scaled_to_zero(cluster, component))


@pytest.mark.announces(*RISING)
def test_each_component_at_zero_is_told_when_it_outranks_all_that_are_out(
    cluster: ClusterUnderTest,
) -> None:
    said = events_from_now(cluster)
    outranked: list[str] = []
    with contextlib.ExitStack() as out:
        for reason, usual in looked_for(cluster).items():
            component = cluster.component(usual)
            out.enter_context(scaled_to_zero(cluster, component))
            told = said.wait_for(reason, at_zero(component))
            assert (told.type, told.involved) == ("Warning", ("Namespace", component.namespace))
            names = ", ".join(sorted(outranked)[:NAMED])
            assert f"(also: {names}" in told.message or not outranked
            outranked.append(reason)
    ready = said.wait_for("clusterReady")
    assert ready.involved == ("Namespace", release(cluster))
    silence = events_from_now(cluster)
    time.sleep(cluster.timeouts.quiet_period)  # by then a heartbeat not called off would have come
    assert silence.all() == []
    assert sorted(each.reason for each in said.all()) == sorted([*outranked, "clusterReady"])


@pytest.mark.announces("clusterCRDMissing")
def test_missing_crd_is_told_until_it_is_back(own_cluster: ClusterUnderTest) -> None:
    name = "scaledobjects.keda.sh"
    told = ExpectedOutage(
        *("clusterCRDMissing", name, name, "clusterReady", release(own_cluster)),
        kind="CustomResourceDefinition",
    )
    told.run(own_cluster, without_crd(own_cluster, name))


def looked_for(cluster: ClusterUnderTest) -> dict[str, components.StackComponent]:
    """
    A cluster need not have them all.
    """
    found = {reason: each for reason, each in RISING.items() if cluster.component(each).name}
    if not found:
        pytest.skip("NOT RUN: the reporters look for none of these components")
    for reason in RISING.keys() - found.keys():
        print(f"NOT RUN for {reason}, whose component the reporters do not look for")
    return found


def at_zero(component: components.StackComponent) -> str:
    return f"Deployment {component.namespace}/{component.name} is scaled to zero replicas"


def release(cluster: ClusterUnderTest) -> str:
    return cluster.reporters.flags().get("release-namespace", "kube-system")
