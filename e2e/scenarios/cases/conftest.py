"""
The control plane and the objects of the cases.
"""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.production_stack import workload


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """
    A plane without controllers that would correct the objects of a case.
    """
    with ControlPlane(workload.SMALL_OPTIONS) as plane:
        yield plane


@pytest.fixture(scope="module")
def objects(plane: ControlPlane) -> Iterator[CaseClusterObjects]:
    found = CaseClusterObjects(plane.client)
    yield found
    found.end()
