"""Writes that got no answer or were refused."""

from datetime import timedelta

import pytest

from reporter.announcing.announcement_state import (
    AnnouncementState,
    Episode,
    WriteOutcome,
    apply_outcome,
)
from reporter.announcing.episodes import apply_evaluation
from tests.support.builders import an_active_verdict
from tests.support.replay_builders import BBR, cluster_replay


def test_a_write_without_an_answer_is_sent_again_under_the_same_name():
    replay = cluster_replay(announcing=False)
    replay.verdicts[BBR] = an_active_verdict(BBR)
    replay.run_pass()
    replay.write_pending(WriteOutcome.UNCERTAIN)
    replay.announcing = True
    replay.advance(1)
    first, second = replay.writes
    assert (first.episode_start, first.count) == (second.episode_start, second.count)
    assert replay.set_clear(BBR).advance(40).writes[-1].key.reason == "clusterReady"


def test_a_ready_without_an_answer_is_sent_again_under_the_same_name():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(29)
    replay.write_outcome = WriteOutcome.UNCERTAIN
    replay.advance(1)
    replay.write_outcome, replay.announcing = WriteOutcome.WRITTEN, False
    replay.advance(5).announcing = True
    replay.advance(10)
    _, first, second = replay.writes
    assert (first.key, first.episode_start) == (second.key, second.episode_start)
    assert second.last_timestamp > first.last_timestamp
    assert replay.new_writes[1:] == ["clusterReady x1", "clusterReady x1"]


def test_a_dropped_write_is_not_repeated_and_owes_no_ready():
    replay = cluster_replay(announcing=False)
    replay.verdicts[BBR] = an_active_verdict(BBR)
    replay.run_pass()
    replay.write_pending(WriteOutcome.DROPPED)
    replay.announcing = True
    assert replay.advance(60).set_clear(BBR).advance(60).new_writes == ["clusterBBR x1"]


def test_a_ready_is_owed_for_the_second_of_the_event_that_was_written():
    replay = cluster_replay()
    replay.now += timedelta(milliseconds=250)
    replay.set_verdicts(an_active_verdict(BBR))
    (written,) = replay.writes
    owed = replay.announcement_state.ready_owed[BBR.subject]
    assert owed.announced_at == written.last_timestamp.replace(microsecond=0)
    assert written.last_timestamp - owed.announced_at == timedelta(milliseconds=250)


def test_trouble_that_is_announced_while_a_ready_is_on_its_way_gets_another_ready():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(29)
    replay.announcing = False
    replay.now += timedelta(seconds=1)
    replay.run_pass()
    replay.announcement_state = apply_evaluation(
        replay.announcement_state,
        replay.evaluation,
        replay.catalogue,
        replay.settings,
        now=replay.now,
    )
    (write,) = replay.context.pending_writes(now=replay.now)
    ready = replay.context.compose_event(write.key, now=replay.now)
    replay.announcing = True
    replay.now += timedelta(milliseconds=20)
    replay.set_verdicts(an_active_verdict(BBR))
    replay.announcement_state = apply_outcome(
        replay.announcement_state, ready, WriteOutcome.WRITTEN, replay.catalogue
    )
    assert replay.new_writes == ["clusterBBR x1", "clusterBBR x1"]
    assert replay.set_clear(BBR).advance(40).new_writes == ["clusterReady x1"]
    assert replay.announcement_state.ready_owed == {}


@pytest.mark.parametrize(("muted", "is_rewrite"), [(True, True), (False, False)])
def test_the_same_content_after_a_mute_counts_as_a_rewrite(muted, is_rewrite):
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    (event,) = replay.writes
    before = AnnouncementState({BBR: Episode(event, muted=muted)}, {}, {})
    after = apply_outcome(before, event, WriteOutcome.WRITTEN, replay.catalogue)
    assert after.episodes[BBR].rewritten_at == (event.last_timestamp if is_rewrite else None)
    assert (before.episodes[BBR].muted, before.ready_owed) == (muted, {})


def test_a_ready_that_was_sent_again_with_an_answer_is_over():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(40)
    ready = replay.writes[-1]
    sent = apply_outcome(AnnouncementState(), ready, WriteOutcome.UNCERTAIN, replay.catalogue)
    assert sent.episodes.keys() == {ready.key}
    after = apply_outcome(sent, ready, WriteOutcome.WRITTEN, replay.catalogue)
    assert (after.episodes, sent.episodes.keys()) == ({}, {ready.key})


def test_an_outcome_leaves_the_state_that_it_is_given_as_it_is():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    before = AnnouncementState({}, {}, {})
    after = apply_outcome(before, replay.writes[-1], WriteOutcome.WRITTEN, replay.catalogue)
    assert after.episodes.keys() == {BBR}
    assert before == AnnouncementState({}, {}, {})
