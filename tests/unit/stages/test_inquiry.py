"""
What is asked of whom.
"""

import pytest

from reporter.model.gateway_objects import InferencePool
from reporter.model.kinds import INFERENCE_POOLS, INFERENCE_SETS
from reporter.model.observations import Unserved
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.model.words import Layer
from reporter.stages.inquiry import inquiry
from reporter.stages.probes import PROBES
from reporter.stages.records import Gate
from reporter.stages.subjects import Roster, roster
from tests.builders import NOON
from tests.model_builders import a_model, a_model_store, a_team
from tests.shipped import CATALOGUE, FLAGS


QWEN = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")


def test_a_set_of_which_no_version_could_be_read_is_a_subject_and_all_of_it_is_unknown():
    store = a_model_store(a_team())
    before = roster(store.view(), Roster())
    store.spoil(INFERENCE_SETS, "team-a", "qwen")
    assert roster(store.view(), before).subjects - before.subjects == {QWEN}
    asked = inquiry(store.view(), Gate({}, {}), CATALOGUE, PROBES, flags=FLAGS, now=NOON)
    found = asked.verdicts([QWEN])
    assert len(found) == len(CATALOGUE.of(Layer.MODELDEPLOYMENT))
    assert all(isinstance(each, Unknown) for each in found)
    assert {each.why for each in found} == {"InferenceSet team-a/qwen could not be decoded"}


DEMANDED = [
    (kind, entry)
    for entry in CATALOGUE.of(Layer.MODELDEPLOYMENT)
    for kind in PROBES[entry.probe].spec.requires
    if kind.qualified in CATALOGUE.demands(entry.reason)
]


@pytest.mark.parametrize(
    ("kind", "entry"), DEMANDED, ids=lambda each: getattr(each, "reason", None) or each.resource
)
def test_what_was_kept_from_before_its_crd_went_does_not_prove_that_all_is_well(kind, entry):
    store = a_model_store(*a_model())
    assert isinstance(_answer(store, entry.reason), Clear)
    store.sight(kind, Unserved())
    assert _answer(store, entry.reason).why == f"{kind.qualified} are not served"


def test_what_was_kept_from_before_its_crd_went_may_still_tell_of_trouble():
    store = a_model_store(*a_model(without=[InferencePool]))
    before = _answer(store, "inferencesetRouteNotReady")
    assert isinstance(before, Active)
    store.sight(INFERENCE_POOLS, Unserved())
    assert _answer(store, "inferencesetRouteNotReady") == before


def _answer(store, reason):
    asked = inquiry(store.view(), Gate({}, {}), CATALOGUE, PROBES, flags=FLAGS, now=NOON)
    (found,) = [each for each in asked.verdicts([QWEN]) if each.key.reason == reason]
    return found


def test_a_set_that_cannot_be_read_is_no_subject_where_nothing_is_judged():
    store = a_model_store(a_team())
    store.spoil(INFERENCE_SETS, "elsewhere", "qwen")
    assert Subject(Layer.MODELDEPLOYMENT, "elsewhere", "qwen") not in (
        roster(store.view(), Roster()).subjects
    )
