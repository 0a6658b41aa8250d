"""
Every story of ``tests/cases``: what is announced when, and nothing else.
"""

import pytest
import yaml

from reporter.model.words import EventType, Layer
from tests.shipped import CATALOGUE
from tests.stories.orders import ORDERS, in_order, ordered
from tests.stories.story import CASES, Story, expected, says


FILES = sorted(CASES.glob("*.yaml"))
STORIES = {file.stem: yaml.safe_load(file.read_text("utf-8")) for file in FILES}
JUDGED = [entry.reason for layer in Layer for entry in CATALOGUE.of(layer)]


PLAYED = [
    (name, order)
    for name, case in STORIES.items()
    for order in (ORDERS[:1] if ordered(case) else ORDERS)
]


@pytest.mark.parametrize(("name", "order"), PLAYED)
def test_what_is_announced_is_what_the_case_says(name, order):
    case = in_order(STORIES[name], order)
    story = Story(case).play()
    wanted = expected(case)
    agree = len(wanted) == len(story.announced) and all(map(says, story.announced, wanted))
    assert agree, _difference(case, wanted, story.announced)
    assert story.notes == sorted(case.get("notes", [])), case["why"]


def _difference(case, wanted, announced) -> str:
    parts = [case["why"], "", "the case says", *wanted, "", "announced was", *announced]
    return "\n".join(map(str, parts))


@pytest.mark.parametrize("name", STORIES)
def test_a_case_names_reasons_that_there_are(name):
    assert STORIES[name]["of"]
    assert set(STORIES[name]["of"]) <= set(CATALOGUE.entries)


RANKED = [reason for reason in JUDGED if not CATALOGUE[reason].orthogonal]


def stories_of(reason: str) -> list[str]:
    """
    What is announced in each case of a reason.
    """
    return [" ".join(expected(case)) for case in STORIES.values() if reason in case["of"]]


@pytest.mark.parametrize("reason", JUDGED)
def test_every_reason_that_is_judged_has_a_case_in_which_it_is_announced(reason):
    assert any(f"{EventType.WARNING} {reason} " in said for said in stories_of(reason))


@pytest.mark.parametrize("reason", JUDGED)
def test_every_reason_that_is_judged_has_a_case_in_which_it_stays_silent(reason):
    assert any(f" {reason} " not in said for said in stories_of(reason))


@pytest.mark.parametrize("reason", RANKED)
def test_every_ranked_reason_has_a_case_in_which_all_is_well_again(reason):
    ready = CATALOGUE.ready(CATALOGUE[reason].layer).reason
    warned = [said for said in stories_of(reason) if f"{EventType.WARNING} {reason} " in said]
    assert any(f"{EventType.NORMAL} {ready} " in said for said in warned)
