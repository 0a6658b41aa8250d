"""Episodes that a new process or a new leader reads back."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.announcing.announcement_state import AnnouncementState
from reporter.announcing.episodes import next_episode_deadline
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.model.enums import Emission, Layer, TroubleKind
from tests.support.builders import (
    NOON,
    a_catalogue,
    a_key,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay
from tests.support.replay_builders import (
    BBR,
    ISTIO,
    MODELS,
    ROUTE,
    all_of,
    cluster_replay,
    keys,
    sets,
    team_replay,
)


def test_a_restart_writes_nothing_and_continues_the_count():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).restart(back_after=20)
    assert replay.new_writes == ["clusterBBR x1"]
    assert replay.advance(330).new_writes == ["clusterBBR x2"]
    assert len({r.episode_start for r in replay.writes}) == 1


def test_an_episode_of_a_reason_that_is_no_longer_checked_ends_without_a_ready():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.settings = replace(replay.settings, unchecked=frozenset({BBR.reason}))
    replay.set_clear(BBR).restart(back_after=20).advance(600)
    assert replay.new_writes == ["clusterBBR x1"]


def test_an_episode_of_a_reason_that_an_overlay_switches_off_ends_without_a_ready():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    entries = {
        reason: replace(entry, enabled=entry.enabled and reason != BBR.reason)
        for reason, entry in replay.catalogue.entries.items()
    }
    replay.catalogue = replace(replay.catalogue, entries=entries)
    replay.set_clear(BBR).restart(back_after=20).advance(600)
    assert replay.new_writes == ["clusterBBR x1"]


def test_an_episode_of_a_reason_that_moved_to_another_layer_ends_without_a_ready():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    moved = an_entry(BBR.reason, layer=Layer.MODELHARNESS)
    entries = {**replay.catalogue.entries, BBR.reason: moved}
    replay.catalogue = replace(replay.catalogue, entries=entries)
    replay.evaluator = replace(replay.evaluator, catalogue=replay.catalogue)
    replay.set_clear(BBR).restart(back_after=20).advance(600)
    assert replay.new_writes == ["clusterBBR x1"]


def test_a_restored_episode_that_was_unknown_settles_before_its_ready():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.set_unknown(BBR).restart(back_after=20).advance(600)
    assert replay.new_writes == ["clusterBBR x1"]
    replay.set_clear(BBR)
    assert replay.advance(29).new_writes == []
    assert replay.advance(2).new_writes == ["clusterReady x1"]


def test_a_restart_writes_nothing_although_admission_removed_the_digest():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.writes[-1] = replace(replay.writes[-1], content_digest="")
    assert replay.new_writes == ["clusterBBR x1"]
    assert replay.restart(back_after=20).new_writes == []
    assert replay.advance(330).new_writes == ["clusterBBR x2"]
    assert replay.writes[-1].content_digest != ""


def test_an_episode_that_a_follower_saw_settle_is_over_when_it_leads():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    assert replay.new_writes == ["clusterIstio x1"]
    replay.announcing = False
    replay.set_clear(ISTIO).advance(45).take_over()
    replay.set_verdicts(an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.DECLARED)))
    assert "clusterIstio x1" in replay.new_writes
    assert len({r.episode_start for r in replay.writes if r.key == ISTIO}) == 2


@pytest.mark.parametrize(("clear", "episodes"), [(59, 1), (60, 2), (3000, 2)])
def test_trouble_at_a_takeover_is_new_if_the_follower_saw_the_earlier_one_settle(clear, episodes):
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    replay.announcing = False
    replay.set_clear(ISTIO).advance(clear).set_verdicts(an_active_verdict(ISTIO)).advance(
        20
    ).take_over()
    assert len({r.episode_start for r in replay.writes if r.key == ISTIO}) == episodes


def test_trouble_that_settled_before_the_last_write_is_not_new_at_a_takeover():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    replay.set_clear(ISTIO).advance(100).set_verdicts(an_active_verdict(ISTIO))
    replay.announcing = False
    assert replay.new_writes.count("clusterIstio x1") == 2
    assert replay.advance(20).take_over().new_writes == []


def test_trouble_that_was_unknown_in_between_is_not_new_at_a_takeover():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    replay.announcing = False
    replay.set_clear(ISTIO).advance(31).set_unknown(ISTIO).advance(100).set_verdicts(
        an_active_verdict(ISTIO)
    ).take_over()
    assert len({r.episode_start for r in replay.writes if r.key == ISTIO}) == 1


def test_a_follower_that_saw_trouble_late_does_not_announce_it_again():
    replay = cluster_replay().set_verdicts(an_active_verdict(ISTIO))
    assert replay.new_writes == ["clusterIstio x1"]
    replay.evaluation, replay.announcement_state, replay.announcing = (
        Evaluation(),
        AnnouncementState(),
        False,
    )
    replay.verdicts.clear()
    replay.run_pass().advance(45)
    replay.set_verdicts(an_active_verdict(ISTIO)).take_over()
    assert replay.new_writes == []


def test_a_follower_that_saw_flapping_trouble_return_late_does_not_announce_it_again():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    replay.announcing = False
    replay.set_clear(ISTIO).advance(20 + 10 + 20)
    replay.set_verdicts(an_active_verdict(ISTIO)).take_over()
    assert len({r.episode_start for r in replay.writes if r.key == ISTIO}) == 1


def test_a_follower_that_saw_all_settle_writes_the_owed_ready_at_once():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    assert replay.new_writes == ["clusterBBR x1"]
    replay.announcing = False
    replay.set_clear(BBR).advance(45)
    assert replay.take_over().new_writes == ["clusterReady x1"]


def test_trouble_that_cleared_during_a_restart_gets_its_ready_after_the_settle():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.verdicts.clear()
    replay.restart(back_after=20)
    assert replay.advance(28).new_writes == ["clusterBBR x1"]
    assert replay.advance(3).new_writes == ["clusterReady x1"]


def test_after_a_ready_nothing_is_restored():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(40)
    assert replay.new_writes == ["clusterBBR x1", "clusterReady x1"]
    assert replay.restart(back_after=20).advance(timedelta(hours=2)).new_writes == []


def test_the_latest_of_several_ready_events_ends_the_episode():
    replay = cluster_replay()
    for _ in range(2):
        replay.set_verdicts(an_active_verdict(BBR)).advance(5).set_clear(BBR).advance(60)
    assert replay.new_writes == ["clusterBBR x1", "clusterReady x1"] * 2
    assert replay.restart(back_after=10).advance(600).new_writes == []


def test_an_event_of_more_than_an_hour_ago_is_no_running_episode():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.verdicts.clear()
    assert replay.restart(back_after=3601).advance(100).new_writes == ["clusterBBR x1"]


def test_a_recurrence_in_the_second_of_the_ready_is_a_running_episode():
    replay = (
        cluster_replay()
        .set_verdicts(an_active_verdict(BBR))
        .set_clear(BBR)
        .advance(30)
        .set_verdicts(an_active_verdict(BBR))
    )
    assert replay.new_writes == ["clusterBBR x1", "clusterReady x1", "clusterBBR x1"]
    assert replay.restart(back_after=0.5).advance(5).new_writes == []


def test_a_cause_that_changed_over_a_restart_is_written():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR, a_trouble(code="Degraded")))
    replay.verdicts[BBR] = an_active_verdict(BBR, a_trouble(code="Unavailable"))
    assert replay.restart(back_after=5).new_writes == ["clusterBBR x1", "clusterBBR x2"]


def test_a_restored_orthogonal_finding_has_a_deadline_at_which_it_ends():
    slow = an_entry("clusterSlow", None, orthogonal=True)
    key = a_key("clusterSlow")
    replay = Replay(a_catalogue(slow)).set_verdicts(an_active_verdict(key))
    replay.verdicts.clear()
    replay.restart()
    settle = replay.settings.delays.settle
    assert (
        next_episode_deadline(replay.announcement_state, settle=settle, now=replay.now)
        == replay.now + settle
    )
    assert replay.advance(settle + timedelta(seconds=1)).announcement_state.episodes == {}


@pytest.mark.parametrize(("last_write", "episodes"), [(0, 2), (1, 1)])
def test_trouble_that_settled_within_the_settle_after_the_last_write_is_not_new_at_a_takeover(
    last_write, episodes
):
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    written = replay.writes.pop()
    assert (written.key, written.last_timestamp) == (ISTIO, NOON)
    replay.writes.append(replace(written, last_timestamp=NOON + timedelta(seconds=last_write)))
    replay.announcing = False
    replay.set_clear(ISTIO).advance(100).set_verdicts(an_active_verdict(ISTIO)).take_over()
    assert len({r.episode_start for r in replay.writes if r.key == ISTIO}) == episodes


def test_a_ready_does_not_wait_for_others_because_another_namespace_has_a_group_read_back():
    well, ill = sets(2)
    many = sets(12, "team-b")
    replay = team_replay(well, ill, *many).set_verdicts(*all_of([well, ill, *many]))
    replay.restart(back_after=5).set_clear(*keys([well])).advance(40)
    ready = [each.key.subject for each in replay.writes if each.key.reason == "inferencesetReady"]
    assert ready == [well]


def test_the_ready_of_a_group_read_back_waits_for_all_although_another_group_began():
    *subjects, other = sets(13)
    replay = Replay(
        a_catalogue(*MODELS),
        EvaluationSettings(emission=Emission.ALL),
        subjects=frozenset({*subjects, other}),
    )
    replay.set_verdicts(*all_of(subjects)).restart(back_after=5).set_unknown(*keys([other]))
    replay.set_verdicts(*all_of(subjects, ROUTE.reason))
    assert len(replay.announcement_state.groups) == 2
    replay.set_clear(*keys(subjects), *keys(subjects, ROUTE.reason)).advance(40)
    assert "inferencesetReady x1" not in replay.new_writes
    assert replay.set_clear(*keys([other])).advance(40).new_writes == ["inferencesetReady x1"]


def test_an_episode_of_an_item_waits_while_its_reason_cannot_be_evaluated_at_all():
    """A new process that cannot read a kind knows no items of it."""
    (subject,) = sets(1)
    entry = an_entry("inferencesetCheck", None, orthogonal=True, layer=subject.layer)
    key, whole = a_key(entry.reason, subject, "smoke"), a_key(entry.reason, subject)
    replay = Replay(a_catalogue(entry), subjects=frozenset({subject}))
    replay.set_verdicts(an_active_verdict(key))
    replay.verdicts.pop(key)
    replay.verdicts[whole] = "forbidden"
    replay.restart(back_after=20).advance(200)
    assert replay.new_writes == ["inferencesetCheck x1"]
    replay.verdicts.pop(whole)
    replay.set_verdicts(an_active_verdict(key)).advance(200)
    assert replay.new_writes == ["inferencesetCheck x2"]
    assert len({each.episode_start for each in replay.writes}) == 1


def test_an_episode_of_an_item_ends_although_another_one_is_unknown():
    entry = an_entry("clusterCheck", None, orthogonal=True)
    key = a_key("clusterCheck", item="dns")
    replay = Replay(a_catalogue(entry)).set_verdicts(an_active_verdict(key))
    replay.verdicts.pop(key)
    replay.set_unknown(a_key("clusterCheck", item="route")).restart(back_after=20).advance(60)
    assert replay.announcement_state.episodes == {}


def test_a_restart_does_not_change_since_when_trouble_is_seen():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(400)

    def seen():
        return [each.seen_at for each in replay.evaluation.tracked.finding_states[BBR].clocks]

    before = seen()
    replay.restart(back_after=20)
    assert seen() == before
    assert (
        replay.evaluation.tracked.finding_states[BBR].announced_at
        == replay.writes[0].episode_start
    )


def test_a_finding_that_a_suffix_names_has_no_episode_of_its_own():
    replay = cluster_replay().set_verdicts(an_active_verdict(ISTIO))
    replay.set_verdicts(an_active_verdict(BBR)).advance(400).restart(back_after=20)
    states = replay.evaluation.tracked.finding_states
    assert [states[each].announced_at is not None for each in (ISTIO, BBR)] == [True, False]


def test_an_episode_is_remembered_before_the_first_pass_knows_its_subject():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_unknown(BBR)
    replay.restart(back_after=20)
    state = replay.evaluation.tracked.finding_states[BBR]
    assert (state.past_hold, bool(state.why_unknown)) == (True, True)
