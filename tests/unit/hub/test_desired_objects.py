"""The status of objects: what it says, and the time of the answer that it rests on."""

from dataclasses import replace

import msgspec
import pytest

from reporter.hub.metric_declarations import HUB_CLUSTER
from reporter.hub.metrics import FleetCollector
from reporter.hub.records import members_of
from reporter.model.states import State
from reporter.status.fleet_table import HEAD, fleet_rows
from tests.support.fleet.rounds import MAX_AGE, Rounds, a_cluster
from tests.support.fleet.series import NOON, SourceSeries


def rounds_of(*sources: SourceSeries, until: float, names: tuple[str, ...] = ("prod",)) -> Rounds:
    """Return a hub after rounds every 30 seconds, in which these sources evaluate anew."""
    rounds = Rounds().engage(*map(a_cluster, names))
    while rounds.seconds <= until:
        rounds.ask(*(replace(each, evaluated=NOON + rounds.seconds) for each in sources))
        rounds.seconds += 30
    return rounds


def status_of(rounds: Rounds, name: str = "prod") -> dict:
    found = rounds.objects[name].status
    assert found is not None
    return dict(found)


def test_the_time_is_that_of_the_last_change():
    rounds = rounds_of(SourceSeries(), until=600)
    assert status_of(rounds)["lastEvaluationTime"] == "2026-01-01T12:05:30Z"
    for _ in range(8):
        rounds.ask(replace(SourceSeries(), evaluated=NOON + 600))
        rounds.seconds += 30
    status = status_of(rounds)
    assert (status["state"], status["lastEvaluationTime"]) == ("Current", "2026-01-01T12:10:00Z")


def test_a_hub_that_has_seen_no_change_renews_no_time():
    rounds = rounds_of(SourceSeries(), until=330)
    before = status_of(rounds)["lastEvaluationTime"]
    rounds.restart()
    for _ in range(10):
        rounds.ask()
        rounds.seconds += 30
    assert status_of(rounds)["state"] == "Current"
    assert status_of(rounds)["lastEvaluationTime"] == before


def test_the_time_of_what_is_unknown_is_that_of_the_last_answer():
    rounds = rounds_of(until=600)
    assert status_of(rounds)["lastEvaluationTime"] == "2026-01-01T12:10:00Z"
    for _ in range(20):
        rounds.fail()
        rounds.seconds += 30
    status = status_of(rounds)
    assert status["blocking"]["code"] == "EngineUnavailable"
    assert status["lastEvaluationTime"] == "2026-01-01T12:10:00Z"


def test_packages_of_a_cluster_that_is_silent_are_unknown():
    packages = {
        ("modelharness", "0.2.2", State.CURRENT): 3,
        ("modelharness", "0.2.2", State.FAILED): 1,
    }
    rounds = rounds_of(replace(SourceSeries(), packages=packages), until=60)
    assert {each["state"] for each in status_of(rounds)["packages"]} == {"Current", "Failed"}
    for _ in range(12):
        rounds.ask(replace(SourceSeries(), evaluated=NOON + 60, packages=packages))
        rounds.seconds += 30
    status = status_of(rounds)
    assert status["blocking"]["code"] == "Silent"
    assert status["packages"] == [
        {"name": "modelharness", "revision": "0.2.2", "state": "Unknown", "namespaces": 4}
    ]


def test_both_labels_of_a_cluster_are_named():
    other = replace(SourceSeries(), label="west", target={"pod": "b"})
    rounds = rounds_of(SourceSeries(), other, until=60, names=("prod", "west"))
    for name in ("prod", "west"):
        entry = rounds.entry(name)
        assert entry.other_labels == ("prod", "west")
        assert entry.blocking is not None
        assert "with the UID uid-1 has the cluster labels prod, west" in entry.blocking.message


def test_ages_count_from_nothing():
    rounds = Rounds().engage(a_cluster())
    rounds.ask(SourceSeries())
    rounds.ask(SourceSeries(evaluated=NOON + 1))
    entry = rounds.entry()
    assert (entry.in_state_seconds, entry.last_update_age_seconds) == (0, 0)


def test_what_is_unknown_below_a_current_cluster_is_a_condition():
    source = replace(
        SourceSeries(), counts={State.CURRENT: 1, State.UNKNOWN: 3}, rights=("list pods",)
    )
    rounds = rounds_of(source, until=60)
    status = status_of(rounds)
    (observed,) = (each for each in status["conditions"] if each["type"] == "Observed")
    assert (status["state"], observed["status"]) == ("Current", "False")
    assert observed["message"] == (
        "Unknown below: 3 InferenceSets; missing permissions: list pods"
    )
    view = rounds.view()
    document = view.document(*map(view.cluster, view.names()))
    (row,) = fleet_rows(document, wide=False)
    assert dict(zip(HEAD, row, strict=True))["UNKNOWN"] == "3 sets, 1 right"
    rounds = rounds_of(SourceSeries(), until=60)
    (observed,) = (e for e in status_of(rounds)["conditions"] if e["type"] == "Observed")
    assert observed["status"] == "True"


