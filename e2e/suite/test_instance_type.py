"""
A model is given a machine that does not exist.
"""

from collections.abc import Iterator

import pytest

from e2e.suite import model as models
from e2e.suite.breakages import refused
from e2e.suite.cluster import Cluster
from e2e.suite.model import WORKSPACE, Model
from e2e.suite.said import Outage


INVALID = "InstanceTypeResolutionFailed: instance type Standard_None is not known"


@pytest.fixture(scope="module")
def model(own_cluster: Cluster) -> Iterator[Model]:
    with models.installed(own_cluster, "machine") as model:
        yield model


def test_invalid_instance_type_is_told_until_it_is_right(model: Model) -> None:
    reason, saying = "inferencesetInfraProvisioningFailed", "Standard_None is not known"
    told = Outage(reason, model.namespace, saying, "inferencesetReady")
    warning = told.lived(model.cluster, refused(model, WORKSPACE, INVALID))
    assert "InstanceTypeResolutionFailed" in warning.message
