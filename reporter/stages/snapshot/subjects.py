"""
What reasons are about, and which of it a changed object touches.

A subject without a name stands for all of its layer: in its namespace, or everywhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reporter.model.enums import Layer
from reporter.model.kinds.kaito import InferenceSet
from reporter.model.kinds.keda import HorizontalPodAutoscaler, ScaledObject
from reporter.model.kinds.node_claims import INFERENCE_SET_LABEL as NODE_CLAIM_OF
from reporter.model.kinds.node_claims import NodeClaim
from reporter.model.kinds.objects import ApiObject, Namespace
from reporter.model.kinds.resource_kinds import INFERENCE_SETS, NAMESPACES, ResourceKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.snapshot import Snapshot


HARNESS_LABEL = ("productionstack.kaito.sh/managed-by", "modelharness")
"""
What makes a namespace one whose Gateway and models are judged.
"""

CREATED_BY_LABEL = "inferenceset.kaito.sh/created-by"
INFERENCE_SET_LABEL = "kaito.sh/inferenceset"
GATEWAY_NAME_LABEL = "gateway.networking.k8s.io/gateway-name"
POOL_SUFFIX = "-inferencepool"
ENDPOINT_PICKER_SUFFIX = "-inferencepool-epp"

ALL_LAYERS = frozenset(
    {CLUSTER_SUBJECT, Subject(Layer.MODELHARNESS), Subject(Layer.MODELDEPLOYMENT)}
)


@dataclass(frozen=True, slots=True)
class Subjects:
    """
    All subjects, and the *members* of the tables they were read from, not these: they grow old.

    *odd*: what could not be read of them.
    """

    all: frozenset[Subject] = frozenset()
    table_tokens: tuple[object, ...] = ()
    undecodable: frozenset[ObjectRef] = frozenset()


def refresh_subjects(snapshot: Snapshot, before: Subjects) -> Subjects:
    """
    Who is there now; counted anew only if somebody came or went in namespaces or InferenceSets.
    """
    kinds = (NAMESPACES.resource, INFERENCE_SETS.resource)
    members = tuple(
        snapshot.tables[kind].subjects_token for kind in kinds if kind in snapshot.tables
    )
    same = bool(before.all) and (members, snapshot.undecodable) == (
        before.table_tokens,
        before.undecodable,
    )
    return before if same else Subjects(find_subjects(snapshot), members, snapshot.undecodable)


def find_subjects(snapshot: Snapshot) -> frozenset[Subject]:
    """
    Everything there is; nothing in a namespace without the label, or that is being deleted.
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
            each for each in _undecoded_inference_sets(snapshot) if _harness_of(each) in found
        }
    return frozenset(found)


def _undecoded_inference_sets(snapshot: Snapshot) -> Iterator[Subject]:
    """
    InferenceSets of which no version could be read: they are there, and what was said of them lasts.
    """
    for ref in snapshot.undecodable:
        if ref.resource == INFERENCE_SETS.group_resource:
            subject = Subject(Layer.MODELDEPLOYMENT, ref.namespace, ref.name)
            if is_never_decoded(snapshot, subject):
                yield subject


def is_never_decoded(snapshot: Snapshot, subject: Subject) -> bool:
    name = (subject.namespace, subject.name)
    ref = ObjectRef(INFERENCE_SETS.group_resource, *name)
    return (
        ref in snapshot.undecodable
        and snapshot.tables[INFERENCE_SETS.resource].objects.get(name) is None
    )


def has_subject(each: ApiObject) -> bool:
    """
    Whether there is a subject because of an object; false for kinds that no subject is about.
    """
    if isinstance(each, Namespace):
        return is_workload_namespace(each)
    return isinstance(each, InferenceSet) and not _is_deleting(each)


def is_workload_namespace(namespace: Namespace) -> bool:
    label, value = HARNESS_LABEL
    going = namespace.metadata.deletion_timestamp is not None
    terminating = namespace.status.phase == "Terminating"
    return namespace.metadata.label(label) == value and not going and not terminating


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
    Those that exist, with everyone that an unnamed subject stands for.
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


def affected_subjects(kind: ResourceKind, changed: ApiObject) -> Iterable[Subject]:
    """
    The subjects whose verdicts may depend on this object.
    """
    match kind.resource:
        case "deployments" | "pods":
            return _workload_subjects(changed)
        case "namespaces":
            name = changed.metadata.name
            return (
                CLUSTER_SUBJECT,
                Subject(Layer.MODELHARNESS),
                Subject(Layer.MODELDEPLOYMENT, name),
            )
        case "inferencesets":
            return (_model_subject(changed, changed.metadata.name),)
        case "workspaces" | "inferencepools":
            return (_model_subject(changed, _owning_inference_set(changed)),)
        case "gatewayclasses" | "configmaps":
            return (Subject(Layer.MODELHARNESS),)
        case "scaledobjects" | "horizontalpodautoscalers" | "nodeclaims":
            return _subjects_of_source_object(changed)
        case other:
            return (_harness_subject(changed), *_models_behind(other, changed))


def _models_behind(resource: str, changed: ApiObject) -> Iterable[Subject]:
    """
    The models that are reached through an object of the harness.
    """
    if resource == "gateways":
        return (_model_subject(changed, ""),)
    return (
        (_model_subject(changed, _owning_inference_set(changed)),)
        if resource == "httproutes"
        else ()
    )


def _subjects_of_source_object(changed: ApiObject) -> Iterable[Subject]:
    """
    Of the InferenceSet that is scaled, or that a claim names; one that names none may be of any there.
    """
    match changed:
        case ScaledObject() | HorizontalPodAutoscaler():
            name = changed.spec.inference_set
            return (_model_subject(changed, name),) if name else ()
        case NodeClaim(workspace=(namespace, name)) if name:
            owner = changed.metadata.label(NODE_CLAIM_OF)
            return (Subject(Layer.MODELDEPLOYMENT, namespace, owner),)
        case _:
            return ()


def _workload_subjects(changed: ApiObject) -> Iterable[Subject]:
    """
    A model's, a Gateway's, or one of the control plane, which may be anywhere.
    """
    owner = _owning_inference_set(changed)
    if owner:
        return (_model_subject(changed, owner),)
    if changed.metadata.label(GATEWAY_NAME_LABEL):
        return (_harness_subject(changed),)
    return (CLUSTER_SUBJECT,)


def _owning_inference_set(changed: ApiObject) -> str:
    """
    The InferenceSet that an object is part of, by label or by its chart's naming.
    """
    meta = changed.metadata
    named = (
        meta.name.removesuffix(ENDPOINT_PICKER_SUFFIX)
        if meta.name.endswith(ENDPOINT_PICKER_SUFFIX)
        else ""
    )
    pool = meta.label("inferencepool").removesuffix(ENDPOINT_PICKER_SUFFIX)
    return meta.label(CREATED_BY_LABEL) or meta.label(INFERENCE_SET_LABEL) or pool or named


def _harness_of(subject: Subject) -> Subject:
    return Subject(Layer.MODELHARNESS, subject.namespace)


def _harness_subject(changed: ApiObject) -> Subject:
    return Subject(Layer.MODELHARNESS, changed.metadata.namespace)


def _model_subject(changed: ApiObject, name: str) -> Subject:
    return Subject(Layer.MODELDEPLOYMENT, changed.metadata.namespace, name)
