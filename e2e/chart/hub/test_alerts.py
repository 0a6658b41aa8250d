"""The alerts on the hub itself: in which state each fires, and where they are rendered."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.chart.alerts.promtool import AlertTest, alerts_of, firing_errors, rule_errors
from e2e.chart.conftest import AlertErrors
from e2e.chart.helm import Helm
from e2e.chart.hub.hub_series import CRITICAL, TARGET, hub_alert, hub_rules, hub_series, one_series
from e2e.chart.hub.rendered import NAMESPACE, Json, objects_of_hub, rendered_hub
from reporter.hub.metric_declarations import (
    HUB_LAST_SUCCESS,
    HUB_LEADER,
    HUB_METRICS,
    HUB_OBJECTS_FAILING,
)
from reporter.model.fleet_status import FleetCode


pytestmark = pytest.mark.controlplane


def test_without_a_hub_there_are_no_alerts(helm: Helm) -> None:
    """Those on its absence would fire for ever."""
    words = "--set=prometheusRule.enabled=true,replicas=0"
    assert "PrometheusRule" not in objects_of_hub(rendered_hub(helm, words))


def test_prometheus_accepts_the_alerts_and_they_name_metrics_of_theobjects_of_hub(
    helm: Helm,
) -> None:
    rules = hub_rules(helm)
    assert rule_errors(rules) == ""
    names = {each.full_name for each in HUB_METRICS}
    text = json.dumps(rules)
    assert text.count("productionstack_status_reporter_hub_") == sum(
        text.count(f"{name}{end}") for name in names for end in ("{", ")", "[", " ", '"')
    )


WITHOUT_AN_ALERT = {"Paused"}
OF_THE_ENGINE = {"NotAsked", "EngineUnavailable"}
"""The codes for which ProductionStackHubWithoutAnswers fires."""


def test_an_alert_knows_each_cause_of_unknown(helm: Helm) -> None:
    found = re.findall(
        r'code=~"([^"]+)"', " ".join(each["expr"] for each in alerts_of(hub_rules(helm)))
    )
    known = {code for each in found for code in each.split("|")}
    assert known | WITHOUT_AN_ALERT | OF_THE_ENGINE == {each.value for each in FleetCode}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"Paused": "1+0x60"}, []),
        ({"not_engaged": "0+9x60"}, []),
        *(
            ({code: "1+0x60"}, [hub_alert("ClusterSilent", **CRITICAL, cluster="west")])
            for code in ("Silent", "NeverReported", "NotConfirmed")
        ),
        *(
            ({code: "1+0x60"}, [hub_alert("ClusterDuplicate", **CRITICAL, cluster="west")])
            for code in ("DuplicateCluster", "NoClusterUID", "NoState")
        ),
        (
            {"success": "0+0x60", "partial": "0+2x60", "known": ""},
            [
                hub_alert("HubWithoutAnswers", **CRITICAL),
                hub_alert(
                    "HubAnswersIncomplete",
                    severity="warning",
                    namespace=NAMESPACE,
                    query="clusters",
                    result="partial",
                ),
            ],
        ),
        ({"success": ""}, [hub_alert("HubWithoutAnswers", **CRITICAL)]),
        (
            {"no_label": "0+9x60"},
            [
                hub_alert(
                    "HubSeriesDropped", severity="warning", namespace=NAMESPACE, why="no_label"
                )
            ],
        ),
        (
            {"failing": "2+0x60"},
            [hub_alert("HubObjectsNotWritten", severity="warning", namespace=NAMESPACE)],
        ),
    ],
    ids=lambda value: "-".join(value) or "healthy" if isinstance(value, dict) else None,
)
def test_each_alert_fires_in_its_state_and_in_no_other(
    helm: Helm,
    alert_errors: AlertErrors,
    values: dict[str, str],
    expected: list[dict[str, str]],
) -> None:
    follower = [
        one_series(HUB_LEADER.full_name, TARGET | {"pod": "hub-1"}, "0+0x60"),
        one_series(HUB_OBJECTS_FAILING.full_name, TARGET | {"pod": "hub-1"}, "0+0x60"),
    ]

    def test(values: dict[str, str], expected: list[dict[str, str]]) -> AlertTest:
        return AlertTest([*hub_series(**values), *follower], {55: expected})

    assert alert_errors(hub_rules(helm), test) == ""


@pytest.mark.parametrize(
    ("metric", "labels", "expected"),
    [
        (
            "missing_rights",
            {"verb": "patch", "resource": "productionstackclusters/status"},
            {"name": "HubRightMissing", **CRITICAL},
        ),
        (
            "unknown_rights",
            {},
            {"name": "HubRightsUnknown", "severity": "warning", "namespace": NAMESPACE},
        ),
    ],
)
def test_permissions_of_a_hub(
    helm: Helm,
    tmp_path: Path,
    metric: str,
    labels: dict[str, str],
    expected: dict[str, str],
) -> None:
    """Those of a reporter are not the hub's."""
    rules = hub_rules(helm)
    found = one_series(f"productionstack_status_reporter_{metric}", TARGET | labels, "1+0x60")
    alerts = [hub_alert(**expected, **labels)]
    assert firing_errors(rules, [*hub_series(), found], {55: alerts}, tmp_path) == ""
    of_a_reporter = {"job": "stack-status-reporter", "pod": "stack-status-reporter-0"}
    other = one_series(
        f"productionstack_status_reporter_{metric}", TARGET | of_a_reporter | labels, "1+0x60"
    )
    assert firing_errors(rules, [*hub_series(), other], {55: []}, tmp_path) == ""
    follower = [one_series(HUB_LEADER.full_name, TARGET, "0+0x60"), *hub_series("hub-1"), found]
    assert firing_errors(rules, follower, {55: alerts}, tmp_path) == ""


