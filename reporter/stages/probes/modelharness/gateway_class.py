"""
Whether a workload namespace has its Gateway, and a controller has taken it on.

An unknown class or a dead controller never shows as False: the CRD's default stays, which is Unknown
since 1970.
"""

from collections.abc import Iterable
from dataclasses import replace

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.base.objects import Metadata
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.gateway_api.gateway_classes import GATEWAY_CLASSES, GatewayClass
from reporter.model.kinds.gateway_api.gateways import GATEWAYS, Gateway
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
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
    exclude_deleting_gateways,
    find_gateways,
    gateway_ref,
    parent_gateway_refs,
)
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.suggest import did_you_mean


PENDING_REASONS = frozenset({"Pending", "Waiting", "NotReconciled"})
"""
Reasons for not being accepted yet (Gateway API).
"""


class GatewayClassParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *builtin_classes*: those that work without an object.
    """

    builtin_classes: tuple[str, ...] = ()


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    blind = check_served(snapshot, GATEWAYS)
    yield to_verdict(
        snapshot, question.key(), [blind] if blind else _find_troubles(snapshot, question)
    )


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    namespace = question.subject.namespace
    known = find_gateways(snapshot, namespace)
    if not known:
        return _missing_gateway_troubles(snapshot, namespace)
    builtin = question.parameters.builtin_classes
    return [
        _evaluate_gateway(snapshot, gateway, builtin)
        for gateway in exclude_deleting_gateways(known)
    ]


# ---------------------------------------------------------------- no Gateway


def _missing_gateway_troubles(snapshot: Snapshot, namespace: str) -> Iterable[CheckResult]:
    """
    Routes tell its name, and that it is in another namespace, which is no harness's own.
    """
    unlisted = snapshot.why_not_synced(HTTP_ROUTES)
    if unlisted:
        return [Inconclusive(unlisted)]
    wanted = parent_gateway_refs(snapshot, namespace)
    unread = [ref for ref in snapshot.undecodable if _is_gateway_in(ref, namespace)]
    if unread:
        return [
            Inconclusive(f"{GATEWAYS.kind} {namespace}/{min(unread).name} could not be decoded")
        ]
    if any(not _is_gateway_in(ref, namespace) for ref in wanted):
        return []
    return [
        _missing_trouble(snapshot, ref)
        for ref in wanted or _expected_gateway_refs(snapshot, namespace)
    ]


def _expected_gateway_refs(snapshot: Snapshot, namespace: str) -> tuple[ObjectRef, ...]:
    """
    By the modelharness chart's naming, or else the one that was seen.
    """
    usual = ObjectRef(GATEWAYS.group_resource, namespace, f"{namespace}-gw")
    if usual in snapshot.deleted_uids:
        return (usual,)
    return (
        min(
            (ref for ref in snapshot.deleted_uids if _is_gateway_in(ref, namespace)), default=usual
        ),
    )


def _is_gateway_in(ref: ObjectRef, namespace: str) -> bool:
    return ref.resource == GATEWAYS.group_resource and ref.namespace == namespace


def _missing_trouble(snapshot: Snapshot, ref: ObjectRef) -> Trouble:
    seen = ref in snapshot.deleted_uids
    return Trouble(
        cause=Cause(ref, "Deleted" if seen else "NotFound"),
        kind=TroubleKind.LOST if seen else TroubleKind.DECLARED,
        is_out=True,
        message_fields={"gateway": ref.name, "state": "was deleted" if seen else "does not exist"},
    )


# ---------------------------------------------------------------- one Gateway


def _evaluate_gateway(
    snapshot: Snapshot, gateway: Gateway, builtin: Iterable[str]
) -> CheckResult | None:
    meta = gateway.metadata
    unread = check_decoded(snapshot, GATEWAYS, meta.namespace, meta.name)
    return unread or _class_trouble(snapshot, gateway, builtin) or _acceptance_trouble(gateway)


def _class_trouble(
    snapshot: Snapshot, gateway: Gateway, builtin: Iterable[str]
) -> CheckResult | None:
    """
    What is wrong with its GatewayClass.
    """
    name = gateway.spec.gateway_class_name
    made = snapshot.get(GATEWAY_CLASSES, GatewayClass, "", name)
    if check_served(snapshot, GATEWAY_CLASSES) or (made is None and name in builtin):
        return None
    unlisted = snapshot.why_not_synced(GATEWAY_CLASSES)
    unread = (
        Inconclusive(unlisted) if unlisted else check_decoded(snapshot, GATEWAY_CLASSES, "", name)
    )
    if unread is not None:
        return unread
    if made is None:
        return _unknown_class_trouble(snapshot, gateway, builtin)
    return (
        _class_acceptance_trouble(gateway, made)
        if made.metadata.deletion_timestamp is None
        else None
    )


def _unknown_class_trouble(
    snapshot: Snapshot, gateway: Gateway, builtin: Iterable[str]
) -> Trouble:
    name = gateway.spec.gateway_class_name
    seen = ObjectRef(GATEWAY_CLASSES.group_resource, "", name) in snapshot.deleted_uids
    existing = [each.metadata.name for each in snapshot.all(GATEWAY_CLASSES)]
    lacks = "was deleted" if seen else f"does not exist{did_you_mean(name, [*existing, *builtin])}"
    kind = TroubleKind.LOST if seen else TroubleKind.DECLARED
    return _new_trouble(
        gateway, "ClassNotFound", kind, f'names GatewayClass "{name}", which {lacks}'
    )


def _class_acceptance_trouble(gateway: Gateway, made: GatewayClass) -> CheckResult | None:
    name, meta = made.metadata.name, made.metadata
    accepted = find_condition(made.status.conditions, "Accepted")
    if accepted is None or _is_undecided(accepted):
        state = f'waits for its GatewayClass "{name}", which no controller has accepted'
        return _with_condition(
            _new_trouble(gateway, "ClassNotAccepted", TroubleKind.STARTING, state), accepted, meta
        )
    late = check_observed_generation(accepted, meta, f"GatewayClass {name}")
    if late is not None or accepted.status == "True":
        return late
    state = f'has a GatewayClass "{name}" that is not accepted ({reason_text(accepted)})'
    return _with_condition(
        _new_trouble(gateway, "ClassNotAccepted", TroubleKind.FAILED, state), accepted, meta
    )


def _acceptance_trouble(gateway: Gateway) -> CheckResult | None:
    meta = gateway.metadata
    accepted = find_condition(gateway.status.conditions, "Accepted")
    if accepted is None or _is_undecided(accepted):
        pending = _new_trouble(gateway, "Pending", TroubleKind.STARTING, "is not accepted yet")
        return _with_condition(pending, accepted, meta)
    late = check_observed_generation(accepted, meta, f"Gateway {meta.namespace}/{meta.name}")
    if late is not None or accepted.status == "True":
        return late
    refused = _new_trouble(
        gateway, "NotAccepted", TroubleKind.FAILED, f"is not accepted ({reason_text(accepted)})"
    )
    return _with_condition(refused, accepted, meta)


def _is_undecided(accepted: Condition) -> bool:
    """
    Nobody has decided: Unknown, or what some controllers write instead.
    """
    undecided = accepted.status == "False" and accepted.reason in PENDING_REASONS
    return accepted.status == "Unknown" or undecided


def _new_trouble(gateway: Gateway, code: str, kind: TroubleKind, state: str) -> Trouble:
    meta = gateway.metadata
    return Trouble(
        cause=Cause(gateway_ref(gateway), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"gateway": meta.name, "state": state},
    )


def _with_condition(trouble: Trouble, by: Condition | None, meta: Metadata) -> Trouble:
    """
    As a condition of the object with this metadata tells; without one, since it was made.
    """
    if by is None:
        return replace(trouble, since=meta.creation_timestamp)
    return replace(trouble, since=transition_time(by, meta), foreign_text=by.message or "")


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
        required_kinds=(GATEWAYS,),
        optional_kinds=(GATEWAY_CLASSES, HTTP_ROUTES, NAMESPACES),
        required_crds=lambda _: frozenset({GATEWAYS.group_resource}),
    ),
    evaluate,
)
