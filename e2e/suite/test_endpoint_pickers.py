"""
What fails of a model's own control plane is told of this InferenceSet, and of no other.
"""

from collections.abc import Iterator

import pytest

from e2e.suite import model as models
from e2e.suite.breakages import scaled_to_zero, with_annotations
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import ExpectedOutage, events_from_now
from e2e.suite.model import SuiteModel


@pytest.fixture(scope="module")
def model(own_cluster: ClusterUnderTest) -> Iterator[SuiteModel]:
    with models.installed(own_cluster, "pickers") as model:
        yield model


@pytest.fixture(scope="module")
def neighbour(own_cluster: ClusterUnderTest) -> Iterator[SuiteModel]:
    with models.installed(own_cluster, "neighbour") as model:
        yield model


@pytest.mark.announces("inferencesetEPPNotReady")
def test_picker_at_zero_is_told_until_it_is_back(model: SuiteModel, neighbour: SuiteModel) -> None:
    picker, cluster = model.picker, model.cluster
    others = events_from_now(cluster, neighbour.namespace)
    saying = f"endpoint picker Deployment {picker.namespace}/{picker.name} is scaled to zero"
    told = ExpectedOutage("inferencesetEPPNotReady", model.namespace, saying, "inferencesetReady")
    warning = told.run(cluster, scaled_to_zero(cluster, picker))
    assert warning.message.startswith(f"InferenceSet {model.namespace}/qwen: ")
    assert others.all() == []


@pytest.mark.announces("inferencesetScalingMisconfigured", "inferencesetReady")
def test_limit_that_the_scaler_cannot_take_is_told_until_it_is_right(model: SuiteModel) -> None:
    saying = 'scaledobject.kaito.sh/max-replicas="0" must be greater than 1'
    told = ExpectedOutage(
        "inferencesetScalingMisconfigured", model.namespace, saying, "inferencesetReady"
    )
    told.run(model.cluster, with_annotations(model, auto_provision="true", max_replicas="0"))
