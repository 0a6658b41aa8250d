"""
Whatever a probe reads about a subject marks that subject dirty when it changes.

A change that marks too little is evaluated only at the next full pass.
"""

from collections.abc import Iterator

import pytest
from msgspec import field
from msgspec.structs import fields, replace

from reporter.evaluation.registry import PROBES
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.probes.probe import ProbeRequest
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import expand_placeholders, find_subjects
from reporter.store.store import Store
from tests.support import source_builders
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.probed_stacks import BY_TYPE, STACKS, a_stack


class RecordingSnapshot(Snapshot, frozen=True):
    """A snapshot that records each object that it returns."""

    returned: list[tuple[ResourceKind, ApiObject]] = field(default_factory=list)

    def get(self, kind, type_, namespace, name):
        found = Snapshot.get(self, kind, type_, namespace, name)
        if found is not None:
            self.returned.append((kind, found))
        return found

    def peek(self, kind, type_, namespace, name):
        return self.get(kind, type_, namespace, name)

    def by_index(self, kind, type_, key):
        found = Snapshot.by_index(self, kind, type_, key)
        self.returned.extend((kind, each) for each in found)
        return found


def reads(snapshot: Snapshot) -> Iterator[tuple[str, Subject, ResourceKind, ApiObject]]:
    """Yield each object that a probe reads, with the reason and the subject."""
    values = {each.name: getattr(snapshot, each.name) for each in fields(Snapshot)}
    for subject in find_subjects(snapshot):
        for entry in DEFAULT_CATALOGUE.evaluated_entries(subject.layer):
            recording = RecordingSnapshot(**values)
            request = ProbeRequest(entry.reason, subject, entry.parameters, DEFAULT_FLAGS, NOON)
            list(PROBES[entry.probe].evaluate(recording, request))
            for kind, each in recording.returned:
                yield entry.reason, subject, kind, each


def marked(store: Store, subjects: frozenset[Subject]) -> frozenset[Subject]:
    return expand_placeholders(store.take_dirty(), subjects)


@pytest.mark.parametrize("objects", STACKS.values(), ids=STACKS.keys())
def test_what_a_probe_reads_marks_its_subject(objects):
    store = source_builders.a_store(*objects)
    snapshot = store.snapshot()
    subjects = find_subjects(snapshot)
    assert {each.layer for each in subjects} == set(Layer)
    found = list(reads(snapshot))
    store.take_dirty()
    for reason, subject, kind, each in found:
        meta = each.metadata
        store.delete(kind, meta.namespace, meta.name)
        after_delete = marked(store, subjects)
        store.upsert(kind, each)
        after_create = marked(store, subjects)
        who = f"{reason} of {subject} reads {kind.kind} {meta.namespace}/{meta.name}"
        assert subject in after_delete, f"{who}, whose deletion does not mark it"
        assert subject in after_create, f"{who}, whose creation does not mark it"


@pytest.mark.parametrize("objects", STACKS.values(), ids=STACKS.keys())
def test_a_change_that_marks_no_subject_changes_none_of_its_verdicts(objects):
    """Some probes read only whether an object is there: its status may change without a mark."""
    store = source_builders.a_store(*objects)
    snapshot = store.snapshot()
    subjects = find_subjects(snapshot)
    readers = {
        (subject, kind, each.metadata.namespace, each.metadata.name): (reason, kind, each)
        for reason, subject, kind, each in reads(snapshot)
    }
    store.take_dirty()
    for (subject, *_), (reason, kind, each) in readers.items():
        bare = kind.type(metadata=replace(each.metadata, generation=99))
        store.upsert(kind, bare)
        if subject not in marked(store, subjects):
            assert verdicts(store.snapshot(), subject) == verdicts(snapshot, subject), (
                f"{reason} of {subject} reads more of {kind.kind} {each.metadata.name}"
            )
        store.upsert(kind, each)
        store.take_dirty()


@pytest.mark.parametrize("objects", STACKS.values(), ids=STACKS.keys())
def test_a_change_of_references_marks_the_subjects_of_both_versions(objects):
    store = source_builders.a_store(*objects)
    objects = newest_versions(objects)
    for each in objects:
        kind = BY_TYPE[type(each)]
        for changed in with_other_references(each):
            store.take_dirty()
            store.upsert(kind, changed)
            expected = affected(kind, each, objects) | affected(kind, changed, objects)
            assert expected <= store.take_dirty(), f"{kind.kind} {each.metadata.name}"
            store.upsert(kind, each)


@pytest.mark.parametrize("objects", STACKS.values(), ids=STACKS.keys())
def test_what_an_object_affects_depends_only_on_what_the_store_compares(objects):
    """
    The store asks only about the new version after a change that leaves these fields as they are.
    """
    for each in objects:
        kind, meta = BY_TYPE[type(each)], each.metadata
        bare = kind.type(
            metadata=type(meta)(
                name=meta.name,
                namespace=meta.namespace,
                labels=meta.labels,
                owner_references=meta.owner_references,
            ),
            **({"spec": each.spec} if hasattr(each, "spec") else {}),
        )
        assert affected(kind, bare, objects) == affected(kind, each, objects)


def with_other_references(each: ApiObject) -> Iterator[ApiObject]:
    """Yield the object with other labels, other owners and another spec, one at a time."""
    changed = [
        replace(each, metadata=replace(each.metadata, labels=None)),
        replace(each, metadata=replace(each.metadata, owner_references=None)),
    ]
    if hasattr(each, "spec"):
        default = getattr(type(each)(metadata=each.metadata), "spec", None)
        changed.append(replace(each, spec=default))
    yield from (other for other in changed if other != each)


def newest_versions(objects: list[ApiObject]) -> list[ApiObject]:
    return list({(type(o), o.metadata.namespace, o.metadata.name): o for o in objects}.values())


def affected(kind: ResourceKind, about: ApiObject, objects: list[ApiObject]) -> set[Subject]:
    found = set(kind.affects(about))
    for resource, key_of in kind.referrers:
        for each in objects:
            other = BY_TYPE[type(each)]
            if other.resource == resource and key_of(about) in other.index_keys(each):
                found.update(other.affects(each))
    return found


def verdicts(snapshot: Snapshot, subject: Subject) -> list:
    return [
        verdict
        for entry in DEFAULT_CATALOGUE.evaluated_entries(subject.layer)
        for verdict in PROBES[entry.probe].evaluate(
            snapshot, ProbeRequest(entry.reason, subject, entry.parameters, DEFAULT_FLAGS, NOON)
        )
    ]


def test_the_stack_has_every_kind_that_probes_read_in_many_places():
    kinds = {BY_TYPE[type(each)].resource for each in a_stack()}
    wanted = {k.resource for k in (NAMESPACES, DEPLOYMENTS, PODS, GATEWAYS, HTTP_ROUTES)}
    assert wanted <= kinds
