"""
What protects and routes a team's models is missing, and comes back.
"""

from collections.abc import Iterator

import pytest

from e2e.suite import model as models
from e2e.suite.breakages import deleted
from e2e.suite.cluster import Cluster
from e2e.suite.model import Model
from e2e.suite.said import Outage


@pytest.fixture(scope="module")
def model(own_cluster: Cluster) -> Iterator[Model]:
    with models.installed(own_cluster, "harness") as model:
        yield model


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("model-not-found-direct", "modelharnessCatchAllFilterRejected"),
        ("apikey-ext-authz", "modelharnessExtAuthzProviderMissing"),
    ],
)
def test_filter_that_was_deleted_is_told_until_it_is_back(
    model: Model, name: str, reason: str
) -> None:
    saying = f"Namespace {model.namespace}: EnvoyFilter {name} was deleted"
    told = Outage(reason, model.namespace, saying, "modelharnessReady")
    told.lived(model.cluster, deleted(model, "EnvoyFilter", name))
