"""
What routes to a team's models and protects them is out, and comes back.
"""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from e2e.events import Event
from e2e.stack import Component
from e2e.suite import side_by_side
from e2e.suite.breakages import deleted, letting_in, scaled_to_zero, specified, untrue
from e2e.suite.cluster import Cluster
from e2e.suite.side_by_side import Trouble


READY = "modelharnessReady"
TROUBLES = {
    "class": Trouble(
        lambda model: specified(model, "Gateway", gatewayClassName="istio2"),
        *("modelharnessGatewayClassMissing", '"istio2", which does not exist', READY),
    ),
    "gateway": Trouble(
        lambda model: untrue(model, "Gateway", "Programmed", "Invalid: bad listener"),
        *("modelharnessGatewayProgrammingFailed", "(Invalid): bad listener", READY),
    ),
    "proxies": Trouble(
        lambda model: scaled_to_zero(
            model.cluster, Component(model.namespace, f"{model.namespace}-gw-istio", {})
        ),
        *("modelharnessGatewayDataPlaneNotReady", "scaled to zero", READY),
    ),
    "authorization": Trouble(
        lambda model: deleted(model, "EnvoyFilter", "apikey-ext-authz"),
        *("modelharnessExtAuthzProviderMissing", "apikey-ext-authz was deleted", READY),
    ),
    "keys": Trouble(
        lambda model: untrue(model, "APIKey", "Ready", "SecretConflict: cannot write it"),
        *("modelharnessAPIKeyReconcileFailed", "(SecretConflict)", READY),
    ),
    "catch-all": Trouble(
        lambda model: deleted(model, "EnvoyFilter", "model-not-found-direct"),
        *("modelharnessCatchAllFilterRejected", "model-not-found-direct was deleted", READY),
    ),
    "policy": Trouble(
        lambda model: letting_in(model, "nobody-has-this"),
        *("modelharnessNetworkPolicyMisconfigured", '"nobody-has-this"', READY),
    ),
}


@pytest.fixture(scope="module")
def lived(
    request: pytest.FixtureRequest, own_cluster: Cluster
) -> Iterator[dict[str, Future[Event]]]:
    with side_by_side.lived(request, own_cluster, TROUBLES) as lived:
        yield lived


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble_of_a_harness_is_told_until_it_is_over(
    lived: dict[str, Future[Event]], name: str
) -> None:
    warning = lived[name].result()
    assert warning.message.startswith(f"Namespace {warning.involved[1]}: ")
