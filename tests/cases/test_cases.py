"""
Every case of ``tests/cases``: its announcements at their times, and no others.

In the first order of its steps each case is observed too: the laws of the roll-up hold after each
pass, and each document of the status is as the published schema has it.
"""

import pytest

from reporter.evaluation import pipeline
from reporter.model.enums import EventType
from reporter.stories.format import expected_lines
from reporter.stories.runner import find_differences
from reporter.stories.story_replay import ORDERS, StoryReplay, has_fixed_order, reordered
from tests.cases.observed_replay import ObservedReplay
from tests.support.cases import case_catalogue, read_cases
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


STORIES = read_cases()
JUDGED = [e.reason for e in DEFAULT_CATALOGUE.entries.values() if not e.is_ready_reason]
"""The reasons with a probe, also those that are off by default."""


OTHER_ORDERS = [
    (name, order)
    for name, case in STORIES.items()
    for order in ORDERS[1:]
    if not has_fixed_order(case)
]


@pytest.mark.parametrize("name", STORIES)
def test_a_case_announces_what_it_expects_and_its_status_holds_at_each_pass(name, monkeypatch):
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 0)  # so that every pass skips what it may
    case = reordered(STORIES[name], ORDERS[0])
    replay = ObservedReplay(case)
    replay.run()
    found = [line for each in find_differences(case, replay) for line in each.lines]
    for heading, lines in replay.broken.items():
        found += [f"{heading}, {lines[0]}", *lines[1:]]
    assert not found, "\n".join([case["why"], *found])


def test_the_probes_that_a_pass_may_skip_are_looked_at(monkeypatch):
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 0)
    replay = ObservedReplay(STORIES["bbr-crash-loop"])
    replay.run()
    assert replay.skipping.checked, "no subject was clear at any pass, so nothing was compared"


@pytest.mark.parametrize(("name", "order"), OTHER_ORDERS)
def test_a_case_announces_the_same_in_another_order_of_its_steps(name, order):
    case = reordered(STORIES[name], order)
    differences = find_differences(case, StoryReplay(case).run(), with_status=False)
    found = [line for each in differences for line in each.lines]
    assert not found, "\n".join([case["why"], *found])


@pytest.mark.parametrize("name", STORIES)
def test_a_case_names_reasons_that_there_are(name):
    assert STORIES[name]["of"]
    assert set(STORIES[name]["of"]) <= set(case_catalogue(STORIES[name]).entries)


RANKED = [reason for reason in JUDGED if not DEFAULT_CATALOGUE[reason].orthogonal]


def stories_of(reason: str) -> list[str]:
    """Return the announcements of each case of a reason."""
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
