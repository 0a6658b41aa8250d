"""The involvedObject of Ready Events, and of Events beside an InferenceSet."""

from collections.abc import Callable

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.kaito import INFERENCE_SETS, InferenceSet
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.subjects import Subject
from reporter.model.verdicts import InvolvedObject
from reporter.snapshot.snapshot import Snapshot


def involved_namespace(
    release_namespace: str, snapshot: Snapshot, subject: Subject
) -> InvolvedObject:
    """Return the Namespace of a subject, or of the release for the cluster."""
    name = subject.namespace or release_namespace
    found = snapshot.get(NAMESPACES, Namespace, "", name)
    return InvolvedObject("v1", "Namespace", name, found.metadata.uid if found is not None else "")


def involved_inference_set(
    snapshot: Callable[[], Snapshot],
    served_version: Callable[[ResourceKind], str | None],
    subject: Subject,
) -> InvolvedObject | None:
    """Return the InferenceSet of a subject; None if it is not known."""
    kind, here = INFERENCE_SETS, snapshot()
    if kind.resource not in here.tables:
        return None
    found = here.get(kind, InferenceSet, subject.namespace, subject.name)
    if found is None:
        return None
    version = served_version(kind) or kind.versions[0]
    return InvolvedObject(
        f"{kind.group}/{version}",
        kind.kind,
        subject.name,
        found.metadata.uid,
        subject.namespace,
    )
