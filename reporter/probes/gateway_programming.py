"""
Probe for an accepted Gateway without an address, and for listeners that were not programmed.

Istio reports a missing certificate at the listener only and leaves the Gateway Programmed. It reports
missing proxies as AddressNotAssigned, too; these are the data plane probe's to report
(Istio, pilot/pkg/config/kube/gateway/conditions.go).
"""

from collections.abc import Iterable
from datetime import timedelta

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import NAMESPACES
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES, Gateway
from reporter.kinds.objects import Condition, find_condition, gateway_key
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import conditions, gateways
from reporter.resources.check_result import CheckResult, check_decoded, limit_to
from reporter.snapshot.snapshot import Snapshot


class GatewayProgrammingParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for a Gateway's address and listeners.

    *load_balancers*: false for a cluster without any, where no Gateway ever gets an address.
    """

    load_balancers: bool = True


ADDRESS_UNUSABLE_REASONS = frozenset({"AddressNotUsable", "UnsupportedAddress"})
ADDRESS_NOT_ASSIGNED = "AddressNotAssigned"
NO_PROXIES_TEXT = "no instances found"
ADDRESS_PENDING_TEXT = "address pending"
"""
Parts of Istio's messages about a Service without endpoints and about one without an address.

Both have the reason AddressNotAssigned, so only the message tells them apart.
"""

NO_SERVICE_TEXT = '" not found'
"""
The end of Istio's message about a Service that does not exist; one about a port ends with its name.
"""

FIRST_STATUS_WITHIN = timedelta(seconds=10)
"""
Time within which a controller writes the first Accepted and Programmed; Istio writes both at once.
"""


@one_verdict(GATEWAYS)
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Yield at most one trouble for each Gateway, by its condition Programmed and its listeners.

    A Gateway that is being deleted, or that no controller has accepted, has none here.
    """
    for gateway in conditions.exclude_deleting(
        gateways.find_gateways(snapshot, request.subject.namespace)
    ):
        meta = gateway.metadata
        undecodable = check_decoded(snapshot, GATEWAYS, meta.namespace, meta.name)
        result = undecodable or _evaluate_gateway(snapshot, gateway, request.parameters)
        yield limit_to(result, GATEWAYS.ref_to(gateway))


def _evaluate_gateway(
    snapshot: Snapshot, gateway: Gateway, parameters: GatewayProgrammingParameters
) -> CheckResult | None:
    """
    Return the trouble of a Gateway's configuration; None before a controller has accepted it.

    Errors of listeners come first, since Istio may report the Gateway itself as Programmed.
    """
    accepted = gateways.accepted_condition(gateway)
    if accepted is None:
        return None
    programmed = find_condition(gateway.status.conditions, "Programmed")
    failures = gateways.find_listener_failures(gateway)
    meta = gateway.metadata
    errors = [
        failure
        for failure in failures
        if not failure.is_starting
        and not conditions.check_observed_generation(failure.condition, meta, "Gateway")
    ]
    if errors:
        return gateways.listener_trouble(gateway, errors)
    stale = conditions.check_observed_generations(
        (accepted, programmed, *(failure.condition for failure in failures)), meta, "Gateway"
    )
    if stale is not None:
        return stale
    trouble = _programmed_trouble(gateway, accepted, programmed)
    if trouble is None or _is_missing_address_expected(snapshot, gateway, programmed, parameters):
        return gateways.listener_trouble(gateway, failures)
    return trouble


# ---------------------------------------------------------------- the Gateway itself


def _programmed_trouble(
    gateway: Gateway, accepted: Condition, programmed: Condition | None
) -> Trouble | None:
    if conditions.is_condition_true(programmed):
        return None
    code, kind, state = _classify_programmed(programmed)
    changed = programmed.last_transition_time if programmed is not None else None
    first = accepted.last_transition_time
    # It was True if it has changed since the controller's first status.
    was_programmed = first and changed and changed > first + FIRST_STATUS_WITHIN
    if code == "AddressPending" and was_programmed:
        code, kind, state = "AddressLost", TroubleKind.LOST, "has lost its address"
    if code == "AddressNotUsable" and _lacks_service(gateway, programmed):
        code, state = "NoService", f"has no Service, so {state}"
    return conditions.with_condition(
        gateways.gateway_trouble(gateway, code, kind, state), programmed, gateway.metadata
    )


def _classify_programmed(programmed: Condition | None) -> tuple[str, TroubleKind, str]:
    """Return cause code, kind and message of a Programmed condition that is not True."""
    if programmed is None or programmed.status == "Unknown":
        return "NotProgrammed", TroubleKind.STARTING, "is not programmed yet"
    if _lacks_proxies(programmed):
        return "NoInstances", TroubleKind.STARTING, "has no running proxies behind its address"
    if programmed.reason == ADDRESS_NOT_ASSIGNED:
        return "AddressPending", TroubleKind.STARTING, "has no address yet"
    if programmed.reason == gateways.PENDING:
        return "NotProgrammed", TroubleKind.STARTING, "is not programmed yet"
    code = "AddressNotUsable" if programmed.reason in ADDRESS_UNUSABLE_REASONS else "NotProgrammed"
    return code, TroubleKind.FAILED, f"programming failed ({conditions.reason_text(programmed)})"


def _lacks_service(gateway: Gateway, programmed: Condition | None) -> bool:
    """
    Return whether the Service is missing that the controller itself makes for a Gateway.

    Istio gives up after five refusals, such as those of a quota, and tries again only after a restart
    (Istio, pilot/pkg/config/kube/gateway/deploymentcontroller.go).
    """
    message = (programmed.message if programmed is not None else "") or ""
    return not gateway.spec.addresses and message.endswith(NO_SERVICE_TEXT)


def _lacks_proxies(programmed: Condition) -> bool:
    """Return whether nothing but proxies is missing behind the Gateway's address."""
    message = programmed.message or ""
    return (
        programmed.reason == ADDRESS_NOT_ASSIGNED
        and NO_PROXIES_TEXT in message
        and ADDRESS_PENDING_TEXT not in message
    )


def _is_missing_address_expected(
    snapshot: Snapshot,
    gateway: Gateway,
    programmed: Condition | None,
    parameters: GatewayProgrammingParameters,
) -> bool:
    """
    Return whether a missing address is no trouble here: there are no load balancers, or no proxy.

    Missing proxies are the data plane probe's to report. Only proxies that somebody deployed by hand
    are unknown to it, and their absence is reported here.
    """
    if (
        programmed is None
        or programmed.reason != ADDRESS_NOT_ASSIGNED
        or programmed.status != "False"
    ):
        return False
    meta = gateway.metadata
    if _lacks_proxies(programmed):
        key = gateway_key(meta.namespace, meta.name)
        return not gateway.spec.addresses or bool(snapshot.by_index(DEPLOYMENTS, Deployment, key))
    return not parameters.load_balancers


PROBE = Probe(
    ProbeSpec(
        name="gateway-programming",
        parameters_type=GatewayProgrammingParameters,
        message_fields=frozenset({"gateway", "state"}),
        cause_codes=frozenset(
            {
                "AddressPending",
                "AddressLost",
                "NoInstances",
                "NoService",
                "AddressNotUsable",
                "Certificate",
                "Listener",
                "NotProgrammed",
            }
        ),
        required_kinds=(GATEWAYS,),
        consulted_kinds=(DEPLOYMENTS, HTTP_ROUTES),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(GATEWAYS),
    ),
    evaluate,
)
