"""The alert on InferenceSets that have no series of their own, as too many have trouble."""

from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.expected import OURS
from e2e.chart.alerts.promtool import firing_errors
from e2e.chart.alerts.timeline import NAMESPACE, Phase, series_of
from reporter.metrics.declarations import SET_LIMIT
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import leading_metrics, metrics_text
from tests.support.outage import outage


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
METRICS = {f"{OURS}{name}" for name in ("inferenceset_series_left_out", "findings_complete")}
FOR = 5
"""Minutes of the alert."""


def _page(inference_sets: int) -> str:
    metrics = leading_metrics(DEFAULT_CATALOGUE)
    metrics.follow(finished_pass(outage(inference_sets)))
    return metrics_text(metrics)


def test_alert_fires_while_inference_sets_have_no_series_of_their_own(
    rules: Json, tmp_path: Path
) -> None:
    few, many = _page(1), _page(SET_LIMIT + 2)
    phases = [Phase(10, (few, few)), Phase(20, (few, many)), Phase(10, (few, few))]
    series = [*series_of(phases, METRICS, cluster="west")]
    series += series_of([Phase(40, (few, few))], METRICS, cluster="east")
    name = "ProductionStackStatusReporterSeriesLeftOut"
    labels = {"severity": "warning", "owner": "platform", "namespace": NAMESPACE}
    fires = [{"alertname": name, **labels, "cluster": "west"}]
    firing: dict[int, list[dict[str, str]]] = {
        9: [],
        10 + FOR - 1: [],
        10 + FOR: fires,
        29: fires,
        30: [],
    }
    summary = "Some pairs of InferenceSet and reason have no series of their own in cluster west"
    (rule,) = (r for g in rules["groups"] for r in g["rules"] if r.get("alert") == name)
    text = {
        "eval_time": "29m",
        "alertname": name,
        "exp_alerts": [
            {
                "exp_labels": {**labels, "cluster": "west"},
                "exp_annotations": {**rule["annotations"], "summary": summary},
            }
        ],
    }
    assert firing_errors(rules, series, firing, tmp_path, texts=[text], alert=name) == ""
