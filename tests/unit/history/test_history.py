"""The history that HealthEvents show: which episodes, how long and how often."""

from datetime import timedelta

import pytest

from reporter.history.history import group_episodes, select_episodes
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import HOUR, MINUTE, NOON
from tests.support.health_events import a_health_event, a_spec, resolved


QWEN = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
PHI = Subject(Layer.MODELDEPLOYMENT, "team-a", "phi")
MANY = Subject(Layer.MODELDEPLOYMENT, "team-a")
HARNESS = Subject(Layer.MODELHARNESS, "team-a")
ELSEWHERE = Subject(Layer.MODELDEPLOYMENT, "team-b", "qwen")
DAY = timedelta(days=1)


def an_episode(name: str, subject=CLUSTER_SUBJECT, *, began, ended=None, **changes):
    spec = a_spec("clusterBBR", subject, generated_timestamp=began, **changes)
    return a_health_event(name, spec, **(resolved(ended) if ended else {}))


def names(*objects, since=DAY, **target) -> list[str]:
    found = select_episodes(objects, since=since, now=NOON, **target)
    return [each.name for each in found]


def test_episodes_that_ran_within_the_time_are_listed_the_last_one_first():
    assert names(
        an_episode("old", began=NOON - 3 * DAY, ended=NOON - 2 * DAY),
        an_episode("long", began=NOON - 3 * DAY, ended=NOON - HOUR),
        an_episode("runs", began=NOON - 5 * DAY),
        an_episode("new", began=NOON - HOUR, ended=NOON - MINUTE),
    ) == ["new", "long", "runs"]


@pytest.mark.parametrize(
    ("target", "desired"),
    [
        ({}, {"cluster", "harness", "qwen", "phi", "many", "elsewhere"}),
        ({"layer": Layer.CLUSTER}, {"cluster"}),
        ({"namespace": "team-a"}, {"harness", "qwen", "phi", "many"}),
        ({"namespace": "team-a", "name": "qwen"}, {"qwen", "many"}),
        ({"namespace": "team-c"}, set()),
    ],
    ids=["every", "cluster", "namespace", "inference-set", "none"],
)
def test_only_the_subject_that_is_asked_about_is_listed(target, desired):
    subjects = {
        "cluster": CLUSTER_SUBJECT,
        "harness": HARNESS,
        "qwen": QWEN,
        "phi": PHI,
        "many": MANY,
        "elsewhere": ELSEWHERE,
    }
    objects = [an_episode(name, each, began=NOON - HOUR) for name, each in subjects.items()]
    assert set(names(*objects, **target)) == desired


def test_episode_lasts_until_its_end_or_until_now():
    over, runs = select_episodes(
        [
            an_episode("over", began=NOON - HOUR, ended=NOON - MINUTE),
            an_episode("runs", began=NOON - 2 * HOUR),
        ],
        since=DAY,
        now=NOON,
    )
    assert (over.lasted_seconds, over.resolution) == (59 * 60, "Cleared")
    assert (runs.lasted_seconds, runs.resolution, runs.ended) == (2 * 3600, "", None)


@pytest.mark.parametrize(("existing", "times"), [(7, 7), (None, 1)], ids=["said", "not yet said"])
def test_episode_was_there_once_at_least(existing, times):
    found = a_health_event("a", a_spec(generated_timestamp=NOON - HOUR), occurrences=existing)
    (episode,) = select_episodes([found], since=DAY, now=NOON)
    assert episode.occurrences == times


def test_clock_that_was_ahead_makes_no_negative_duration():
    (found,) = select_episodes([an_episode("x", began=NOON + HOUR)], since=DAY, now=NOON)
    assert found.lasted_seconds == 0


def test_episodes_of_one_reason_subject_and_node_are_one_row():
    episodes = select_episodes(
        [
            an_episode("a", began=NOON - 3 * HOUR, ended=NOON - 2 * HOUR),
            an_episode("b", began=NOON - HOUR),
            an_episode("c", began=NOON - HOUR, node="n1"),
            an_episode("d", QWEN, began=NOON - 2 * HOUR),
        ],
        since=DAY,
        now=NOON,
    )
    rows = {
        (each.last.subject, each.last.node): (len(each.episodes), each.lasted_seconds)
        for each in group_episodes(episodes)
    }
    assert rows == {
        ("cluster", ""): (2, 7200),
        ("cluster", "n1"): (1, 3600),
        ("team-a/qwen", ""): (1, 7200),
    }
