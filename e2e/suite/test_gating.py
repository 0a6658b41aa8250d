"""
What cannot be known while its upstream is out is silent, named there, and told after it.
"""

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
QUOTA = "SubscriptionQuotaReached: quota has been reached"
SUFFIX = f"(suppressing downstream reasons: {INFRA} in 1 namespace(s))"


@pytest.fixture(scope="module")
def model(own_cluster: ClusterUnderTest) -> Iterator[SuiteModel]:
    with models.installed(own_cluster, "gating") as model:
        yield model


@pytest.mark.announces(KAITO)
def test_downstream_is_silent_while_its_upstream_is_out_and_told_after_its_recovery(
    model: SuiteModel,
) -> None:
    cluster, component = model.cluster, model.cluster.component(KAITO_WORKSPACE)
    everything, of_the_team = events_from_now(cluster), events_from_now(cluster, model.namespace)
    with contextlib.ExitStack() as downstream:
        with scaled_to_zero(cluster, component):
            everything.wait_for(KAITO)
            downstream.enter_context(with_node_refused(model, QUOTA))
            named = everything.wait_for(KAITO, SUFFIX)
            everything.wait_for(KAITO, SUFFIX, count=named.count + 1)
            assert of_the_team.all() == []
        recovered = everything.wait_for("clusterReady")
        told = of_the_team.wait_for(INFRA, f"InferenceSet {model.namespace}/qwen")
        assert int(recovered.version) < int(told.version)
        assert "SubscriptionQuotaReached" in told.message
    of_the_team.wait_for("inferencesetReady")
    assert [each.reason for each in of_the_team.all()] == [INFRA, "inferencesetReady"]
