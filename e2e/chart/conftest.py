"""
Helm, or a loud word that the chart was not tested.
"""

from pathlib import Path

import pytest

from e2e.chart.helm import Helm
from e2e.controlplane import ControlPlane


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    return Helm(tmp_path)


@pytest.fixture
def installer(tmp_path: Path, control_plane: ControlPlane) -> Helm:
    """
    As the administrator of the control plane.
    """
    return Helm(tmp_path, control_plane.kubeconfig())
