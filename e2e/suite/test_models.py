"""Outages of what a model needs beside the control plane."""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from e2e.suite import parallel_breakages
from e2e.suite.announces import marked
from e2e.suite.breakages import (
    under_pressure,
    with_broken_image,
    with_false_condition,
    with_node_refused,
)
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.parallel_breakages import Breakage
from e2e.support.events import Event


READY = "inferencesetReady"
INVALID = "InstanceTypeResolutionFailed: instance type Standard_None is not known"
BREAKAGES = {
    "invalid-instance-type": Breakage(
        lambda model: with_node_refused(model, INVALID),
        *("inferencesetInfraProvisioningFailed", "Standard_None is not known", READY),
    ),
    "image": Breakage(with_broken_image, "inferencesetModelPodsNotReady", "ImagePull", READY),
    "route": Breakage(
        lambda model: with_false_condition(
            model, "HTTPRoute", "Accepted", "NotAllowedByListeners: no listener"
        ),
        *("inferencesetRouteNotReady", "NotAllowedByListeners", READY),
    ),
    "pressure": Breakage(under_pressure, "inferencesetNodeUnderPressure", "DiskPressure", ""),
}


@pytest.fixture(scope="module")
def warnings(
    request: pytest.FixtureRequest, own_cluster: ClusterUnderTest
) -> Iterator[dict[str, Future[Event]]]:
    with parallel_breakages.run_breakages(request, own_cluster, BREAKAGES) as warnings:
        yield warnings


@pytest.mark.parametrize("name", marked({name: each.reason for name, each in BREAKAGES.items()}))
def test_outage_of_a_model_is_announced_until_it_ends(
    warnings: dict[str, Future[Event]], name: str
) -> None:
    warning = warnings[name].result()
    assert warning.message.startswith(f"InferenceSet {warning.involved[1]}/qwen: ")
