"""Replays of one workload namespace over time, with the default catalogue."""

from datetime import timedelta
from typing import Self

from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.gateway_api import GATEWAYS
from reporter.kinds.istio import ENVOY_FILTERS
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from tests.support.builders import MINUTE, NOON, an_observed_condition
from tests.support.catalogue_fixture import DEFAULT_FLAGS, reasons_of
from tests.support.harness_builders import (
    ACCEPTED,
    DATA_PLANE,
    DEFAULT_CONDITIONS,
    FILTERS,
    GATEWAY,
    TEAM,
    a_data_plane,
    a_filter,
    a_gateway,
    a_harness_store,
)
from tests.support.replay import Replay


PENDING = an_observed_condition(
    "Programmed", "False", "AddressNotAssigned", "address pending", since=NOON
)
JUST_ACCEPTED = an_observed_condition("Accepted", since=NOON)
NO_SECRET = an_observed_condition(
    "ResolvedRefs", "False", "InvalidCertificateRef", "secret team-a/c not found"
)


class TeamReplay(Replay):
    """A replay of the real probes on one namespace of a store."""

    def __init__(self, *objects):
        self.objects = objects
        super().__init__(
            reasons_of(Layer.MODELHARNESS), subjects=frozenset({Subject(Layer.MODELHARNESS, TEAM)})
        )

    def __post_init__(self):
        self.evaluator = Evaluator(self.catalogue, PROBES, DEFAULT_FLAGS, self.settings)
        self.store = a_harness_store(*self.objects)
        self.run_pass()

    def put(self, kind, made) -> Self:
        self.store.upsert(kind, made)
        return self.run_pass()

    def drop(self, kind, name):
        self.store.delete(kind, TEAM, name)
        return self.run_pass()


HEALTHY = (a_gateway(), a_data_plane(), *(a_filter(name) for name in FILTERS))


def test_a_healthy_namespace_announces_nothing():
    assert TeamReplay(*HEALTHY).advance(60 * MINUTE).new_writes == []


def test_a_first_installation_announces_nothing_in_whichever_order():
    team = TeamReplay()
    for name in FILTERS:
        team.put(ENVOY_FILTERS, a_filter(name, created_at=team.now)).advance(5)
    team.put(GATEWAYS, a_gateway(GATEWAY, *DEFAULT_CONDITIONS, created_at=team.now)).advance(40)
    pending = a_gateway(GATEWAY, JUST_ACCEPTED, PENDING, created_at=team.now)
    team.put(GATEWAYS, pending).advance(5)
    starting = [("Progressing", "True", "ReplicaSetUpdated")]
    team.put(DEPLOYMENTS, a_data_plane(ready=0, conditions=starting, created_at=team.now)).advance(
        60
    )
    team.put(DEPLOYMENTS, a_data_plane(created_at=team.now)).advance(2 * MINUTE)
    team.put(GATEWAYS, a_gateway()).advance(10 * MINUTE)
    assert team.new_writes == []


def test_a_namespace_without_its_gateway_is_reported_after_the_grace():
    team = TeamReplay()
    assert team.advance(59).new_writes == []
    assert team.advance(1).new_writes == ["modelharnessGatewayClassMissing x1"]
    assert team.last_message == (
        "Namespace team-a: Gateway team-a-gw does not exist."
        " Platform: Install or upgrade the modelharness chart of this namespace, or correct the"
        " parentRefs of its routes."
    )


def test_an_address_may_be_pending_for_five_minutes():
    pending = a_gateway(GATEWAY, JUST_ACCEPTED, PENDING)
    team = TeamReplay(*HEALTHY).advance(MINUTE).put(GATEWAYS, pending)
    assert team.advance(timedelta(seconds=299)).new_writes == []
    assert team.advance(1).new_writes == ["modelharnessGatewayProgrammingFailed x1"]
    assert team.last_message == (
        "Namespace team-a: Gateway team-a-gw has no address yet (no progress for 5m):"
        " address pending. Platform: Check quota and permissions of the"
        " cloud's load balancers; kubectl describe on the Gateway's Service tells."
    )


def test_an_address_that_was_there_and_is_lost_is_reported_after_the_hold_of_what_is_lost():
    lost = a_gateway(GATEWAY, ACCEPTED, PENDING)
    team = TeamReplay(*HEALTHY).advance(MINUTE).put(GATEWAYS, lost)
    assert team.advance(29).new_writes == []
    assert team.advance(1).new_writes == ["modelharnessGatewayProgrammingFailed x1"]
    assert "Gateway team-a-gw has lost its address: address pending" in team.last_message


def test_a_lost_certificate_is_reported_and_its_return_is_too():
    team = TeamReplay(*HEALTHY).put(GATEWAYS, a_gateway(listener_conditions={"http": [NO_SECRET]}))
    assert team.advance(29).new_writes == []
    assert team.advance(1).new_writes == ["modelharnessGatewayProgrammingFailed x1"]
    assert team.last_message.startswith(
        "Namespace team-a: Gateway team-a-gw programming failed"
        " (InvalidCertificateRef on listener http): secret team-a/c not found."
    )
    team.put(GATEWAYS, a_gateway())
    assert team.advance(30).new_writes == ["modelharnessReady x1"]


def test_a_rotation_of_a_certificate_announces_nothing():
    team = (
        TeamReplay(*HEALTHY)
        .put(GATEWAYS, a_gateway(listener_conditions={"http": [NO_SECRET]}))
        .advance(20)
    )
    assert team.put(GATEWAYS, a_gateway()).advance(10 * MINUTE).new_writes == []


def test_a_data_plane_at_zero_is_reported_at_once():
    team = TeamReplay(*HEALTHY).put(DEPLOYMENTS, a_data_plane(replicas=0))
    assert team.new_writes == ["modelharnessGatewayDataPlaneNotReady x1"]


def test_a_data_plane_that_was_deleted_is_reported_unless_it_is_made_again():
    team = TeamReplay(*HEALTHY).drop(DEPLOYMENTS, DATA_PLANE).advance(20)
    team.put(DEPLOYMENTS, a_data_plane()).advance(10 * MINUTE)
    assert team.new_writes == []
    assert team.drop(DEPLOYMENTS, DATA_PLANE).advance(MINUTE).new_writes == [
        "modelharnessGatewayDataPlaneNotReady x1"
    ]


def test_an_upgrade_that_renames_the_gateway_announces_nothing():
    team = TeamReplay(*HEALTHY)
    for name in FILTERS:
        team.put(ENVOY_FILTERS, a_filter(name, "new-gw")).advance(2)
    team.put(GATEWAYS, a_gateway("new-gw", *DEFAULT_CONDITIONS, created_at=team.now)).advance(2)
    team.put(DEPLOYMENTS, a_data_plane("new-gw-istio", gateway="new-gw", created_at=team.now))
    team.put(GATEWAYS, a_gateway("new-gw", created_at=team.now)).advance(2)
    team.drop(GATEWAYS, GATEWAY).advance(2)
    assert team.drop(DEPLOYMENTS, DATA_PLANE).advance(10 * MINUTE).new_writes == []


def test_the_highest_ranked_is_announced_for_the_others():
    team = TeamReplay(*HEALTHY).put(ENVOY_FILTERS, a_filter(gateway="old-gw"))
    team.put(DEPLOYMENTS, a_data_plane(replicas=0)).advance(2 * MINUTE)
    assert team.last_message.endswith("(also: modelharnessCatchAllFilterRejected)")
