"""
Every case of ``tests/cases``: its announcements at their times, and no others.
"""

import pytest

from reporter.model.enums import EventType
from reporter.stories.notation.expectations import expected_lines
from reporter.stories.replay.orders import ORDERS, has_fixed_order, reordered
from reporter.stories.replay.story_replay import StoryReplay
from reporter.stories.running.runner import find_differences
from tests.support.cases import case_catalogue, read_cases
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


STORIES = read_cases()
JUDGED = [e.reason for e in DEFAULT_CATALOGUE.entries.values() if not e.is_ready_reason]
"""
The reasons with a probe, also those that are off by default.
"""


PLAYED = [
    (name, order)
    for name, case in STORIES.items()
    for order in (ORDERS[:1] if has_fixed_order(case) else ORDERS)
]


@pytest.mark.parametrize(("name", "order"), PLAYED)
def test_announces_what_the_case_expects(name, order):
    case = reordered(STORIES[name], order)
    story = StoryReplay(case).run()
    found = find_differences(case, story, with_status=order == ORDERS[0])
    assert not found, "\n".join([case["why"], *(line for each in found for line in each.lines)])


@pytest.mark.parametrize("name", STORIES)
def test_a_case_names_reasons_that_there_are(name):
    assert STORIES[name]["of"]
    assert set(STORIES[name]["of"]) <= set(case_catalogue(STORIES[name]).entries)


RANKED = [reason for reason in JUDGED if not DEFAULT_CATALOGUE[reason].orthogonal]


def stories_of(reason: str) -> list[str]:
    """
    Return the announcements of each case of a reason.
    """
    return [" ".join(expected_lines(case)) for case in STORIES.values() if reason in case["of"]]


@pytest.mark.parametrize("reason", JUDGED)
def test_every_reason_that_is_evaluated_has_a_case_that_announces_it(reason):
    assert any(
        f"{EventType.WARNING} {reason} " in announcements for announcements in stories_of(reason)
    )


@pytest.mark.parametrize("reason", JUDGED)
def test_every_reason_that_is_evaluated_has_a_case_that_does_not_announce_it(reason):
    assert any(f" {reason} " not in announcements for announcements in stories_of(reason))


@pytest.mark.parametrize("reason", RANKED)
def test_every_ranked_reason_has_a_case_in_which_all_is_well_again(reason):
    ready = DEFAULT_CATALOGUE.ready_entry(DEFAULT_CATALOGUE[reason].layer).reason
    warned = [
        announcements
        for announcements in stories_of(reason)
        if f"{EventType.WARNING} {reason} " in announcements
    ]
    assert any(f"{EventType.NORMAL} {ready} " in announcements for announcements in warned)
