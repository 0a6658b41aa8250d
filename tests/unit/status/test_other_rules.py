"""
The roll-up after a change of the catalogue is the one that a process would make which starts with it.
"""

import pytest
from msgspec.structs import replace

from reporter.announcing.announcements import Announcements
from reporter.announcing.episodes import keep_episodes
from reporter.catalogue.entries import Catalogue, HoldDurations
from reporter.controller.roll_up_cache import RollUpCache
from reporter.evaluation.catalogue_change import change_catalogue
from reporter.evaluation.finished_pass import FinishedPass
from reporter.model.enums import Owner, Reason
from reporter.process.clock import Clock
from reporter.rollup.rules import RollUpRules
from reporter.stories.process import ReplayedProcess, involved_for
from reporter.stories.story_replay import StoryReplay
from tests.support.builders import MINUTE
from tests.support.rollups import BAD_IMAGE, stack_after, status_document


PODS = Reason("inferencesetModelPodsNotReady")
ROUTER = Reason("clusterBBRNotReady")
ROUTER_DOWN = {"Deployment kaito-system/body-based-router": {"replicas": 0}}


class Reloaded:
    """A process with trouble in the cluster and in one model, whose catalogue changes."""

    def __init__(self, replay: StoryReplay) -> None:
        self.replay = replay
        self.cache = self._cache(replay.rollup_rules)
        self.follow(self.cache)

    def change(self, catalogue: Catalogue) -> None:
        replay = self.replay
        rules = replace(replay.rollup_rules, catalogue=catalogue)
        replay.evaluation = change_catalogue(replay.evaluation, catalogue, replay.settings)
        replay.announcement_state = keep_episodes(
            replay.announcement_state, catalogue, replay.settings
        )
        replay.catalogue, replay.rollup_rules = catalogue, rules
        replay.evaluator = replace(replay.evaluator, catalogue=catalogue)
        self.cache.change_rules(rules)
        self.follow(self.cache)

    def follow(self, cache: RollUpCache) -> None:
        replay = self.replay
        ReplayedProcess.run_pass(replay)
        finished = FinishedPass(
            evaluation=replay.evaluation,
            snapshot=replay.snapshot,
            changed=replay.evaluation.changed_since(cache.rollup.evaluation),
            evaluated=replay.evaluation.subjects,
            dirty=replay.store.take_dirty(),
            now=replay.now,
        )
        cache.follow(finished)
        for _ in cache.fold_waiting():
            pass

    def made_anew(self) -> RollUpCache:
        cache = self._cache(self.replay.rollup_rules)
        self.follow(cache)
        return cache

    def _cache(self, rules: RollUpRules) -> RollUpCache:
        announcements = Announcements(
            self.replay.catalogue, self.replay.settings, Clock(), involved_for=involved_for
        )
        return RollUpCache(rules, announcements, lambda: self.replay.now)


@pytest.fixture
def reloaded() -> Reloaded:
    return Reloaded(stack_after({**BAD_IMAGE, **ROUTER_DOWN}, until="3m"))


def changed(catalogue: Catalogue, reason: Reason, **changes: object) -> Catalogue:
    entry = replace(catalogue[reason], **changes)
    return replace(catalogue, entries={**catalogue.entries, reason: entry})


def without(catalogue: Catalogue, reason: Reason) -> Catalogue:
    entries = {key: each for key, each in catalogue.entries.items() if key != reason}
    rows = tuple(r for r in catalogue.suppressions if reason not in (r.source, r.target))
    return replace(catalogue, entries=entries, suppressions=rows)


@pytest.mark.parametrize("reason", [PODS, ROUTER])
@pytest.mark.parametrize(
    "change",
    [
        lambda catalogue, reason: changed(catalogue, reason, enabled=False),
        lambda catalogue, reason: changed(catalogue, reason, rank=5),
        lambda catalogue, reason: changed(catalogue, reason, owner=Owner.INFRASTRUCTURE),
        lambda catalogue, reason: changed(catalogue, reason, holds=HoldDurations(starting=MINUTE)),
        without,
    ],
    ids=["off", "rank", "owner", "hold", "gone"],
)
def test_every_subject_is_rolled_up_by_the_new_rules(reloaded, reason, change):
    assert PODS in str(status_document(reloaded.cache.view()))
    assert ROUTER in str(status_document(reloaded.cache.view()))
    reloaded.change(change(reloaded.replay.catalogue, reason))
    anew = reloaded.made_anew()
    assert status_document(reloaded.cache.view()) == status_document(anew.view())
    found, expected = reloaded.cache.rollup.namespaces, anew.rollup.namespaces
    assert {name: (each.groups, each.next_deadline) for name, each in found.items()} == {
        name: (each.groups, each.next_deadline) for name, each in expected.items()
    }


def test_a_state_that_stays_has_lasted_since_it_began(reloaded):
    before = reloaded.cache.rollup
    reloaded.replay.now += MINUTE
    reloaded.change(changed(reloaded.replay.catalogue, PODS, rank=5))
    after = reloaded.cache.rollup
    assert after.cluster.subject_state.since == before.cluster.subject_state.since
    assert after.namespaces["team-m"].sets["qwen"].subject_state.since < reloaded.replay.now
