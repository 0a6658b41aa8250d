"""
The subjects that a full pass finds unchanged: they are not rolled up again.

That a fold of what changed alone ends as one of all is checked after each pass of the cases.
"""

import pytest
from msgspec.structs import replace

from reporter.controller.passes import PassInput
from reporter.evaluation import pipeline
from reporter.evaluation.evaluation import Evaluation
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.rollup.rules import RollUpInput
from reporter.rollup.touched import find_touched
from reporter.stories.story_replay import StoryReplay
from tests.support.rollups import stack_after


QWEN = Subject(Layer.MODELDEPLOYMENT, "team-m", "qwen")
TEAM = Subject(Layer.MODELHARNESS, "team-m")
TEAM_MODELS = Subject(Layer.MODELDEPLOYMENT, "team-m")
WITHOUT_PAGES = {"scrape": "off"}
BBR_AT_ZERO = {"Deployment kaito-system/body-based-router": {"replicas": 0}}


@pytest.fixture(autouse=True)
def no_few_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 0)


def next_pass(replay: StoryReplay, *dirty: Subject, full: bool = True) -> frozenset[Subject]:
    """Return the subjects that a pass finds unchanged after two full ones."""
    snapshot = replay.store.snapshot()
    part = PassInput(snapshot, frozenset(dirty), replay.now, 0.0, full=full)
    before = Evaluation()
    for _ in range(2):
        every = PassInput(snapshot, frozenset(), replay.now, 0.0, full=True).requested
        before = replay.evaluator.evaluate(before, snapshot, every, now=replay.now)
    plan = pipeline.run_to_end(
        replay.evaluator.plan(before, snapshot, part.requested, now=replay.now)
    )
    return part.unchanged(plan, frozenset(plan.subjects))


def test_a_full_pass_after_no_change_finds_all_unchanged():
    replay = stack_after(flags=WITHOUT_PAGES)
    assert {QWEN, TEAM} <= next_pass(replay)


@pytest.mark.parametrize("dirty", [QWEN, TEAM_MODELS], ids=["itself", "all of its namespace"])
def test_what_is_dirty_is_not_unchanged_though_its_probes_would_read_the_same(dirty: Subject):
    replay = stack_after(flags=WITHOUT_PAGES)
    assert QWEN not in next_pass(replay, dirty)
    assert TEAM in next_pass(replay, dirty)


def test_only_a_full_pass_has_unchanged_subjects():
    replay = stack_after(flags=WITHOUT_PAGES)
    assert not next_pass(replay, QWEN, TEAM, full=False)


def touched(replay: StoryReplay, unchanged: frozenset[Subject]) -> frozenset[Subject]:
    given: RollUpInput = replay.rollup_input()
    assert given.evaluated >= unchanged
    given = replace(given, unchanged=unchanged)
    return pipeline.run_to_end(find_touched(replay.rollup, given, replay.rollup_rules)).subjects


def test_a_model_that_is_unchanged_is_not_rolled_up_and_its_namespace_is():
    replay = stack_after(flags=WITHOUT_PAGES)
    found = touched(replay, frozenset({QWEN, TEAM}))
    assert (QWEN in found, TEAM in found) == (False, True)
    assert QWEN in touched(replay, frozenset({TEAM}))


def test_all_are_rolled_up_while_a_finding_may_hinder_the_requests_of_others():
    replay = stack_after(BBR_AT_ZERO, flags=WITHOUT_PAGES)
    assert QWEN in touched(replay, frozenset({QWEN}))


def test_passes_folded_as_one_leave_unchanged_what_neither_has_looked_at():
    replay = stack_after(flags=WITHOUT_PAGES)
    given = replace(replay.rollup_input(), evaluated=frozenset({QWEN, TEAM}))
    first = replace(given, unchanged=frozenset({QWEN}))
    second = replace(given, unchanged=frozenset({QWEN, TEAM}))
    assert first.joined_by(second).unchanged == second.joined_by(first).unchanged == {QWEN}
    assert not given.joined_by(second).unchanged
