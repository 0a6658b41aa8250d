"""
Whether the proxies of a Gateway run.

Programmed tells of the Gateway's Service, not of the pods behind it. The Deployments are found by
their label, as their name may be overridden and there may be several of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.gateway_objects import Gateway, GatewayClass
from reporter.model.kinds import (
    DEPLOYMENTS,
    GATEWAY_CLASSES,
    GATEWAYS,
    HTTP_ROUTES,
    NAMESPACES,
    PODS,
)
from reporter.model.objects import Deployment, Pod
from reporter.model.verdicts import Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages import deployments
from reporter.stages.conditions import since, stale
from reporter.stages.deployments import CODES
from reporter.stages.gateways import accepted, gateways, staying
from reporter.stages.indexes import by_gateway, by_workload
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded, unserved
from reporter.stages.snapshot import Snapshot


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *controllers*: those that make a Deployment for each Gateway, by the name in its class.

    *builtin_classes*: theirs, which work without an object.
    """

    controllers: tuple[str, ...]
    builtin_classes: tuple[str, ...] = ()


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    blind = unserved(snapshot, GATEWAYS)
    yield ruling(snapshot, question.key(), [blind] if blind else _found(snapshot, question))


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    for gateway in staying(gateways(snapshot, question.subject.namespace)):
        yield from (_told(each, gateway) for each in _of(snapshot, gateway, question.parameters))


def _told(found: Found, gateway: Gateway) -> Found:
    if isinstance(found, Trouble):
        return replace(found, fields={**found.fields, "gateway": gateway.metadata.name})
    return found


def _of(snapshot: Snapshot, gateway: Gateway, told: Parameters) -> Sequence[Found]:
    meta = gateway.metadata
    key = by_gateway(meta.namespace, meta.name)
    made = snapshot.find(DEPLOYMENTS, Deployment, key)
    if not made:
        missing = _missing(snapshot, gateway, told)
        return [missing] if missing is not None else []
    staying = [each for each in made if each.metadata.deletion_timestamp is None]
    read = [_one(snapshot, each) for each in staying]
    used = [each for each in read if each is None or not _is_unused(each)] or read
    serving = any(each is None or (isinstance(each, Trouble) and not each.out) for each in used)
    found = [each for each in used if each is not None]
    return [_degraded(each) for each in found] if serving else found


def _one(snapshot: Snapshot, deployment: Deployment) -> Found | None:
    meta = deployment.metadata
    unread = undecoded(snapshot, DEPLOYMENTS, meta.namespace, meta.name)
    pods = snapshot.find(PODS, Pod, by_workload(meta.namespace, meta.name))
    return unread or deployments.trouble(deployment, pods)


def _is_unused(found: Found) -> bool:
    """
    One that was scaled to zero beside another is left over from a change of class or revision.
    """
    return isinstance(found, Trouble) and found.cause.code == "ScaledToZero"


def _degraded(found: Found) -> Found:
    return replace(found, out=False) if isinstance(found, Trouble) else found


# ---------------------------------------------------------------- no Deployment


def _missing(snapshot: Snapshot, gateway: Gateway, told: Parameters) -> Found | None:
    """
    None where there need not be one: not accepted yet, by another controller, or deployed by hand.
    """
    meta = gateway.metadata
    usual = f"{meta.name}-{gateway.spec.gateway_class_name}"
    seen = deployments.reference(meta.namespace, usual) in snapshot.gone
    taken = accepted(gateway)
    if taken is None or not (seen or _is_managed(snapshot, gateway, told)):
        return None
    lacks = deployments.absent(meta.namespace, usual, seen=seen)
    kind = lacks.kind if seen else Kind.STARTING
    late = stale(taken, meta, f"Gateway {meta.namespace}/{meta.name}")
    return late or replace(lacks, kind=kind, out=True, since=since(taken, meta))


def _is_managed(snapshot: Snapshot, gateway: Gateway, told: Parameters) -> bool:
    """
    With addresses in its spec, a Gateway stands for a Service that someone else has made (Istio).
    """
    name = gateway.spec.gateway_class_name
    made = snapshot.get(GATEWAY_CLASSES, GatewayClass, "", name)
    if gateway.spec.addresses:
        return False
    if made is None:
        return name in told.builtin_classes
    return made.spec.controller_name in told.controllers


PROBE = Probe(
    ProbeSpec(
        name="gateway-data-plane",
        parameters=Parameters,
        fields=frozenset({"gateway", "object", "state", "pods"}),
        codes=CODES,
        requires=(GATEWAYS, DEPLOYMENTS),
        uses=(GATEWAY_CLASSES, HTTP_ROUTES, PODS, NAMESPACES),
        demands=lambda _: frozenset({GATEWAYS.qualified}),
    ),
    judge,
)
