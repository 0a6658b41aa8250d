"""Subjects are found again only after a namespace or InferenceSet was created or deleted."""

import sys

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.objects import Metadata
from reporter.snapshot.subjects import Subjects, refresh_subjects
from tests.support.builders import NOON, a_namespace, a_store
from tests.support.catalogue_fixture import HARNESS_LABEL


def a_team(generation: int) -> Namespace:
    labels = dict([HARNESS_LABEL])
    return Namespace(metadata=Metadata(name="team-a", generation=generation, labels=labels))


def test_subjects_are_reused_until_one_is_created_or_deleted():
    store = a_store(a_team(1))
    first = refresh_subjects(store.snapshot(), Subjects(), now=NOON)
    store.upsert(NAMESPACES, a_team(2))
    assert refresh_subjects(store.snapshot(), first, now=NOON) is first
    store.upsert(NAMESPACES, a_namespace("team-a"))
    assert refresh_subjects(store.snapshot(), first, now=NOON).all < first.all


def test_subjects_keep_no_old_version_of_an_object_in_memory():
    old = a_team(1)
    store = a_store(old)
    first = refresh_subjects(store.snapshot(), Subjects(), now=NOON)
    store.upsert(NAMESPACES, a_team(2))
    assert refresh_subjects(store.snapshot(), first, now=NOON) is first
    assert sys.getrefcount(old) == 2, "this test, and the argument"
