"""The subject of an object: what a reason about the object is announced for."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from reporter.catalogue.subject_definitions import SubjectDefinition
from reporter.kinds.objects import (
    ALL_HARNESSES,
    ALL_MODELS,
    CREATED_BY_LABEL,
    INFERENCE_SET_LABEL,
    ApiObject,
)
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject, qualified_name


ALL_OF_LAYER: Mapping[Layer, Subject] = {
    Layer.CLUSTER: CLUSTER_SUBJECT,
    Layer.MODELHARNESS: ALL_HARNESSES,
    Layer.MODELDEPLOYMENT: ALL_MODELS,
}


class SubjectRule(Struct, frozen=True):
    """
    The way from the objects of a kind to the subjects of a layer: by namespace, label or owner.

    *owner*: a kind, of the API group *owner_group*. *subject_kind*: that in the names of the subjects.
    *makes*: set if the objects are the subjects.

    It reads only what decides which subjects a change affects: name, namespace, labels and owners.
    """

    layer: Layer
    label: str = ""
    owner: str = ""
    owner_group: str = ""
    subject_kind: str = ""
    makes: SubjectDefinition | None = None

    def find(self, each: ApiObject) -> Subject | None:
        """Return the subject of an object; None if the object names none."""
        if self.layer is Layer.CLUSTER:
            return CLUSTER_SUBJECT
        if self.makes is not None:
            return self.makes.possible_subject(each)
        meta = each.metadata
        if self.layer is Layer.MODELHARNESS and not self.subject_kind:
            namespace = meta.label(self.label) if self.label else meta.namespace
            return Subject(self.layer, namespace) if namespace else None
        name = self._model_name(each)
        if not name:
            return None
        return Subject(self.layer, meta.namespace, qualified_name(self.subject_kind, name))

    def _model_name(self, each: ApiObject) -> str:
        meta = each.metadata
        if self.owner:
            return _owner_name(meta.owner_references, self.owner, self.owner_group)
        if self.label:
            return meta.label(self.label)
        return meta.label(CREATED_BY_LABEL) or meta.label(INFERENCE_SET_LABEL)

    def index_keys(self, each: ApiObject) -> tuple[str, ...]:
        """
        Return the keys under which an object is found; the cluster reads all objects of a kind.
        """
        subject = self.find(each) if self.layer is not Layer.CLUSTER else None
        return (self.key(subject),) if subject is not None else ()

    def key(self, subject: Subject) -> str:
        """Return the index key of the objects of a subject."""
        owner = f"{self.owner}.{self.owner_group}" if self.owner else ""
        return f"{self.layer} {owner}{self.label}={subject.namespace}/{subject.name}"


def _owner_name(owners: Any, kind: str, group: str) -> str:
    """
    Return the name of the first owner of this kind and group; empty if there is none.

    Owners are mappings if an expression reads all of them, else structs.
    """
    for each in owners or ():
        found = each if isinstance(each, Mapping) else msgspec.to_builtins(each)
        if found.get("kind") == kind and _group_of(found.get("apiVersion")) == group:
            name = found.get("name")
            return name if isinstance(name, str) else ""
    return ""


def _group_of(api_version: Any) -> str | None:
    """Return the group of an apiVersion; empty for the core group, None for what is none."""
    if not isinstance(api_version, str):
        return None
    group, slash, _ = api_version.partition("/")
    return group if slash else ""
