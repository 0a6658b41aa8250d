"""A control plane with four healthy models, and the CRD of the chart."""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.support import status_objects
from e2e.support.production_stack import inference_sets
from e2e.support.shared_plane import SharedPlane


@pytest.fixture(scope="package")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 4) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> Iterator[ControlPlane]:
    with status_objects.installed_crd(bare):
        yield inference_sets.healthy_models(bare)
