"""An Evaluation and its episodes that continue with another catalogue."""

from msgspec.structs import replace

from reporter.announcing.episodes import keep_episodes
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.catalogue_change import change_catalogue
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.builders import (
    HOUR,
    NOON,
    a_catalogue,
    a_suppression,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay
from tests.support.replay_builders import (
    BBR,
    ENTRIES,
    ISTIO,
    KAITO,
    MODELS,
    PODS,
    ROWS,
    SET,
    cluster_replay,
    keys,
    out,
    sets,
    stack_replay,
)
from tests.support.silences import a_silence, silenced


def change(replay: Replay, catalogue: Catalogue) -> Replay:
    """Let a replay continue with another catalogue, as a process does between two passes."""
    settings = replay.settings
    replay.evaluation = change_catalogue(replay.evaluation, catalogue, settings)
    replay.announcement_state = keep_episodes(replay.announcement_state, catalogue, settings)
    replay.catalogue = catalogue
    replay.evaluator = replace(replay.evaluator, catalogue=catalogue)
    return replay.run_pass()


def without(replay: Replay, *reasons: str) -> Catalogue:
    """Return the catalogue of a replay in which some reasons are switched off."""
    entries = replay.catalogue.entries
    off = {Reason(each): replace(entries[Reason(each)], enabled=False) for each in reasons}
    return replace(replay.catalogue, entries={**entries, **off})


def test_an_episode_of_a_reason_that_stays_goes_on_without_a_write():
    replay = cluster_replay().set_verdicts(out(BBR))
    assert replay.new_writes == ["clusterBBR x1"]
    change(replay, without(replay, KAITO.reason))
    replay.advance(120)
    assert replay.new_writes == []
    assert BBR in replay.announcement_state.episodes
    replay.set_clear(BBR).advance(31)
    assert replay.new_writes == ["clusterReady x1"]


def test_the_clock_of_a_hold_goes_on():
    replay = cluster_replay().set_verdicts(out(BBR, kind="lost")).advance(20)
    change(replay, without(replay, KAITO.reason)).advance(9)
    assert replay.new_writes == []
    assert replay.advance(2).new_writes == ["clusterBBR x1"]


def test_an_episode_of_a_reason_that_goes_ends_without_a_ready():
    replay = cluster_replay().set_verdicts(out(BBR))
    change(replay, without(replay, BBR.reason))
    assert replay.announcement_state.episodes == {}
    replay.set_clear(BBR).advance(600)
    assert replay.new_writes == ["clusterBBR x1"]


def test_a_reason_that_is_in_no_catalogue_any_more_leaves_nothing():
    replay = cluster_replay().set_verdicts(out(BBR), out(KAITO))
    replay.verdicts.pop(BBR)
    change(replay, a_catalogue(*(each for each in ENTRIES if each.reason != BBR.reason)))
    kept = {*replay.evaluation.tracked.finding_states, *replay.announcement_state.episodes}
    assert kept == {KAITO}
    assert replay.new_writes == ["clusterBBR x1", "clusterKaito x1"]


def test_the_ready_stays_owed_if_another_ranked_episode_is_open():
    replay = cluster_replay().set_verdicts(out(KAITO)).set_verdicts(out(BBR))
    assert replay.new_writes == ["clusterKaito x1", "clusterBBR x1"]
    change(replay, without(replay, BBR.reason))
    replay.set_clear(KAITO, BBR).advance(31)
    assert "clusterReady x1" in replay.new_writes


def test_what_was_outranked_by_a_reason_that_goes_is_announced():
    replay = cluster_replay().set_verdicts(out(ISTIO), out(BBR))
    assert replay.new_writes == ["clusterIstio x1"]
    change(replay, without(replay, ISTIO.reason))
    assert replay.new_writes == ["clusterBBR x1"]


def test_another_rank_counts_at_once():
    replay = cluster_replay().set_verdicts(out(BBR), out(KAITO))
    assert replay.new_writes == ["clusterBBR x1"]
    first = an_entry(KAITO.reason, 1)
    change(replay, a_catalogue(*(e for e in ENTRIES if e.reason != KAITO.reason), first))
    assert replay.new_writes == ["clusterKaito x1"]
    assert replay.evaluation.ranking_of(CLUSTER_SUBJECT).primary == (KAITO,)


def test_what_a_reason_that_goes_suppressed_is_announced():
    replay = stack_replay().set_verdicts(out(KAITO), an_active_verdict(PODS))
    assert replay.new_writes == ["clusterKaito x1"]
    change(replay, without(replay, KAITO.reason))
    assert replay.new_writes == ["inferencesetPods x1"]
    assert replay.evaluation.suppressions.suppressed_by == {}


def test_a_new_row_suppresses_what_is_announced():
    replay = stack_replay().set_verdicts(out(ISTIO), an_active_verdict(PODS))
    rows = (*ROWS, a_suppression(ISTIO.reason, PODS.reason))
    change(replay, replace(replay.catalogue, suppressions=rows))
    assert replay.evaluation.suppressions.suppressed_by == {PODS: (ISTIO,)}


def test_a_reason_that_comes_back_is_announced_as_a_new_episode():
    replay = cluster_replay().set_verdicts(out(BBR))
    on = replay.catalogue
    change(replay, without(replay, BBR.reason)).advance(5)
    change(replay, on)
    assert replay.new_writes == ["clusterBBR x1", "clusterBBR x1"]
    starts = {event.episode_start for event in replay.writes}
    assert len(starts) == 2


def test_the_group_of_a_reason_that_goes_ends_without_a_ready():
    many = sets(12)
    replay = Replay(
        a_catalogue(*MODELS, an_entry("clusterKaito", 10), rows=ROWS[:1]),
        subjects=frozenset({CLUSTER_SUBJECT, *many}),
    )
    replay.set_verdicts(*(an_active_verdict(key) for key in keys(many)))
    assert replay.announcement_state.groups
    change(replay, without(replay, PODS.reason))
    replay.set_clear(*keys(many)).advance(600)
    assert replay.new_writes == ["inferencesetPods x1"]
    assert replay.announcement_state.groups == {}


def test_a_reason_that_moves_to_another_layer_leaves_the_old_one():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS))
    entries = {**replay.catalogue.entries}
    entries[PODS.reason] = replace(entries[PODS.reason], layer=Layer.CLUSTER)
    replay.verdicts.clear()
    change(replay, replace(replay.catalogue, entries=entries))
    assert PODS not in replay.evaluation.tracked.finding_states
    assert SET in replay.evaluation.subjects


def test_a_silence_is_checked_by_the_new_catalogue():
    replay = silenced(cluster_replay(), a_silence("clusterNew", until=NOON + HOUR))
    assert replay.evaluation.silences.all[0].state == "malformed"
    change(replay, a_catalogue(*ENTRIES, an_entry("clusterNew", 5)))
    assert replay.evaluation.silences.all[0].state == "active"


def test_a_silence_of_a_reason_that_is_gone_is_malformed():
    replay = silenced(cluster_replay(), a_silence("clusterBBR", until=NOON + HOUR))
    change(replay, a_catalogue(*(each for each in ENTRIES if each.reason != BBR.reason)))
    assert replay.evaluation.silences.all[0].state == "malformed"
    assert replay.set_verdicts(out(KAITO)).new_writes == ["clusterKaito x1"]


def test_what_is_silenced_stays_so():
    replay = silenced(cluster_replay(), a_silence("clusterBBR", until=NOON + HOUR))
    replay.set_verdicts(out(BBR), out(KAITO))
    assert replay.new_writes == ["clusterKaito x1"]
    change(replay, without(replay, ISTIO.reason)).advance(60)
    assert replay.new_writes == []
    assert (replay.state(BBR), replay.state(KAITO)) == ("silenced", "announced")
