"""
Probe for a missing Gateway, and for one that no controller has accepted.

With an unknown class or a dead controller nobody writes a status. The default of Gateway API's CRD
stays: Accepted is Unknown with reason Pending, since 1970-01-01, and never False.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds import gateway_api
from reporter.kinds.core import NAMESPACES
from reporter.kinds.gateway_api import Gateway, GatewayClass
from reporter.kinds.objects import Condition, find_condition
from reporter.model.enums import TroubleKind
from reporter.model.suggest import did_you_mean
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import check_result, conditions
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.gateways import find_gateways, gateway_trouble, parent_gateway_refs
from reporter.snapshot.snapshot import Snapshot


PENDING_REASONS = frozenset({"Pending", "Waiting", "NotReconciled"})
"""
Reasons of Accepted=False while a controller has not decided (Gateway API, GatewayConditionReason).
"""


class GatewayClassParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for a Gateway's class.

    *builtin_classes*: classes that work without a GatewayClass object, as Istio's own do.
    """

    builtin_classes: tuple[str, ...] = ()


@one_verdict(gateway_api.GATEWAYS)
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Return the results of every Gateway of the namespace that is not being deleted.

    If there is no Gateway at all, those that the namespace's routes name are missing, or else the one of
    the modelharness chart.
    """
    namespace = request.subject.namespace
    gateways = find_gateways(snapshot, namespace)
    if not gateways:
        return _check_missing_gateway(snapshot, namespace)
    builtin_classes = request.parameters.builtin_classes
    return [
        check_result.limit_to(result, gateway_api.GATEWAYS.ref_to(gateway))
        for gateway in conditions.exclude_deleting(gateways)
        for result in _evaluate_gateway(snapshot, gateway, builtin_classes)
    ]


# ---------------------------------------------------------------- no Gateway


def _check_missing_gateway(snapshot: Snapshot, namespace: str) -> Iterable[CheckResult]:
    """
    Report the Gateways that a namespace's routes name; none if they are in another namespace.

    A namespace whose routes use a Gateway elsewhere needs none of its own.
    """
    not_listed = snapshot.why_not_synced(gateway_api.HTTP_ROUTES)
    if not_listed:
        return [Inconclusive(not_listed)]
    refs = parent_gateway_refs(snapshot, namespace)
    if any(not _is_gateway_in(ref, namespace) for ref in refs):
        return []
    troubles: list[CheckResult] = []
    for ref in refs or (_expected_gateway_ref(snapshot, namespace),):
        absence = conditions.absence_of(snapshot, ref)
        trouble = Trouble(
            cause=Cause(ref, "Deleted" if absence.was_deleted else "NotFound"),
            kind=absence.trouble_kind,
            is_out=True,
            message_fields={"gateway": ref.name, "state": absence.describe()},
        )
        troubles.append(trouble)
    return troubles


def _expected_gateway_ref(snapshot: Snapshot, namespace: str) -> ObjectRef:
    """Return the Gateway by the modelharness chart's name, or another one that was deleted."""
    default = gateway_api.GATEWAYS.ref(namespace, f"{namespace}-gw")
    if default in snapshot.deleted_uids:
        return default
    deleted = (ref for ref in snapshot.deleted_uids if _is_gateway_in(ref, namespace))
    return min(deleted, default=default)


def _is_gateway_in(ref: ObjectRef, namespace: str) -> bool:
    return ref.resource == gateway_api.GATEWAYS.group_resource and ref.namespace == namespace


# ---------------------------------------------------------------- one Gateway


def _evaluate_gateway(
    snapshot: Snapshot, gateway: Gateway, builtin_classes: Iterable[str]
) -> Sequence[CheckResult | None]:
    """Return the first trouble of a Gateway. A class that is not known hides no refusal."""
    meta = gateway.metadata
    undecodable = check_result.check_decoded(
        snapshot, gateway_api.GATEWAYS, meta.namespace, meta.name
    )
    if undecodable is not None:
        return [undecodable]
    of_class = _check_class(snapshot, gateway, builtin_classes)
    refusal = _check_acceptance(gateway)
    return [of_class] if isinstance(of_class, Trouble) else [of_class, refusal]


