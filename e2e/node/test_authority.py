"""A cluster whose CA has the form of old ones, which the Python of the image refuses by default."""

from pathlib import Path

from e2e.chart.helm import Helm
from e2e.node import NodeCluster, stack
from e2e.node.release import Release
from tests.support.stubs.certificates import OLD_FORM


def test_reporter_runs_where_the_ca_has_neither_key_usage_nor_identifiers(tmp_path: Path) -> None:
    with NodeCluster(OLD_FORM) as node:
        stack.install(node.client)
        release = Release(node, Helm(tmp_path, node.plane.kubeconfig()))
        release.install()
        assert release.cluster_state() == "Current"
        events = release.events_from_now()
        component = stack.component("body-based-router")
        stack.NO_IMAGE.cause(node.client, component)
        events.wait_for("clusterBBRNotReady", stack.ABSENT_IMAGE)
