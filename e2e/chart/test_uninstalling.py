"""Objects that an uninstalled release leaves: its notes name them, and their commands remove them."""

import pytest
import yaml

from e2e.chart import CHART, CRD_CHART, HUB_CHART
from e2e.chart import crds as chart_crds
from e2e.chart.helm import IMAGE, Helm
from e2e.chart.hub.rendered import ON
from e2e.chart.installed import NAMESPACE, SLOW, as_installed, until_owned
from e2e.chart.leftovers import until_nothing_is_left
from e2e.controlplane import ControlPlane, crds, until
from e2e.support import status_objects
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER


WHERE = f"--namespace={NAMESPACE}"
ROOT = "/apis/reporter.productionstack.kaito.sh/v1alpha1"
EPISODES = f"{ROOT}/namespaces/{NAMESPACE}/healthevents"
CLUSTERS = f"{ROOT}/namespaces/{NAMESPACE}/productionstackclusters"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"


@pytest.fixture
def served(plane: ControlPlane, installer: Helm) -> ControlPlane:
    """Return the control plane with the release of the CRDs."""
    installer("install", "kinds", str(CRD_CHART), WHERE)
    found = [yaml.safe_load(text) for text in chart_crds.contents().values()]
    until(
        lambda: all(crds.served(plane.client, each) for each in found),
        within=SLOW,
        what="the kinds are served",
    )
    return plane


def _uninstall(plane: ControlPlane, helm: Helm, release: str) -> list[str]:
    """Uninstall a release, and return the commands of its notes that remove the rest."""
    notes = helm("get", "notes", release, WHERE)
    helm("uninstall", release, WHERE, "--wait")
    return [line.strip() for line in notes.splitlines() if "kubectl delete " in line]


def _run(plane: ControlPlane, commands: list[str]) -> None:
    for each in commands:
        plane.kubectl(*each.split()[1:])


def test_episodes_and_objects_of_users_are_left_and_removed_by_the_commands(
    served: ControlPlane, installer: Helm
) -> None:
    client = served.client
    on = "--set=store.backend=healthevents,statusObjects.enabled=true"
    installer("install", "stack", str(CHART), WHERE, IMAGE, on)
    status_objects.create(client, NAMESPACE)
    with as_installed(served):
        components.scale(client, BODY_BASED_ROUTER, 0)
        until(lambda: client.list(EPISODES), within=2 * SLOW, what="the episode is kept")
        until_owned(served)
    commands = _uninstall(served, installer, "stack")
    of_kinds = _uninstall(served, installer, "kinds")
    until_nothing_is_left(served, NAMESPACE)
    assert client.list(EPISODES)
    assert client.list(status_objects.ALL)
    _run(served, commands)
    assert client.list(EPISODES) == client.list(status_objects.ALL) == []

    _run(served, of_kinds)
    paths = {crds.name(yaml.safe_load(text)) for text in chart_crds.contents().values()}
    assert not [each for each in paths if client.exists(f"{crds.PATH}/{each}")]


def test_the_lease_and_the_clusters_of_a_hub_are_left_and_removed_by_the_commands(
    served: ControlPlane, installer: Helm
) -> None:
    client = served.client
    installer("install", "fleet", str(HUB_CHART), WHERE, IMAGE, ON)
    for version, kind, path, name, spec in (
        ("coordination.k8s.io/v1", "Lease", LEASES, "fleet-status-hub", {}),
        (f"{ROOT[6:]}", "ProductionStackCluster", CLUSTERS, "east", {"clusterLabel": "east"}),
    ):
        meta = {"name": name, "namespace": NAMESPACE}
        client.create(path, {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec})
    commands = _uninstall(served, installer, "fleet")
    assert client.list(CLUSTERS)
    assert client.exists(f"{LEASES}/fleet-status-hub")
    _run(served, commands)
    assert client.list(CLUSTERS) == []
    _uninstall(served, installer, "kinds")
    until_nothing_is_left(served, NAMESPACE)
