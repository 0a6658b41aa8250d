"""The real cases that begin in the cluster layer."""

import pytest

from e2e.controlplane import ControlPlane
from e2e.scenarios.cases.chosen_cases import slow_unless_chosen
from e2e.scenarios.cases.real_cases import of_layer, replay_case
from e2e.support.cases.cluster_objects import CaseClusterObjects
from reporter.model.enums import Layer


KAITO_OUT = "kaito-out-and-models-lost"

pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize(
    "name", slow_unless_chosen(name for name in of_layer(Layer.CLUSTER) if name != KAITO_OUT)
)
def test_announces_what_the_case_expects(
    plane: ControlPlane, objects: CaseClusterObjects, name: str
) -> None:
    replay_case(plane, objects, name)


@pytest.mark.slow
def test_two_models_that_fail_while_kaito_is_out_are_one_event_and_announced_once_it_is_back(
    plane: ControlPlane, objects: CaseClusterObjects
) -> None:
    written = replay_case(plane, objects, KAITO_OUT)
    out = [each for each in written if each.reason == "clusterKaitoControllerNotReady"]
    assert len({each.uid for each in out}) == 1
    assert out[-1].message.endswith(
        " (suppressing downstream reasons: inferencesetModelPodsNotReady in 2 namespace(s))"
    )
    assert [each.reason for each in written[len(out) :]] == [
        "clusterReady",
        "inferencesetModelPodsNotReady",
        "inferencesetModelPodsNotReady",
    ]
    assert {each.involved[1] for each in written[-2:]} == {"team-m", "team-n"}
