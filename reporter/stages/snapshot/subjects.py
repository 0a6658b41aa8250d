"""
The subjects that exist in a snapshot.

A subject without a name stands for every subject of its layer: in its namespace, or everywhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from reporter.model.enums import Layer
from reporter.model.kinds.base.objects import ApiObject, Metadata, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.lookups import why_undecodable
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.unknown_layers import find_unknown_layers, placeholder


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

    *unknown_layers*: why the subjects of a layer are not all known; *all* has its placeholder then.

    *table_tokens* and *undecodable* tell whether another snapshot has the same subjects. The tokens
    stand for the tables, which are not kept: that would hold old versions of objects in memory.
    """

    all: frozenset[Subject] = frozenset()
    unknown_layers: Mapping[Layer, str] = field(default_factory=dict)
    table_tokens: tuple[object, ...] = ()
    undecodable: Mapping[ObjectRef, ApiObject | None] = field(default_factory=dict)

    def may_include(self, subject: Subject) -> bool:
        """
        Return whether the subject exists, as far as is known.
        """
        return subject in self.all or self.is_unseen(subject)

    def is_unseen(self, subject: Subject) -> bool:
        """
        Return whether the subject may exist although it is not known.
        """
        return subject.layer in self.unknown_layers and subject not in self.all


def refresh_subjects(snapshot: Snapshot, before: Subjects, *, now: datetime) -> Subjects:
    """
    Return the subjects of the snapshot; *before* itself if they are the same.
    """
    kinds = (NAMESPACES.resource, INFERENCE_SETS.resource)
    tokens = tuple(
        snapshot.tables[kind].subjects_token for kind in kinds if kind in snapshot.tables
    )
    unknown = find_unknown_layers(snapshot, now=now)
    same = bool(before.all) and (tokens, snapshot.undecodable, unknown) == (
        before.table_tokens,
        before.undecodable,
        before.unknown_layers,
    )
    if same:
        return before
    found = find_subjects(snapshot).union(map(placeholder, unknown))
    return Subjects(found, unknown, tokens, snapshot.undecodable)


def find_subjects(snapshot: Snapshot) -> frozenset[Subject]:
    """
    Return the cluster, each workload namespace and each InferenceSet in one.

    Objects that are being deleted are no subjects.
    """
    found = {CLUSTER_SUBJECT}
    if NAMESPACES.resource in snapshot.tables:
        for each in (*snapshot.all(NAMESPACES), *_never_decoded(snapshot, NAMESPACES)):
            if isinstance(each, Namespace) and is_workload_namespace(each):
                found.add(Subject(Layer.MODELHARNESS, each.metadata.name))
    if INFERENCE_SETS.resource in snapshot.tables:
        for each in snapshot.all(INFERENCE_SETS):
            meta = each.metadata
            harness = Subject(Layer.MODELHARNESS, meta.namespace)
            if isinstance(each, InferenceSet) and harness in found and not _is_deleting(each):
                found.add(Subject(Layer.MODELDEPLOYMENT, meta.namespace, meta.name))
        found |= {
            Subject(Layer.MODELDEPLOYMENT, each.metadata.namespace, each.metadata.name)
            for each in _never_decoded(snapshot, INFERENCE_SETS)
            if Subject(Layer.MODELHARNESS, each.metadata.namespace) in found
        }
    return frozenset(found)


def _never_decoded(snapshot: Snapshot, kind: ResourceKind) -> Iterator[ApiObject]:
    """
    Yield the stubs of the objects of which no version could be decoded.

    They exist, so their subjects stay and their episodes do not end. A namespace whose labels cannot
    be decoded either is taken for a workload namespace.
    """
    for ref, stub in snapshot.undecodable.items():
        name = (ref.namespace, ref.name)
        if (
            ref.resource == kind.group_resource
            and snapshot.tables[kind.resource].objects.get(name) is None
        ):
            labels = dict([HARNESS_LABEL])
            meta = Metadata(name=ref.name, namespace=ref.namespace, labels=labels)
            yield stub if stub is not None else kind.type(metadata=meta)


def why_undecodable_subject(snapshot: Snapshot, subject: Subject) -> str:
    """
    Return why nothing but the name of a subject is known; empty if more is known.
    """
    if not snapshot.undecodable or not subject.namespace:
        return ""
    objects = ((NAMESPACES, "", subject.namespace), (INFERENCE_SETS, *_name_of(subject)))
    for kind, namespace, name in objects:
        table = snapshot.tables.get(kind.resource)
        ref = ObjectRef(kind.group_resource, namespace, name)
        if ref in snapshot.undecodable and table and table.objects.get((namespace, name)) is None:
            return why_undecodable(kind, (namespace, name))
    return ""


def _name_of(subject: Subject) -> NamespacedName:
    return (subject.namespace, subject.name)


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
