"""
What a model needs beside its control plane fails, and comes back.
"""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from e2e.events import Event
from e2e.suite import side_by_side
from e2e.suite.breakages import refused, under_pressure, untrue, without_image
from e2e.suite.cluster import Cluster
from e2e.suite.side_by_side import Trouble


READY = "inferencesetReady"
INVALID = "InstanceTypeResolutionFailed: instance type Standard_None is not known"
TROUBLES = {
    "invalid-instance-type": Trouble(
        lambda model: refused(model, INVALID),
        *("inferencesetInfraProvisioningFailed", "Standard_None is not known", READY),
    ),
    "image": Trouble(without_image, "inferencesetModelPodsNotReady", "ImagePull", READY),
    "route": Trouble(
        lambda model: untrue(model, "HTTPRoute", "Accepted", "NotAllowedByListeners: no listener"),
        *("inferencesetRouteNotReady", "NotAllowedByListeners", READY),
    ),
    "pressure": Trouble(under_pressure, "inferencesetNodeUnderPressure", "DiskPressure", ""),
}


@pytest.fixture(scope="module")
def lived(
    request: pytest.FixtureRequest, own_cluster: Cluster
) -> Iterator[dict[str, Future[Event]]]:
    with side_by_side.lived(request, own_cluster, TROUBLES) as lived:
        yield lived


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble_of_a_model_is_told_until_it_is_over(
    lived: dict[str, Future[Event]], name: str
) -> None:
    warning = lived[name].result()
    assert warning.message.startswith(f"InferenceSet {warning.involved[1]}/qwen: ")
