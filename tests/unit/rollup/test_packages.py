"""
The package of a namespace: of a status object, else of the Namespace's labels, else its chart.
"""

import pytest
from msgspec.structs import replace

from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES
from reporter.model.status_document import Package
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.status.packages import PackageIndex, packages_of
from tests.support.rollups import FULLY_REPORTED
from tests.support.status_objects import a_status_object, stack_without_pages
from tests.unit.store.test_written_objects import a_store


CHART = Package(name="modelharness", revision="0.2.2")
SHOP = Package(name="shop", revision="v3")
LABELS = {"Namespace team-m": {"metadata": {"labels": {"p": "store", "r": "v9"}}}}


def of_object(name: str, *, namespace: str = "team-m", **spec):
    return a_status_object(namespace, name=name, package={"name": name, "revision": "v3"}, **spec)


def test_the_first_object_by_name_that_names_a_package_counts():
    objects = [
        of_object("shop"),
        of_object("zoo"),
        a_status_object(name="alone"),
        a_status_object(name="anonymous", package={"revision": "v1"}),
        of_object("all", scope="Cluster"),
        of_object("other", namespace="team-a"),
    ]
    assert packages_of(objects) == {
        "team-m": SHOP,
        "team-a": Package(name="other", revision="v3"),
    }


def test_the_index_is_the_same_until_a_package_changes():
    store = a_store(of_object("shop"))
    index = PackageIndex(store)
    first = index()
    assert first == {"team-m": SHOP}
    store.upsert(PRODUCTION_STACK_STATUSES, a_status_object(name="another"))
    assert index() is first
    store.delete(PRODUCTION_STACK_STATUSES, "team-m", "shop")
    assert index() == {}


@pytest.mark.parametrize(
    ("labels", "package"),
    [
        ({}, CHART),
        ({"package-label": "p", "revision-label": "r"}, Package(name="store", revision="v9")),
        ({"package-label": "p"}, Package(name="store")),
        ({"revision-label": "r"}, Package(name="modelharness", revision="v9")),
        ({"package-label": "none", "revision-label": "none"}, CHART),
    ],
)
def test_labels_of_the_namespace_count_before_its_chart(labels, package):
    replay = stack_without_pages(given={**FULLY_REPORTED, **LABELS})
    rules = replace(replay.rollup_rules, flags={**replay.rollup_rules.flags, **labels})
    rollup = fold(RollUp(), replay.rollup_input(), rules)
    assert rollup.namespaces["team-m"].package == package


def test_the_package_of_an_object_counts_first_and_changes_without_another_look():
    replay = stack_without_pages(given=FULLY_REPORTED)
    before = replay.rollup
    quiet = replace(replay.rollup_input(), evaluated=frozenset(), dirty=frozenset())
    after = fold(before, replace(quiet, packages={"team-m": SHOP}), replay.rollup_rules)
    assert before.namespaces["team-m"].package == CHART
    assert after.namespaces["team-m"].package == SHOP
    assert after.namespaces["team-m"].revision > before.namespaces["team-m"].revision
    gone = fold(after, quiet, replay.rollup_rules)
    assert gone.namespaces["team-m"].package == CHART
