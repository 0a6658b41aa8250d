"""Trouble with an EnvoyFilter, in the shape that all probes of EnvoyFilters share."""

from reporter.model.enums import TroubleKind
from reporter.model.kinds.istio.envoy_filters import ENVOY_FILTERS, EnvoyFilter
from reporter.model.verdicts import Cause, ObjectRef, Trouble


def envoy_filter_trouble(
    envoy_filter: EnvoyFilter, code: str, kind: TroubleKind, state: str
) -> Trouble:
    meta = envoy_filter.metadata
    return Trouble(
        cause=Cause(ObjectRef(ENVOY_FILTERS.group_resource, meta.namespace, meta.name), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"object": f"EnvoyFilter {meta.name}", "state": state},
    )
