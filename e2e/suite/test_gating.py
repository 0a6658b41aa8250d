"""
What cannot be known while its upstream is out is silent, named there, and told after it.
"""

import contextlib
from collections.abc import Iterator

import pytest

from e2e.stack import KAITO_WORKSPACE
from e2e.suite import model as models
from e2e.suite.breakages import refused, scaled_to_zero
from e2e.suite.cluster import Cluster
from e2e.suite.model import Model
from e2e.suite.said import from_now_on


KAITO, INFRA = "clusterKaitoControllerNotReady", "inferencesetInfraProvisioningFailed"
QUOTA = "SubscriptionQuotaReached: quota has been reached"
SUFFIX = f"(suppressing downstream reasons: {INFRA} in 1 namespace(s))"


@pytest.fixture(scope="module")
def model(own_cluster: Cluster) -> Iterator[Model]:
    with models.installed(own_cluster, "gating") as model:
        yield model


def test_downstream_is_silent_while_its_upstream_is_out_and_told_after_its_recovery(
    model: Model,
) -> None:
    cluster, component = model.cluster, model.cluster.component(KAITO_WORKSPACE)
    everything, of_the_team = from_now_on(cluster), from_now_on(cluster, model.namespace)
    with contextlib.ExitStack() as downstream:
        with scaled_to_zero(cluster, component):
            everything.until(KAITO)
            downstream.enter_context(refused(model, QUOTA))
            named = everything.until(KAITO, SUFFIX)
            everything.until(KAITO, SUFFIX, count=named.count + 1)
            assert of_the_team.all() == []
        recovered = everything.until("clusterReady")
        told = of_the_team.until(INFRA, f"InferenceSet {model.namespace}/qwen")
        assert int(recovered.version) < int(told.version)
        assert "SubscriptionQuotaReached" in told.message
    of_the_team.until("inferencesetReady")
    assert [each.reason for each in of_the_team.all()] == [INFRA, "inferencesetReady"]
