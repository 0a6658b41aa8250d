"""
The episodes of subjects that a new process cannot list yet.

They may be running still, so nothing ends or recovers until the subjects are known.
"""

import pytest

from reporter.announcing.grouping import group_key
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import Layer
from reporter.model.observations import NotSynced, Watching
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.replay import Replay


MODELS = Layer.MODELDEPLOYMENT
SETS = [Subject(MODELS, "team-a", f"model-{number}") for number in range(12)]
PODS = a_key("inferencesetPods", SETS[0])
CATALOGUE = a_catalogue(an_entry("inferencesetPods", 10, layer=MODELS))


class UnlistedReplay(Replay):
    """A replay in which InferenceSets cannot be listed for a while, but for the *known* ones."""

    unlisted = False
    known: frozenset[Subject] = frozenset()

    def run_pass(self):
        state = NotSynced("not listed") if self.unlisted else Watching()
        self.store.set_watch_state(INFERENCE_SETS, state)
        return super().run_pass()

    @property
    def existing(self):
        return self.known if self.unlisted else self.subjects


def restarted(*troubled: Subject) -> UnlistedReplay:
    """Return a replay whose process restarts with announced trouble, and lists no InferenceSet."""
    replay = UnlistedReplay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *SETS}))
    replay.set_verdicts(*(an_active_verdict(a_key("inferencesetPods", s)) for s in troubled))
    assert replay.new_writes
    replay.unlisted = True
    replay.verdicts.clear()
    return replay.restart(back_after=5).advance(200)


@pytest.mark.parametrize("many", [1, 12], ids=["one", "a group"])
def test_an_episode_goes_on_when_its_subject_is_listed_at_last(many):
    replay = restarted(*SETS[:many])
    replay.unlisted = False
    replay.set_verdicts(*(an_active_verdict(a_key("inferencesetPods", s)) for s in SETS[:many]))
    replay.advance(100)
    assert {record.key.reason for record in replay.writes} == {"inferencesetPods"}
    assert len({record.episode_start for record in replay.writes}) == 1


def test_a_ready_waits_until_its_subject_is_listed():
    replay = restarted(SETS[0])
    assert {record.key.reason for record in replay.writes} == {"inferencesetPods"}
    replay.unlisted = False
    replay.run_pass().advance(100)
    assert replay.writes[-1].key.reason == "inferencesetReady"


def test_the_episode_of_a_deleted_subject_ends_without_a_ready():
    replay = restarted(SETS[0])
    replay.unlisted, replay.subjects = False, frozenset({CLUSTER_SUBJECT})
    replay.run_pass().advance(400)
    assert {record.key.reason for record in replay.writes} == {"inferencesetPods"}
    assert replay.announcement_state.episodes == {}


def test_a_group_goes_on_with_those_in_trouble_when_its_members_are_listed_at_last():
    replay = restarted(*SETS)
    replay.unlisted = False
    replay.set_verdicts(*(an_active_verdict(a_key("inferencesetPods", s)) for s in SETS[:2]))
    replay.advance(400)
    assert {record.key for record in replay.writes} == {group_key(PODS)}
    assert len({record.episode_start for record in replay.writes}) == 1


def test_a_group_that_settles_while_others_cannot_be_listed_gets_its_ready_later():
    replay = UnlistedReplay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *SETS}))
    replay.set_verdicts(*(an_active_verdict(a_key("inferencesetPods", s)) for s in SETS))
    replay.unlisted, replay.known = True, frozenset(SETS)
    replay.set_clear(*(a_key("inferencesetPods", s) for s in SETS)).advance(40)
    assert replay.announcement_state.episodes == {}
    assert replay.new_writes == ["inferencesetPods x1"]
    replay.unlisted = False
    assert replay.run_pass().new_writes == ["inferencesetReady x1"]
