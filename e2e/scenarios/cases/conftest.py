"""The control plane and the objects of the cases."""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.shared_plane import SharedPlane


@pytest.fixture(scope="module")
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with small_plane.lent() as plane:
        yield plane


@pytest.fixture(scope="module")
def objects(plane: ControlPlane) -> Iterator[CaseClusterObjects]:
    found = CaseClusterObjects(plane.client)
    yield found
    found.end()


@pytest.fixture
def stack(objects: CaseClusterObjects) -> Iterator[CaseClusterObjects]:
    objects.install({}, {})
    yield objects
    objects.install({}, {})