def observed_of(rounds: Rounds) -> bool | None:
    return rounds.fleet.clusters["prod"].is_observed


@pytest.mark.parametrize(
    ("series", "observed", "condition"),
    [
        (SourceSeries(), True, "True"),
        (SourceSeries(rights=("list pods",)), False, "False"),
        (SourceSeries(unobserved={}), None, "Unknown"),
    ],
    ids=["all", "a-part", "earlier-release"],
)
def test_a_hub_that_starts_again_takes_over_how_much_is_observed(series, observed, condition):
    rounds = rounds_of(series, until=60)
    assert observed_of(rounds) is observed
    found = {each["type"]: each["status"] for each in status_of(rounds)["conditions"]}
    assert found["Observed"] == condition
    rounds.restart()
    rounds.ask()
    assert rounds.fleet.clusters["prod"].is_carried_over
    assert observed_of(rounds) is observed
    assert rounds.entry().unobserved is None, "the details are not in the status"


FAILED = SourceSeries(states=(State.FAILED,), blocking=("clusterKedaNotReady", "Down", "user"))


def alerted_on(rounds: Rounds) -> dict[str, str]:
    """Return the labels by which alerts on a cluster tell whether to fire, and for whom."""
    (found,) = (
        sample
        for family in FleetCollector(rounds.view, "hub").collect()
        for sample in family.samples
        if sample.name == HUB_CLUSTER.full_name
    )
    return dict(found.labels)


@pytest.mark.parametrize("silenced_until", [{}, {"": NOON + 3600}], ids=["loud", "silenced"])
def test_alerts_on_a_cluster_are_the_same_after_a_restart_of_the_hub(silenced_until):
    rounds = rounds_of(replace(FAILED, silenced_until=silenced_until), until=60)
    before = alerted_on(rounds)
    assert (before["owner"], before["silenced"]) == ("user", str(bool(silenced_until)).lower())
    rounds.restart()
    rounds.ask()
    assert rounds.fleet.clusters["prod"].is_carried_over
    assert alerted_on(rounds) == before


def test_the_status_of_a_cluster_with_a_record_is_not_read_again():
    rounds = rounds_of(FAILED, until=60)

    def earlier(known):
        found = members_of(
            rounds.objects.values(), known, now=60, wall_time=rounds.now, max_age=MAX_AGE
        )
        return found["prod"].earlier

    assert earlier({}).content.state is State.FAILED
    assert earlier(rounds.fleet.clusters) is None


def test_a_silence_that_has_ended_is_not_taken_over():
    rounds = rounds_of(replace(FAILED, silenced_until={"": NOON + 100}), until=60)
    rounds.restart()
    rounds.seconds = 100
    rounds.ask()
    assert rounds.fleet.clusters["prod"].is_carried_over
    assert alerted_on(rounds)["silenced"] == "false"


@pytest.mark.parametrize("blocking", [None, "none", {"code": 7}])
def test_a_status_that_does_not_say_what_blocks(blocking):
    rounds = rounds_of(FAILED, until=60)
    found = rounds.objects["prod"]
    status = {**status_of(rounds), "blocking": blocking}
    rounds.objects["prod"] = msgspec.structs.replace(found, status=status)
    rounds.restart()
    rounds.ask()
    assert alerted_on(rounds)["owner"] == "platform"
    assert rounds.line() == "Failed NotReported"


@pytest.mark.parametrize("conditions", [None, "none", [7], [{"type": "Observed"}]])
def test_a_status_that_does_not_say_how_much_is_observed(conditions):
    rounds = rounds_of(SourceSeries(), until=60)
    found = rounds.objects["prod"]
    status = {**status_of(rounds), "conditions": conditions}
    rounds.objects["prod"] = msgspec.structs.replace(found, status=status)
    rounds.restart()
    rounds.ask()
    assert observed_of(rounds) is None


def test_the_table_says_that_an_earlier_release_reports_less():
    rounds = rounds_of(SourceSeries(unobserved={}), until=60)
    (row,) = fleet_rows(rounds.view().document(rounds.entry()), wide=False)
    assert dict(zip(HEAD, row, strict=True))["UNKNOWN"] == "?"
