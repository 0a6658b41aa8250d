"""
The rules by which objects make the subjects of a layer. They are data: each pack has its own.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum, unique
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds.core import NAMESPACES
from reporter.kinds.objects import ApiObject, Condition, json_field, json_items
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject, qualified_name


Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values of labels."""


@unique
class NamespaceScope(StrEnum):
    """The namespaces to which a pack's subject rule is limited."""

    HARNESS = "harness"  # those with a harness of the same pack
    LABELLED = "labelled"  # those with the labels of the rule
    ALL = "all"


class DeletionMarkers(Struct, frozen=True):
    """
    The signs of an object that is being deleted, beside its deletionTimestamp.

    *conditions*: types of conditions that are True then. *phases*: values of ``status.phase``.
    """

    conditions: frozenset[str] = frozenset()
    phases: frozenset[str] = frozenset()

    @property
    def fields(self) -> tuple[tuple[str, ...], ...]:
        """The fields that they are read from; an empty name stands for each item of a list."""
        conditions = ("status", "conditions", "")
        return (
            *((("status", "phase"),) if self.phases else ()),
            *(((*conditions, "type"), (*conditions, "status")) if self.conditions else ()),
        )

    def are_on(self, each: ApiObject) -> bool:
        """
        Return whether an object is being deleted, by its deletionTimestamp or one of these signs.
        """
        if each.metadata.deletion_timestamp is not None:
            return True
        if not (self.phases or self.conditions):
            return False
        status = json_field(each, "status")
        # The fields of a declared kind have any type.
        phase = json_field(status, "phase")
        if isinstance(phase, str) and phase in self.phases:
            return True
        items = json_items(status, "conditions") if self.conditions else ()
        return any(self._is_sign(condition) for condition in items)

    def _is_sign(self, condition: object) -> bool:
        if isinstance(condition, Condition):  # of most objects, and faster
            return condition.type in self.conditions and condition.status == "True"
        named = json_field(condition, "type")
        is_named = isinstance(named, str) and named in self.conditions
        return is_named and json_field(condition, "status") == "True"


class SubjectDefinition(Struct, frozen=True):
    """
    The rule by which objects of one kind make the subjects of a layer.

    *plain*: a subject has the name of its object alone. One rule of each layer may be plain.
    *prefix*: the beginning of the names of its reasons. *about*: a description of a subject.
    *labels*: those that an object must have. *scope*: the namespaces whose objects count, with
    *namespace_labels* if these must be labelled.
    *name_label*, *namespace_label*: the labels with the name and the namespace of the subject; empty
    for those of the object. *needs*: more kinds without which the subjects cannot be evaluated.
    """

    layer: Layer
    kind: ResourceKind
    pack: str
    prefix: str
    about: str = ""
    plain: bool = False
    labels: Labels = ()
    scope: NamespaceScope = NamespaceScope.ALL
    namespace_labels: Labels = ()
    name_label: str = ""
    namespace_label: str = ""
    ended: DeletionMarkers = DeletionMarkers()
    needs: tuple[ResourceKind, ...] = ()

    @property
    def subject_kind(self) -> str:
        """The kind in the names of the subjects; empty for the plain rule of the layer."""
        return "" if self.plain else self.kind.kind

    @property
    def message_field(self) -> str:
        """
        The field of a message with the name of the subject; empty if the subject is a namespace.
        """
        return "" if self.is_of_namespaces else self.kind.kind.lower()

    @property
    def is_of_namespaces(self) -> bool:
        """True if the object is the namespace of the subject."""
        return self.kind.table == NAMESPACES.table

    @property
    def is_named_by_labels(self) -> bool:
        """
        True if the subject of an object cannot be named while the labels of the object are not known.
        """
        return bool(self.name_label or self.namespace_label) and not self.is_of_namespaces

    @property
    def everything(self) -> Subject:
        """The placeholder for all subjects of this rule."""
        return Subject(self.layer, "", qualified_name(self.subject_kind, ""))

    def namespace_of(self, each: ApiObject) -> str:
        """Return the namespace of the subject that an object would make."""
        meta = each.metadata
        if self.is_of_namespaces:
            return meta.name
        return meta.label(self.namespace_label) if self.namespace_label else meta.namespace

    def possible_subject(self, each: ApiObject) -> Subject | None:
        """
        Return the subject of an object with the labels of the rule, also of one being deleted.

        None without these labels, or if it has no name or no namespace. The namespace may be out of scope.
        """
        if not has_labels(each, self.labels):
            return None
        meta, namespace = each.metadata, self.namespace_of(each)
        if self.is_of_namespaces:
            return Subject(self.layer, namespace)
        name = meta.label(self.name_label) if self.name_label else meta.name
        if not name or not namespace:
            return None
        return Subject(self.layer, namespace, qualified_name(self.subject_kind, name))

    def subject_of(self, each: ApiObject) -> Subject | None:
        """Return the subject of an object, as *possible_subject*; None for one being deleted."""
        return None if self.ended.are_on(each) else self.possible_subject(each)


