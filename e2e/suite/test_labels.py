"""A namespace is evaluated only while it has the label of the stack."""

import time
from collections.abc import Iterator

import pytest

from e2e.suite import model as models
from e2e.suite.breakages import with_annotations
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import events_from_now
from e2e.suite.model import SuiteModel


SCALING = "inferencesetScalingMisconfigured"


@pytest.fixture
def model(own_cluster: ClusterUnderTest) -> Iterator[SuiteModel]:
    with models.installed(own_cluster, "unlabelled", labelled=False) as model:
        yield model


def test_namespace_has_no_events_until_it_is_labelled(model: SuiteModel) -> None:
    events = events_from_now(model.cluster, model.namespace)
    with with_annotations(model, auto_provision="true", max_replicas="0"):
        time.sleep(model.cluster.timeouts.quiet_period)
        assert events.all() == []
        model.label("modelharness")
        announced = events.wait_for(SCALING, f"InferenceSet {model.namespace}/qwen")
        model.label(None)
        (last,) = events.wait_quiet()
        assert last.uid == announced.uid
