"""The cases with metrics pages in which nothing is announced, with all reasons on."""

from collections.abc import Mapping

import pytest

from reporter.stories.format import apply_merge_patch, expected_announcements
from reporter.stories.story_replay import ORDERS, StoryReplay, reordered
from tests.support.cases import read_cases
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


OPTIONAL = frozenset(
    entry.reason
    for entry in DEFAULT_CATALOGUE.entries.values()
    if not entry.is_ready_reason and not entry.is_evaluated
)
TRAFFIC = "engine-ordinary-traffic"


def has_pages(case: Mapping) -> bool:
    return any("pages" in step for step in (case.get("given", {}), *case["story"]))


QUIET = {
    name: case
    for name, case in read_cases().items()
    if has_pages(case) and not expected_announcements(case)
}


def with_others_on(case: Mapping) -> Mapping:
    """Enable each reason that is off by default and that the case is not about."""
    others = sorted(OPTIONAL - set(case["of"]))
    overlay = {"reasons": {reason: {"enabled": True} for reason in others}}
    return {**case, "overlay": apply_merge_patch(case.get("overlay", {}), overlay)}


@pytest.mark.parametrize("name", sorted(QUIET.keys() - {TRAFFIC}))
def test_a_case_in_which_nothing_is_announced_is_as_quiet_with_all_reasons_on(name):
    case = reordered(with_others_on(QUIET[name]), ORDERS[0])
    assert StoryReplay(case).run().announced == []


def test_ordinary_traffic_is_evaluated_by_every_reason_about_it():
    story = StoryReplay(QUIET[TRAFFIC])
    evaluated = {e.reason for e in story.catalogue.entries.values() if e.is_evaluated}
    assert evaluated >= OPTIONAL
    assert set(QUIET[TRAFFIC]["of"]) >= OPTIONAL
