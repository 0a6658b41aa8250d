"""
Trouble with an EnvoyFilter, as every probe of one tells it.
"""

from reporter.model.kinds import ENVOY_FILTERS
from reporter.model.mesh_objects import EnvoyFilter
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.model.words import Kind


def filter_trouble(made: EnvoyFilter, code: str, kind: Kind, state: str) -> Trouble:
    meta = made.metadata
    return Trouble(
        cause=Cause(ObjectRef(ENVOY_FILTERS.qualified, meta.namespace, meta.name), code),
        kind=kind,
        out=True,
        born=meta.creation_timestamp,
        fields={"object": f"EnvoyFilter {meta.name}", "state": state},
    )
