"""The stories of the packs: their announcements at their times and no others, and their status."""

import pytest

from reporter.catalogue.loader import default_folder
from reporter.catalogue.reason_reference import read_entries
from reporter.stories.format import expected_lines
from reporter.stories.runner import find_differences
from reporter.stories.story_replay import StoryReplay
from tests.support.pack_stories import PACKS, catalogue_of, read_pack_stories


STORIES = read_pack_stories()


@pytest.mark.parametrize("name", STORIES)
def test_a_story_of_a_pack_announces_what_it_states(name):
    story = STORIES[name]
    differences = find_differences(story, StoryReplay(story).run())
    assert not differences, "\n".join(map(str, differences))


@pytest.mark.parametrize("pack", PACKS)
def test_every_reason_of_a_pack_is_announced_in_one_of_its_stories(pack):
    lines = [
        line
        for story in STORIES.values()
        if story["packs"] == [pack]
        for line in expected_lines(story)
    ]
    reasons = set(catalogue_of(pack).entries)
    assert {
        reason for reason in reasons if not any(f" {reason} " in each for each in lines)
    } == set()


@pytest.mark.parametrize("pack", PACKS)
def test_every_example_of_a_pack_is_announced_in_one_of_its_stories(pack):
    lines = [line for story in STORIES.values() for line in expected_lines(story)]
    entries = read_entries(default_folder(), [pack])
    assert [
        entry.reason
        for entry in entries
        if not any(f" {entry.reason} " in line and entry.example in line for line in lines)
    ] == []
