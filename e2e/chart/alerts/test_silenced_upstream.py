"""
The alert on what blocks, while a cause in the control plane is silenced and another one is not.
"""

from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.expected import FINDING
from e2e.chart.alerts.promtool import firing_errors, metrics_of
from e2e.chart.alerts.timeline import NAMESPACE, Phase, series_of
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import metrics_text, some_metrics
from tests.support.rollups import LOST, show_rollup, stack_after


pytestmark = pytest.mark.controlplane

KAITO, BBR = "clusterKaitoControllerNotReady", "clusterBBRNotReady"
OUT = {"Deployment kaito-system/kaito-workspace": {"replicas": 0}} | LOST
BOTH_OUT = OUT | {"Deployment kaito-system/body-based-router": {"replicas": 0}}
SILENCE = {"reasons": [KAITO], "until": "2026-05-01T18:00:00Z"}
OF_NAMESPACE = f'reason="{KAITO}",scope="namespace",stalled="true",workload_namespace="team-m"'


def _page(change: dict[str, Any], *silences: dict[str, Any]) -> str:
    replay = stack_after(change, silences=[*silences], until="2h")
    metrics = some_metrics(DEFAULT_CATALOGUE, leads=True)
    metrics.follow(finished_pass(replay.evaluation))
    show_rollup(metrics, replay.rollup)
    page = metrics_text(metrics)
    assert OF_NAMESPACE in page
    return page


@pytest.mark.parametrize(
    ("change", "silences", "cause"),
    [
        (OUT, (), KAITO),
        (OUT, (SILENCE,), ""),
        (BOTH_OUT, (SILENCE,), BBR),
    ],
    ids=["not silenced", "silenced", "silenced, and another one is out"],
)
def test_a_namespace_that_waits_for_a_silenced_cause_fires_nothing(
    rules: Any, tmp_path: Path, change: Any, silences: Any, cause: str
) -> None:
    series = [*series_of([Phase(20, (_page(change, *silences),))], metrics_of(rules) - {FINDING})]
    alert = "ProductionStackStalled"
    expected = {
        "alertname": alert,
        "severity": "warning",
        "namespace": NAMESPACE,
        "layer": "cluster",
        "owner": "platform",
        "reason": cause,
    }
    firing = {15: [expected] if cause else []}
    assert firing_errors(rules, series, firing, tmp_path, alert=alert) == ""
