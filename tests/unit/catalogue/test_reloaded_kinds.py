"""
The kinds and subjects of a catalogue that is loaded again: those of the same definition are the same.
"""

import gc
import weakref

import pytest

from reporter.catalogue.entries import Catalogue
from reporter.cel.compile import KeptResults
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from tests.support.own_reasons import (
    READY,
    a_reason,
    an_overlay,
    an_own_store,
    own_catalogue,
    ready,
)


PACKS = ("kaito", "kserve", "kuberay", "gateway-api")


def with_reason(**changes: str) -> Catalogue:
    return own_catalogue(an_overlay(a_reason(**changes)))


def kinds_of(catalogue: Catalogue) -> tuple[ResourceKind, ...]:
    return kinds_to_watch(catalogue, frozenset())


@pytest.mark.parametrize("packs", [("kaito",), PACKS], ids=str)
def test_a_catalogue_that_is_loaded_again_watches_the_same_kinds(packs):
    before, after = load_shipped_catalogue(packs=packs), load_shipped_catalogue(packs=packs)
    assert kinds_of(before) == kinds_of(after)
    assert before.subject_definitions == after.subject_definitions


def test_a_reason_that_says_something_else_reads_its_kind_as_before():
    before, after = with_reason(), with_reason(message="Namespace {namespace}: {object} is away.")
    assert kinds_of(before) == kinds_of(after)


def test_an_expression_that_reads_the_same_fields_needs_no_other_watch():
    failed = READY.replace("True", "False")
    before, after = (
        with_reason(failed=failed),
        with_reason(failed=f"!({READY})", inProgress=failed),
    )
    assert kinds_of(before) == kinds_of(after)
    assert before != after


def test_a_catalogue_that_is_loaded_again_is_the_same(tmp_path):
    overlay = an_overlay(a_reason(current=f"{READY} && parameters.on", parameters={"on": True}))
    file = tmp_path / "overlay.yaml"
    file.write_text(overlay)
    first, second = load_shipped_catalogue(file), load_shipped_catalogue(file)
    assert first == second
    file.write_text(overlay.replace("true", "false"))
    assert load_shipped_catalogue(file) != first


def test_a_kind_that_outlasts_its_catalogue_keeps_no_results_of_it():
    # Of no other test's kind: that would be the same.
    store = an_own_store(a_reason(current=f"{READY} || object.spec.once"))
    kind, made = store.kind(), store.put(status=ready("False"))
    store.verdict()
    assert results_about(made)
    del store
    gc.collect()
    assert not results_about(made)
    assert kind.remember_current is not None
    assert kind.remember_current(made, frozenset()) == frozenset()


def test_a_kind_that_nothing_uses_any_more_is_released():
    (kind,) = (
        each for each in kinds_of(with_reason(current="object.spec.twice")) if each.is_declared
    )
    released = weakref.ref(kind.type), weakref.ref(kind)
    del kind
    gc.collect()
    assert [each() for each in released] == [None, None]


def results_about(made: ApiObject) -> list[KeptResults]:
    """Return the results in memory of a check of this object."""
    kept = [each for each in gc.get_objects() if type(each) is KeptResults]
    return [each for each in kept if any(other is made for other in each.objects)]


def test_an_expression_that_reads_another_field_needs_another_watch():
    before, after = with_reason(), with_reason(current=f"{READY} && object.spec.paused != true")
    assert kinds_of(before) != kinds_of(after)
