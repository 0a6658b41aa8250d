"""Failures of one model's endpoint picker or scaling are announced for this InferenceSet only."""

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
def test_picker_at_zero_is_announced_until_it_is_back(
    model: SuiteModel, neighbour: SuiteModel
) -> None:
    picker, cluster = model.picker, model.cluster
    others = events_from_now(cluster, neighbour.namespace)
    message = f"endpoint picker Deployment {picker.namespace}/{picker.name} is scaled to zero"
    outage = ExpectedOutage(
        "inferencesetEPPNotReady", model.namespace, message, "inferencesetReady"
    )
    warning = outage.run(cluster, scaled_to_zero(cluster, picker))
    assert warning.message.startswith(f"InferenceSet {model.namespace}/qwen: ")
    assert others.all() == []


@pytest.mark.announces("inferencesetScalingMisconfigured", "inferencesetReady")
def test_invalid_scaling_limit_is_announced_until_it_is_corrected(model: SuiteModel) -> None:
    message = 'scaledobject.kaito.sh/max-replicas="0" must be greater than 1'
    outage = ExpectedOutage(
        "inferencesetScalingMisconfigured", model.namespace, message, "inferencesetReady"
    )
    outage.run(model.cluster, with_annotations(model, auto_provision="true", max_replicas="0"))
