"""
Whether the configuration of an accepted Gateway got through: its address and each of its listeners.

Istio tells of a missing certificate at the listener alone and leaves the Gateway Programmed. That
no proxy runs is told too, as an address that was not assigned; that is the data plane's trouble.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.gateway_objects import Gateway, ListenerStatus
from reporter.model.kinds import DEPLOYMENTS, GATEWAYS, HTTP_ROUTES, NAMESPACES
from reporter.model.objects import Condition, Deployment, condition
from reporter.model.verdicts import Cause, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.conditions import named, since, stale
from reporter.stages.gateways import accepted, gateways, reference, staying
from reporter.stages.indexes import by_gateway
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded, unserved
from reporter.stages.snapshot import Snapshot
from reporter.stages.wording import listed


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *load_balancers*: false where a cluster has none, so that no Gateway will ever get an address.
    """

    load_balancers: bool = True


WRONG = {"ResolvedRefs": "False", "Accepted": "False", "Conflicted": "True", "Programmed": "False"}
"""
The status in which a listener's condition tells of trouble, causes before what follows from them.
"""

CERTIFICATE = frozenset(
    {
        "InvalidCertificateRef",
        "RefNotPermitted",
        "InvalidCACertificateRef",
        "InvalidCACertificateKind",
        "NoValidCACertificate",
    }
)
UNUSABLE = frozenset({"AddressNotUsable", "UnsupportedAddress"})
UNASSIGNED = "AddressNotAssigned"
PENDING = "Pending"
NO_PROXIES = "no instances found"
WAITED_FOR = "address pending"
"""
What Istio says of a Service without endpoints, and of one without an address.
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """
    The condition that tells what is wrong with a listener.
    """

    listener: str
    condition: Condition

    @property
    def starting(self) -> bool:
        return self.condition.reason == PENDING


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    blind = unserved(snapshot, GATEWAYS)
    yield ruling(snapshot, question.key(), [blind] if blind else _found(snapshot, question))


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    for gateway in staying(gateways(snapshot, question.subject.namespace)):
        meta = gateway.metadata
        yield undecoded(snapshot, GATEWAYS, meta.namespace, meta.name)
        yield _one(snapshot, gateway, question.parameters)


def _one(snapshot: Snapshot, gateway: Gateway, told: Parameters) -> Found | None:
    """
    Of one that nobody has accepted there is nothing to be said yet.
    """
    taken = accepted(gateway)
    if taken is None:
        return None
    where = f"Gateway {gateway.metadata.namespace}/{gateway.metadata.name}"
    programmed = condition(gateway.status.conditions, "Programmed")
    failures = _failures(gateway)
    for each in (taken, programmed, *(failure.condition for failure in failures)):
        late = stale(each, gateway.metadata, where) if each is not None else None
        if late is not None:
            return late
    hard = [failure for failure in failures if not failure.starting]
    if hard:
        return _of_listeners(gateway, hard)
    own = _of_gateway(gateway, programmed)
    if own is None or _is_excused(snapshot, gateway, programmed, told):
        return _of_listeners(gateway, failures)
    return own


# ---------------------------------------------------------------- its listeners


def _failures(gateway: Gateway) -> Sequence[Failure]:
    """
    In the order of their names; listeners that were taken out of the spec do not count.
    """
    wanted = {listener.name for listener in gateway.spec.listeners or ()}
    stated = sorted(gateway.status.listeners or (), key=lambda each: each.name)
    found = ((each.name, _failed(each)) for each in stated if each.name in wanted)
    return [Failure(name, failed) for name, failed in found if failed is not None]


def _failed(listener: ListenerStatus) -> Condition | None:
    for kind, status in WRONG.items():
        found = condition(listener.conditions, kind)
        if found is not None and found.status == status:
            return found
    return None


def _of_listeners(gateway: Gateway, failures: Sequence[Failure]) -> Trouble | None:
    if not failures:
        return None
    first = failures[0].condition
    certificate = any(each.condition.reason in CERTIFICATE for each in failures)
    what = listed([f"{named(each.condition)} on listener {each.listener}" for each in failures])
    return Trouble(
        cause=Cause(reference(gateway), "Certificate" if certificate else "Listener"),
        kind=Kind.STARTING if all(each.starting for each in failures) else Kind.FAILED,
        out=True,
        born=gateway.metadata.creation_timestamp,
        since=since(first, gateway.metadata),
        fields={"gateway": gateway.metadata.name, "state": f"programming failed ({what})"},
        foreign=first.message or "",
    )


# ---------------------------------------------------------------- the Gateway itself


def _of_gateway(gateway: Gateway, programmed: Condition | None) -> Trouble | None:
    if programmed is None or programmed.status == "Unknown":
        return _trouble(gateway, "NotProgrammed", Kind.STARTING, "is not programmed yet")
    if programmed.status == "True":
        return None
    if programmed.reason == UNASSIGNED:
        return _trouble(gateway, "AddressPending", Kind.STARTING, "has no address yet")
    if programmed.reason == PENDING:
        return _trouble(gateway, "NotProgrammed", Kind.STARTING, "is not programmed yet")
    code = "AddressNotUsable" if programmed.reason in UNUSABLE else "NotProgrammed"
    return _trouble(gateway, code, Kind.FAILED, f"programming failed ({named(programmed)})")


def _is_excused(
    snapshot: Snapshot, gateway: Gateway, programmed: Condition | None, told: Parameters
) -> bool:
    """
    Whether it has no address because it cannot have one here, or only because no proxy runs.

    Proxies that someone deployed by hand are known to nobody else, so these are told of here.
    """
    if programmed is None or programmed.reason != UNASSIGNED or programmed.status != "False":
        return False
    message, meta = programmed.message or "", gateway.metadata
    unmanned = NO_PROXIES in message and WAITED_FOR not in message
    key = by_gateway(meta.namespace, meta.name)
    judged = not gateway.spec.addresses or bool(snapshot.find(DEPLOYMENTS, Deployment, key))
    return judged if unmanned else not told.load_balancers


def _trouble(gateway: Gateway, code: str, kind: Kind, state: str) -> Trouble:
    """
    As the Gateway's own condition tells.
    """
    meta = gateway.metadata
    said = condition(gateway.status.conditions, "Programmed")
    return Trouble(
        cause=Cause(reference(gateway), code),
        kind=kind,
        out=True,
        born=meta.creation_timestamp,
        since=since(said, meta) if said is not None else meta.creation_timestamp,
        fields={"gateway": meta.name, "state": state},
        foreign=(said.message or "") if said is not None else "",
    )


PROBE = Probe(
    ProbeSpec(
        name="gateway-programming",
        parameters=Parameters,
        fields=frozenset({"gateway", "state"}),
        codes=frozenset(
            {"AddressPending", "AddressNotUsable", "Certificate", "Listener", "NotProgrammed"}
        ),
        requires=(GATEWAYS,),
        uses=(DEPLOYMENTS, HTTP_ROUTES, NAMESPACES),
        demands=lambda _: frozenset({GATEWAYS.qualified}),
    ),
    judge,
)
