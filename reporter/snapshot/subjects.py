"""
The subjects that exist in a snapshot.

A subject without a name stands for every subject of its layer and kind: in its namespace, or everywhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property

from msgspec import Struct, field

from reporter.catalogue import subject_definitions
from reporter.catalogue.subject_definitions import Labels, NamespaceScope, SubjectDefinition
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.objects import ApiObject, Metadata, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.lookups import has_no_version, why_undecodable
from reporter.snapshot.snapshot import Snapshot


# --------------------------------------------------------------------
# The subjects that are not all known, because what makes them cannot be read.
#
# A layer without subjects looks healthy. So a placeholder subject, which has no namespace, stands for
# the subjects that a rule may make, and every reason about them is Unknown for it.


def placeholder(layer: Layer) -> Subject:
    """Return the placeholder of the layer's plain subjects."""
    return Subject(layer)


def find_unknown_subjects(snapshot: Snapshot, *, now: datetime) -> Mapping[Subject, str]:
    """
    Return why the subjects of a rule are not all known, by the placeholder of the rule.

    Rules whose subjects are all known are left out.
    """
    rules = snapshot.subject_definitions
    whys = {
        rule.everything: _why_unknown(snapshot, rules.deciding_kinds(rule), now=now)
        or _why_unnamed(snapshot, rule)
        for rule in rules.all
    }
    return {subject: why for subject, why in whys.items() if why}


def _why_unknown(snapshot: Snapshot, kinds: tuple[ResourceKind, ...], *, now: datetime) -> str:
    # A kind that no evaluated reason reads is not watched.
    watched = (kind for kind in kinds if kind.table in snapshot.tables)
    return next((why for kind in watched if (why := snapshot.why_unknown(kind, now=now))), "")


def _why_unnamed(snapshot: Snapshot, rule: SubjectDefinition) -> str:
    """Return which object makes a subject that only its undecodable labels name."""
    if not snapshot.undecodable or not rule.is_named_by_labels:
        return ""
    unnamed = (
        (ref.namespace, ref.name)
        for ref, stub in snapshot.undecodable.items()
        if stub is None
        and ref.resource == rule.kind.watch_name
        and has_no_version(snapshot, rule.kind, ref)
    )
    first = min(unnamed, default=None)
    return "" if first is None else why_undecodable(rule.kind, first)


def unlisted_in_namespaces(unknown: Mapping[Subject, str]) -> Subject | None:
    """
    Return the placeholder of the subjects of which a namespace may have more than are known.

    Models come before other subjects; None if all are known. *unknown*: as of `find_unknown_subjects`.
    A harness without a kind is no part of a namespace, but the namespace itself.
    """
    parts = (each for each in unknown if each.kind or each.layer is Layer.MODELDEPLOYMENT)
    return min(parts, key=lambda each: (-each.layer.order, each.name), default=None)


ALL_LAYERS = frozenset(
    {CLUSTER_SUBJECT, Subject(Layer.MODELHARNESS), Subject(Layer.MODELDEPLOYMENT)}
)


