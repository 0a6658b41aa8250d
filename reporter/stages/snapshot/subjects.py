"""
The subjects that exist in a snapshot.

A subject without a name stands for every subject of its layer: in its namespace, or everywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from reporter.model.enums import Layer
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.snapshot import Snapshot


HARNESS_LABEL = ("productionstack.kaito.sh/managed-by", "modelharness")
"""
The label that makes a namespace a workload namespace, whose Gateway and models are evaluated.
"""

ALL_LAYERS = frozenset(
    {CLUSTER_SUBJECT, Subject(Layer.MODELHARNESS), Subject(Layer.MODELDEPLOYMENT)}
)


@dataclass(frozen=True, slots=True)
class Subjects:
    """
    The subjects of one moment.

    *table_tokens* and *undecodable* tell whether another snapshot has the same subjects. The tokens
    stand for the tables, which are not kept: that would hold old versions of objects in memory.
    """

    all: frozenset[Subject] = frozenset()
    table_tokens: tuple[object, ...] = ()
    undecodable: frozenset[ObjectRef] = frozenset()


def refresh_subjects(snapshot: Snapshot, before: Subjects) -> Subjects:
    """
    Return the subjects of the snapshot; *before* itself if they are the same.
    """
    kinds = (NAMESPACES.resource, INFERENCE_SETS.resource)
    tokens = tuple(
        snapshot.tables[kind].subjects_token for kind in kinds if kind in snapshot.tables
    )
    same = bool(before.all) and (tokens, snapshot.undecodable) == (
        before.table_tokens,
        before.undecodable,
    )
    return before if same else Subjects(find_subjects(snapshot), tokens, snapshot.undecodable)


def find_subjects(snapshot: Snapshot) -> frozenset[Subject]:
    """
    Return the cluster, each workload namespace and each InferenceSet in one.

    Objects that are being deleted are no subjects.
    """
    found = {CLUSTER_SUBJECT}
    if NAMESPACES.resource in snapshot.tables:
        for each in snapshot.all(NAMESPACES):
            if isinstance(each, Namespace) and is_workload_namespace(each):
                found.add(Subject(Layer.MODELHARNESS, each.metadata.name))
    if INFERENCE_SETS.resource in snapshot.tables:
        for each in snapshot.all(INFERENCE_SETS):
            meta = each.metadata
            harness = Subject(Layer.MODELHARNESS, meta.namespace)
            if isinstance(each, InferenceSet) and harness in found and not _is_deleting(each):
                found.add(Subject(Layer.MODELDEPLOYMENT, meta.namespace, meta.name))
        found |= {
            model
            for model in _never_decoded_models(snapshot)
            if Subject(Layer.MODELHARNESS, model.namespace) in found
        }
    return frozenset(found)


def _never_decoded_models(snapshot: Snapshot) -> Iterator[Subject]:
    """
    Yield the InferenceSets of which no version could be decoded.

    They exist, so their subjects stay and their episodes do not end.
    """
    for ref in snapshot.undecodable:
        if ref.resource == INFERENCE_SETS.group_resource:
            subject = Subject(Layer.MODELDEPLOYMENT, ref.namespace, ref.name)
            if is_never_decoded(snapshot, subject):
                yield subject


def is_never_decoded(snapshot: Snapshot, subject: Subject) -> bool:
    """
    Return whether the InferenceSet of this subject exists, but none of its versions could be decoded.
    """
    name = (subject.namespace, subject.name)
    ref = ObjectRef(INFERENCE_SETS.group_resource, *name)
    return (
        ref in snapshot.undecodable
        and snapshot.tables[INFERENCE_SETS.resource].objects.get(name) is None
    )


def has_subject(each: ApiObject) -> bool:
    """
    Return whether a subject exists because of this object; false for kinds that are no subjects.
    """
    if isinstance(each, Namespace):
        return is_workload_namespace(each)
    return isinstance(each, InferenceSet) and not _is_deleting(each)


def is_workload_namespace(namespace: Namespace) -> bool:
    """
    Return whether the namespace has the harness label and is not being deleted.
    """
    label, value = HARNESS_LABEL
    deleting = namespace.metadata.deletion_timestamp is not None
    terminating = namespace.status.phase == "Terminating"
    return namespace.metadata.label(label) == value and not deleting and not terminating


def _is_deleting(inference_set: InferenceSet) -> bool:
    deleting = (
        c.type == "InferenceSetDeleting" and c.status == "True"
        for c in inference_set.status.conditions or ()
    )
    return inference_set.metadata.deletion_timestamp is not None or any(deleting)


def expand_placeholders(
    dirty: frozenset[Subject], subjects: frozenset[Subject]
) -> frozenset[Subject]:
    """
    Return the dirty subjects that exist, and all those that an unnamed dirty one stands for.
    """
    whole = {s for s in dirty if s.layer is Layer.MODELDEPLOYMENT and not s.name}
    layers = {s.layer for s in dirty if s.layer is not Layer.CLUSTER and not s.namespace}
    if not whole and not layers:
        return dirty & subjects
    namespaces = {s.namespace for s in whole}
    return frozenset(
        s
        for s in subjects
        if s in dirty
        or s.layer in layers
        or (s.layer is Layer.MODELDEPLOYMENT and s.namespace in namespaces)
    )
