"""
Shared inputs of the tests of Gateways and their listeners.
"""

from tests.support.harness_builders import (
    ACCEPTED,
    GATEWAY,
    PROGRAMMED,
    a_gateway,
    an_observed_condition,
)


REASON = "modelharnessGatewayProgrammingFailed"
ASSIGNED_TO = "Assigned to service(s) team-a-gw-istio.team-a.svc.cluster.local:80"
FAILED = f"{ASSIGNED_TO}, but failed to assign to all requested addresses"
WAITS = f'{FAILED}: address pending for hostname "team-a-gw-istio.team-a.svc.cluster.local"'
UNMANNED = f'{FAILED}: no instances found for hostname "team-a-gw-istio.team-a.svc.cluster.local"'


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
