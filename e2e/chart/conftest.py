"""
Helm, or a loud word that the chart was not tested, and a namespace to install it in.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.chart.helm import Helm
from e2e.chart.installed import NAMESPACE
from e2e.controlplane import ControlPlane, until
from e2e.support.production_stack import restore


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    return Helm(tmp_path)


@pytest.fixture
def installer(tmp_path: Path, control_plane: ControlPlane) -> Helm:
    """
    As the administrator of the control plane.
    """
    return Helm(tmp_path, control_plane.kubeconfig())


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    """
    With a namespace in which Pod Security lets nothing pass that is not restricted.
    """
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    meta = {"name": NAMESPACE, "labels": restricted}
    stack.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    with restore.healthy_stack(stack) as plane:
        yield plane
    stack.client.delete(f"/api/v1/namespaces/{NAMESPACE}")
    gone = lambda: not stack.client.exists(f"/api/v1/namespaces/{NAMESPACE}")  # noqa: E731
    until(gone, within=60, what="the namespace of the releases is gone")
