"""
The involvedObject of Ready Events.
"""

from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.subjects import Subject
from reporter.model.verdicts import InvolvedObject
from reporter.stages.snapshot.snapshot import Snapshot


def involved_namespace(
    release_namespace: str, snapshot: Snapshot, subject: Subject
) -> InvolvedObject:
    """
    Return the Namespace of a subject, or of the release for the cluster.
    """
    name = subject.namespace or release_namespace
    found = snapshot.get(NAMESPACES, Namespace, "", name)
    return InvolvedObject("v1", "Namespace", name, found.metadata.uid if found is not None else "")
