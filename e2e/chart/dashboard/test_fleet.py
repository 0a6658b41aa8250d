"""The dashboard of the fleet counts a silent cluster as not Current."""

from pathlib import Path

import pytest

from e2e.chart.alerts.promtool import firing_errors
from e2e.chart.alerts.timeline import selector
from reporter.metrics.declarations import PREFIX
from tests.support.fleet.dashboard import query_of


pytestmark = pytest.mark.controlplane

TIMES = f"{PREFIX}rollup_evaluated_timestamp_seconds"
EVALUATED = {
    "east": "0+60x60",  # reports
    "north": "0+60x20 1200x40",  # is scraped, and evaluates nothing
    "south": "0+60x20 stale",  # is gone
    "west": "0+60x60",
}
STATES = {"east": "current", "north": "current", "south": "current", "west": "failed"}
AFTER, BEFORE = 50, 15


@pytest.mark.parametrize(
    ("panel", "at", "expected"),
    [
        ("Clusters by state", BEFORE, {"current": 3, "failed": 1}),
        ("Clusters by state", AFTER, {"current": 1, "failed": 1, "silent": 2}),
        ("Clusters that are not Current, silent ones among them", BEFORE, {"failed": 1}),
        (
            "Clusters that are not Current, silent ones among them",
            AFTER,
            {"failed": 1, "silent": 2},
        ),
    ],
)
def test_a_cluster_that_no_longer_reports_is_silent_and_not_current(
    tmp_path: Path, panel: str, at: int, expected: dict[str, int]
) -> None:
    series = []
    for name, state in STATES.items():
        labels = {"cluster": name, "scope": "cluster", "state": state}
        is_there = "1x20 stale" if name == "south" else "1x60"
        series += [
            {"series": selector(TIMES, {"cluster": name}), "values": EVALUATED[name]},
            {"series": selector(f"{PREFIX}rollup_state", labels), "values": is_there},
        ]
    expr = query_of(panel).replace("$cluster", ".*")
    # Each value is a label, so that the alerts show all that the panel does.
    rule = {"alert": "Shown", "expr": expr, "labels": {"number": "{{ $value }}"}}
    rules = {"groups": [{"name": "panel", "rules": [rule]}]}
    shown = [
        {"alertname": "Shown", "state": state, "number": str(number)}
        for state, number in expected.items()
    ]
    assert firing_errors(rules, series, {at: shown}, tmp_path) == ""
