"""Alerts on what blocks for longer than it may, while its code changes."""

import re
from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.capture import States
from e2e.chart.alerts.expected import BEFORE, HEALTHY_YET, LASTS, LATE, stalled_alerts, steady
from e2e.chart.alerts.promtool import firing_errors, metrics_of
from e2e.chart.alerts.timeline import Phase, series_of


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
CODE = re.compile(r'(rollup_blocking_info\{[^}]*code=")[^"]*')
MINUTES = 3
"""The time between two changes: less than the alert waits for."""


@pytest.mark.parametrize("name", ["finding", "harness_out"])
def test_a_code_that_changes_to_and_fro_delays_and_ends_no_alert(
    rules: Json, states: States, name: str, tmp_path: Path
) -> None:
    healthy, state = states["healthy"], states[name]
    assert any(CODE.search(page) for page in state.after)
    changed = tuple(CODE.sub(r"\g<1>Another", page) for page in state.after)
    turns = (Phase(MINUTES, state.after), Phase(MINUTES, changed)) * (LASTS // MINUTES // 2)
    series = [*series_of((steady(healthy, BEFORE), *turns), metrics_of(rules))]
    expected = stalled_alerts(state)
    assert expected
    firing = {HEALTHY_YET: [], **dict.fromkeys(range(BEFORE + 7, LATE - 1, MINUTES), expected)}
    assert firing_errors(rules, series, firing, tmp_path, alert="ProductionStackStalled") == ""
