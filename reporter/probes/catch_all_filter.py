"""
Probe for EnvoyFilters of a harness that are missing, select no Gateway, or are rejected by Istio.

Without the catch-all filter a request for an unknown model bypasses authorization. Istio writes a
status only with PILOT_ENABLE_ANALYSIS, so an empty one is normal.
"""

from collections.abc import Collection, Iterable, Sequence

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES, Gateway
from reporter.kinds.istio import ENVOY_FILTERS, EnvoyFilter
from reporter.kinds.objects import GATEWAY_NAME_LABEL, namespace_key
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import abbreviate_list, sanitize, truncate_bytes
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import check_result
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.conditions import absence_of, exclude_deleting, object_trouble
from reporter.resources.gateways import find_gateways, is_owned_by_harness
from reporter.snapshot.snapshot import Snapshot


class CatchAllFilterParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for the harness's catch-all filter.

    *filters*: the names of the EnvoyFilters that every harness has.
    """

    filters: tuple[str, ...]


MAX_NAME_BYTES = 100
"""Limit of a quoted name in bytes."""


@one_verdict(ENVOY_FILTERS, GATEWAYS)
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Check the filters of a namespace that has a Gateway.

    Without a Gateway there is no harness, or the probe of the Gateway reports it as missing.
    """
    namespace, expected = request.subject.namespace, request.parameters.filters
    gateways = exclude_deleting(find_gateways(snapshot, namespace))
    if not gateways:
        return
    filters = snapshot.by_index(ENVOY_FILTERS, EnvoyFilter, namespace_key(namespace))
    if any(is_owned_by_harness(gateway) for gateway in gateways):
        existing = {each.metadata.name for each in filters}
        for name in expected:
            if name not in existing:
                ref = ENVOY_FILTERS.ref(namespace, name)
                absence = absence_of(snapshot, ref)
                missing = Trouble(
                    cause=Cause(ref, "FilterNotFound"),
                    kind=absence.trouble_kind,
                    is_out=True,
                    message_fields={"object": f"EnvoyFilter {name}", "state": absence.describe()},
                )
                undecodable = check_result.check_decoded(snapshot, ENVOY_FILTERS, namespace, name)
                yield check_result.limit_to(undecodable or missing, ref)
    # A filter may be meant for a Gateway that does not belong to the harness, so all of them count.
    all_gateways = snapshot.by_index(GATEWAYS, Gateway, namespace_key(namespace))
    gateway_names = {each.metadata.name for each in all_gateways}
    for each in exclude_deleting(filters):
        if each.metadata.name in expected or is_owned_by_harness(each):
            yield check_result.limit_to(
                check_result.check_decoded(snapshot, ENVOY_FILTERS, namespace, each.metadata.name)
                or _selector_trouble(each, gateway_names, gateways)
                or _rejected_trouble(each),
                ENVOY_FILTERS.ref(namespace, each.metadata.name),
            )


def _selector_trouble(
    envoy_filter: EnvoyFilter, gateway_names: Collection[str], gateways: Sequence[Gateway]
) -> Trouble | None:
    """
    Return the trouble of a filter that selects the pods of a Gateway that does not exist.

    The pods need not run yet: Istio labels all pods of a Gateway with its name. No selector means all
    pods of the namespace, and of other labels nothing is known.
    """
    selector = envoy_filter.spec.workload_selector
    labels = (selector.labels if selector is not None else None) or {}
    selected = labels.get(GATEWAY_NAME_LABEL)
    if selected is None or selected in gateway_names:
        return None
    existing = abbreviate_list([gateway.metadata.name for gateway in gateways])
    quoted = truncate_bytes(sanitize(selected), MAX_NAME_BYTES)
    state = f'selects the pods of Gateway "{quoted}", which does not exist, and none of {existing}'
    return object_trouble(
        ENVOY_FILTERS, envoy_filter, "SelectsNothing", TroubleKind.DECLARED, state
    )


def _rejected_trouble(envoy_filter: EnvoyFilter) -> CheckResult | None:
    """
    Return the trouble of a filter that Istio's analysis rejects.

    Only level ERROR counts: the harness's filters normally have the warning IST0151
    (EnvoyFilterUsesRelativeOperation).
    """
    errors = [m for m in envoy_filter.status.validation_messages or () if m.level == "ERROR"]
    if not errors:
        return None
    meta = envoy_filter.metadata
    # IstioStatus has the generation as a number or as a string.
    observed = str(envoy_filter.status.observed_generation)
    if observed.isdecimal() and 0 < int(observed) < meta.generation:
        return Inconclusive(f"status of EnvoyFilter {meta.name} is older than its spec")
    types = {f"{m.type.code or ''} {m.type.name or ''}".strip() for m in errors if m.type}
    why = truncate_bytes(sanitize(abbreviate_list([*types])), MAX_NAME_BYTES) or "no reason given"
    return object_trouble(
        ENVOY_FILTERS,
        envoy_filter,
        "Rejected",
        TroubleKind.FAILED,
        f"is rejected by Istio's analysis ({why})",
    )


PROBE = Probe(
    ProbeSpec(
        name="catch-all-filter",
        parameters_type=CatchAllFilterParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset({"FilterNotFound", "SelectsNothing", "Rejected"}),
        required_kinds=(ENVOY_FILTERS, GATEWAYS),
        consulted_kinds=(HTTP_ROUTES,),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(ENVOY_FILTERS, GATEWAYS),
    ),
    evaluate,
)