def _check_class(
    snapshot: Snapshot, gateway: Gateway, builtin_classes: Iterable[str]
) -> CheckResult | None:
    """Check that a Gateway's class exists and is accepted; a built-in class needs no object."""
    name = gateway.spec.gateway_class_name
    is_known = snapshot.peek(gateway_api.GATEWAY_CLASSES, GatewayClass, "", name) is not None
    if check_result.check_served(snapshot, gateway_api.GATEWAY_CLASSES) or (
        name in builtin_classes and not is_known
    ):
        return None
    gateway_class = snapshot.get(gateway_api.GATEWAY_CLASSES, GatewayClass, "", name)
    not_listed = snapshot.why_not_synced(gateway_api.GATEWAY_CLASSES)
    if not_listed:
        return Inconclusive(not_listed)
    undecodable = check_result.check_decoded(snapshot, gateway_api.GATEWAY_CLASSES, "", name)
    if undecodable is not None:
        return undecodable
    if gateway_class is None:
        missing = gateway_api.GATEWAY_CLASSES.ref("", name)
        absence = conditions.absence_of(snapshot, missing)
        existing = [each.metadata.name for each in snapshot.all(gateway_api.GATEWAY_CLASSES)]
        lacks = absence.describe(did_you_mean(name, [*existing, *builtin_classes]))
        state = f'names GatewayClass "{name}", which {lacks}'
        trouble = gateway_trouble(gateway, "ClassNotFound", absence.trouble_kind, state)
        return replace(trouble, missing=missing)
    return (
        None
        if conditions.is_deleting(gateway_class)
        else _check_class_acceptance(gateway, gateway_class)
    )


def _check_class_acceptance(gateway: Gateway, gateway_class: GatewayClass) -> CheckResult | None:
    name, meta = gateway_class.metadata.name, gateway_class.metadata
    accepted = find_condition(gateway_class.status.conditions, "Accepted")
    if accepted is None or _is_undecided(accepted):
        state = f'waits for its GatewayClass "{name}", which no controller has accepted'
        waiting = gateway_trouble(gateway, "ClassNotAccepted", TroubleKind.STARTING, state)
        return conditions.with_condition(waiting, accepted, meta)
    stale = conditions.check_observed_generation(accepted, meta, "GatewayClass")
    if stale is not None or accepted.status == "True":
        return stale
    state = (
        f'has a GatewayClass "{name}" that is not accepted ({conditions.reason_text(accepted)})'
    )
    refused = gateway_trouble(gateway, "ClassNotAccepted", TroubleKind.FAILED, state)
    return conditions.with_condition(refused, accepted, meta)


def _check_acceptance(gateway: Gateway) -> CheckResult | None:
    meta = gateway.metadata
    accepted = find_condition(gateway.status.conditions, "Accepted")
    if accepted is None or _is_undecided(accepted):
        waiting = gateway_trouble(gateway, "Pending", TroubleKind.STARTING, "is not accepted yet")
        return conditions.with_condition(waiting, accepted, meta)
    stale = conditions.check_observed_generation(accepted, meta, "Gateway")
    if stale is not None or accepted.status == "True":
        return stale
    state = f"is not accepted ({conditions.reason_text(accepted)})"
    refused = gateway_trouble(gateway, "NotAccepted", TroubleKind.FAILED, state)
    return conditions.with_condition(refused, accepted, meta)


def _is_undecided(accepted: Condition) -> bool:
    """
    Return whether no controller has decided yet; some write False with a waiting reason for that.
    """
    is_waiting = accepted.status == "False" and accepted.reason in PENDING_REASONS
    return accepted.status == "Unknown" or is_waiting


PROBE = Probe(
    ProbeSpec(
        name="gateway-class",
        parameters_type=GatewayClassParameters,
        message_fields=frozenset({"gateway", "state"}),
        cause_codes=frozenset(
            {
                "NotFound",
                "Deleted",
                "ClassNotFound",
                "ClassNotAccepted",
                "NotAccepted",
                "Pending",
            }
        ),
        required_kinds=(gateway_api.GATEWAYS,),
        consulted_kinds=(gateway_api.GATEWAY_CLASSES, gateway_api.HTTP_ROUTES),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(gateway_api.GATEWAYS),
    ),
    evaluate,
)
