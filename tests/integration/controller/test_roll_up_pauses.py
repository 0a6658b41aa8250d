"""The pauses within a fold of the roll-up, in which passes have their turn."""

import asyncio
from collections.abc import Mapping

import pytest

from reporter.announcing.announcements import Announcements
from reporter.controller import roll_up_cache
from reporter.controller.roll_up_cache import RollUpCache
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.finished_pass import FinishedPass
from reporter.model.status_document import Package
from reporter.process.clock import Clock
from reporter.rollup.rules import RollUpRules
from tests.support.background import running_beside
from tests.support.replay import involved_for
from tests.support.replay_builders import KAITO, out, stack_replay
from tests.support.stall_free_loop import take_seconds


async def test_only_the_first_fold_makes_no_pause_after_a_long_step(
    monkeypatch: pytest.MonkeyPatch,
):
    """All that the process is asked waits for it."""
    monkeypatch.setattr(roll_up_cache, "LONGEST_PAUSE", 0.3)
    replay, took = stack_replay(), []
    announcements = Announcements(
        replay.catalogue, EvaluationSettings(), Clock(), involved_for=involved_for
    )
    rules = RollUpRules(replay.catalogue, {})

    def find_packages() -> Mapping[str, Package]:
        take_seconds(0.3)
        return {}

    cache = RollUpCache(rules, announcements, lambda: replay.now, packages=find_packages)
    loop = asyncio.get_running_loop()
    async with running_beside(cache.run(), "roll-up"):
        for verdicts in ((), (out(KAITO),)):
            before = cache.rollup.evaluation
            replay.set_verdicts(*verdicts).advance(60)
            begun = loop.time()
            cache.follow(
                FinishedPass(
                    evaluation=replay.evaluation,
                    snapshot=replay.store.snapshot(),
                    changed=replay.evaluation.changed_since(before),
                    evaluated=replay.subjects,
                    dirty=frozenset(),
                    now=replay.now,
                )
            )
            async with asyncio.timeout(60):
                await cache.next_change()
            took.append(loop.time() - begun)
    first, second = took
    assert 0.3 <= first < 0.5
    assert second >= 0.6
