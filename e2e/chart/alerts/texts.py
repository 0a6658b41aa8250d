"""Tests of the texts of the alerts that fire."""

from collections.abc import Sequence
from typing import Any

from e2e.chart.alerts.capture import States
from e2e.chart.alerts.expected import FINDING, LATE, OVERDUE, Alert, phases
from e2e.chart.alerts.promtool import AlertTest, alerts_of, metrics_of
from e2e.chart.alerts.timeline import series_of


Json = dict[str, Any]
STALLED = "ProductionStackStalled"


def text_test(
    rules: Json,
    states: States,
    name: str,
    alerts: Sequence[Alert],
    summaries: Sequence[str],
) -> AlertTest:
    """
    Return a test of the summaries of the alerts of one rule; the other texts are those of the rule.
    """
    named = (each for each in alerts_of(rules) if each["alert"] == alerts[0]["alertname"])
    rule = next(named)
    story = phases(states["healthy"], states[name])
    left_out = {FINDING} if rule["alert"] == STALLED else set()
    series = [*series_of(story, metrics_of(rules) - left_out, cluster="west")]
    expected = [
        {
            "exp_labels": {k: v for k, v in each.items() if k != "alertname" and v}
            | {"cluster": "west"},
            "exp_annotations": rule["annotations"] | {"summary": summary},
        }
        for each, summary in zip(alerts, summaries, strict=True)
    ]
    minute = LATE if name == "unknown" else OVERDUE
    text = {"eval_time": f"{minute}m", "alertname": rule["alert"], "exp_alerts": expected}
    return AlertTest(series, {}, [text])
