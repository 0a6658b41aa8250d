"""The real cases that begin in the layer modelharness."""

import pytest

from e2e.controlplane import ControlPlane
from e2e.scenarios.cases.chosen_cases import slow_unless_chosen
from e2e.scenarios.cases.real_cases import of_layer, replay_case
from e2e.support.cases.cluster_objects import CaseClusterObjects
from reporter.model.enums import Layer


pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize("name", slow_unless_chosen(of_layer(Layer.MODELHARNESS)))
def test_announces_what_the_case_expects(
    plane: ControlPlane, objects: CaseClusterObjects, name: str
) -> None:
    replay_case(plane, objects, name)
