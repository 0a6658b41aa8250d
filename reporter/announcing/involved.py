"""The involvedObject of Ready Events, and of Events beside an InferenceSet or a Gateway."""

from collections.abc import Callable

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES
from reporter.kinds.kaito import INFERENCE_SETS, InferenceSet
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import InvolvedObject
from reporter.resources.conditions import exclude_deleting
from reporter.resources.gateways import find_gateways
from reporter.snapshot.snapshot import Snapshot


def involved_namespace(
    release_namespace: str, snapshot: Snapshot, subject: Subject
) -> InvolvedObject:
    """Return the Namespace of a subject, or of the release for the cluster."""
    name = subject.namespace or release_namespace
    found = snapshot.get(NAMESPACES, Namespace, "", name)
    return InvolvedObject("v1", "Namespace", name, found.metadata.uid if found is not None else "")


def involved_beside(
    snapshot: Callable[[], Snapshot],
    served_version: Callable[[ResourceKind], str | None],
    subject: Subject,
) -> InvolvedObject | None:
    """Return the InferenceSet of a subject, or the Gateway of a harness; None if it is not known."""
    here = snapshot()
    kind = GATEWAYS if subject.layer is Layer.MODELHARNESS else INFERENCE_SETS
    found = _find_gateway(here, subject) if kind is GATEWAYS else _find_set(here, subject)
    if found is None:
        return None
    version, meta = served_version(kind) or kind.versions[0], found.metadata
    return InvolvedObject(
        f"{kind.group}/{version}", kind.kind, meta.name, meta.uid, meta.namespace
    )


def _find_set(snapshot: Snapshot, subject: Subject) -> ApiObject | None:
    if INFERENCE_SETS.resource not in snapshot.tables:
        return None
    return snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)


def _find_gateway(snapshot: Snapshot, subject: Subject) -> ApiObject | None:
    """Return the first Gateway by name, of those that the namespace's models are reached through."""
    if not {GATEWAYS.resource, HTTP_ROUTES.resource} <= snapshot.tables.keys():
        return None
    gateways = exclude_deleting(find_gateways(snapshot, subject.namespace))
    return min(gateways, key=lambda each: each.metadata.name, default=None)
