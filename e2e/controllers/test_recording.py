"""A recording becomes the steps of a story, whatever names and times it has."""

from datetime import UTC, datetime, timedelta

import pytest

from e2e.controllers import programs
from e2e.controllers.recording import Act, Recording, Sighting, difference, story_steps
from e2e.controllers.story_files import words
from e2e.controlplane import pins
from reporter.kinds.kaito import WORKSPACES


BEGAN = datetime(2026, 11, 29, 4, 0, 7, 500_000, tzinfo=UTC)


def seen(seconds: float, content: dict | None) -> Sighting:
    when = BEGAN + timedelta(seconds=seconds)
    return Sighting(when, WORKSPACES, "real-3f2a", "qwen-x7k2p", content)


def test_steps_have_the_names_and_times_of_the_story():
    made = Recording("real-3f2a", [Act(timedelta(minutes=1), "it is installed", BEGAN)])
    made.sightings += [
        seen(0.2, {"metadata": {"labels": {"of": "real-3f2a"}}}),
        seen(
            6.4,
            {"metadata": {"labels": {"of": "real-3f2a"}}, "since": "2026-11-29T04:00:13Z"},
        ),
        seen(19, None),
    ]
    address = "Workspace team-m/qwen-w1"
    assert story_steps(made) == [
        {
            "at": "1m",
            "what": "it is installed",
            "change": {address: {"metadata": {"labels": {"of": "team-m"}}}},
        },
        {"at": "1m5s", "change": {address: {"since": "2026-05-01T12:01:05Z"}}},
        {"at": "1m15s", "change": {address: None}},
    ]


def test_a_time_of_the_second_in_which_the_next_act_began_is_before_it_if_it_was_seen_before():
    acts = [
        Act(timedelta(minutes=1), "", BEGAN),
        Act(timedelta(hours=1), "", BEGAN + timedelta(seconds=9.4)),
    ]
    made = Recording("real-3f2a", acts)
    made.sightings += [seen(9.2, {"since": "2026-11-29T04:00:16Z"})]
    assert story_steps(made)[0] == {
        "at": "1m5s",
        "what": "",
        "change": {"Workspace team-m/qwen-w1": {"since": "2026-05-01T12:01:05Z"}},
    }


def test_two_states_at_one_time_are_two_steps():
    made = Recording("real-3f2a", [Act(timedelta(minutes=1), "", BEGAN)])
    made.sightings += [seen(2.1, {"a": 1}), seen(2.2, {"a": 2})]
    assert [each["at"] for each in story_steps(made)] == ["1m", "1m"]


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        (None, {"a": 1}, {"a": 1}),
        ({"a": 1}, {"a": 1}, {}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"c": None}}),
        ({"a": [1]}, {"a": [2]}, {"a": [2]}),
        ({"a": 1}, None, None),
    ],
)
def test_a_difference_is_a_merge_patch(old, new, patch):
    assert difference(old, new) == patch


def test_a_recording_is_compared_by_the_words_of_its_conditions():
    well = {"type": "Ready", "status": "True", "reason": "Ready", "message": "2 of 2 nodes"}
    waits = {"type": "Ready", "status": "Unknown", "reason": "AwaitingReconciliation"}
    steps = [
        {
            "at": "1m",
            "what": "it is installed",
            "change": {"Node a": {"status": {"conditions": [well]}}},
        },
        {"at": "2m", "change": {"Node a": {"status": {"conditions": [waits]}}, "Node b": None}},
    ]
    assert words(steps) == {
        "it is installed",
        "Node Ready=True Ready: N of N nodes",
    }


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_program_is_of_the_version_of_its_crds(name):
    assert programs.version(name) == pins.version("crds", programs.PROGRAMS[name][1])
