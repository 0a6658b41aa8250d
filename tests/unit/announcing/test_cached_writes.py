"""Cached decisions about writes are made again when something they depend on changed."""

from datetime import timedelta

from reporter.announcing.schedule import CachedWrite, PublishContext
from reporter.catalogue.entries import HoldDurations
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay, involved_for


TEAM = Subject(Layer.MODELHARNESS, "team-a")


class CachingReplay(Replay):
    """Hands the cache from one context to the next, as the controller does."""

    cache: dict[object, CachedWrite] | None = None

    @property
    def context(self) -> PublishContext:
        if self.cache is None:
            self.cache = {}
        return PublishContext(
            self.announcement_state,
            self.evaluation,
            self.catalogue,
            self.settings,
            involved_for,
            cache=self.cache,
        )


def test_a_source_without_a_rank_names_what_it_suppresses_as_soon_as_it_may():
    source = an_entry("odd", None, orthogonal=True)
    target = an_entry("harness", 2, layer=Layer.MODELHARNESS)
    catalogue = a_catalogue(source, target, rows=(a_suppression("odd", "harness"),))
    replay = CachingReplay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, TEAM}))
    replay.set_verdicts(an_active_verdict(a_key("odd"), a_trouble(is_out=True))).advance(65)
    assert replay.new_writes == ["odd x1"]
    replay.set_verdicts(an_active_verdict(a_key("harness", TEAM)))
    assert replay.new_writes == ["odd x2"]
    assert "(suppressing downstream reasons: harness in 1 namespace(s))" in replay.last_message


BBR, ISTIO = a_key("clusterBBR"), a_key("clusterIstio")


def bbr_replay() -> CachingReplay:
    replay = CachingReplay(a_catalogue(an_entry("clusterIstio", 10), an_entry("clusterBBR", 20)))
    replay.set_verdicts(an_active_verdict(BBR)).advance(5)
    assert replay.new_writes == ["clusterBBR x1"]
    return replay


def test_a_decision_is_kept_while_nothing_that_it_depends_on_changes():
    replay = bbr_replay().run_pass()
    kept = replay.cache[BBR]
    assert replay.run_pass().cache[BBR] is kept


def test_a_new_cause_is_written_although_a_decision_was_kept():
    replay = bbr_replay().set_verdicts(an_active_verdict(BBR, a_trouble(code="Other")))
    assert replay.new_writes == ["clusterBBR x2"]


def test_a_new_suffix_is_written_although_a_decision_was_kept():
    replay = CachingReplay(a_catalogue(an_entry("clusterIstio", 10), an_entry("clusterBBR", 20)))
    replay.set_verdicts(an_active_verdict(ISTIO)).advance(5)
    replay.set_verdicts(an_active_verdict(BBR))
    assert replay.new_writes == ["clusterIstio x1", "clusterIstio x2"]
    assert replay.last_message.endswith(" (also: clusterBBR)")


def test_a_heartbeat_follows_the_last_one_although_a_decision_was_kept():
    assert bbr_replay().advance(800).new_writes == ["clusterBBR x2", "clusterBBR x3"]


def test_decisions_about_episodes_that_are_over_are_not_kept():
    replay = bbr_replay().set_clear(BBR).advance(60)
    assert replay.cache == {}


def test_a_start_is_decided_anew_since_it_changes_by_time_alone():
    start = a_trouble(kind=TroubleKind.STARTING, code="Other")
    replay = bbr_replay().set_verdicts(an_active_verdict(BBR, start)).advance(50)
    assert replay.new_writes == []
    assert BBR not in replay.cache
    assert replay.advance(9.9).new_writes == []
    assert replay.advance(0.1).new_writes == ["clusterBBR x2"]
    assert "(no progress for " in replay.last_message


def test_a_start_beside_trouble_that_is_held_for_longer_is_decided_anew_too():
    entry = an_entry("clusterBBR", holds=HoldDurations(lost=timedelta(minutes=4)))
    replay = CachingReplay(a_catalogue(entry)).set_verdicts(an_active_verdict(BBR)).advance(5)
    start, held = (
        a_trouble(kind=TroubleKind.STARTING, code="Other"),
        a_trouble("other", TroubleKind.LOST),
    )
    replay.set_verdicts(an_active_verdict(BBR, start, held)).advance(50)
    assert replay.new_writes == ["clusterBBR x1"]
    assert replay.advance(15).new_writes == ["clusterBBR x2"]
    assert "(no progress for " in replay.last_message


def test_a_suffix_is_taken_back_when_what_was_suppressed_is_deleted():
    target = an_entry("harness", 2, layer=Layer.MODELHARNESS)
    entries = (an_entry("clusterBBR", 10), an_entry("clusterKeda", 20), target)
    catalogue = a_catalogue(*entries, rows=(a_suppression("clusterBBR", "harness"),))
    replay = CachingReplay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, TEAM}))
    out = an_active_verdict(BBR, a_trouble(is_out=True))
    replay.set_verdicts(an_active_verdict(a_key("clusterKeda")), out).advance(5)
    replay.set_verdicts(an_active_verdict(a_key("harness", TEAM))).advance(5)
    assert "(suppressing downstream reasons: " in replay.last_message
    assert replay.new_writes == ["clusterBBR x1", "clusterBBR x2"]
    replay.verdicts.pop(a_key("harness", TEAM))
    replay.subjects = frozenset({CLUSTER_SUBJECT})
    replay.run_pass().advance(60)
    assert replay.new_writes == ["clusterBBR x3"]
    assert "(suppressing downstream reasons: " not in replay.last_message


def test_a_decision_is_kept_for_the_same_values_only():
    kept = bbr_replay().run_pass().cache[BBR]
    other = bbr_replay().run_pass().cache[BBR]
    assert kept.is_current(kept.episode, kept.finding_state, kept.ranking)
    assert not kept.is_current(other.episode, kept.finding_state, kept.ranking)
    assert not kept.is_current(kept.episode, other.finding_state, kept.ranking)
    assert not kept.is_current(kept.episode, kept.finding_state, other.ranking)
