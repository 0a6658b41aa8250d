"""
A Gateway whose address or listeners do not work.
"""

import pytest

from reporter.model.kinds import GATEWAYS
from reporter.model.observations import Unserved
from reporter.model.subjects import Subject
from reporter.model.verdicts import Clear, Unknown
from reporter.model.words import Kind, Layer
from reporter.stages.probes.modelharness.gateway_programming import PROBE, Parameters
from reporter.stages.probes.probe import Question
from tests.builders import LONG_AGO, NOON
from tests.harness_builders import (
    ACCEPTED,
    EPOCH,
    GATEWAY,
    PROGRAMMED,
    TEAM,
    UNTOUCHED,
    a_data_plane,
    a_gateway,
    a_harness_store,
    judged,
    only,
    said,
    told,
)


REASON = "modelharnessGatewayProgrammingFailed"
ASSIGNED_TO = "Assigned to service(s) team-a-gw-istio.team-a.svc.cluster.local:80"
FAILED = f"{ASSIGNED_TO}, but failed to assign to all requested addresses"
WAITS = f'{FAILED}: address pending for hostname "team-a-gw-istio.team-a.svc.cluster.local"'
UNMANNED = f'{FAILED}: no instances found for hostname "team-a-gw-istio.team-a.svc.cluster.local"'


def unassigned(message: str, **changes):
    return said("Programmed", "False", "AddressNotAssigned", message, **changes)


def gateway(programmed=PROGRAMMED, **changes):
    return a_gateway(GATEWAY, ACCEPTED, programmed, **changes)


def listening(*conditions, **changes):
    return gateway(stated={"http": conditions}, **changes)


GOOD = (
    said("Accepted"),
    said("Conflicted", "False", "NoConflicts"),
    said("Programmed"),
    said("ResolvedRefs"),
    said("OverlappingTLSConfig", "True", "OverlappingHostnames"),
)
CERTIFICATE = said("ResolvedRefs", "False", "InvalidCertificateRef", "secret team-a/c not found")
BAD_TLS = said("Programmed", "False", "Invalid", "Bad TLS configuration")


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="none is told elsewhere"),
        pytest.param([gateway()], id="programmed"),
        pytest.param([listening(*GOOD)], id="a listener whose negative conditions are False"),
        pytest.param([a_gateway(GATEWAY, *UNTOUCHED)], id="not accepted is told elsewhere"),
        pytest.param(
            [gateway(stated={"gone": [CERTIFICATE]})], id="a listener that is not in the spec"
        ),
        pytest.param([gateway(unassigned(UNMANNED))], id="no proxies is told elsewhere"),
        pytest.param([gateway(unassigned(WAITS), deleted=NOON)], id="being deleted"),
        pytest.param(
            [gateway(unassigned(UNMANNED), addresses=("own",)), a_data_plane()],
            id="proxies deployed by hand that are known",
        ),
    ],
)
def test_it_is_clear(objects):
    assert isinstance(judged(REASON, *objects), Clear)


