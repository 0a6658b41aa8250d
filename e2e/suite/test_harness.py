"""Outages of what routes to a team's models and protects them."""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from e2e.suite import parallel_breakages
from e2e.suite.announces import marked
from e2e.suite.breakages import (
    deleted,
    scaled_to_zero,
    with_false_condition,
    with_ingress,
    with_spec,
)
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.parallel_breakages import Breakage
from e2e.support.events import Event
from e2e.support.production_stack.components import StackComponent


READY = "modelharnessReady"
BREAKAGES = {
    "class": Breakage(
        lambda model: with_spec(model, "Gateway", gatewayClassName="istio2"),
        *("modelharnessGatewayClassMissing", '"istio2", which does not exist', READY),
    ),
    "gateway": Breakage(
        lambda model: with_false_condition(
            model, "Gateway", "Programmed", "Invalid: bad listener"
        ),
        *("modelharnessGatewayProgrammingFailed", "(Invalid): bad listener", READY),
    ),
    "proxies": Breakage(
        lambda model: scaled_to_zero(
            model.cluster, StackComponent(model.namespace, f"{model.namespace}-gw-istio", {})
        ),
        *("modelharnessGatewayDataPlaneNotReady", "scaled to zero", READY),
    ),
    "authorization": Breakage(
        lambda model: deleted(model, "EnvoyFilter", "apikey-ext-authz"),
        *("modelharnessExtAuthzProviderMissing", "apikey-ext-authz was deleted", READY),
    ),
    "keys": Breakage(
        lambda model: with_false_condition(
            model, "APIKey", "Ready", "SecretConflict: cannot write it"
        ),
        *("modelharnessAPIKeyReconcileFailed", "(SecretConflict)", READY),
    ),
    "catch-all": Breakage(
        lambda model: deleted(model, "EnvoyFilter", "model-not-found-direct"),
        *("modelharnessCatchAllFilterRejected", "model-not-found-direct was deleted", READY),
    ),
    "policy": Breakage(
        lambda model: with_ingress(model, "nobody-has-this"),
        *("modelharnessNetworkPolicyMisconfigured", '"nobody-has-this"', READY),
    ),
}


@pytest.fixture(scope="module")
def warnings(
    request: pytest.FixtureRequest, own_cluster: ClusterUnderTest
) -> Iterator[dict[str, Future[Event]]]:
    with parallel_breakages.run_breakages(request, own_cluster, BREAKAGES) as warnings:
        yield warnings


@pytest.mark.announces(READY)
@pytest.mark.parametrize("name", marked({name: each.reason for name, each in BREAKAGES.items()}))
def test_outage_of_a_harness_is_announced_until_it_ends(
    warnings: dict[str, Future[Event]], name: str
) -> None:
    warning = warnings[name].result()
    assert warning.message.startswith(f"Namespace {warning.involved[1]}: ")
