"""A control plane with four healthy models."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane
from e2e.support import silences
from e2e.support.production_stack import inference_sets
from e2e.support.shared_plane import SharedPlane
from tests.support.mounted_file import MountedFile


@pytest.fixture(scope="package")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 4) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> ControlPlane:
    for number in range(4):
        silences.take_back(bare.client, number)
    return inference_sets.healthy_models(bare)


@pytest.fixture
def mounted(tmp_path: Path) -> MountedFile:
    """Yield a file of silences without any."""
    return silences.mount(tmp_path / "silences")
