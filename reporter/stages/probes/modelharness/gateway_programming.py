"""
Whether the configuration of an accepted Gateway got through: its address and each of its listeners.

Istio tells of a missing certificate at the listener alone and leaves the Gateway Programmed. That
no proxy runs is told too, as an address that was not assigned; that is the data plane's trouble.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.keys import gateway_key
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.gateway_api.gateways import GATEWAYS, Gateway, ListenerStatus
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES
from reporter.model.verdicts import Cause, Trouble, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import (
    CheckResult,
    check_decoded,
    check_served,
    to_verdict,
)
from reporter.stages.resources.conditions import (
    check_observed_generation,
    reason_text,
    transition_time,
)
from reporter.stages.resources.gateway.gateways import (
    accepted_condition,
    exclude_deleting_gateways,
    find_gateways,
    gateway_ref,
)
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.phrases import abbreviate_list


class GatewayProgrammingParameters(
    Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"
):
    """
    *load_balancers*: false where a cluster has none, so that no Gateway will ever get an address.
    """

    load_balancers: bool = True


FAILING_STATUS = {
    "ResolvedRefs": "False",
    "Accepted": "False",
    "Conflicted": "True",
    "Programmed": "False",
}
"""
The status in which a listener's condition tells of trouble, causes before what follows from them.
"""

CERTIFICATE_REASONS = frozenset(
    {
        "InvalidCertificateRef",
        "RefNotPermitted",
        "InvalidCACertificateRef",
        "InvalidCACertificateKind",
        "NoValidCACertificate",
    }
)
ADDRESS_UNUSABLE_REASONS = frozenset({"AddressNotUsable", "UnsupportedAddress"})
ADDRESS_NOT_ASSIGNED = "AddressNotAssigned"
PENDING = "Pending"
NO_PROXIES_TEXT = "no instances found"
ADDRESS_PENDING_TEXT = "address pending"
"""
What Istio says of a Service without endpoints, and of one without an address.
"""


@dataclass(frozen=True, slots=True)
class ListenerFailure:
    """
    The condition that tells what is wrong with a listener.
    """

    listener: str
    condition: Condition

    @property
    def is_starting(self) -> bool:
        return self.condition.reason == PENDING


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    blind = check_served(snapshot, GATEWAYS)
    yield to_verdict(
        snapshot, question.key(), [blind] if blind else _find_troubles(snapshot, question)
    )


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    for gateway in exclude_deleting_gateways(find_gateways(snapshot, question.subject.namespace)):
        meta = gateway.metadata
        yield check_decoded(snapshot, GATEWAYS, meta.namespace, meta.name)
        yield _evaluate_gateway(snapshot, gateway, question.parameters)


def _evaluate_gateway(
    snapshot: Snapshot, gateway: Gateway, told: GatewayProgrammingParameters
) -> CheckResult | None:
    """
    Of one that nobody has accepted there is nothing to be said yet.
    """
    taken = accepted_condition(gateway)
    if taken is None:
        return None
    where = f"Gateway {gateway.metadata.namespace}/{gateway.metadata.name}"
    programmed = find_condition(gateway.status.conditions, "Programmed")
    failures = _listener_failures(gateway)
    for each in (taken, programmed, *(failure.condition for failure in failures)):
        late = (
            check_observed_generation(each, gateway.metadata, where) if each is not None else None
        )
        if late is not None:
            return late
    hard = [failure for failure in failures if not failure.is_starting]
    if hard:
        return _listener_trouble(gateway, hard)
    own = _gateway_trouble(gateway, programmed)
    if own is None or _is_missing_address_expected(snapshot, gateway, programmed, told):
        return _listener_trouble(gateway, failures)
    return own


# ---------------------------------------------------------------- its listeners


def _listener_failures(gateway: Gateway) -> Sequence[ListenerFailure]:
    """
    In the order of their names; listeners that were taken out of the spec do not count.
    """
    wanted = {listener.name for listener in gateway.spec.listeners or ()}
    stated = sorted(gateway.status.listeners or (), key=lambda each: each.name)
    found = ((each.name, _failing_condition(each)) for each in stated if each.name in wanted)
    return [ListenerFailure(name, failed) for name, failed in found if failed is not None]


def _failing_condition(listener: ListenerStatus) -> Condition | None:
    for kind, status in FAILING_STATUS.items():
        found = find_condition(listener.conditions, kind)
        if found is not None and found.status == status:
            return found
    return None


def _listener_trouble(gateway: Gateway, failures: Sequence[ListenerFailure]) -> Trouble | None:
    if not failures:
        return None
    first = failures[0].condition
    certificate = any(each.condition.reason in CERTIFICATE_REASONS for each in failures)
    what = abbreviate_list(
        [f"{reason_text(each.condition)} on listener {each.listener}" for each in failures]
    )
    return Trouble(
        cause=Cause(gateway_ref(gateway), "Certificate" if certificate else "Listener"),
        kind=TroubleKind.STARTING
        if all(each.is_starting for each in failures)
        else TroubleKind.FAILED,
        is_out=True,
        object_created_at=gateway.metadata.creation_timestamp,
        since=transition_time(first, gateway.metadata),
        message_fields={"gateway": gateway.metadata.name, "state": f"programming failed ({what})"},
        foreign_text=first.message or "",
    )


# ---------------------------------------------------------------- the Gateway itself


def _gateway_trouble(gateway: Gateway, programmed: Condition | None) -> Trouble | None:
    if programmed is None or programmed.status == "Unknown":
        return _new_trouble(
            gateway, "NotProgrammed", TroubleKind.STARTING, "is not programmed yet"
        )
    if programmed.status == "True":
        return None
    if programmed.reason == ADDRESS_NOT_ASSIGNED:
        return _new_trouble(gateway, "AddressPending", TroubleKind.STARTING, "has no address yet")
    if programmed.reason == PENDING:
        return _new_trouble(
            gateway, "NotProgrammed", TroubleKind.STARTING, "is not programmed yet"
        )
    code = "AddressNotUsable" if programmed.reason in ADDRESS_UNUSABLE_REASONS else "NotProgrammed"
    return _new_trouble(
        gateway, code, TroubleKind.FAILED, f"programming failed ({reason_text(programmed)})"
    )


def _is_missing_address_expected(
    snapshot: Snapshot,
    gateway: Gateway,
    programmed: Condition | None,
    told: GatewayProgrammingParameters,
) -> bool:
    """
    Whether it has no address because it cannot have one here, or only because no proxy runs.

    Proxies that someone deployed by hand are known to nobody else, so these are told of here.
    """
    if (
        programmed is None
        or programmed.reason != ADDRESS_NOT_ASSIGNED
        or programmed.status != "False"
    ):
        return False
    message, meta = programmed.message or "", gateway.metadata
    unmanned = NO_PROXIES_TEXT in message and ADDRESS_PENDING_TEXT not in message
    key = gateway_key(meta.namespace, meta.name)
    judged = not gateway.spec.addresses or bool(snapshot.by_index(DEPLOYMENTS, Deployment, key))
    return judged if unmanned else not told.load_balancers


def _new_trouble(gateway: Gateway, code: str, kind: TroubleKind, state: str) -> Trouble:
    """
    As the Gateway's own condition tells.
    """
    meta = gateway.metadata
    said = find_condition(gateway.status.conditions, "Programmed")
    return Trouble(
        cause=Cause(gateway_ref(gateway), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        since=transition_time(said, meta) if said is not None else meta.creation_timestamp,
        message_fields={"gateway": meta.name, "state": state},
        foreign_text=(said.message or "") if said is not None else "",
    )


PROBE = Probe(
    ProbeSpec(
        name="gateway-programming",
        parameters_type=GatewayProgrammingParameters,
        message_fields=frozenset({"gateway", "state"}),
        cause_codes=frozenset(
            {"AddressPending", "AddressNotUsable", "Certificate", "Listener", "NotProgrammed"}
        ),
        required_kinds=(GATEWAYS,),
        optional_kinds=(DEPLOYMENTS, HTTP_ROUTES, NAMESPACES),
        required_crds=lambda _: frozenset({GATEWAYS.group_resource}),
    ),
    evaluate,
)
