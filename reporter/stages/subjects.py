"""
What reasons are about, and which of it a changed object touches.

A subject without a name stands for all of its layer: in its namespace, or everywhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reporter.model.kaito_objects import InferenceSet
from reporter.model.kinds import INFERENCE_SETS, NAMESPACES, ResourceKind
from reporter.model.node_objects import INFERENCE_SET as NODE_CLAIM_OF
from reporter.model.node_objects import NodeClaim
from reporter.model.objects import ApiObject, Namespace
from reporter.model.scaling_objects import HorizontalPodAutoscaler, ScaledObject
from reporter.model.subjects import CLUSTER, Subject
from reporter.model.verdicts import ObjectRef
from reporter.model.words import Layer
from reporter.stages.snapshot import Snapshot


HARNESS_LABEL = ("productionstack.kaito.sh/managed-by", "modelharness")
"""
What makes a namespace one whose Gateway and models are judged.
"""

CREATED_BY = "inferenceset.kaito.sh/created-by"
INFERENCE_SET = "kaito.sh/inferenceset"
GATEWAY_NAME = "gateway.networking.k8s.io/gateway-name"
POOL_SUFFIX = "-inferencepool"
PICKER_SUFFIX = "-inferencepool-epp"

EVERYTHING = frozenset({CLUSTER, Subject(Layer.MODELHARNESS), Subject(Layer.MODELDEPLOYMENT)})


@dataclass(frozen=True, slots=True)
class Roster:
    """
    All subjects, and the *members* of the tables they were read from, not these: they grow old.

    *odd*: what could not be read of them.
    """

    subjects: frozenset[Subject] = frozenset()
    members: tuple[object, ...] = ()
    odd: frozenset[ObjectRef] = frozenset()


def roster(snapshot: Snapshot, before: Roster) -> Roster:
    """
    Who is there now; counted anew only if somebody came or went in namespaces or InferenceSets.
    """
    kinds = (NAMESPACES.resource, INFERENCE_SETS.resource)
    members = tuple(snapshot.tables[kind].members for kind in kinds if kind in snapshot.tables)
    same = bool(before.subjects) and (members, snapshot.spoilt) == (before.members, before.odd)
    return before if same else Roster(subjects_of(snapshot), members, snapshot.spoilt)


def subjects_of(snapshot: Snapshot) -> frozenset[Subject]:
    """
    Everything there is; nothing in a namespace without the label, or that is being deleted.
    """
    found = {CLUSTER}
    if NAMESPACES.resource in snapshot.tables:
        for each in snapshot.all(NAMESPACES):
            if isinstance(each, Namespace) and is_harness(each):
                found.add(Subject(Layer.MODELHARNESS, each.metadata.name))
    if INFERENCE_SETS.resource in snapshot.tables:
        for each in snapshot.all(INFERENCE_SETS):
            meta = each.metadata
            harness = Subject(Layer.MODELHARNESS, meta.namespace)
            if isinstance(each, InferenceSet) and harness in found and not _is_going(each):
                found.add(Subject(Layer.MODELDEPLOYMENT, meta.namespace, meta.name))
        found |= {each for each in _never_read(snapshot) if _harness_of(each) in found}
    return frozenset(found)


def _never_read(snapshot: Snapshot) -> Iterator[Subject]:
    """
    InferenceSets of which no version could be read: they are there, and what was said of them lasts.
    """
    for ref in snapshot.spoilt:
        if ref.resource == INFERENCE_SETS.qualified:
            subject = Subject(Layer.MODELDEPLOYMENT, ref.namespace, ref.name)
            if is_never_read(snapshot, subject):
                yield subject


def is_never_read(snapshot: Snapshot, subject: Subject) -> bool:
    name = (subject.namespace, subject.name)
    ref = ObjectRef(INFERENCE_SETS.qualified, *name)
    return (
        ref in snapshot.spoilt
        and snapshot.tables[INFERENCE_SETS.resource].objects.get(name) is None
    )


def is_member(each: ApiObject) -> bool:
    """
    Whether there is a subject because of an object; false for kinds that no subject is about.
    """
    if isinstance(each, Namespace):
        return is_harness(each)
    return isinstance(each, InferenceSet) and not _is_going(each)


def is_harness(namespace: Namespace) -> bool:
    label, value = HARNESS_LABEL
    going = namespace.metadata.deletion_timestamp is not None
    terminating = namespace.status.phase == "Terminating"
    return namespace.metadata.label(label) == value and not going and not terminating


def _is_going(inference_set: InferenceSet) -> bool:
    deleting = (
        c.type == "InferenceSetDeleting" and c.status == "True"
        for c in inference_set.status.conditions or ()
    )
    return inference_set.metadata.deletion_timestamp is not None or any(deleting)


def expand(dirty: frozenset[Subject], subjects: frozenset[Subject]) -> frozenset[Subject]:
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


def touched(kind: ResourceKind, changed: ApiObject) -> Iterable[Subject]:
    """
    The subjects whose verdicts may depend on this object.
    """
    match kind.resource:
        case "deployments" | "pods":
            return _of_workload(changed)
        case "namespaces":
            name = changed.metadata.name
            return (
                CLUSTER,
                Subject(Layer.MODELHARNESS),
                Subject(Layer.MODELDEPLOYMENT, name),
            )
        case "inferencesets":
            return (_set(changed, changed.metadata.name),)
        case "workspaces" | "inferencepools":
            return (_set(changed, _owner(changed)),)
        case "gatewayclasses" | "configmaps":
            return (Subject(Layer.MODELHARNESS),)
        case "scaledobjects" | "horizontalpodautoscalers" | "nodeclaims":
            return _of_detail(changed)
        case other:
            return (_harness(changed), *_through(other, changed))


def _through(resource: str, changed: ApiObject) -> Iterable[Subject]:
    """
    The models that are reached through an object of the harness.
    """
    if resource == "gateways":
        return (_set(changed, ""),)
    return (_set(changed, _owner(changed)),) if resource == "httproutes" else ()


def _of_detail(changed: ApiObject) -> Iterable[Subject]:
    """
    Of the InferenceSet that is scaled, or that a claim names; one that names none may be of any there.
    """
    match changed:
        case ScaledObject() | HorizontalPodAutoscaler():
            name = changed.spec.inference_set
            return (_set(changed, name),) if name else ()
        case NodeClaim(workspace=(namespace, name)) if name:
            owner = changed.metadata.label(NODE_CLAIM_OF)
            return (Subject(Layer.MODELDEPLOYMENT, namespace, owner),)
        case _:
            return ()


def _of_workload(changed: ApiObject) -> Iterable[Subject]:
    """
    A model's, a Gateway's, or one of the control plane, which may be anywhere.
    """
    owner = _owner(changed)
    if owner:
        return (_set(changed, owner),)
    if changed.metadata.label(GATEWAY_NAME):
        return (_harness(changed),)
    return (CLUSTER,)


def _owner(changed: ApiObject) -> str:
    """
    The InferenceSet that an object is part of, by label or by its chart's naming.
    """
    meta = changed.metadata
    named = meta.name.removesuffix(PICKER_SUFFIX) if meta.name.endswith(PICKER_SUFFIX) else ""
    pool = meta.label("inferencepool").removesuffix(PICKER_SUFFIX)
    return meta.label(CREATED_BY) or meta.label(INFERENCE_SET) or pool or named


def _harness_of(subject: Subject) -> Subject:
    return Subject(Layer.MODELHARNESS, subject.namespace)


def _harness(changed: ApiObject) -> Subject:
    return Subject(Layer.MODELHARNESS, changed.metadata.namespace)


def _set(changed: ApiObject, name: str) -> Subject:
    return Subject(Layer.MODELDEPLOYMENT, changed.metadata.namespace, name)
