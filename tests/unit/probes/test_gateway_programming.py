"""The verdicts about a Gateway's address, and about its status as a whole."""

from datetime import timedelta

import pytest
from msgspec import convert

from reporter.kinds.gateway_api import GATEWAYS
from reporter.model.enums import Layer, TroubleKind
from reporter.model.observations import NotServed
from reporter.model.subjects import Subject
from reporter.model.verdicts import Clear, Unknown
from reporter.probes.gateway_programming import (
    PROBE,
    GatewayProgrammingParameters,
)
from reporter.probes.probe import ProbeRequest
from tests.support.builders import LONG_AGO, NOON, an_observed_condition
from tests.support.gateways import (
    BAD_TLS,
    CERTIFICATE,
    NO_SERVICE,
    REASON,
    UNMANNED,
    WAITS,
    assert_reported,
    gateway,
    listening,
    unassigned,
)
from tests.support.harness_builders import (
    ACCEPTED,
    DEFAULT_CONDITIONS,
    EPOCH,
    GATEWAY,
    TEAM,
    a_data_plane,
    a_gateway,
    a_harness_store,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


GOOD = (
    an_observed_condition("Accepted"),
    an_observed_condition("Conflicted", "False", "NoConflicts"),
    an_observed_condition("Programmed"),
    an_observed_condition("ResolvedRefs"),
    an_observed_condition("OverlappingTLSConfig", "True", "OverlappingHostnames"),
)


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="none is reported elsewhere"),
        pytest.param([gateway()], id="programmed"),
        pytest.param([listening(*GOOD)], id="a listener whose negative conditions are False"),
        pytest.param(
            [a_gateway(GATEWAY, *DEFAULT_CONDITIONS)], id="not accepted is reported elsewhere"
        ),
        pytest.param(
            [gateway(listener_conditions={"gone": [CERTIFICATE]})],
            id="a listener that is not in the spec",
        ),
        pytest.param([gateway(unassigned(UNMANNED))], id="no proxies is reported elsewhere"),
        pytest.param([gateway(unassigned(WAITS), deleted=NOON)], id="being deleted"),
        pytest.param(
            [gateway(unassigned(UNMANNED), addresses=("own",)), a_data_plane()],
            id="proxies deployed by hand that are known",
        ),
    ],
)
def test_a_gateway_that_is_programmed_is_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize(
    ("made", "code", "kind", "text", "foreign"),
    [
        pytest.param(
            gateway(unassigned(WAITS)),
            "AddressPending",
            TroubleKind.STARTING,
            "has no address yet",
            WAITS,
            id="a load balancer's address takes minutes",
        ),
        pytest.param(
            gateway(unassigned(WAITS, since=LONG_AGO + timedelta(minutes=5))),
            "AddressLost",
            TroubleKind.LOST,
            "has lost its address",
            WAITS,
            id="it had an address once it was accepted",
        ),
        pytest.param(
            gateway(unassigned(f"{UNMANNED}; address pending for hostname other")),
            "AddressPending",
            TroubleKind.STARTING,
            "has no address yet",
            f"{UNMANNED}; address pending for hostname other",
            id="an address is pending too",
        ),
        pytest.param(
            gateway(unassigned(UNMANNED), addresses=("own.infra.svc.cluster.local",)),
            "NoInstances",
            TroubleKind.STARTING,
            "has no running proxies behind its address",
            UNMANNED,
            id="proxies deployed by hand that nobody knows",
        ),
        pytest.param(
            gateway(
                an_observed_condition(
                    "Programmed", "False", "AddressNotUsable", "port 81 not found"
                )
            ),
            "AddressNotUsable",
            TroubleKind.FAILED,
            "programming failed (AddressNotUsable)",
            "port 81 not found",
            id="not usable",
        ),
        pytest.param(
            gateway(an_observed_condition("Programmed", "False", "AddressNotUsable", NO_SERVICE)),
            "NoService",
            TroubleKind.FAILED,
            "has no Service, so programming failed (AddressNotUsable)",
            NO_SERVICE,
            id="no Service was made for it",
        ),
        pytest.param(
            gateway(
                an_observed_condition("Programmed", "False", "AddressNotUsable", NO_SERVICE),
                addresses=("own.infra.svc.cluster.local",),
            ),
            "AddressNotUsable",
            TroubleKind.FAILED,
            "programming failed (AddressNotUsable)",
            NO_SERVICE,
            id="the Service that spec.addresses names does not exist",
        ),
        pytest.param(
            gateway(an_observed_condition("Programmed", "False", "UnsupportedAddress")),
            "AddressNotUsable",
            TroubleKind.FAILED,
            "programming failed (UnsupportedAddress)",
            "",
            id="not supported",
        ),
        pytest.param(
            gateway(an_observed_condition("Programmed", "False", "NoResources", "quota")),
            "NotProgrammed",
            TroubleKind.FAILED,
            "programming failed (NoResources)",
            "quota",
            id="any other reason",
        ),
        pytest.param(
            gateway(
                an_observed_condition("Programmed", "Unknown", "Pending", since=EPOCH, observed=0)
            ),
            "NotProgrammed",
            TroubleKind.STARTING,
            "is not programmed yet",
            "",
            id="nobody tells",
        ),
        pytest.param(
            gateway(an_observed_condition("Programmed", "False", "Pending")),
            "NotProgrammed",
            TroubleKind.STARTING,
            "is not programmed yet",
            "",
            id="pending",
        ),
        pytest.param(
            a_gateway(GATEWAY, ACCEPTED),
            "NotProgrammed",
            TroubleKind.STARTING,
            "is not programmed yet",
            "",
            id="no such condition",
        ),
    ],
)
def test_a_gateway_that_is_not_programmed_is_reported(made, code, kind, text, foreign):
    assert_reported(made, code, kind, text, foreign)


