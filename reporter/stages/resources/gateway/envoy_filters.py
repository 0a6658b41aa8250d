"""
Trouble with an EnvoyFilter, as every probe of one tells it.
"""

from reporter.model.enums import TroubleKind
from reporter.model.kinds.istio.envoy_filters import ENVOY_FILTERS, EnvoyFilter
from reporter.model.verdicts import Cause, ObjectRef, Trouble


def envoy_filter_trouble(made: EnvoyFilter, code: str, kind: TroubleKind, state: str) -> Trouble:
    meta = made.metadata
    return Trouble(
        cause=Cause(ObjectRef(ENVOY_FILTERS.group_resource, meta.namespace, meta.name), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"object": f"EnvoyFilter {meta.name}", "state": state},
    )
