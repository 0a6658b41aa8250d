"""
What is asked of whom.
"""

from reporter.model.kinds import INFERENCE_SETS
from reporter.model.subjects import Subject
from reporter.model.verdicts import Unknown
from reporter.model.words import Layer
from reporter.stages.inquiry import inquiry
from reporter.stages.probes import PROBES
from reporter.stages.records import Gate
from reporter.stages.subjects import Roster, roster
from tests.builders import NOON
from tests.model_builders import a_model_store, a_team
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


def test_a_set_that_cannot_be_read_is_no_subject_where_nothing_is_judged():
    store = a_model_store(a_team())
    store.spoil(INFERENCE_SETS, "elsewhere", "qwen")
    assert Subject(Layer.MODELDEPLOYMENT, "elsewhere", "qwen") not in (
        roster(store.view(), Roster()).subjects
    )