@pytest.mark.parametrize(
    ("made", "code", "kind", "text", "foreign"),
    [
        pytest.param(
            gateway(unassigned(WAITS)),
            "AddressPending",
            Kind.STARTING,
            "has no address yet",
            WAITS,
            id="a load balancer's address takes minutes",
        ),
        pytest.param(
            gateway(unassigned(f"{UNMANNED}; address pending for hostname other")),
            "AddressPending",
            Kind.STARTING,
            "has no address yet",
            f"{UNMANNED}; address pending for hostname other",
            id="an address is pending too",
        ),
        pytest.param(
            gateway(unassigned(UNMANNED), addresses=("own.infra.svc.cluster.local",)),
            "AddressPending",
            Kind.STARTING,
            "has no address yet",
            UNMANNED,
            id="proxies deployed by hand that nobody knows",
        ),
        pytest.param(
            gateway(said("Programmed", "False", "AddressNotUsable", "port 81 not found")),
            "AddressNotUsable",
            Kind.FAILED,
            "programming failed (AddressNotUsable)",
            "port 81 not found",
            id="not usable",
        ),
        pytest.param(
            gateway(said("Programmed", "False", "UnsupportedAddress")),
            "AddressNotUsable",
            Kind.FAILED,
            "programming failed (UnsupportedAddress)",
            "",
            id="not supported",
        ),
        pytest.param(
            gateway(said("Programmed", "False", "NoResources", "quota")),
            "NotProgrammed",
            Kind.FAILED,
            "programming failed (NoResources)",
            "quota",
            id="any other reason",
        ),
        pytest.param(
            gateway(said("Programmed", "Unknown", "Pending", since=EPOCH, observed=0)),
            "NotProgrammed",
            Kind.STARTING,
            "is not programmed yet",
            "",
            id="nobody tells",
        ),
        pytest.param(
            gateway(said("Programmed", "False", "Pending")),
            "NotProgrammed",
            Kind.STARTING,
            "is not programmed yet",
            "",
            id="pending",
        ),
        pytest.param(
            a_gateway(GATEWAY, ACCEPTED),
            "NotProgrammed",
            Kind.STARTING,
            "is not programmed yet",
            "",
            id="no such condition",
        ),
        pytest.param(
            listening(said("Accepted"), CERTIFICATE, BAD_TLS),
            "Certificate",
            Kind.FAILED,
            "programming failed (InvalidCertificateRef on listener http)",
            "secret team-a/c not found",
            id="a certificate, though the Gateway is programmed",
        ),
        pytest.param(
            listening(said("ResolvedRefs", "False", "RefNotPermitted"), BAD_TLS),
            "Certificate",
            Kind.FAILED,
            "programming failed (RefNotPermitted on listener http)",
            "",
            id="no ReferenceGrant",
        ),
        pytest.param(
            listening(said("Conflicted", "True", "ProtocolConflict")),
            "Listener",
            Kind.FAILED,
            "programming failed (ProtocolConflict on listener http)",
            "",
            id="a conflict is bad when True",
        ),
        pytest.param(
            listening(said("Accepted", "False", "UnsupportedProtocol"), said("Programmed")),
            "Listener",
            Kind.FAILED,
            "programming failed (UnsupportedProtocol on listener http)",
            "",
            id="a protocol",
        ),
        pytest.param(
            listening(said("Programmed", "False", "Pending")),
            "Listener",
            Kind.STARTING,
            "programming failed (Pending on listener http)",
            "",
            id="a listener that waits",
        ),
        pytest.param(
            gateway(unassigned(UNMANNED), stated={"http": [CERTIFICATE]}),
            "Certificate",
            Kind.FAILED,
            "programming failed (InvalidCertificateRef on listener http)",
            "secret team-a/c not found",
            id="a certificate besides",
        ),
        pytest.param(
            gateway(unassigned(WAITS), stated={"http": [said("Programmed", "False", "Pending")]}),
            "AddressPending",
            Kind.STARTING,
            "has no address yet",
            WAITS,
            id="an address explains a listener that waits",
        ),
    ],
)
def test_it_is_told(made, code, kind, text, foreign):
    verdict = judged(REASON, made)
    trouble = only(verdict)
    assert (trouble.cause.code, trouble.kind, trouble.out) == (code, kind, True)
    assert told(verdict) == [f"Gateway team-a-gw {text}"]
    assert trouble.foreign == foreign


def test_all_listeners_that_fail_are_named():
    conflict = said("Conflicted", "True", "HostnameConflict")
    stated = {"b": [CERTIFICATE], "a": [conflict], "c": [conflict], "d": [conflict]}
    verdict = judged(REASON, gateway(listeners=tuple(stated), stated=stated))
    assert told(verdict) == [
        (
            "Gateway team-a-gw programming failed (HostnameConflict on listener a,"
            " HostnameConflict on listener c, HostnameConflict on listener d and 1 more)"
        )
    ]


def test_an_old_gateway_that_flips_counts_from_that_moment():
    trouble = only(judged(REASON, gateway(unassigned(WAITS, since=NOON))))
    assert (trouble.since, trouble.born) == (NOON, LONG_AGO)


def test_a_default_time_is_none():
    unknown = said("Programmed", "Unknown", "Pending", since=EPOCH, observed=0)
    assert only(judged(REASON, gateway(unknown))).since == LONG_AGO


@pytest.mark.parametrize(
    "made",
    [
        gateway(unassigned(WAITS), generation=2),
        a_gateway(GATEWAY, said("Accepted", observed=2), BAD_TLS, generation=2),
        a_gateway(
            GATEWAY,
            said("Accepted", observed=2),
            said("Programmed", observed=2),
            generation=2,
            stated={"http": [CERTIFICATE]},
        ),
    ],
    ids=["all of it", "the Gateway", "a listener"],
)
def test_a_status_older_than_the_spec_tells_nothing(made):
    assert isinstance(judged(REASON, made), Unknown)


def test_one_gateway_of_two_that_fails_is_told():
    verdict = judged(REASON, gateway(), a_gateway("b", ACCEPTED, unassigned(WAITS)))
    assert told(verdict) == ["Gateway b has no address yet"]


@pytest.mark.parametrize("message", [WAITS, UNMANNED])
def test_where_there_are_no_load_balancers_no_address_is_awaited(message):
    store = a_harness_store(gateway(unassigned(message)))
    asked = Question(
        REASON, Subject(Layer.MODELHARNESS, TEAM), Parameters(load_balancers=False), {}
    )
    (verdict,) = PROBE.judge(store.view(), asked)
    assert isinstance(verdict, Clear)


def test_without_the_crd_nothing_is_known():
    store = a_harness_store(gateway(unassigned(WAITS)))
    store.sight(GATEWAYS, Unserved())
    assert isinstance(judged(REASON, store=store), Unknown)


def test_what_could_not_be_decoded_tells_nothing():
    store = a_harness_store(gateway())
    store.spoil(GATEWAYS, TEAM, GATEWAY)
    assert isinstance(judged(REASON, store=store), Unknown)
