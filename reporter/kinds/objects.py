"""
The parts that all kinds share: the base of partial structs, metadata, conditions, owners and index keys.

A struct has only the fields that a decision or a message reads, with the API's names in snake case. Go
writes empty lists and maps as null, so these may be None. Index keys are plain strings: they are hashed
for each changed object. Kinds build their index from the functions here, and probes look up with them.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from sys import intern
from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import force_setattr

from reporter.kinds.shared_values import register_cache, shared_time
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


Timestamp: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""A time with its offset from UTC; a naive one could not be compared with any other."""


class ApiStruct(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A part of an API object; decoding skips unknown fields."""


class InterningApiStruct(ApiStruct, frozen=True):
    """
    A part of an API object that keeps texts in memory once although many objects have them.

    It is a class of its own because msgspec calls ``__post_init__`` for each struct that it decodes.

    *interned_fields*: fields whose texts many objects share.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in self.interned_fields:
            value = getattr(self, field)
            if value:
                force_setattr(self, field, intern(value))


class PackedLabels(Mapping[str, str]):
    """
    Labels in half the memory of a dict, as many objects have labels of the same names.

    *positions*: where the value of each label is in *texts*; all labels of the same names share it.
    msgspec encodes them with `plain_labels` as its hook, and not at all without it.
    """

    __slots__ = ("positions", "texts")

    def __init__(self, positions: Mapping[str, int], texts: tuple[str, ...]) -> None:
        self.positions, self.texts = positions, texts

    def __getitem__(self, name: str) -> str:
        return self.texts[self.positions[name]]

    def __contains__(self, name: object) -> bool:
        return name in self.positions

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a label, or *default*; that of Mapping raises and catches a KeyError."""
        position = self.positions.get(name)
        return default if position is None else self.texts[position]

    def __iter__(self) -> Iterator[str]:
        return iter(self.positions)

    def __len__(self) -> int:
        return len(self.texts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedLabels) and self.positions == other.positions:
            return self.texts == other.texts
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as a dict has none

    def __repr__(self) -> str:
        return repr(dict(self))


def plain_labels(value: Any) -> Any:
    """Return PackedLabels as a dict, for msgspec's ``enc_hook``; raise NotImplementedError for all else."""
    if isinstance(value, PackedLabels):
        return dict(value)
    raise NotImplementedError


def pack_labels(labels: Mapping[str, str] | None, name: str = "") -> Mapping[str, str] | None:
    """
    Return a dict of labels as PackedLabels; anything else, as those of a copied struct, as it is.

    *name*: of the object that has them. A label with that name, as pods of a StatefulSet have one, shares its
    text: hardly any other object has such a label.
    """
    if labels.__class__ is not dict or not labels:
        return labels
    # Names of objects that are gone stay in the cache, so it takes no large sets of them.
    positions = _shared_positions if len(labels) <= MAX_SHARED_NAMES else _positions
    texts = tuple([name if each == name else intern(each) for each in labels.values()])
    return PackedLabels(positions(tuple(labels)), texts)


def _positions(names: tuple[str, ...]) -> Mapping[str, int]:
    return {intern(name): position for position, name in enumerate(names)}


_shared_positions = lru_cache(maxsize=4096)(_positions)
register_cache(_shared_positions.cache_clear)

MAX_SHARED_NAMES = 64
"""The most names of labels of one object that others share; pods of KAITO have some ten."""


def json_field(value: object, name: str) -> object:
    """Return a field of a struct or of a mapping; None if there is none."""
    if isinstance(value, Struct):
        names = value.__struct_encode_fields__
        if name not in names:
            return None
        found = getattr(value, value.__struct_fields__[names.index(name)])
        return None if found is UNSET else found
    return value.get(name) if isinstance(value, Mapping) else None


def json_items(value: object, name: str) -> tuple[object, ...]:
    """Return the items of a field that is a list; no items for any other field."""
    found = json_field(value, name)
    return tuple(found) if isinstance(found, list | tuple) else ()


class Condition(ApiStruct, frozen=True):
    """One condition; *status* is True, False or Unknown as text."""

    type: str
    status: str
    reason: str | None = ""
    message: str | None = ""
    last_transition_time: Timestamp | None = None
    observed_generation: int = 0

    def __post_init__(self) -> None:
        # Called for each condition of a list, most often of all: as a loop it takes twice as long.
        force_setattr(self, "type", intern(self.type))
        force_setattr(self, "status", intern(self.status))
        if self.reason:
            force_setattr(self, "reason", intern(self.reason))
        if self.message:
            force_setattr(self, "message", intern(self.message))
        if self.last_transition_time is not None:
            force_setattr(self, "last_transition_time", shared_time(self.last_transition_time))


def find_condition(conditions: Iterable[Condition] | None, kind: str) -> Condition | None:
    """Return the first condition of this type, or None."""
    for each in conditions or ():
        if each.type == kind:
            return each
    return None


NamespacedName: TypeAlias = tuple[str, str]
"""Namespace, "" for cluster-scoped objects, and name."""


class OwnerReference(InterningApiStruct, frozen=True):
    """The object that owns this one; *controller* is true for at most one owner."""

    interned_fields: ClassVar[tuple[str, ...]] = ("kind", "name")

    kind: str
    name: str
    controller: bool | None = None


class Metadata(ApiStruct, frozen=True):
    """
    The read part of metav1.ObjectMeta; an object of the same name with another uid is another one.

    *packs_labels*: whether *labels* become PackedLabels.
    """

    packs_labels: ClassVar[bool] = True

    name: str
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    labels: Mapping[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "namespace", intern(self.namespace))
        if self.creation_timestamp is not None:
            force_setattr(self, "creation_timestamp", shared_time(self.creation_timestamp))
        if self.packs_labels:
            force_setattr(self, "labels", pack_labels(self.labels, self.name))

    def label(self, name: str) -> str:
        """Return the value of a label, "" if it is not set."""
        return "" if self.labels is None else self.labels.get(name, "")


class AnnotatedMetadata(Metadata, frozen=True):
    """Metadata of the few kinds whose annotations are read."""

    annotations: dict[str, str] | None = None

    def annotation(self, name: str) -> str | None:
        """Return the value of an annotation, or None."""
        return (self.annotations or {}).get(name)


class ApiObject(ApiStruct, frozen=True):
    """The base of every watched object."""

    metadata: Metadata


class VersionedMetadata(Metadata, frozen=True):
    """Metadata of a kind whose objects are written: a write names the version that it is about."""

    resource_version: str = ""


class WrittenObject(ApiObject, frozen=True):
    """The base of the objects that this program writes."""

    metadata: VersionedMetadata


CREATED_BY_LABEL = "inferenceset.kaito.sh/created-by"
INFERENCE_SET_LABEL = "kaito.sh/inferenceset"
GATEWAY_NAME_LABEL = "gateway.networking.k8s.io/gateway-name"
POOL_NAME_LABEL = "inferencepool"
ROUTE_SUFFIX = "-route"
POOL_SUFFIX = "-inferencepool"
ENDPOINT_PICKER_SUFFIX = "-inferencepool-epp"
"""
The ends of the names that the modeldeployment chart gives the route, the InferencePool and the endpoint
picker of a model, after the name of its InferenceSet.
"""

ALL_HARNESSES = Subject(Layer.MODELHARNESS)
ALL_MODELS = Subject(Layer.MODELDEPLOYMENT)


def harness_of(each: ApiObject) -> Subject:
    """Return the harness of the object's namespace, the subject of its Gateway and routes."""
    return Subject(Layer.MODELHARNESS, each.metadata.namespace)


def model_of(each: ApiObject, inference_set: str) -> Subject:
    """Return this InferenceSet of the object's namespace; "" stands for all of them."""
    return Subject(Layer.MODELDEPLOYMENT, each.metadata.namespace, inference_set)


def owning_inference_set(each: ApiObject) -> str:
    """
    Return the name of the InferenceSet that an object is part of, by label or by its chart's naming.

    It is empty for an object that is part of none.
    """
    meta = each.metadata
    # The first label decides for most objects; a full list asks this of each of them.
    by_label = meta.label(CREATED_BY_LABEL) or meta.label(INFERENCE_SET_LABEL)
    return by_label or _inference_set_of_picker(meta)


def _inference_set_of_picker(meta: Metadata) -> str:
    by_pool = meta.label(POOL_NAME_LABEL).removesuffix(ENDPOINT_PICKER_SUFFIX)
    if by_pool or not meta.name.endswith(ENDPOINT_PICKER_SUFFIX):
        return by_pool
    return meta.name.removesuffix(ENDPOINT_PICKER_SUFFIX)


def possible_models_of(each: ApiObject, suffix: str) -> tuple[Subject, ...]:
    """
    Return the InferenceSets that may look the object up: by its labels, or by its name.

    *suffix*: what charts add to an InferenceSet's name. An object that names none may be looked up by
    all of its namespace, for which a subject without a name stands.
    """
    owner, name = owning_inference_set(each), each.metadata.name
    by_name = name.removesuffix(suffix) if name.endswith(suffix) else ""
    if not owner or not by_name or by_name == owner:
        return (model_of(each, owner or by_name),)
    return (model_of(each, owner), model_of(each, by_name))


def workload_subject(each: ApiObject) -> Subject:
    """
    Return the subject of a Deployment or pod: a model, a Gateway's harness, or else the cluster.

    Components of the control plane may run in any namespace.
    """
    inference_set = owning_inference_set(each)
    if inference_set:
        return model_of(each, inference_set)
    if each.metadata.label(GATEWAY_NAME_LABEL):
        return harness_of(each)
    return CLUSTER_SUBJECT


def name_key(name: str) -> str:
    """Return the key of the objects of this name in any namespace."""
    return f"name={name}"


def label_key(label: str, value: str) -> str:
    """Return the key of the objects with this label and value, in any namespace."""
    return f"{label}={value}"


def workload_key(namespace: str, workload: str) -> str:
    """Return the key of the pods of a Deployment or other controller."""
    return f"{namespace}/{workload}"


def gateway_key(namespace: str, gateway: str) -> str:
    """Return the key of the Deployments of a Gateway."""
    return f"{namespace}/{gateway}"


def namespace_key(namespace: str) -> str:
    """Return the key of all objects of a namespace."""
    return f"{namespace}/"


def inference_set_key(namespace: str, inference_set: str) -> str:
    """Return the key of the objects that are part of, or about, an InferenceSet."""
    return f"model={namespace}/{inference_set}"


def workspace_key(namespace: str, workspace: str) -> str:
    """Return the key of the NodeClaims and NodePools of a Workspace."""
    return f"workspace={namespace}/{workspace}"


def backend_pool_key(namespace: str, pool: str) -> str:
    """Return the key of the routes that lead to an InferencePool."""
    return f"backend={namespace}/{pool}"


def namespace_keys(each: ApiObject) -> tuple[str, ...]:
    """Index an object by its namespace."""
    return (namespace_key(each.metadata.namespace),)


def inference_set_keys(each: ApiObject) -> tuple[str, ...]:
    """
    Index an object by the InferenceSet in the label of KAITO or of the modeldeployment chart.
    """
    meta = each.metadata
    name = meta.label(CREATED_BY_LABEL) or meta.label(INFERENCE_SET_LABEL)
    # Interned, as the indexes of several kinds have the same keys.
    return (intern(inference_set_key(meta.namespace, name)),) if name else ()


def parent_gateway_key(namespace: str, gateway: str) -> str:
    """Return the key of the routes that name a Gateway as parent."""
    return f"parent={namespace}/{gateway}"


def picker_key(namespace: str, picker: str) -> str:
    """Return the key of the InferencePools that name an endpoint picker."""
    return f"picker={namespace}/{picker}"


def own_picker_key(picker: ApiObject) -> str:
    """Return the key of the InferencePools that name this object as their endpoint picker."""
    return picker_key(picker.metadata.namespace, picker.metadata.name)


def affects_nothing(_: ApiObject) -> tuple[Subject, ...]:
    """Return no subject, as for what is only written."""
    return ()


def affects_harness(each: ApiObject) -> tuple[Subject, ...]:
    """Return the harness of the object's namespace."""
    return (harness_of(each),)
