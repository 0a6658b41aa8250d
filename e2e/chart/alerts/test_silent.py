"""The alerts on a reporter that is gone, that evaluates nothing, or that is one of many."""

from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.capture import States
from e2e.chart.alerts.expected import (
    BEFORE,
    HEALTHY_YET,
    LASTS,
    LATE,
    OURS,
    OVERDUE,
    PASSES_STALE,
    REPORTER_SILENT,
    SEVERAL_LEADERS,
    STATUS_OUTDATED,
    Alert,
    phases,
    steady,
)
from e2e.chart.alerts.promtool import firing_errors, metrics_of
from e2e.chart.alerts.timeline import Phase, series_of


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
SILENT, FOR = REPORTER_SILENT["alertname"], 5
"""The alert, and the minutes it waits for."""


@pytest.mark.parametrize("cluster", ["", "west"])
def test_alert_fires_for_a_reporter_that_is_gone(
    rules: Json, states: States, cluster: str, tmp_path: Path
) -> None:
    healthy, metrics = states["healthy"], metrics_of(rules)
    external = {"cluster": cluster} if cluster else {}
    gone = 180
    series = [*series_of((steady(healthy, BEFORE), Phase(gone)), metrics, **external)]
    if cluster:
        series += series_of((steady(healthy, BEFORE + gone),), metrics, cluster="east")
    expected = [REPORTER_SILENT | external]
    firing: dict[int, list[Alert]] = {
        HEALTHY_YET: [],
        OVERDUE: expected,
        BEFORE + gone - 1: expected,
    }
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_alert_fires_for_a_reporter_that_was_never_scraped(rules: Json, tmp_path: Path) -> None:
    other = [{"series": "up{}", "values": "1x30"}]
    assert firing_errors(rules, other, {29: [REPORTER_SILENT]}, tmp_path) == ""


@pytest.mark.parametrize("before", [1, 10])
def test_alert_ends_once_clusters_are_scraped(
    rules: Json, states: States, before: int, tmp_path: Path
) -> None:
    """Prometheus evaluates rules before its first scrape, and then there is no cluster to name."""
    course = (Phase(before), steady(states["healthy"], BEFORE))
    series = [*series_of(course, metrics_of(rules), cluster="west")]
    nobody = [REPORTER_SILENT] if before > FOR else []
    firing = {before - 1: nobody, before: [], before + BEFORE - 1: []}
    assert firing_errors(rules, series, firing, tmp_path, alert=SILENT) == ""


def test_alert_fires_for_a_leader_whose_status_no_longer_changes(
    rules: Json, states: States, tmp_path: Path
) -> None:
    """
    Evaluate the rules against the same pages for longer than the reporter may take for a pass.
    """
    healthy, metrics = states["healthy"], metrics_of(rules)
    stuck = (steady(healthy, BEFORE), Phase(LASTS, healthy.after))
    series = [*series_of(stuck, metrics, cluster="west")]
    expected = [each | {"cluster": "west"} for each in (STATUS_OUTDATED, PASSES_STALE)]
    firing = {HEALTHY_YET: [], OVERDUE: expected, LATE: expected}
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_alert_fires_for_a_leader_that_cannot_make_a_status(
    rules: Json, states: States, tmp_path: Path
) -> None:
    healthy, metrics = states["healthy"], metrics_of(rules)
    without = {name for name in metrics if not name.startswith(f"{OURS}rollup_")}
    series = [*series_of((steady(healthy, LASTS),), without, cluster="west")]
    expected = [STATUS_OUTDATED | {"cluster": "west"}]
    assert firing_errors(rules, series, {1: [], 20: expected}, tmp_path) == ""


def test_alert_fires_for_one_replica_that_evaluates_nothing(
    rules: Json, states: States, tmp_path: Path
) -> None:
    """The page of one replica stays that of one moment; those of the others go on."""
    healthy, metrics = states["healthy"], metrics_of(rules)
    leads = [f"{OURS}leader 1.0" in page for page in healthy.after]
    stuck = leads.index(False)
    until = list(healthy.after)
    until[stuck] = healthy.before[stuck]
    story = (steady(healthy, BEFORE), Phase(LASTS, healthy.before, tuple(until)))
    series = [*series_of(story, metrics, cluster="west")]
    expected = [PASSES_STALE | {"cluster": "west"}]
    firing = {HEALTHY_YET: [], OVERDUE: expected, LATE: expected}
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_alert_fires_for_reporters_of_one_cluster_in_two_namespaces(
    rules: Json, states: States, tmp_path: Path
) -> None:
    """Each leads by a Lease of its own, so Events are written twice."""
    story, metrics = (steady(states["healthy"], LASTS),), metrics_of(rules)
    series = [*series_of(story, metrics, cluster="west")]
    series += series_of(story, metrics, cluster="west", namespace="another")
    series += series_of(story, metrics, cluster="east")
    expected = [SEVERAL_LEADERS | {"cluster": "west"}]
    firing = {5: [], LASTS - 1: expected}
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_alert_fires_for_one_cluster_of_thirty_without_a_leader(
    rules: Json, states: States, tmp_path: Path
) -> None:
    """Only the series of these rules, as the others make thirty times as many."""
    healthy, leaderless = states["healthy"], states["no_leader"]
    names = {"leader", "rollup_evaluated_timestamp_seconds", "last_pass_timestamp_seconds"}
    metrics = {f"{OURS}{name}" for name in names}
    series = [*series_of(phases(healthy, leaderless), metrics, cluster="cluster-0")]
    for number in range(1, 30):
        always = (steady(healthy, BEFORE + LASTS),)
        series += series_of(always, metrics, cluster=f"cluster-{number}")
    silent = [REPORTER_SILENT | {"cluster": "cluster-0"}]
    firing = {HEALTHY_YET: [], OVERDUE: silent, LATE: silent}
    assert firing_errors(rules, series, firing, tmp_path) == ""