def test_without_a_leader_there_are_no_answers(helm: Helm, tmp_path: Path) -> None:
    alert = hub_alert("HubWithoutAnswers", **CRITICAL)
    follower = one_series(HUB_LEADER.full_name, TARGET, "0+0x60")
    assert firing_errors(hub_rules(helm), [follower], {55: [alert]}, tmp_path) == ""
    assert firing_errors(hub_rules(helm), [], {55: [alert]}, tmp_path) == ""


def test_another_hub_does_not_stand_for_one_without_a_leader(helm: Helm, tmp_path: Path) -> None:
    east, west = ({**TARGET, "cluster": name} for name in ("east", "west"))
    series = [
        one_series(HUB_LEADER.full_name, east, "1+0x60"),
        one_series(HUB_LAST_SUCCESS.full_name, east, "0+60x60"),
        one_series(HUB_LEADER.full_name, west, "1+0x20 0+0x40"),
        one_series(HUB_LAST_SUCCESS.full_name, west, "0+60x20 stale"),
    ]
    alert = hub_alert("HubWithoutAnswers", **CRITICAL, cluster="west")
    assert firing_errors(hub_rules(helm), series, {19: [], 55: [alert]}, tmp_path) == ""


OURS = "productionstack_status_reporter_"
GONE, BACK, LED = 25, 40, 5
"""The minutes at which all replicas are gone and are back, and for how many one must have led then."""


def _gone(ill: str, well: str = "0") -> str:
    """Return the values of a series that is ill until all replicas are gone, and then well."""
    return f"{ill}x{GONE} stale _x{BACK - GONE - 2} {well}x20"


def _of_hub(metric: str, values: str, **labels: str) -> Json:
    return one_series(f"{OURS}{metric}", TARGET | labels, values)


RIGHT = {"verb": "watch", "resource": "productionstackclusters"}
WATCHED = "productionstackclusters.reporter.productionstack.kaito.sh"
OUTAGES: Mapping[str, tuple[dict[str, str], list[Json], dict[str, str]]] = {
    "HubAnswersIncomplete": (
        {"partial": _gone("0+2")},
        [],
        {"query": "clusters", "result": "partial"},
    ),
    "HubSeriesDropped": ({"no_label": _gone("0+9")}, [], {"why": "no_label"}),
    "HubObjectsNotWritten": ({"failing": _gone("2")}, [], {}),
    "HubWatchLost": ({}, [_of_hub("watch_up", _gone("0", "1"), kind=WATCHED)], {}),
    "HubRightMissing": ({}, [_of_hub("missing_rights", _gone("1"), **RIGHT)], RIGHT),
    "HubRightsUnknown": ({}, [_of_hub("unknown_rights", _gone("1"))], {}),
}


@pytest.mark.parametrize("name", OUTAGES)
def test_an_alert_on_the_hub_fires_on_while_it_is_gone(
    helm: Helm, alert_errors: AlertErrors, name: str
) -> None:
    def test(name: str) -> AlertTest:
        values, more, labels = OUTAGES[name]
        answers = _gone("0+60", f"{60 * BACK}+60")
        series = [*hub_series(leader=_gone("1", "1"), success=answers, **values), *more]
        severity = "critical" if name == "HubRightMissing" else "warning"
        alert = hub_alert(name, severity, namespace=NAMESPACE, **labels)
        unanswered = hub_alert("HubWithoutAnswers", **CRITICAL)
        firing = {
            GONE: [alert],
            GONE + 1: [alert],
            BACK - 1: [alert, unanswered],
            BACK: [alert],
            BACK + LED: [],
            55: [],
        }
        return AlertTest(series, firing)

    assert alert_errors(hub_rules(helm), test) == ""


def test_a_watch_of_the_hub_that_is_lost_for_long_is_an_alert(helm: Helm, tmp_path: Path) -> None:
    """A watch that a reporter has lost is not the hub's."""
    lost = _of_hub("watch_up", "1x4 0x9 1x4 0x40", kind=WATCHED)
    reporter = {"job": "stack-status-reporter", "pod": "stack-status-reporter-0"}
    other = one_series(f"{OURS}watch_up", TARGET | reporter | {"kind": WATCHED}, "0x60")
    alert = hub_alert("HubWatchLost", "warning", namespace=NAMESPACE)
    firing = {18: [], 28: [], 31: [alert], 55: [alert]}
    assert firing_errors(hub_rules(helm), [*hub_series(), lost, other], firing, tmp_path) == ""
