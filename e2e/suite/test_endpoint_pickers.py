"""
What fails of a model's own control plane is told of this InferenceSet, and of no other.
"""

from collections.abc import Iterator

import pytest

from e2e.suite import model as models
from e2e.suite.breakages import annotated, scaled_to_zero
from e2e.suite.cluster import Cluster
from e2e.suite.model import Model
from e2e.suite.said import Outage, from_now_on


@pytest.fixture(scope="module")
def model(own_cluster: Cluster) -> Iterator[Model]:
    with models.installed(own_cluster, "pickers") as model:
        yield model


@pytest.fixture(scope="module")
def neighbour(own_cluster: Cluster) -> Iterator[Model]:
    with models.installed(own_cluster, "neighbour") as model:
        yield model


def test_picker_at_zero_is_told_until_it_is_back(model: Model, neighbour: Model) -> None:
    picker, cluster = model.picker, model.cluster
    others = from_now_on(cluster, neighbour.namespace)
    saying = f"endpoint picker Deployment {picker.namespace}/{picker.name} is scaled to zero"
    told = Outage("inferencesetEPPNotReady", model.namespace, saying, "inferencesetReady")
    warning = told.lived(cluster, scaled_to_zero(cluster, picker))
    assert warning.message.startswith(f"InferenceSet {model.namespace}/qwen: ")
    assert others.all() == []


def test_limit_that_the_scaler_cannot_take_is_told_until_it_is_right(model: Model) -> None:
    saying = 'scaledobject.kaito.sh/max-replicas="0" must be greater than 1'
    told = Outage("inferencesetScalingMisconfigured", model.namespace, saying, "inferencesetReady")
    told.lived(model.cluster, annotated(model, auto_provision="true", max_replicas="0"))
