"""
Whether the filters of a harness are there, apply to its Gateway, and Istio does not object to them.

Without the catch-all an unknown model bypasses authorization. Their status is normally empty, and
warnings in it are normal; only errors tell.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.keys import namespace_key
from reporter.model.kinds.base.ownership import GATEWAY_NAME_LABEL
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.gateway_api.gateways import GATEWAYS, Gateway
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES
from reporter.model.kinds.istio.envoy_filters import ENVOY_FILTERS, EnvoyFilter
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import (
    CheckResult,
    check_decoded,
    check_served,
    to_verdict,
)
from reporter.stages.resources.gateway.envoy_filters import envoy_filter_trouble
from reporter.stages.resources.gateway.gateways import (
    exclude_deleting_gateways,
    find_gateways,
    is_owned_by_harness,
)
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.phrases import abbreviate_list
from reporter.stages.text.sanitize import sanitize, truncate_bytes


class CatchAllFilterParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *filters*: names of the EnvoyFilters that every harness has.
    """

    filters: tuple[str, ...]


MAX_NAME_BYTES = 100
"""
Bytes of a name that others gave.
"""


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    blind = check_served(snapshot, ENVOY_FILTERS, GATEWAYS)
    yield to_verdict(
        snapshot, question.key(), [blind] if blind else _find_troubles(snapshot, question)
    )


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Only where a Gateway is: without one there is no harness, or its absence is told already.
    """
    namespace, wanted = question.subject.namespace, question.parameters.filters
    serving = exclude_deleting_gateways(find_gateways(snapshot, namespace))
    if not serving:
        return
    made = snapshot.by_index(ENVOY_FILTERS, EnvoyFilter, namespace_key(namespace))
    if any(is_owned_by_harness(gateway) for gateway in serving):
        names = {each.metadata.name for each in made}
        yield from (
            check_decoded(snapshot, ENVOY_FILTERS, namespace, name)
            or _missing_trouble(snapshot, namespace, name)
            for name in wanted
            if name not in names
        )
    names = {each.metadata.name for each in _all_gateways(snapshot, namespace)}
    for each in made:
        if _is_harness_filter(each, wanted):
            yield check_decoded(snapshot, ENVOY_FILTERS, namespace, each.metadata.name)
            yield _selector_trouble(each, names, serving) or _rejected_trouble(each)


def _all_gateways(snapshot: Snapshot, namespace: str) -> Sequence[Gateway]:
    """
    Those that are not the harness's too: a filter may be meant for one of them.
    """
    return snapshot.by_index(GATEWAYS, Gateway, namespace_key(namespace))


def _is_harness_filter(made: EnvoyFilter, wanted: Collection[str]) -> bool:
    going = made.metadata.deletion_timestamp is not None
    return not going and (made.metadata.name in wanted or is_owned_by_harness(made))


def _missing_trouble(snapshot: Snapshot, namespace: str, name: str) -> Trouble:
    ref = ObjectRef(ENVOY_FILTERS.group_resource, namespace, name)
    seen = ref in snapshot.deleted_uids
    return Trouble(
        cause=Cause(ref, "FilterNotFound"),
        kind=TroubleKind.LOST if seen else TroubleKind.DECLARED,
        is_out=True,
        message_fields={
            "object": f"EnvoyFilter {name}",
            "state": "was deleted" if seen else "does not exist",
        },
    )


def _selector_trouble(
    made: EnvoyFilter, existing: Collection[str], serving: Sequence[Gateway]
) -> Trouble | None:
    """
    Whether it selects the pods of a Gateway that is not there.

    Pods need not run yet: the label is that of every pod a Gateway will ever have. By other labels
    nothing can be told, and no selector means all pods of the namespace.
    """
    selector = made.spec.workload_selector
    wanted = ((selector.labels if selector is not None else None) or {}).get(GATEWAY_NAME_LABEL)
    if wanted is None or wanted in existing:
        return None
    names = abbreviate_list([gateway.metadata.name for gateway in serving])
    selected = truncate_bytes(sanitize(wanted), MAX_NAME_BYTES)
    state = f'selects the pods of Gateway "{selected}", which does not exist, and none of {names}'
    return envoy_filter_trouble(made, "SelectsNothing", TroubleKind.DECLARED, state)


def _rejected_trouble(made: EnvoyFilter) -> CheckResult | None:
    errors = [m for m in made.status.validation_messages or () if m.level == "ERROR"]
    if not errors:
        return None
    if 0 < _observed_generation(made) < made.metadata.generation:
        return Inconclusive(f"status of EnvoyFilter {made.metadata.name} is older than its spec")
    told = {f"{m.type.code or ''} {m.type.name or ''}".strip() for m in errors if m.type}
    why = truncate_bytes(sanitize(abbreviate_list([*told])), MAX_NAME_BYTES) or "no reason given"
    return envoy_filter_trouble(
        made, "Rejected", TroubleKind.FAILED, f"is rejected by Istio's analysis ({why})"
    )


def _observed_generation(made: EnvoyFilter) -> int:
    """
    Istio writes it as a number or as a text; 0 if it is neither.
    """
    seen = str(made.status.observed_generation)
    return int(seen) if seen.isdecimal() else 0


PROBE = Probe(
    ProbeSpec(
        name="catch-all-filter",
        parameters_type=CatchAllFilterParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset({"FilterNotFound", "SelectsNothing", "Rejected"}),
        required_kinds=(ENVOY_FILTERS, GATEWAYS),
        optional_kinds=(HTTP_ROUTES, NAMESPACES),
        required_crds=lambda _: frozenset({ENVOY_FILTERS.group_resource, GATEWAYS.group_resource}),
    ),
    evaluate,
)
