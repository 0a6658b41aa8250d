"""The alert on stale passes where a resync takes longer than it waits by default."""

from pathlib import Path
from typing import Any

import pytest

from e2e.chart import CHART, golden
from e2e.chart.alerts.expected import OURS, PASSES_STALE
from e2e.chart.alerts.promtool import firing_errors
from e2e.chart.alerts.timeline import NAMESPACE, selector
from e2e.chart.helm import Helm


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
RESYNC_MINUTES = 15
MINUTES = 180


def _series(pod: str, *, begin: int = 0, end: int = MINUTES, stuck_from: int = MINUTES) -> Json:
    """Return the time of the last pass, which changes with each resync, while the pod runs."""
    values = (
        60 * (min(minute, stuck_from) // RESYNC_MINUTES * RESYNC_MINUTES)
        if begin <= minute < end
        else "stale"
        for minute in range(MINUTES)
    )
    series = selector(f"{OURS}last_pass_timestamp_seconds", {"namespace": NAMESPACE, "pod": pod})
    return {"series": series, "values": " ".join(map(str, values))}


@pytest.fixture
def long_resync(helm: Helm) -> Json:
    words = f"--set=prometheusRule.enabled=true,resyncSeconds={60 * RESYNC_MINUTES}"
    rendered = helm.render(CHART, words, golden.OPERATOR)
    (found,) = (each["spec"] for each in rendered if each["kind"] == "PrometheusRule")
    return dict(found)


def test_a_pod_that_replaces_another_is_not_stale(long_resync: Json, tmp_path: Path) -> None:
    series = [_series("a", end=62), _series("b", begin=62)]
    never: dict[int, list[Json]] = {minute: [] for minute in range(1, MINUTES)}
    stale = PASSES_STALE["alertname"]
    assert firing_errors(long_resync, series, never, tmp_path, alert=stale) == ""


def test_a_pod_that_ends_no_pass_is_stale(long_resync: Json, tmp_path: Path) -> None:
    series = [_series("a", stuck_from=62), _series("b")]
    firing: dict[int, list[dict[str, str]]] = {62: [], MINUTES - 1: [PASSES_STALE]}
    stale = PASSES_STALE["alertname"]
    assert firing_errors(long_resync, series, firing, tmp_path, alert=stale) == ""
