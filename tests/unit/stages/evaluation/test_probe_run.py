"""
What is asked of whom.
"""

import pytest

from reporter.model.enums import Layer
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS, InferencePool
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.observations import NotServed
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.evaluation.probe_run import prepare_probe_run
from reporter.stages.probes import PROBES
from reporter.stages.snapshot.subjects import Subjects, refresh_subjects
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.model_builders import a_model, a_model_store, a_team


QWEN = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")


def test_a_set_of_which_no_version_could_be_read_is_a_subject_and_all_of_it_is_unknown():
    store = a_model_store(a_team())
    before = refresh_subjects(store.snapshot(), Subjects())
    store.mark_undecodable(INFERENCE_SETS, "team-a", "qwen")
    assert refresh_subjects(store.snapshot(), before).all - before.all == {QWEN}
    asked = prepare_probe_run(
        store.snapshot(), Gate({}, {}), DEFAULT_CATALOGUE, PROBES, flags=DEFAULT_FLAGS, now=NOON
    )
    found = asked.run([QWEN])
    assert len(found) == len(DEFAULT_CATALOGUE.evaluated_entries(Layer.MODELDEPLOYMENT))
    assert all(isinstance(each, Unknown) for each in found)
    assert {each.why for each in found} == {"InferenceSet team-a/qwen could not be decoded"}


DEMANDED = [
    (kind, entry)
    for entry in DEFAULT_CATALOGUE.evaluated_entries(Layer.MODELDEPLOYMENT)
    for kind in PROBES[entry.probe].spec.required_kinds
    if kind.group_resource in DEFAULT_CATALOGUE.required_crds(entry.reason)
]


@pytest.mark.parametrize(
    ("kind", "entry"), DEMANDED, ids=lambda each: getattr(each, "reason", None) or each.resource
)
def test_what_was_kept_from_before_its_crd_went_does_not_prove_that_all_is_well(kind, entry):
    store = a_model_store(*a_model())
    assert isinstance(_answer(store, entry.reason), Clear)
    store.set_watch_state(kind, NotServed())
    assert _answer(store, entry.reason).why == f"{kind.group_resource} are not served"


def test_what_was_kept_from_before_its_crd_went_may_still_tell_of_trouble():
    store = a_model_store(*a_model(without=[InferencePool]))
    before = _answer(store, "inferencesetRouteNotReady")
    assert isinstance(before, Active)
    store.set_watch_state(INFERENCE_POOLS, NotServed())
    assert _answer(store, "inferencesetRouteNotReady") == before


def _answer(store, reason):
    asked = prepare_probe_run(
        store.snapshot(), Gate({}, {}), DEFAULT_CATALOGUE, PROBES, flags=DEFAULT_FLAGS, now=NOON
    )
    (found,) = [each for each in asked.run([QWEN]) if each.key.reason == reason]
    return found


def test_a_set_that_cannot_be_read_is_no_subject_where_nothing_is_judged():
    store = a_model_store(a_team())
    store.mark_undecodable(INFERENCE_SETS, "elsewhere", "qwen")
    assert Subject(Layer.MODELDEPLOYMENT, "elsewhere", "qwen") not in (
        refresh_subjects(store.snapshot(), Subjects()).all
    )