def has_labels(each: ApiObject, wanted: Labels) -> bool:
    """Return whether an object has all labels with their values; true if none is wanted."""
    # Most rules want none, and a full pass asks this of each object.
    return not wanted or all(each.metadata.label(name) == value for name, value in wanted)


TERMINATING = DeletionMarkers(phases=frozenset({"Terminating"}))
"""The sign of a namespace that is being deleted (API reference, NamespacePhase)."""


class SubjectDefinitions(Struct, frozen=True):
    """
    The rules of all packs, those of upper layers first; no two of them are about the same kind.
    """

    all: tuple[SubjectDefinition, ...] = ()

    def of_layer(self, layer: Layer) -> tuple[SubjectDefinition, ...]:
        """
        Return the rules whose subjects belong to a layer, of all packs; the cluster has none.
        """
        return tuple(rule for rule in self.all if rule.layer is layer)

    def find(self, layer: Layer, subject_kind: str = "") -> SubjectDefinition | None:
        """Return the rule for *subject_kind* in a layer; "" finds the layer's one `plain` rule."""
        for rule in self.all:
            if rule.layer is layer and rule.subject_kind == subject_kind:
                return rule
        return None

    def of_kind(self, kind: ResourceKind) -> SubjectDefinition | None:
        """Return the rule by which the objects of a kind make subjects; None if they make none."""
        return next((r for r in self.all if r.kind.table == kind.table), None)

    def deciding_kinds(self, rule: SubjectDefinition | None) -> tuple[ResourceKind, ...]:
        """
        Return the kinds without which the subjects of a rule are not all known, namespaces first.
        """
        if rule is None:
            return ()
        namespaces = (NAMESPACES,) if self._depends_on_namespaces(rule) else ()
        return tuple(dict.fromkeys((*namespaces, rule.kind, *rule.needs)))

    def _depends_on_namespaces(self, rule: SubjectDefinition) -> bool:
        if rule.is_of_namespaces or rule.scope is NamespaceScope.LABELLED:
            return True
        return rule.scope is NamespaceScope.HARNESS and any(
            each.is_of_namespaces for each in self.harnesses_of(rule.pack)
        )

    def harnesses_of(self, pack: str) -> tuple[SubjectDefinition, ...]:
        """
        Return the rules of a pack that make subjects of layer modelharness, in which its models are.
        """
        return tuple(rule for rule in self.of_layer(Layer.MODELHARNESS) if rule.pack == pack)

    @property
    def kinds(self) -> tuple[ResourceKind, ...]:
        """The kinds whose objects decide which subjects there are."""
        made = (kind for rule in self.all for kind in (NAMESPACES, rule.kind))
        return tuple(dict.fromkeys(made))

    def is_workload_namespace(self, namespace: ApiObject) -> bool:
        """Return whether the namespace itself is a subject, and is not being deleted."""
        rule = self.of_kind(NAMESPACES)
        return rule is not None and rule.subject_of(namespace) is not None

    def agree_with(self, other: "SubjectDefinitions") -> bool:
        """
        Return whether the rules that both have make subjects of the same objects.

        Other fields of these objects may be read, and either may have rules that the other lacks.
        """
        return all(
            _objects_of(rule, self) == _objects_of(before, other)
            for rule in self.all
            if (before := other.find(rule.layer, rule.subject_kind)) is not None
        )

    def identity_func(self, kind: ResourceKind) -> Callable[[Any], object] | None:
        """
        Return a function that gives the values of an object which decide about its subjects.

        None for a kind whose objects make no subjects.
        """
        rule = self.of_kind(kind)
        if kind.table != NAMESPACES.table:
            return rule.subject_of if rule is not None else None
        labels = [each.namespace_labels for each in self.all if each.namespace_labels]

        def identity(namespace: ApiObject) -> object:
            subject = rule.subject_of(namespace) if rule is not None else None
            matched = tuple(has_labels(namespace, each) for each in labels)
            return (subject, matched, TERMINATING.are_on(namespace))

        return identity if self.all else None


def _objects_of(rule: SubjectDefinition, among: SubjectDefinitions) -> tuple[object, ...]:
    """
    Return what decides which objects make subjects by a rule, however these objects are read.
    """
    is_in_harnesses = rule.scope is NamespaceScope.HARNESS
    harnesses = among.harnesses_of(rule.pack) if is_in_harnesses else ()
    tables = (rule.kind.table, *(each.kind.table for each in harnesses))
    return (replace(rule, kind=NAMESPACES, needs=()), *tables)


NO_SUBJECTS = SubjectDefinitions()
"""No rules: the cluster is the only subject."""


def make_definitions(rules: Iterable[SubjectDefinition]) -> SubjectDefinitions:
    """Return the rules in order: upper layers first, and within a layer the plain rule first."""
    return SubjectDefinitions(tuple(sorted(rules, key=lambda r: (r.layer.order, r.subject_kind))))
