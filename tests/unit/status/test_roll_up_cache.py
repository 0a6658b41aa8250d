"""A fault of the roll-up is Unknown, not silence, and ends nothing else."""

import asyncio
import logging
from collections import deque

import pytest

from reporter.announcing.announcements import Announcements
from reporter.controller.roll_up_cache import RollUpCache
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.finished_pass import FinishedPass
from reporter.model.states import State
from reporter.process.clock import Clock
from reporter.rollup.rules import RollUpRules
from tests.support.builders import a_catalogue
from tests.support.replay import Replay, involved_for
from tests.support.replay_builders import KAITO, out, stack_replay
from tests.support.rollups import status_document


def fold(cache: RollUpCache) -> None:
    deque(cache.fold_waiting())


class Kept:
    """A roll-up by a catalogue that has no reason at all: it fails on each finding."""

    def __init__(self) -> None:
        self.replay: Replay = stack_replay()
        announcements = Announcements(
            self.replay.catalogue, EvaluationSettings(), Clock(), involved_for=involved_for
        )
        rules = RollUpRules(a_catalogue(), {})
        self.missing: tuple[str, ...] = ()
        self.cache = RollUpCache(
            rules, announcements, lambda: self.replay.now, missing_rights=lambda: self.missing
        )

    def follow(self) -> None:
        self.follow_only()
        fold(self.cache)

    def follow_only(self) -> None:
        replay = self.replay
        finished = FinishedPass(
            evaluation=replay.evaluation,
            snapshot=replay.store.snapshot(),
            changed=replay.evaluation.changed_since(self.cache.rollup.evaluation),
            evaluated=replay.subjects,
            dirty=frozenset(),
            now=replay.now,
        )
        self.cache.follow(finished)

    @property
    def state(self) -> State:
        return self.cache.view().cluster().state


async def test_a_fault_is_unknown_and_one_change_however_long_it_lasts(
    caplog: pytest.LogCaptureFixture,
):
    kept = Kept()
    kept.follow()
    assert kept.state is State.CURRENT
    before = kept.cache.rollup.revision
    kept.replay.set_verdicts(out(KAITO))
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            kept.follow()
    assert (kept.state, kept.cache.rollup.revision) == (State.UNKNOWN, before + 1)
    assert caplog.text.count("the status cannot be rolled up") == 1
    kept.replay.set_clear(KAITO).advance(60)
    kept.follow()
    assert kept.state is State.CURRENT
    assert kept.cache.rollup.revision > before + 1


async def test_passes_that_end_before_a_fold_are_folded_as_one():
    replay = stack_replay()
    announcements = Announcements(
        replay.catalogue, EvaluationSettings(), Clock(), involved_for=involved_for
    )
    rules = RollUpRules(replay.catalogue, {})
    caches = [RollUpCache(rules, announcements, lambda: replay.now) for _ in range(2)]
    before, revisions = Evaluation(), []
    for number, verdicts in enumerate(((), (out(KAITO),), ())):
        replay.set_verdicts(*verdicts).advance(60)
        finished = FinishedPass(
            evaluation=replay.evaluation,
            snapshot=replay.store.snapshot(),
            changed=replay.evaluation.changed_since(before),
            evaluated=frozenset(),
            dirty=frozenset(),
            now=replay.now,
        )
        before = replay.evaluation
        for cache in caches:
            cache.follow(finished)
        fold(caches[0])
        if number != 1:
            fold(caches[1])
        revisions.append([each.rollup.revision for each in caches])
    assert revisions == [[1, 1], [2, 1], [2, 2]]
    one_by_one, as_one = (status_document(each.view()) for each in caches)
    assert KAITO.reason in str(as_one)
    assert as_one == one_by_one


async def test_a_pass_is_folded_by_the_task_and_nobody_waits_for_it():
    kept = Kept()
    task = asyncio.create_task(kept.cache.run())
    await asyncio.sleep(0)
    kept.follow_only()
    assert kept.cache.rollup.revision == 0
    async with asyncio.timeout(60):
        await kept.cache.next_change()
    assert kept.state is State.CURRENT
    task.cancel()


async def test_a_permission_that_is_lost_is_shown_at_once():
    kept, changes = Kept(), []
    kept.missing = ("list pods",)
    kept.cache.on_permissions_changed()
    assert kept.cache.rollup.revision == 0, "nothing is known before the first pass"
    kept.follow()
    kept.cache.changes.subscribe(lambda: changes.append(kept.cache.rollup.revision))
    assert kept.cache.view().cluster().unobserved.missing_rights == ("list pods",)
    kept.missing = ()
    kept.cache.on_permissions_changed()
    kept.cache.on_permissions_changed()
    assert kept.cache.view().cluster().unobserved.missing_rights == ()
    assert changes == [2]
    kept.follow()
    assert kept.cache.rollup.revision == 2