class Subjects(Struct, frozen=True, dict=True):
    """
    The subjects of one moment.

    *unknown*: why the subjects of a rule are not all known, by their placeholder, which is in *all* then.

    *table_tokens* and *undecodable* show whether another snapshot has the same subjects. The tokens
    stand for the tables, which would keep old versions of objects in memory.
    """

    all: frozenset[Subject] = frozenset()
    unknown: Mapping[Subject, str] = field(default_factory=dict)
    table_tokens: tuple[object, ...] = ()
    undecodable: Mapping[ObjectRef, ApiObject | None] = field(default_factory=dict)

    @cached_property
    def unknown_layers(self) -> Mapping[Layer, str]:
        """The reasons why the plain subjects of a layer are not all known, by layer."""
        return {each.layer: why for each, why in self.unknown.items() if not each.kind}

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces that a subject of any kind is or is in, as far as they are known."""
        return frozenset(each.namespace for each in self.all)

    def may_include(self, subject: Subject) -> bool:
        """Return whether the subject exists or, as not all are known, may exist."""
        return subject in self.all or self.is_unseen(subject)

    def why_not_all_known(self, subject: Subject) -> str:
        """
        Return why there may be more subjects of this layer and kind than are known; empty if not.
        """
        if not self.unknown:
            return ""
        return self.unknown.get(Subject(subject.layer, "", subject.all_of_kind.name), "")

    def is_unseen(self, subject: Subject) -> bool:
        """Return whether the subject is not known, but may exist as not all of its kind are."""
        return bool(self.why_not_all_known(subject)) and subject not in self.all


def refresh_subjects(snapshot: Snapshot, before: Subjects, *, now: datetime) -> Subjects:
    """Return the subjects of the snapshot; *before* itself if they are the same."""
    tokens = tuple(
        snapshot.tables[kind.table].subjects_token
        for kind in snapshot.subject_definitions.kinds
        if kind.table in snapshot.tables
    )
    unknown = find_unknown_subjects(snapshot, now=now)
    same = bool(before.all) and (tokens, snapshot.undecodable, unknown) == (
        before.table_tokens,
        before.undecodable,
        before.unknown,
    )
    if same:
        return before
    found = find_subjects(snapshot).union(unknown)
    return Subjects(found, unknown, tokens, snapshot.undecodable)


def find_subjects(snapshot: Snapshot) -> frozenset[Subject]:
    """
    Return the cluster, and each subject that an object makes by a rule.

    An object that is being deleted makes no subject, nor does anything in such a namespace.
    """
    found = {CLUSTER_SUBJECT}
    for rule in snapshot.subject_definitions.all:
        if rule.kind.table in snapshot.tables:
            in_scope = namespaces_in_scope(snapshot, rule, found)
            found.update(
                subject
                for each in (*snapshot.all(rule.kind), *_never_decoded(snapshot, rule))
                if (subject := rule.subject_of(each)) and subject.namespace in in_scope
            )
    return frozenset(found)


class _Everywhere:
    """All namespaces but those that are being deleted."""

    def __init__(self, terminating: frozenset[str]) -> None:
        self._terminating = terminating

    def __contains__(self, namespace: object) -> bool:
        return namespace not in self._terminating


def namespaces_in_scope(
    snapshot: Snapshot, rule: SubjectDefinition, found: Iterable[Subject]
) -> "frozenset[str] | _Everywhere":
    """
    Return the namespaces whose objects make subjects of a rule. *found*: the subjects of upper layers.
    """
    if rule.is_of_namespaces:
        return _Everywhere(frozenset())
    if rule.scope is NamespaceScope.ALL:
        return _Everywhere(frozenset(_namespaces(snapshot, terminating=True)))
    if rule.scope is NamespaceScope.LABELLED:
        labels = rule.namespace_labels
        return frozenset(_namespaces(snapshot, labels, terminating=False))
    kinds = {each.subject_kind for each in snapshot.subject_definitions.harnesses_of(rule.pack)}
    return frozenset(
        each.namespace for each in found if each.layer is Layer.MODELHARNESS and each.kind in kinds
    )


def _namespaces(snapshot: Snapshot, labels: Labels = (), *, terminating: bool) -> Iterator[str]:
    if NAMESPACES.table in snapshot.tables:
        for each in snapshot.all(NAMESPACES):
            if subject_definitions.TERMINATING.are_on(
                each
            ) is terminating and subject_definitions.has_labels(each, labels):
                yield each.metadata.name


def _never_decoded(snapshot: Snapshot, rule: SubjectDefinition) -> Iterator[ApiObject]:
    """
    Yield the stubs of the objects of which no version could be decoded.

    They exist, so their subjects stay and their episodes do not end. If the labels cannot be decoded
    either, the object counts as one with the labels of the rule; if only its labels name its subject,
    all subjects of the rule are unknown.
    """
    for ref, stub in snapshot.undecodable.items():
        if ref.resource == rule.kind.watch_name and has_no_version(snapshot, rule.kind, ref):
            meta = Metadata(name=ref.name, namespace=ref.namespace, labels=dict(rule.labels))
            yield stub if stub is not None else rule.kind.type(metadata=meta)


def why_undecodable_subject(snapshot: Snapshot, subject: Subject) -> str:
    """Return why only the name of a subject is known; empty if more is known."""
    if not snapshot.undecodable or not subject.namespace:
        return ""
    rule = snapshot.subject_definitions.find(subject.layer, subject.kind)
    objects = [(NAMESPACES, "", subject.namespace)]
    if rule is not None and subject.object_name:
        objects += (
            [(rule.kind, *name) for name in _named_by_labels(snapshot, rule, subject)]
            if rule.is_named_by_labels
            else [(rule.kind, subject.namespace, subject.object_name)]
        )
    for kind, namespace, name in objects:
        ref = ObjectRef(kind.watch_name, namespace, name)
        if ref in snapshot.undecodable and has_no_version(snapshot, kind, ref):
            return why_undecodable(kind, (namespace, name))
    return ""


def _named_by_labels(
    snapshot: Snapshot, rule: SubjectDefinition, subject: Subject
) -> list[NamespacedName]:
    """
    Return the undecodable objects whose labels name a subject; none if a decoded one names it too.
    """
    found = sorted(
        (ref.namespace, ref.name)
        for ref, stub in snapshot.undecodable.items()
        if ref.resource == rule.kind.watch_name
        and stub is not None
        and rule.possible_subject(stub) == subject
    )
    if not found or any(
        rule.possible_subject(each) == subject for each in snapshot.all(rule.kind)
    ):
        return []
    return found


def is_workload_namespace(snapshot: Snapshot, namespace: ApiObject) -> bool:
    """Return whether an object is a Namespace that is itself a subject by the rules of the snapshot."""
    rules = snapshot.subject_definitions
    return isinstance(namespace, Namespace) and rules.is_workload_namespace(namespace)


def expand_placeholders(
    dirty: frozenset[Subject], subjects: frozenset[Subject]
) -> frozenset[Subject]:
    """
    Return the dirty subjects that exist, and all those that an unnamed dirty one stands for.

    One without a kind stands for those of every kind.
    """
    groups = [s for s in dirty if s.is_unnamed and _stands_for_many(s)]
    if not groups:
        return dirty & subjects
    layers = {s.layer for s in groups if not s.namespace and not s.kind}
    others = {(s.layer, s.namespace, s.kind) for s in groups if s.namespace or s.kind}
    return frozenset(
        s
        for s in subjects
        if s in dirty or s.layer in layers or (others and not others.isdisjoint(_groups_of(s)))
    )


def _stands_for_many(unnamed: Subject) -> bool:
    if unnamed.layer is Layer.MODELHARNESS:
        # A namespace is a harness itself.
        return not unnamed.namespace or bool(unnamed.kind)
    return unnamed.layer is Layer.MODELDEPLOYMENT


def _groups_of(subject: Subject) -> tuple[tuple[Layer, str, str], ...]:
    """Return layer, namespace and kind of the unnamed subjects that stand for this one."""
    layer, namespace, kind = subject.layer, subject.namespace, subject.kind
    return ((layer, namespace, ""), (layer, namespace, kind), (layer, "", kind))
