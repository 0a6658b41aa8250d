"""A store with the objects that make the subjects which a test names."""

import dataclasses
from collections.abc import Collection

from msgspec.structs import replace

from reporter.catalogue.subject_definitions import (
    NamespaceScope,
    SubjectDefinition,
    make_definitions,
)
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES
from reporter.kinds.objects import Metadata
from reporter.model.enums import Layer
from reporter.model.observations import Watching
from reporter.model.subjects import Subject
from reporter.store.store import Store
from tests.support.catalogue_fixture import SUBJECTS


SERVICES = dataclasses.replace(HTTP_ROUTES, resource="inferenceservices", kind="InferenceService")
"""A kind of another stack, of which nothing but the names of its objects is read."""

KINDS = (*DEFAULT_KINDS, SERVICES)
RULES = make_definitions(
    (
        *(replace(rule, labels=(), scope=NamespaceScope.ALL) for rule in SUBJECTS.all),
        SubjectDefinition(Layer.MODELHARNESS, GATEWAYS, pack="other", prefix="gateway"),
        SubjectDefinition(Layer.MODELDEPLOYMENT, HTTP_ROUTES, pack="other", prefix="route"),
        SubjectDefinition(Layer.MODELDEPLOYMENT, SERVICES, pack="other", prefix="service"),
    )
)
"""
Each namespace and InferenceSet makes a subject, wherever it is, and as in other packs each Gateway,
HTTPRoute and InferenceService.
"""


def a_subject_store(subjects: Collection[Subject] = ()) -> Store:
    """Build a store in which these subjects exist, and no other but the cluster."""
    store = Store(KINDS, subjects=RULES)
    for kind in KINDS:
        store.set_watch_state(kind, Watching())
    change_subjects(store, frozenset(), frozenset(subjects))
    return store


def change_subjects(store: Store, before: frozenset[Subject], after: frozenset[Subject]) -> None:
    """Delete the objects of the subjects that are to end, and create those of new ones."""
    for subject in _made(before - after):
        rule, meta = _object_of(subject)
        store.delete(rule.kind, meta.namespace, meta.name)
    for subject in _made(after - before):
        rule, meta = _object_of(subject)
        store.upsert(rule.kind, rule.kind.type(metadata=meta))


def _made(subjects: frozenset[Subject]) -> list[Subject]:
    """Return those that an object makes, as neither the cluster nor a placeholder is."""
    return sorted(each for each in subjects if each.namespace)


def _object_of(subject: Subject) -> tuple[SubjectDefinition, Metadata]:
    rule = RULES.find(subject.layer, subject.kind)
    assert rule is not None, f"no object makes {subject}"
    if rule.is_of_namespaces:
        return rule, Metadata(name=subject.namespace)
    return rule, Metadata(name=subject.object_name, namespace=subject.namespace)
