"""The alert on what is stalled, over a restart and a fault of the status."""

from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.expected import FINDING
from e2e.chart.alerts.promtool import firing_errors, metrics_of
from e2e.chart.alerts.timeline import NAMESPACE, Phase, series_of
from reporter.controller.enabled_scrapes import scraping_reasons
from reporter.evaluation.registry import SPECS
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import leading_metrics, metrics_text
from tests.support.rollups import show_rollup, stack_after


pytestmark = pytest.mark.controlplane

ALERT, BBR = "ProductionStackStalled", "clusterBBRNotReady"
OUT = {"Deployment kaito-system/body-based-router": {"replicas": 0}}
FOUND = {
    "alertname": ALERT,
    "severity": "warning",
    "namespace": NAMESPACE,
    "layer": "cluster",
    "owner": "platform",
    "reason": BBR,
}
LASTS, GAP, ANEW = 15, 2, 10


def _page(change: dict[str, Any], *, anew: bool = False, failed: bool = False) -> str:
    """
    Return the page of a leader after two hours. *anew*: it has just begun. *failed*: its status has.
    """
    replay = stack_after(change, until="2h")
    rollup = RollUp() if anew or failed else replay.rollup
    if anew:
        rollup = fold(rollup, replay.rollup_input(), replay.rollup_rules)
    reading = scraping_reasons(DEFAULT_CATALOGUE, SPECS)
    metrics = leading_metrics(DEFAULT_CATALOGUE, reading=reading)
    metrics.follow(finished_pass(replay.evaluation))
    show_rollup(metrics, rollup)
    return metrics_text(metrics)


@pytest.mark.parametrize(("gap", "how"), [(GAP, "anew"), (0, "failed")])
def test_it_resolves_once_a_leader_would_know_of_the_stall(
    rules: Any, gap: int, how: str, tmp_path: Path
) -> None:
    unknown = Phase(GAP + ANEW - gap, (_page({}, **{how: True}),))
    phases = (Phase(LASTS, (_page(OUT),)), Phase(gap), unknown, Phase(LASTS, (_page({}),)))
    series = [*series_of(phases, metrics_of(rules) - {FINDING})]
    known = LASTS + GAP + ANEW
    firing = {LASTS - 1: [FOUND], known - 1: [FOUND], known: [], known + LASTS - 1: []}
    assert firing_errors(rules, series, firing, tmp_path, alert=ALERT) == ""


def test_a_finding_has_its_own_alert_alone(rules: Any, tmp_path: Path) -> None:
    """It would outlast that after a restart, when nothing inhibits it any more, and be sent."""
    phases = (Phase(LASTS, (_page(OUT),)), Phase(GAP), Phase(LASTS, (_page({}, anew=True),)))
    series = [*series_of(phases, metrics_of(rules))]
    minutes = range(LASTS + GAP + LASTS)
    assert firing_errors(rules, series, dict.fromkeys(minutes, ()), tmp_path, alert=ALERT) == ""
