"""
What is announced of a namespace, when, and in which words, by the catalogue that is shipped.
"""

from datetime import timedelta
from typing import Self

from reporter.model.kinds import DEPLOYMENTS, ENVOY_FILTERS, GATEWAYS
from reporter.model.subjects import Subject
from reporter.model.words import Layer
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from reporter.stages.subjects import Roster
from tests.builders import MINUTE, NOON
from tests.harness_builders import (
    ACCEPTED,
    DATA_PLANE,
    FILTERS,
    GATEWAY,
    TEAM,
    UNTOUCHED,
    a_data_plane,
    a_filter,
    a_gateway,
    a_harness_store,
    said,
)
from tests.play import Play
from tests.shipped import CATALOGUE, FLAGS


PENDING = said("Programmed", "False", "AddressNotAssigned", "address pending", since=NOON)
NO_SECRET = said("ResolvedRefs", "False", "InvalidCertificateRef", "secret team-a/c not found")


class Team(Play):
    """
    The real probes on one namespace of a store; nothing else is judged.
    """

    def __init__(self, *objects):
        self.objects = objects
        super().__init__(CATALOGUE, subjects=frozenset({Subject(Layer.MODELHARNESS, TEAM)}))

    def __post_init__(self):
        play = self

        class Staged(Court):
            def roster(self, snapshot, before):
                return Roster(play.subjects)

        self.court = Staged(self.catalogue, PROBES, FLAGS, self.terms)
        self.store = a_harness_store(*self.objects)
        self.step()

    def put(self, kind, made) -> Self:
        self.store.put(kind, made)
        return self.step()

    def drop(self, kind, name):
        self.store.drop(kind, TEAM, name)
        return self.step()


HEALTHY = (a_gateway(), a_data_plane(), *(a_filter(name) for name in FILTERS))


def test_a_healthy_namespace_says_nothing():
    assert Team(*HEALTHY).after(60 * MINUTE).said == []


def test_a_first_installation_says_nothing_in_whichever_order():
    team = Team()
    for name in FILTERS:
        team.put(ENVOY_FILTERS, a_filter(name, born=team.now)).after(5)
    team.put(GATEWAYS, a_gateway(GATEWAY, *UNTOUCHED, born=team.now)).after(40)
    team.put(GATEWAYS, a_gateway(GATEWAY, ACCEPTED, PENDING, born=team.now)).after(5)
    starting = [("Progressing", "True", "ReplicaSetUpdated")]
    team.put(DEPLOYMENTS, a_data_plane(ready=0, conditions=starting, born=team.now)).after(60)
    team.put(DEPLOYMENTS, a_data_plane(born=team.now)).after(2 * MINUTE)
    team.put(GATEWAYS, a_gateway()).after(10 * MINUTE)
    assert team.said == []


def test_a_namespace_without_its_gateway_is_told_after_the_grace():
    team = Team()
    assert team.after(59).said == []
    assert team.after(1).said == ["modelharnessGatewayClassMissing x1"]
    assert team.last == (
        "Namespace team-a: Gateway team-a-gw does not exist."
        " Platform: Install or upgrade the modelharness chart of this namespace."
    )


def test_an_address_may_be_pending_for_five_minutes():
    team = Team(*HEALTHY).after(MINUTE).put(GATEWAYS, a_gateway(GATEWAY, ACCEPTED, PENDING))
    assert team.after(timedelta(seconds=299)).said == []
    assert team.after(1).said == ["modelharnessGatewayProgrammingFailed x1"]
    assert team.last == (
        "Namespace team-a: Gateway team-a-gw has no address yet (no progress for 5m):"
        " address pending. Platform: Check quota and permissions of the"
        " cloud's load balancers; kubectl describe on the Gateway's Service tells."
    )


def test_a_lost_certificate_is_told_and_its_return_is_too():
    team = Team(*HEALTHY).put(GATEWAYS, a_gateway(stated={"http": [NO_SECRET]}))
    assert team.after(29).said == []
    assert team.after(1).said == ["modelharnessGatewayProgrammingFailed x1"]
    assert team.last.startswith(
        "Namespace team-a: Gateway team-a-gw programming failed"
        " (InvalidCertificateRef on listener http): secret team-a/c not found."
    )
    team.put(GATEWAYS, a_gateway())
    assert team.after(30).said == ["modelharnessReady x1"]


def test_a_rotation_of_a_certificate_says_nothing():
    team = Team(*HEALTHY).put(GATEWAYS, a_gateway(stated={"http": [NO_SECRET]})).after(20)
    assert team.put(GATEWAYS, a_gateway()).after(10 * MINUTE).said == []


def test_a_data_plane_at_zero_is_told_at_once():
    team = Team(*HEALTHY).put(DEPLOYMENTS, a_data_plane(replicas=0))
    assert team.said == ["modelharnessGatewayDataPlaneNotReady x1"]


def test_a_data_plane_that_was_deleted_is_told_unless_it_is_made_again():
    team = Team(*HEALTHY).drop(DEPLOYMENTS, DATA_PLANE).after(20)
    team.put(DEPLOYMENTS, a_data_plane()).after(10 * MINUTE)
    assert team.said == []
    assert team.drop(DEPLOYMENTS, DATA_PLANE).after(MINUTE).said == [
        "modelharnessGatewayDataPlaneNotReady x1"
    ]


def test_an_upgrade_that_renames_the_gateway_says_nothing():
    team = Team(*HEALTHY)
    for name in FILTERS:
        team.put(ENVOY_FILTERS, a_filter(name, "new-gw")).after(2)
    team.put(GATEWAYS, a_gateway("new-gw", *UNTOUCHED, born=team.now)).after(2)
    team.put(DEPLOYMENTS, a_data_plane("new-gw-istio", gateway="new-gw", born=team.now))
    team.put(GATEWAYS, a_gateway("new-gw", born=team.now)).after(2)
    team.drop(GATEWAYS, GATEWAY).after(2)
    assert team.drop(DEPLOYMENTS, DATA_PLANE).after(10 * MINUTE).said == []


def test_the_highest_ranked_speaks_for_the_others():
    team = Team(*HEALTHY).put(ENVOY_FILTERS, a_filter(gateway="old-gw"))
    team.put(DEPLOYMENTS, a_data_plane(replicas=0)).after(2 * MINUTE)
    assert team.last.endswith("(also: modelharnessCatchAllFilterRejected)")
