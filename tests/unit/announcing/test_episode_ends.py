"""The ends of episodes and groups, and the moments at which time alone brings them."""

from datetime import timedelta

from reporter.announcing.episodes import next_episode_deadline
from reporter.announcing.grouping import group_key
from reporter.evaluation.clocks import ZERO, Delays
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.builders import a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.replay import Replay
from tests.support.replay_builders import (
    BBR,
    MODELS,
    PODS,
    ROUTE,
    all_of,
    cluster_replay,
    keys,
    sets,
    stack_replay,
    team_replay,
)


SETTLE = timedelta(seconds=30)


def test_an_episode_that_was_read_back_goes_on_while_its_key_is_unknown():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.verdicts[BBR] = "forbidden"
    replay.restart(back_after=5).advance(200)
    assert BBR in replay.announcement_state.episodes
    assert replay.set_clear(BBR).advance(40).new_writes == ["clusterBBR x1", "clusterReady x1"]


def test_an_episode_that_was_read_back_goes_on_until_its_key_was_clear_for_the_settle():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.verdicts.clear()
    replay.restart(back_after=5).advance(29)
    assert BBR in replay.announcement_state.episodes
    assert replay.advance(1).announcement_state.episodes == {}


def test_the_next_deadline_of_what_was_read_back_is_the_earliest_one_to_come():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).restart(back_after=5)
    state, now = replay.announcement_state, replay.now
    assert next_episode_deadline(state, settle=SETTLE, now=now) == now + SETTLE
    assert next_episode_deadline(state, settle=SETTLE / 2, now=now) == now + SETTLE / 2
    assert next_episode_deadline(state, settle=SETTLE, now=now + SETTLE) is None


def test_a_group_is_forgotten_with_its_ready():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects))
    replay.set_clear(*keys(subjects)).advance(40)
    assert replay.new_writes == [f"{PODS.reason} x1", "inferencesetReady x1"]
    assert replay.run_pass().announcement_state.groups == {}


def test_a_group_that_was_read_back_is_forgotten_with_its_ready():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects)).restart(back_after=5)
    replay.set_clear(*keys(subjects)).advance(40)
    assert replay.run_pass().announcement_state.groups == {}


def test_an_orthogonal_group_that_was_read_back_is_forgotten_when_it_has_settled():
    subjects = sets(12)
    slow = an_entry("inferencesetSlow", None, orthogonal=True, layer=Layer.MODELDEPLOYMENT)
    replay = Replay(a_catalogue(slow), subjects=frozenset(subjects))
    replay.set_verdicts(*all_of(subjects, "inferencesetSlow")).restart(back_after=5)
    replay.set_clear(*keys(subjects, "inferencesetSlow")).advance(40)
    state = replay.run_pass().announcement_state
    assert (state.groups, state.episodes, state.ready_owed) == ({}, {}, {})


def test_trouble_that_a_new_process_saw_settle_after_the_last_write_is_a_new_episode():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(10)
    replay.announcing = False
    replay.set_clear(BBR).advance(70)
    replay.set_verdicts(an_active_verdict(BBR)).take_over()
    assert replay.new_writes == ["clusterBBR x1", "clusterBBR x1"]


def test_trouble_that_returns_in_the_moment_of_its_end_is_one_new_episode():
    replay = cluster_replay(settings=EvaluationSettings(delays=Delays(settle=ZERO)))
    replay.set_verdicts(an_active_verdict(BBR)).set_clear(BBR).set_verdicts(an_active_verdict(BBR))
    assert replay.new_writes == ["clusterBBR x1", "clusterReady x1", "clusterBBR x1"]
    assert replay.run_pass().run_pass().new_writes == []


def test_the_episode_of_a_subject_that_was_deleted_during_a_restart_is_over_at_once():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS))
    replay.subjects = frozenset({CLUSTER_SUBJECT})
    replay.verdicts.clear()
    assert replay.restart(back_after=5).announcement_state.episodes == {}


def test_after_the_end_of_a_group_that_was_read_back_one_alone_has_an_event_of_its_own():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects)).restart(back_after=5)
    replay.set_unknown(a_key(ROUTE.reason, subjects[1])).set_clear(*keys(subjects)).advance(40)
    assert replay.announcement_state.episodes == {}
    assert replay.new_writes == [f"{PODS.reason} x1"]
    replay.set_verdicts(*all_of(subjects[:1]))
    assert [record.key for record in replay.writes[1:]] == keys(subjects[:1])


def test_a_group_goes_on_when_those_left_have_a_ready_of_their_own_to_come():
    subjects = sets(11)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects[:10]))
    replay.set_verdicts(*all_of(subjects[10:]))
    assert [record.key for record in replay.writes] == [*keys(subjects[:10]), group_key(PODS)]
    del replay.verdicts[keys(subjects)[10]]
    replay.subjects -= {subjects[10]}
    replay.run_pass().advance(400)
    assert {record.key for record in replay.writes[11:]} == {group_key(PODS)}


class ThrottledReplay(Replay):
    """Writes nothing while *throttled*."""

    throttled = True

    def write_pending(self, outcome=None) -> None:
        if not self.throttled:
            super().write_pending(outcome)


def test_a_group_whose_event_is_still_due_lasts_until_its_last_member_is_clear():
    subjects = sets(12)
    replay = ThrottledReplay(a_catalogue(*MODELS), subjects=frozenset(subjects))
    replay.set_verdicts(*all_of(subjects)).set_clear(*keys(subjects[3:]))
    replay.now += SETTLE
    replay.run_pass().throttled = False
    assert [record.key for record in replay.run_pass().writes] == [group_key(PODS)]
