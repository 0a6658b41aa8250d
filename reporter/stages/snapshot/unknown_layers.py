"""
The layers whose subjects are not all known, because what makes them cannot be read.

A layer without subjects looks healthy. So a placeholder subject, which has neither namespace nor
name, stands for the subjects that may exist, and every reason of the layer is Unknown for it.
"""

from collections.abc import Mapping
from datetime import datetime

from reporter.model.enums import Layer
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.gateway_api.gateways import GATEWAYS
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.subjects import Subject
from reporter.stages.snapshot.snapshot import Snapshot


SUBJECT_KINDS: Mapping[Layer, tuple[ResourceKind, ...]] = {
    Layer.MODELHARNESS: (NAMESPACES, GATEWAYS),
    Layer.MODELDEPLOYMENT: (NAMESPACES, INFERENCE_SETS),
}
"""
The kinds that make the subjects of a layer; the cluster is a subject in any case.
"""


def placeholder(layer: Layer) -> Subject:
    return Subject(layer)


def find_unknown_layers(snapshot: Snapshot, *, now: datetime) -> Mapping[Layer, str]:
    """
    Return why the subjects of a layer are not all known, by layer; those that are known are left out.
    """
    whys = {
        layer: _why_unknown(snapshot, kinds, now=now) for layer, kinds in SUBJECT_KINDS.items()
    }
    return {layer: why for layer, why in whys.items() if why}


def _why_unknown(snapshot: Snapshot, kinds: tuple[ResourceKind, ...], *, now: datetime) -> str:
    # A kind that no evaluated reason reads is not watched.
    watched = (kind for kind in kinds if kind.resource in snapshot.tables)
    return next((why for kind in watched if (why := snapshot.why_unknown(kind, now=now))), "")
