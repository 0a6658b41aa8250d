"""The alerts on a reporter while a hub in the same Prometheus has series of the same names."""

from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.expected import OURS
from e2e.chart.alerts.promtool import AlertTest, errors_by_name
from e2e.chart.alerts.timeline import NAMESPACE, Monitor, Phase, series_of
from reporter.hub.metrics import HubMetrics
from reporter.metrics.input_collectors import InputReport, PermissionReport, WatchReport
from reporter.process.clock import Clock
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import metrics_text, some_metrics
from tests.support.outage import outage


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
METRICS = {
    f"{OURS}{name}"
    for name in (
        *("watch_up", "kind_served", "missing_rights", "unknown_rights"),
        *("leader", "last_pass_timestamp_seconds"),
    )
}
HUB = Monitor("stack-status-hub", (("service", "stack-status-hub"),))
PODS, CLUSTERS = "pods", "productionstackclusters.reporter.productionstack.kaito.sh"
RIGHT = ("list", PODS)
BEFORE, LASTS = 20, 40


def _watch(kind: str, *, up: bool) -> WatchReport:
    return WatchReport(
        kind=kind,
        watching=up,
        last_event_age=None,
        objects=0,
        relists=0,
        restarts=0,
        decode_errors=0,
        missed_events=0,
    )


def _inputs(*watches: WatchReport, missing: bool, unknown: int = 0) -> InputReport:
    return InputReport(watches, PermissionReport({RIGHT: missing}, unknown))


def _reporter(*watches: WatchReport, missing: bool = False) -> str:
    inputs = _inputs(*watches, missing=missing)
    metrics = some_metrics(DEFAULT_CATALOGUE, lambda: inputs, leads=True)
    metrics.follow(finished_pass(outage(1)))
    return metrics_text(metrics)


def _hub(*, up: bool, missing: bool = False, unknown: int = 0) -> str:
    inputs = _inputs(_watch(CLUSTERS, up=up), missing=missing, unknown=unknown)
    return metrics_text(HubMetrics(lambda: inputs, Clock()))


HEALTHY, UP = _reporter(_watch(PODS, up=True)), _watch(PODS, up=True)
WELL, ILL = _hub(up=True), _hub(up=False, missing=True, unknown=1)
OWN = {"owner": "platform", "namespace": NAMESPACE, "cluster": "west"}


def _alert(name: str, severity: str = "warning", **labels: str) -> dict[str, str]:
    name = f"ProductionStackStatusReporter{name}"
    return {"alertname": name, "severity": severity, **OWN, **labels}


def _test(name: str, hub: str, *phases: Phase, **firing: list[dict[str, str]]) -> AlertTest:
    """Return the test of one alert, with the page of a hub and those of one reporter."""
    before = Phase(BEFORE, (HEALTHY,))
    minutes = BEFORE + sum(each.minutes for each in phases)
    series = [
        *series_of([before, *phases], METRICS, cluster="west"),
        *series_of([Phase(minutes, (hub,))], METRICS, monitors=[HUB], cluster="west"),
    ]
    looks = {BEFORE - 1: [], BEFORE + LASTS - 1: firing.get("during", [])}
    if len(phases) > 1:
        looks |= {BEFORE + LASTS + 1: firing["after"], minutes - 1: firing["after"]}
    return AlertTest(series, looks, alert=f"ProductionStackStatusReporter{name}")


def test_the_series_of_a_hub_are_not_those_of_a_reporter(rules: Json, tmp_path: Path) -> None:
    healthy, gone = Phase(LASTS, (HEALTHY,)), Phase(LASTS)
    lost = _reporter(_watch(PODS, up=False))
    missing = [_alert("RightMissing", verb=RIGHT[0], resource=RIGHT[1])]
    tests = {
        "the hub may not": _test("RightMissing", ILL, healthy),
        "the hub reviews nothing": _test("RightsUnknown", ILL, healthy),
        "the hub watches nothing": _test("WatchLost", ILL, healthy),
        "only the hub watches": _test(
            "NothingWatched",
            WELL,
            Phase(LASTS, (lost,)),
            during=[_alert("NothingWatched", "critical")],
        ),
        "only the hub reviews": _test(
            "RightMissing",
            WELL,
            Phase(LASTS, (_reporter(UP, missing=True),)),
            gone,
            during=missing,
            after=missing,
        ),
        "only the hub is there": _test(
            "WatchLost",
            WELL,
            Phase(LASTS, (lost,)),
            gone,
            during=[_alert("WatchLost", kind=PODS, resource=PODS)],
            after=[_alert("WatchLost", kind=PODS, resource=PODS)],
        ),
    }
    errors = errors_by_name(rules, tests, tmp_path)
    assert {name: error for name, error in errors.items() if error} == {}


def test_a_kind_that_is_no_longer_watched_is_not_lost(rules: Json, tmp_path: Path) -> None:
    """A source or a pack was removed, with which its series went."""
    lost = _reporter(UP, _watch("jobs.batch", up=False))
    test = _test(
        "WatchLost",
        WELL,
        Phase(LASTS, (lost,)),
        Phase(LASTS, (HEALTHY,)),
        during=[_alert("WatchLost", kind="jobs.batch", resource="jobs.batch")],
        after=[],
    )
    assert errors_by_name(rules, {"it": test}, tmp_path) == {"it": ""}
