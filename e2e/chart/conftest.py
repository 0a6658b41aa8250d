"""
Fixtures: helm, and a namespace to install releases in.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.chart.helm import Helm
from e2e.chart.installed import NAMESPACE
from e2e.chart.leftovers import remove_kept_crds
from e2e.controlplane import ControlPlane, until
from e2e.support.production_stack import restore


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    return Helm(tmp_path)


@pytest.fixture
def installer(tmp_path: Path, control_plane: ControlPlane) -> Helm:
    """
    Return helm with the permissions of a cluster administrator.
    """
    return Helm(tmp_path, control_plane.kubeconfig())


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    """
    Yield a control plane with a namespace that enforces the restricted Pod Security Standard.
    """
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    meta = {"name": NAMESPACE, "labels": restricted}
    stack.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    with restore.healthy_stack(stack) as plane:
        yield plane
    remove_kept_crds(stack)
    stack.client.delete(f"/api/v1/namespaces/{NAMESPACE}")
    gone = lambda: not stack.client.exists(f"/api/v1/namespaces/{NAMESPACE}")  # noqa: E731
    until(gone, within=120, what="the namespace of the releases is gone")
