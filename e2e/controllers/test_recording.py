"""A recording becomes the steps of a story, whatever names and times it has."""

from datetime import UTC, datetime, timedelta

import pytest
import yaml

from e2e.controllers import programs, story_files
from e2e.controllers.gateway_scenarios import SCENARIOS as GATEWAYS
from e2e.controllers.recording import Act, Recording, Sighting, difference, story_steps
from e2e.controllers.scaling_scenarios import SCENARIOS as SCALING
from e2e.controllers.scenarios import SCENARIOS
from e2e.controllers.story_files import lasting_words, words
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
    assert words(steps) == {"Node Ready=True Ready: N of N nodes"}
    assert lasting_words(steps) == {"it is installed"}
    assert lasting_words([*steps[:1], {"at": "2m", "what": "it goes", "change": {}}]) == {
        "it is installed",
        "it goes",
        "Node Ready=True Ready: N of N nodes",
    }


def test_words_that_pass_are_printed_and_write_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(story_files, "FOLDER", tmp_path)
    starts = {"at": "1m", "what": "it is installed", "change": _node("False", "Starting")}
    ready = {"at": "1m", "change": _node("True", "Ready")}
    story_files.write("a", {}, [starts, ready], [programs.KAITO])
    told = story_files.write(
        "a", {}, [{**starts, "change": _node("Unknown", "New")}, ready], [programs.KAITO]
    )
    assert told.splitlines() == [
        "recorded-a.yaml: as recorded",
        "  - for a moment: Node Ready=False Starting",
        "  + for a moment: Node Ready=Unknown New",
    ]


def _node(status, reason):
    condition = {"type": "Ready", "status": status, "reason": reason}
    return {"Node a": {"status": {"conditions": [condition]}}}


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_program_is_of_the_version_of_its_crds(name):
    assert programs.version(name) == pins.version("crds", programs.PROGRAMS[name][1])


def test_each_recorded_story_is_of_the_pinned_versions():
    recorded = {story_files.path(each.name): each for each in (*SCENARIOS, *SCALING, *GATEWAYS)}
    assert {*story_files.FOLDER.glob("recorded-*.yaml")} == {*recorded}
    for file, scenario in recorded.items():
        heading = file.read_text("utf-8").splitlines()[0]
        assert f" with {story_files.versions_of(scenario.controllers)}. " in heading, file.name


def test_a_story_is_written_only_if_it_differs_and_keeps_what_must_be_announced(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(story_files, "FOLDER", tmp_path)
    steps = [{"at": "1m", "what": "it is installed", "change": {"Node node-1": None}}]
    names = [programs.KAITO]
    assert "written anew" in story_files.write("a", {"why": "A test."}, steps, names)
    file = story_files.path("a")
    assert yaml.safe_load(file.read_text())["announced"] == {}
    corrected = file.read_text().replace("announced: {}", "announced:\n  2m: a line")
    file.write_text(corrected)
    assert story_files.write("a", {"why": "A test."}, steps, names) == f"{file.name}: as recorded"
    assert file.read_text() == corrected
    told = story_files.write("a", {"why": "Another."}, [{**steps[0], "what": "it is gone"}], names)
    assert told.splitlines()[1:] == ["  - it is installed", "  + it is gone", "  why differs"]
    written = yaml.safe_load(file.read_text())
    assert (written["why"], written["story"][0]["what"]) == ("Another.", "it is gone")
    assert written["announced"] == {"2m": "a line"}
