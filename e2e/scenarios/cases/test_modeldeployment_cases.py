"""
The real cases that begin in the layer modeldeployment.
"""

import pytest

from e2e.controlplane import ControlPlane
from e2e.scenarios.cases.real_cases import of_layer, play
from e2e.support.cases.cluster_objects import CaseClusterObjects
from reporter.model.enums import Layer


pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize("name", of_layer(Layer.MODELDEPLOYMENT))
def test_what_is_announced_is_what_the_case_says(
    plane: ControlPlane, objects: CaseClusterObjects, name: str
) -> None:
    play(plane, objects, name)
