"""Shared inputs of the tests of Gateways and their listeners."""

from tests.support.builders import an_observed_condition
from tests.support.harness_builders import (
    ACCEPTED,
    GATEWAY,
    PROGRAMMED,
    a_gateway,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


REASON = "modelharnessGatewayProgrammingFailed"
ASSIGNED_TO = "Assigned to service(s) team-a-gw-istio.team-a.svc.cluster.local:80"
FAILED = f"{ASSIGNED_TO}, but failed to assign to all requested addresses"
WAITS = f'{FAILED}: address pending for hostname "team-a-gw-istio.team-a.svc.cluster.local"'
UNMANNED = f'{FAILED}: no instances found for hostname "team-a-gw-istio.team-a.svc.cluster.local"'
NO_SERVICE = f'{FAILED}: hostname "team-a-gw-istio.team-a.svc.cluster.local" not found'


def unassigned(message: str, **changes):
    return an_observed_condition("Programmed", "False", "AddressNotAssigned", message, **changes)


def gateway(programmed=PROGRAMMED, **changes):
    return a_gateway(GATEWAY, ACCEPTED, programmed, **changes)


def listening(*conditions, **changes):
    return gateway(listener_conditions={"http": conditions}, **changes)


CERTIFICATE = an_observed_condition(
    "ResolvedRefs", "False", "InvalidCertificateRef", "secret team-a/c not found"
)
BAD_TLS = an_observed_condition("Programmed", "False", "Invalid", "Bad TLS configuration")


def assert_reported(made, code, kind, text, foreign):
    """
    Assert that the one trouble of a Gateway is out, with this cause, kind, message and foreign text.
    """
    verdict = verdict_of(REASON, made)
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind, trouble.is_out) == (code, kind, True)
    assert rendered_troubles(verdict) == [f"Gateway team-a-gw {text}"]
    assert trouble.foreign_text == foreign
