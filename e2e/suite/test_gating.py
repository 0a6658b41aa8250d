"""Downstream reasons are suppressed during an upstream outage and announced after it."""

import contextlib
from collections.abc import Iterator

import pytest

from e2e.suite import model as models
from e2e.suite.breakages import scaled_to_zero, with_node_refused
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import events_from_now
from e2e.suite.model import SuiteModel
from e2e.support.production_stack.components import KAITO_WORKSPACE


KAITO, INFRA = "clusterKaitoControllerNotReady", "inferencesetInfraProvisioningFailed"
REFUSED = "CreateInstanceFailed: the provider answered with an internal error"
"""A cause that the outage of KAITO may explain; a quota would be one of its own."""

SUFFIX = f"(suppressing downstream reasons: {INFRA} in 1 namespace(s))"


@pytest.fixture(scope="module")
def model(own_cluster: ClusterUnderTest) -> Iterator[SuiteModel]:
    with models.installed(own_cluster, "gating") as model:
        yield model


@pytest.mark.announces(KAITO)
def test_downstream_is_suppressed_by_upstream_and_announced_after_it(
    model: SuiteModel,
) -> None:
    cluster, component = model.cluster, model.cluster.component(KAITO_WORKSPACE)
    all_events, team_events = events_from_now(cluster), events_from_now(cluster, model.namespace)
    with contextlib.ExitStack() as downstream:
        with scaled_to_zero(cluster, component):
            all_events.wait_for(KAITO)
            downstream.enter_context(with_node_refused(model, REFUSED))
            suppressing = all_events.wait_for(KAITO, SUFFIX)
            all_events.wait_for(KAITO, SUFFIX, count=suppressing.count + 1)
            assert team_events.all() == []
        recovered = all_events.wait_for("clusterReady")
        warning = team_events.wait_for(INFRA, f"InferenceSet {model.namespace}/qwen")
        # By the times at which they were composed: they may be written side by side.
        assert recovered.raw["eventTime"] <= warning.raw["eventTime"]
        assert "CreateInstanceFailed" in warning.message
    team_events.wait_for("inferencesetReady")
    assert [event.reason for event in team_events.all()] == [INFRA, "inferencesetReady"]
