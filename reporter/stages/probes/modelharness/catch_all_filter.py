"""
Whether the filters of a harness are there, apply to its Gateway, and Istio does not object to them.

Without the catch-all an unknown model bypasses authorization. Their status is normally empty, and
warnings in it are normal; only errors tell.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.gateway_objects import Gateway
from reporter.model.kinds import ENVOY_FILTERS, GATEWAYS, HTTP_ROUTES, NAMESPACES
from reporter.model.mesh_objects import EnvoyFilter
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.deployments import Stale
from reporter.stages.filters import filter_trouble
from reporter.stages.foreign import clean, shorten
from reporter.stages.gateways import gateways, of_harness, staying
from reporter.stages.indexes import in_namespace
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded, unserved
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import GATEWAY_NAME
from reporter.stages.wording import listed


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *filters*: names of the EnvoyFilters that every harness has.
    """

    filters: tuple[str, ...]


LONGEST = 100
"""
Bytes of a name that others gave.
"""


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    blind = unserved(snapshot, ENVOY_FILTERS, GATEWAYS)
    yield ruling(snapshot, question.key(), [blind] if blind else _found(snapshot, question))


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    """
    Only where a Gateway is: without one there is no harness, or its absence is told already.
    """
    namespace, wanted = question.subject.namespace, question.parameters.filters
    serving = staying(gateways(snapshot, namespace))
    if not serving:
        return
    made = snapshot.find(ENVOY_FILTERS, EnvoyFilter, in_namespace(namespace))
    if any(of_harness(gateway) for gateway in serving):
        names = {each.metadata.name for each in made}
        yield from (
            undecoded(snapshot, ENVOY_FILTERS, namespace, name)
            or _missing(snapshot, namespace, name)
            for name in wanted
            if name not in names
        )
    names = {each.metadata.name for each in _every(snapshot, namespace)}
    for each in made:
        if _is_ours(each, wanted):
            yield undecoded(snapshot, ENVOY_FILTERS, namespace, each.metadata.name)
            yield _misses(each, names, serving) or _rejected(each)


def _every(snapshot: Snapshot, namespace: str) -> Sequence[Gateway]:
    """
    Those that are not the harness's too: a filter may be meant for one of them.
    """
    return snapshot.find(GATEWAYS, Gateway, in_namespace(namespace))


def _is_ours(made: EnvoyFilter, wanted: Collection[str]) -> bool:
    going = made.metadata.deletion_timestamp is not None
    return not going and (made.metadata.name in wanted or of_harness(made))


def _missing(snapshot: Snapshot, namespace: str, name: str) -> Trouble:
    ref = ObjectRef(ENVOY_FILTERS.qualified, namespace, name)
    seen = ref in snapshot.gone
    return Trouble(
        cause=Cause(ref, "FilterNotFound"),
        kind=Kind.LOST if seen else Kind.DECLARED,
        out=True,
        fields={
            "object": f"EnvoyFilter {name}",
            "state": "was deleted" if seen else "does not exist",
        },
    )


def _misses(
    made: EnvoyFilter, existing: Collection[str], serving: Sequence[Gateway]
) -> Trouble | None:
    """
    Whether it selects the pods of a Gateway that is not there.

    Pods need not run yet: the label is that of every pod a Gateway will ever have. By other labels
    nothing can be told, and no selector means all pods of the namespace.
    """
    selector = made.spec.workload_selector
    wanted = ((selector.labels if selector is not None else None) or {}).get(GATEWAY_NAME)
    if wanted is None or wanted in existing:
        return None
    names = listed([gateway.metadata.name for gateway in serving])
    selected = shorten(clean(wanted), LONGEST)
    state = f'selects the pods of Gateway "{selected}", which does not exist, and none of {names}'
    return filter_trouble(made, "SelectsNothing", Kind.DECLARED, state)


def _rejected(made: EnvoyFilter) -> Found | None:
    errors = [m for m in made.status.validation_messages or () if m.level == "ERROR"]
    if not errors:
        return None
    if 0 < _observed(made) < made.metadata.generation:
        return Stale(f"status of EnvoyFilter {made.metadata.name} is older than its spec")
    told = {f"{m.type.code or ''} {m.type.name or ''}".strip() for m in errors if m.type}
    why = shorten(clean(listed([*told])), LONGEST) or "no reason given"
    return filter_trouble(
        made, "Rejected", Kind.FAILED, f"is rejected by Istio's analysis ({why})"
    )


def _observed(made: EnvoyFilter) -> int:
    """
    Istio writes it as a number or as a text; 0 if it is neither.
    """
    seen = str(made.status.observed_generation)
    return int(seen) if seen.isdecimal() else 0


PROBE = Probe(
    ProbeSpec(
        name="catch-all-filter",
        parameters=Parameters,
        fields=frozenset({"object", "state"}),
        codes=frozenset({"FilterNotFound", "SelectsNothing", "Rejected"}),
        requires=(ENVOY_FILTERS, GATEWAYS),
        uses=(HTTP_ROUTES, NAMESPACES),
        demands=lambda _: frozenset({ENVOY_FILTERS.qualified, GATEWAYS.qualified}),
    ),
    judge,
)
