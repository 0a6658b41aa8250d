"""
A namespace is judged when it has the label of the stack, and not before.
"""

import time
from collections.abc import Iterator

import pytest

from e2e.suite import model as models
from e2e.suite.breakages import annotated
from e2e.suite.cluster import Cluster
from e2e.suite.model import Model
from e2e.suite.said import from_now_on


SCALING = "inferencesetScalingMisconfigured"


@pytest.fixture
def model(own_cluster: Cluster) -> Iterator[Model]:
    with models.installed(own_cluster, "unlabelled", labelled=False) as model:
        yield model


def test_namespace_is_silent_until_it_is_labelled(model: Model) -> None:
    said = from_now_on(model.cluster, model.namespace)
    with annotated(model, auto_provision="true", max_replicas="0"):
        time.sleep(model.cluster.patience.quiet)
        assert said.all() == []
        model.label("modelharness")
        said.until(SCALING, f"InferenceSet {model.namespace}/qwen")
        model.label(None)
        version = from_now_on(model.cluster, model.namespace)
        time.sleep(model.cluster.patience.quiet)
        assert version.all() == []
