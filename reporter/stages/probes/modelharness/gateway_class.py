"""
Whether a workload namespace has its Gateway, and a controller has taken it on.

An unknown class or a dead controller never shows as False: the CRD's default stays, which is Unknown
since 1970.
"""

from collections.abc import Iterable
from dataclasses import replace

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.gateway_objects import Gateway, GatewayClass
from reporter.model.kinds import GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES, NAMESPACES
from reporter.model.objects import Condition, Metadata, condition
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.conditions import named, since, stale
from reporter.stages.deployments import Stale
from reporter.stages.gateways import gateways, parents, reference, staying
from reporter.stages.likeness import nearest
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded, unserved
from reporter.stages.snapshot import Snapshot


WAITING = frozenset({"Pending", "Waiting", "NotReconciled"})
"""
Reasons for not being accepted yet (Gateway API).
"""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *builtin_classes*: those that work without an object.
    """

    builtin_classes: tuple[str, ...] = ()


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    blind = unserved(snapshot, GATEWAYS)
    yield ruling(snapshot, question.key(), [blind] if blind else _found(snapshot, question))


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    namespace = question.subject.namespace
    known = gateways(snapshot, namespace)
    if not known:
        return _missing(snapshot, namespace)
    builtin = question.parameters.builtin_classes
    return [_one(snapshot, gateway, builtin) for gateway in staying(known)]


# ---------------------------------------------------------------- no Gateway


def _missing(snapshot: Snapshot, namespace: str) -> Iterable[Found]:
    """
    Routes tell its name, and that it is in another namespace, which is no harness's own.
    """
    unlisted = snapshot.unlisted(HTTP_ROUTES)
    if unlisted:
        return [Stale(unlisted)]
    wanted = parents(snapshot, namespace)
    unread = [ref for ref in snapshot.spoilt if _is_here(ref, namespace)]
    if unread:
        return [Stale(f"{GATEWAYS.kind} {namespace}/{min(unread).name} could not be decoded")]
    if any(not _is_here(ref, namespace) for ref in wanted):
        return []
    return [_absent(snapshot, ref) for ref in wanted or _expected(snapshot, namespace)]


def _expected(snapshot: Snapshot, namespace: str) -> tuple[ObjectRef, ...]:
    """
    By the modelharness chart's naming, or else the one that was seen.
    """
    usual = ObjectRef(GATEWAYS.qualified, namespace, f"{namespace}-gw")
    if usual in snapshot.gone:
        return (usual,)
    return (min((ref for ref in snapshot.gone if _is_here(ref, namespace)), default=usual),)


def _is_here(ref: ObjectRef, namespace: str) -> bool:
    return ref.resource == GATEWAYS.qualified and ref.namespace == namespace


def _absent(snapshot: Snapshot, ref: ObjectRef) -> Trouble:
    seen = ref in snapshot.gone
    return Trouble(
        cause=Cause(ref, "Deleted" if seen else "NotFound"),
        kind=Kind.LOST if seen else Kind.DECLARED,
        out=True,
        fields={"gateway": ref.name, "state": "was deleted" if seen else "does not exist"},
    )


# ---------------------------------------------------------------- one Gateway


def _one(snapshot: Snapshot, gateway: Gateway, builtin: Iterable[str]) -> Found | None:
    meta = gateway.metadata
    unread = undecoded(snapshot, GATEWAYS, meta.namespace, meta.name)
    return unread or _of_class(snapshot, gateway, builtin) or _acceptance(gateway)


def _of_class(snapshot: Snapshot, gateway: Gateway, builtin: Iterable[str]) -> Found | None:
    """
    What is wrong with its GatewayClass.
    """
    name = gateway.spec.gateway_class_name
    made = snapshot.get(GATEWAY_CLASSES, GatewayClass, "", name)
    if unserved(snapshot, GATEWAY_CLASSES) or (made is None and name in builtin):
        return None
    unlisted = snapshot.unlisted(GATEWAY_CLASSES)
    unread = Stale(unlisted) if unlisted else undecoded(snapshot, GATEWAY_CLASSES, "", name)
    if unread is not None:
        return unread
    if made is None:
        return _unregistered(snapshot, gateway, builtin)
    return _of_made(gateway, made) if made.metadata.deletion_timestamp is None else None


def _unregistered(snapshot: Snapshot, gateway: Gateway, builtin: Iterable[str]) -> Trouble:
    name = gateway.spec.gateway_class_name
    seen = ObjectRef(GATEWAY_CLASSES.qualified, "", name) in snapshot.gone
    existing = [each.metadata.name for each in snapshot.all(GATEWAY_CLASSES)]
    lacks = "was deleted" if seen else f"does not exist{nearest(name, [*existing, *builtin])}"
    kind = Kind.LOST if seen else Kind.DECLARED
    return _trouble(gateway, "ClassNotFound", kind, f'names GatewayClass "{name}", which {lacks}')


def _of_made(gateway: Gateway, made: GatewayClass) -> Found | None:
    name, meta = made.metadata.name, made.metadata
    accepted = condition(made.status.conditions, "Accepted")
    if accepted is None or _waits(accepted):
        state = f'waits for its GatewayClass "{name}", which no controller has accepted'
        return _stated(_trouble(gateway, "ClassNotAccepted", Kind.STARTING, state), accepted, meta)
    late = stale(accepted, meta, f"GatewayClass {name}")
    if late is not None or accepted.status == "True":
        return late
    state = f'has a GatewayClass "{name}" that is not accepted ({named(accepted)})'
    return _stated(_trouble(gateway, "ClassNotAccepted", Kind.FAILED, state), accepted, meta)


def _acceptance(gateway: Gateway) -> Found | None:
    meta = gateway.metadata
    accepted = condition(gateway.status.conditions, "Accepted")
    if accepted is None or _waits(accepted):
        pending = _trouble(gateway, "Pending", Kind.STARTING, "is not accepted yet")
        return _stated(pending, accepted, meta)
    late = stale(accepted, meta, f"Gateway {meta.namespace}/{meta.name}")
    if late is not None or accepted.status == "True":
        return late
    refused = _trouble(gateway, "NotAccepted", Kind.FAILED, f"is not accepted ({named(accepted)})")
    return _stated(refused, accepted, meta)


def _waits(accepted: Condition) -> bool:
    """
    Nobody has decided: Unknown, or what some controllers write instead.
    """
    undecided = accepted.status == "False" and accepted.reason in WAITING
    return accepted.status == "Unknown" or undecided


def _trouble(gateway: Gateway, code: str, kind: Kind, state: str) -> Trouble:
    meta = gateway.metadata
    return Trouble(
        cause=Cause(reference(gateway), code),
        kind=kind,
        out=True,
        born=meta.creation_timestamp,
        fields={"gateway": meta.name, "state": state},
    )


def _stated(trouble: Trouble, by: Condition | None, meta: Metadata) -> Trouble:
    """
    As a condition of the object with this metadata tells; without one, since it was made.
    """
    if by is None:
        return replace(trouble, since=meta.creation_timestamp)
    return replace(trouble, since=since(by, meta), foreign=by.message or "")


PROBE = Probe(
    ProbeSpec(
        name="gateway-class",
        parameters=Parameters,
        fields=frozenset({"gateway", "state"}),
        codes=frozenset(
            {
                "NotFound",
                "Deleted",
                "ClassNotFound",
                "ClassNotAccepted",
                "NotAccepted",
                "Pending",
            }
        ),
        requires=(GATEWAYS,),
        uses=(GATEWAY_CLASSES, HTTP_ROUTES, NAMESPACES),
        demands=lambda _: frozenset({GATEWAYS.qualified}),
    ),
    judge,
)