def test_an_old_gateway_that_flips_counts_from_that_moment():
    trouble = only_trouble(verdict_of(REASON, gateway(unassigned(WAITS, since=NOON))))
    assert (trouble.since, trouble.object_created_at) == (NOON, LONG_AGO)


def test_a_default_time_of_a_gateway_is_none():
    unknown = an_observed_condition("Programmed", "Unknown", "Pending", since=EPOCH, observed=0)
    assert only_trouble(verdict_of(REASON, gateway(unknown))).since == LONG_AGO


@pytest.mark.parametrize(
    "made",
    [
        gateway(unassigned(WAITS), generation=2),
        a_gateway(GATEWAY, an_observed_condition("Accepted", observed=2), BAD_TLS, generation=2),
        a_gateway(
            GATEWAY,
            an_observed_condition("Accepted", observed=2),
            an_observed_condition("Programmed", observed=2),
            generation=2,
            listener_conditions={"http": [CERTIFICATE]},
        ),
    ],
    ids=["all of it", "the Gateway", "a listener"],
)
def test_a_status_of_programming_older_than_the_spec_is_unknown(made):
    assert isinstance(verdict_of(REASON, made), Unknown)


def test_one_gateway_of_two_that_fails_is_reported():
    verdict = verdict_of(REASON, gateway(), a_gateway("b", ACCEPTED, unassigned(WAITS)))
    assert rendered_troubles(verdict) == ["Gateway b has no address yet"]


def test_an_address_is_awaited_unless_a_catalogue_says_that_there_are_no_load_balancers():
    store = a_harness_store(gateway(unassigned(WAITS)))
    subject = Subject(Layer.MODELHARNESS, TEAM)
    request = ProbeRequest(REASON, subject, convert({}, GatewayProgrammingParameters), {}, NOON)
    (verdict,) = PROBE.evaluate(store.snapshot(), request)
    assert only_trouble(verdict).cause.code == "AddressPending"


@pytest.mark.parametrize("message", [WAITS, UNMANNED])
def test_where_there_are_no_load_balancers_no_address_is_awaited(message):
    store = a_harness_store(gateway(unassigned(message)))
    request = ProbeRequest(
        REASON,
        Subject(Layer.MODELHARNESS, TEAM),
        GatewayProgrammingParameters(load_balancers=False),
        {},
        NOON,
    )
    (verdict,) = PROBE.evaluate(store.snapshot(), request)
    assert isinstance(verdict, Clear)


def test_without_the_crd_of_gateways_their_programming_is_unknown():
    store = a_harness_store(gateway(unassigned(WAITS)))
    store.set_watch_state(GATEWAYS, NotServed())
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_a_gateway_whose_programming_cannot_be_decoded_is_unknown():
    store = a_harness_store(gateway())
    store.mark_undecodable(GATEWAYS, TEAM, GATEWAY)
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_an_error_of_a_listener_counts_beside_a_status_of_an_older_spec():
    current = an_observed_condition(
        "ResolvedRefs", "False", "InvalidCertificateRef", "secret not found", NOON, 2
    )
    listeners = {"http": [current]}
    made = a_gateway(GATEWAY, ACCEPTED, BAD_TLS, generation=2, listener_conditions=listeners)
    assert only_trouble(verdict_of(REASON, made)).cause.code == "Certificate"
