"""
A component of the control plane is out, and comes back.
"""

import pytest

from e2e.stack import APIKEY_AUTHZ, BODY_BASED_ROUTER, Component
from e2e.suite.breakages import scaled_to_zero, without_crd
from e2e.suite.cluster import Cluster
from e2e.suite.said import Outage


@pytest.mark.parametrize(
    ("usual", "reason"),
    [
        (BODY_BASED_ROUTER, "clusterBBRNotReady"),
        (APIKEY_AUTHZ, "clusterGatewayAuthNotReady"),
    ],
    ids=lambda each: each.name if isinstance(each, Component) else None,
)
def test_component_at_zero_is_told_until_it_is_back(
    cluster: Cluster, usual: Component, reason: str
) -> None:
    component = cluster.component(usual)
    release = cluster.reporters.flags().get("release-namespace", "kube-system")
    saying = f"Deployment {component.namespace}/{component.name} is scaled to zero replicas"
    told = Outage(reason, component.namespace, saying, "clusterReady", release)
    told.lived(cluster, scaled_to_zero(cluster, component))


def test_missing_crd_is_told_until_it_is_back(own_cluster: Cluster) -> None:
    name = "scaledobjects.keda.sh"
    release = own_cluster.reporters.flags().get("release-namespace", "kube-system")
    told = Outage(
        *("clusterCRDMissing", name, name, "clusterReady", release),
        kind="CustomResourceDefinition",
    )
    told.lived(own_cluster, without_crd(own_cluster, name))
