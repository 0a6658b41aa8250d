"""The alerts of the hub: in which state each fires, and where they are rendered."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.chart.alerts.promtool import AlertTest, alerts_of, firing_errors, rule_errors
from e2e.chart.alerts.timeline import selector
from e2e.chart.conftest import AlertErrors
from e2e.chart.helm import Helm
from e2e.chart.hub.rendered import NAME, NAMESPACE, Json, objects_of_hub, rendered_hub
from reporter.hub.metric_declarations import (
    HUB_CLUSTER,
    HUB_CLUSTERS,
    HUB_DROPPED_SERIES,
    HUB_LAST_SUCCESS,
    HUB_LEADER,
    HUB_METRICS,
    HUB_OBJECTS_FAILING,
    HUB_QUERY_RESULTS,
)
from reporter.model.fleet_status import Dropped, FleetCode, QueryName, QueryResult
from reporter.model.states import State


pytestmark = pytest.mark.controlplane


def _rules(helm: Helm, *words: str) -> Json:
    objects = rendered_hub(helm, "--set=prometheusRule.enabled=true", *words)
    found: Json = objects_of_hub(objects)["PrometheusRule"]["spec"]
    return found


def test_without_a_hub_there_are_no_alerts(helm: Helm) -> None:
    """Those on its absence would fire for ever."""
    words = "--set=prometheusRule.enabled=true,replicas=0"
    assert "PrometheusRule" not in objects_of_hub(rendered_hub(helm, words))


def test_prometheus_accepts_the_alerts_and_they_name_metrics_of_theobjects_of_hub(
    helm: Helm,
) -> None:
    rules = _rules(helm)
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
        r'code=~"([^"]+)"', " ".join(each["expr"] for each in alerts_of(_rules(helm)))
    )
    known = {code for each in found for code in each.split("|")}
    assert known | WITHOUT_AN_ALERT | OF_THE_ENGINE == {each.value for each in FleetCode}


TARGET = {"job": NAME, "pod": "hub-0", "namespace": NAMESPACE}
LEASE = f"{NAMESPACE}/{NAME}"
OF_LEASE = {each.full_name for each in HUB_METRICS if "hub" in each.labels}


def _series(pod: str = "hub-0", **values: str) -> list[Json]:
    """Return the series of a replica, healthy but for *values* by the name of a state below."""
    target = TARGET | {"pod": pod}
    found = [
        _one(HUB_LEADER.full_name, target, values.get("leader", "1+0x60")),
        _one(HUB_LAST_SUCCESS.full_name, target, values.get("success", "0+60x60")),
        _one(HUB_OBJECTS_FAILING.full_name, target, values.get("failing", "0+0x60")),
    ]
    known = _one(
        HUB_CLUSTERS.full_name, target | {"state": "current"}, values.get("known", "1x60")
    )
    found.append(known)
    found += [
        _cluster("west", values[code], target, code=code.value)
        for code in FleetCode
        if code in values
    ]
    for why in Dropped:
        labels = target | {"why": why.value}
        found.append(_one(HUB_DROPPED_SERIES.full_name, labels, values.get(why, "0+0x60")))
    for result in (QueryResult.COMPLETE, QueryResult.PARTIAL):
        labels = target | {"query": QueryName.CLUSTERS.value, "result": result.value}
        usual = "0+2x60" if result is QueryResult.COMPLETE else "0+0x60"
        found.append(_one(HUB_QUERY_RESULTS.full_name, labels, values.get(result, usual)))
    return [each for each in found if each["values"]]


def _one(name: str, labels: Mapping[str, str], values: str) -> Json:
    """Return a series of this hub, unless the labels name another one."""
    own = {"hub": LEASE} if name in OF_LEASE else {}
    return {"series": selector(name, {**own, **labels}), "values": values}


def _cluster(name: str, values: str, target: Mapping[str, str] = TARGET, **changes: str) -> Json:
    """Return the series of a cluster, which the hub calls Unknown unless it is told otherwise."""
    usual = {"owner": "platform", "silenced": "false", "observed": "true"}
    labels = {"state": State.UNKNOWN.key, **usual, **changes}
    return _one(HUB_CLUSTER.full_name, {**target, **labels, "cluster": name}, values)


def _alert(name: str, severity: str, **labels: str) -> dict[str, str]:
    return {
        "alertname": f"ProductionStack{name}",
        "severity": severity,
        "owner": "platform",
        "hub": LEASE,
        **labels,
    }


_CRITICAL = {"namespace": NAMESPACE, "severity": "critical"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"Paused": "1+0x60"}, []),
        ({"not_engaged": "0+9x60"}, []),
        *(
            ({code: "1+0x60"}, [_alert("ClusterSilent", **_CRITICAL, cluster="west")])
            for code in ("Silent", "NeverReported", "NotConfirmed")
        ),
        *(
            ({code: "1+0x60"}, [_alert("ClusterDuplicate", **_CRITICAL, cluster="west")])
            for code in ("DuplicateCluster", "NoClusterUID", "NoState")
        ),
        (
            {"success": "0+0x60", "partial": "0+2x60", "known": ""},
            [
                _alert("HubWithoutAnswers", **_CRITICAL),
                _alert(
                    "HubAnswersIncomplete",
                    severity="warning",
                    namespace=NAMESPACE,
                    query="clusters",
                    result="partial",
                ),
            ],
        ),
        ({"success": ""}, [_alert("HubWithoutAnswers", **_CRITICAL)]),
        (
            {"no_label": "0+9x60"},
            [_alert("HubSeriesDropped", severity="warning", namespace=NAMESPACE, why="no_label")],
        ),
        (
            {"failing": "2+0x60"},
            [_alert("HubObjectsNotWritten", severity="warning", namespace=NAMESPACE)],
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
        _one(HUB_LEADER.full_name, TARGET | {"pod": "hub-1"}, "0+0x60"),
        _one(HUB_OBJECTS_FAILING.full_name, TARGET | {"pod": "hub-1"}, "0+0x60"),
    ]

    def test(values: dict[str, str], expected: list[dict[str, str]]) -> AlertTest:
        return AlertTest([*_series(**values), *follower], {55: expected})

    assert alert_errors(_rules(helm), test) == ""


@pytest.mark.parametrize(
    ("metric", "labels", "expected"),
    [
        (
            "missing_rights",
            {"verb": "patch", "resource": "productionstackclusters/status"},
            {"name": "HubRightMissing", **_CRITICAL},
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
    rules = _rules(helm)
    found = _one(f"productionstack_status_reporter_{metric}", TARGET | labels, "1+0x60")
    alerts = [_alert(**expected, **labels)]
    assert firing_errors(rules, [*_series(), found], {55: alerts}, tmp_path) == ""
    of_a_reporter = {"job": "stack-status-reporter", "pod": "stack-status-reporter-0"}
    other = _one(
        f"productionstack_status_reporter_{metric}", TARGET | of_a_reporter | labels, "1+0x60"
    )
    assert firing_errors(rules, [*_series(), other], {55: []}, tmp_path) == ""
    follower = [_one(HUB_LEADER.full_name, TARGET, "0+0x60"), *_series("hub-1"), found]
    assert firing_errors(rules, follower, {55: alerts}, tmp_path) == ""


def test_without_a_leader_there_are_no_answers(helm: Helm, tmp_path: Path) -> None:
    alert = _alert("HubWithoutAnswers", **_CRITICAL)
    follower = _one(HUB_LEADER.full_name, TARGET, "0+0x60")
    assert firing_errors(_rules(helm), [follower], {55: [alert]}, tmp_path) == ""
    assert firing_errors(_rules(helm), [], {55: [alert]}, tmp_path) == ""


def test_another_hub_does_not_stand_for_one_without_a_leader(helm: Helm, tmp_path: Path) -> None:
    east, west = ({**TARGET, "cluster": name} for name in ("east", "west"))
    series = [
        _one(HUB_LEADER.full_name, east, "1+0x60"),
        _one(HUB_LAST_SUCCESS.full_name, east, "0+60x60"),
        _one(HUB_LEADER.full_name, west, "1+0x20 0+0x40"),
        _one(HUB_LAST_SUCCESS.full_name, west, "0+60x20 stale"),
    ]
    alert = _alert("HubWithoutAnswers", **_CRITICAL, cluster="west")
    assert firing_errors(_rules(helm), series, {19: [], 55: [alert]}, tmp_path) == ""


OURS = "productionstack_status_reporter_"
GONE, BACK, LED = 25, 40, 5
"""The minutes at which all replicas are gone and are back, and for how many one must have led then."""


def _gone(ill: str, well: str = "0") -> str:
    """Return the values of a series that is ill until all replicas are gone, and then well."""
    return f"{ill}x{GONE} stale _x{BACK - GONE - 2} {well}x20"


def _of_hub(metric: str, values: str, **labels: str) -> Json:
    return _one(f"{OURS}{metric}", TARGET | labels, values)


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
        series = [*_series(leader=_gone("1", "1"), success=answers, **values), *more]
        severity = "critical" if name == "HubRightMissing" else "warning"
        alert = _alert(name, severity, namespace=NAMESPACE, **labels)
        unanswered = _alert("HubWithoutAnswers", **_CRITICAL)
        firing = {
            GONE: [alert],
            GONE + 1: [alert],
            BACK - 1: [alert, unanswered],
            BACK: [alert],
            BACK + LED: [],
            55: [],
        }
        return AlertTest(series, firing)

    assert alert_errors(_rules(helm), test) == ""


def test_a_watch_of_the_hub_that_is_lost_for_long_is_an_alert(helm: Helm, tmp_path: Path) -> None:
    """That of a reporter is not the hub's."""
    lost = _of_hub("watch_up", "1x4 0x9 1x4 0x40", kind=WATCHED)
    reporter = {"job": "stack-status-reporter", "pod": "stack-status-reporter-0"}
    other = _one(f"{OURS}watch_up", TARGET | reporter | {"kind": WATCHED}, "0x60")
    alert = _alert("HubWatchLost", "warning", namespace=NAMESPACE)
    firing = {18: [], 28: [], 31: [alert], 55: [alert]}
    assert firing_errors(_rules(helm), [*_series(), lost, other], firing, tmp_path) == ""


# ---------------------------------------------------------------- clusters


STALE_MINUTES = 5
FAILED = {"state": State.FAILED.key, "code": ""}


def _firing_of_clusters(
    helm: Helm, folder: Path, series: list[Json], firing: dict[int, list[dict[str, str]]]
) -> str:
    return firing_errors(_rules(helm), [*_series(), *series], firing, folder)


def test_each_failed_cluster_is_an_alert_for_whoever_must_act(helm: Helm, tmp_path: Path) -> None:
    series = [
        _cluster("west", "1x60", **FAILED),
        _cluster("east", "1x60", **FAILED, owner="user"),
        _cluster("north", "1x60", state=State.CURRENT.key, code=""),
        _cluster("south", "1x60", **{**FAILED, "silenced": "true"}),
    ]
    west, east = (
        _alert("ClusterFailed", **_CRITICAL, cluster=name) | {"owner": owner}
        for name, owner in (("west", "platform"), ("east", "user"))
    )
    assert _firing_of_clusters(helm, tmp_path, series, {STALE_MINUTES: [], 55: [west, east]}) == ""


def test_the_second_silent_cluster_is_an_alert_of_its_own(helm: Helm, tmp_path: Path) -> None:
    series = [
        _cluster("west", "1x60", code="Silent"),
        _cluster("east", "_x20 1x40", code="Silent"),
    ]
    west, east = (_alert("ClusterSilent", **_CRITICAL, cluster=name) for name in ("west", "east"))
    firing = {10: [west], 20 + STALE_MINUTES: [west], 55: [west, east]}
    assert _firing_of_clusters(helm, tmp_path, series, firing) == ""


def test_what_is_cured_within_the_stale_time_is_no_alert(helm: Helm, tmp_path: Path) -> None:
    series = [_cluster("west", f"1x{STALE_MINUTES - 1} stale", code="DuplicateCluster")]
    never: dict[int, list[dict[str, str]]] = {minute: [] for minute in range(1, 55)}
    assert _firing_of_clusters(helm, tmp_path, series, never) == ""


def test_a_cluster_is_still_failed_while_no_hub_answers(helm: Helm, tmp_path: Path) -> None:
    """It is over once a hub knows the clusters again, and not this one as failed."""
    gone, back = 20, 40
    known = f"1x{gone} stale _x{back - gone - 2} 1x20"
    series = [
        *_series(known=known, success=f"0+60x{gone} stale _x{back - gone - 2} {60 * back}+60x20"),
        _cluster("west", f"1x{gone} stale", **FAILED),
    ]
    failed = _alert("ClusterFailed", **_CRITICAL, cluster="west")
    unanswered = _alert("HubWithoutAnswers", **_CRITICAL)
    firing = {gone: [failed], back - 1: [failed, unanswered], back: [], 55: []}
    assert firing_errors(_rules(helm), series, firing, tmp_path) == ""


def test_a_failed_cluster_that_is_well_is_no_alert_while_others_may_be_missing(
    helm: Helm, tmp_path: Path
) -> None:
    """The engine may never answer which clusters have been there."""
    series = [
        *_series(known=""),
        _cluster("west", "1x20 stale", **FAILED),
        _cluster("west", "_x21 1x38", state=State.CURRENT.key, code=""),
        _cluster("east", "1x20 stale", **FAILED),
    ]
    west, east = (_alert("ClusterFailed", **_CRITICAL, cluster=name) for name in ("west", "east"))
    firing = {20: [west, east], 22: [east], 55: [east]}
    assert firing_errors(_rules(helm), series, firing, tmp_path) == ""


def test_a_cluster_is_still_failed_until_a_hub_that_begins_sees_a_change(
    helm: Helm, tmp_path: Path
) -> None:
    series = [
        *_series(),
        _cluster("west", "1x20 stale _x1 1x36", **FAILED),
        _cluster("west", "_x21 1x1 stale", code="NotConfirmed"),
        _cluster("east", "1x20 stale", **FAILED),
        _cluster("east", "_x21 1x1 stale", code="NotConfirmed"),
        _cluster("east", "_x23 1x36", state=State.CURRENT.key, code=""),
    ]
    west, east = (_alert("ClusterFailed", **_CRITICAL, cluster=name) for name in ("west", "east"))
    firing = {20: [west, east], 22: [west, east], 25: [west], 55: [west]}
    assert firing_errors(_rules(helm), series, firing, tmp_path) == ""


def test_what_is_unknown_below_a_current_cluster_is_an_alert_of_the_platform(
    helm: Helm, tmp_path: Path
) -> None:
    current = {"state": State.CURRENT.key, "code": ""}
    series = [
        _cluster("west", "1x60", **current, observed="false", owner="user"),
        _cluster("east", "1x60", **current),
        _cluster("north", "1x60", code="Silent", observed="false"),
    ]
    partly = _alert("ClusterPartlyUnknown", "warning", namespace=NAMESPACE, cluster="west")
    silent = _alert("ClusterSilent", **_CRITICAL, cluster="north")
    firing = {STALE_MINUTES: [], 55: [partly, silent]}
    assert _firing_of_clusters(helm, tmp_path, series, firing) == ""


def test_another_hub_in_the_same_prometheus_ends_no_alert_of_this_one(
    helm: Helm, tmp_path: Path
) -> None:
    gone, other = 20, {"hub": "elsewhere/another-status-hub", "namespace": "elsewhere"}
    series = [
        *_series(known=f"1x{gone} stale", success=f"0+60x{gone} stale", leader=f"1x{gone} stale"),
        _cluster("west", f"1x{gone} stale", **FAILED),
        _one(HUB_LEADER.full_name, TARGET | other, "1x60"),
        _one(HUB_LAST_SUCCESS.full_name, TARGET | other, "0+60x60"),
        _one(HUB_CLUSTERS.full_name, TARGET | other | {"state": "current"}, "1x60"),
        _cluster("east", "1x60", TARGET | other, **FAILED),
    ]
    failed = _alert("ClusterFailed", **_CRITICAL, cluster="west")
    unanswered = _alert("HubWithoutAnswers", **_CRITICAL)
    firing = {gone: [failed], 55: [failed, unanswered]}
    assert firing_errors(_rules(helm), series, firing, tmp_path) == ""


def test_what_another_hub_in_the_same_prometheus_lacks_is_no_alert_of_this_one(
    helm: Helm, tmp_path: Path
) -> None:
    elsewhere = {"namespace": "elsewhere"}
    lease = {"hub": "elsewhere/another-status-hub"}
    asked = {"query": QueryName.CLUSTERS.value, "result": QueryResult.PARTIAL.value}
    series = [
        *_series(),
        _one(HUB_LEADER.full_name, TARGET | elsewhere | lease, "1x60"),
        _one(HUB_QUERY_RESULTS.full_name, TARGET | elsewhere | asked, "0+2x60"),
        _one(
            HUB_DROPPED_SERIES.full_name, TARGET | elsewhere | {"why": Dropped.NO_LABEL}, "0+9x60"
        ),
        _one(HUB_OBJECTS_FAILING.full_name, TARGET | elsewhere, "2x60"),
    ]
    assert firing_errors(_rules(helm), series, {55: []}, tmp_path) == ""


# ---------------------------------------------------------------- what ends the alert on a cluster


FAILED_ALERT = _alert("ClusterFailed", **_CRITICAL, cluster="west")
SILENT_ALERT = _alert("ClusterSilent", **_CRITICAL, cluster="west")
PARTLY_ALERT = _alert("ClusterPartlyUnknown", "warning", namespace=NAMESPACE, cluster="west")
CURRENT = {"state": State.CURRENT.key, "code": ""}
QUIET, ENDS = 20, 40
"""The minutes at which a cluster falls silent, and at which that ends."""


@pytest.mark.parametrize(
    ("before", "alert"),
    [(FAILED, FAILED_ALERT), ({**CURRENT, "observed": "false"}, PARTLY_ALERT)],
    ids=["failed", "partly unknown"],
)
@pytest.mark.parametrize(
    "after", [CURRENT, {"code": "Paused"}, {}], ids=["healthy", "paused", "removed"]
)
def test_an_alert_fires_on_while_its_cluster_is_silent(
    helm: Helm,
    alert_errors: AlertErrors,
    before: dict[str, str],
    alert: dict[str, str],
    after: dict[str, str],
) -> None:
    """It ends once the cluster is healthy, paused or removed, and nothing says before that it did."""

    def test(before: dict[str, str], alert: dict[str, str], after: dict[str, str]) -> AlertTest:
        series = [
            *_series(),
            _cluster("west", f"1x{QUIET - 1} stale", **before),
            _cluster("west", f"_x{QUIET} 1x{ENDS - QUIET - 1} stale", code="Silent"),
        ]
        if after:
            series.append(_cluster("west", f"_x{ENDS} 1x20", **after))
        firing = {
            QUIET - 1: [alert],
            QUIET + 1: [alert],
            ENDS - 1: [alert, SILENT_ALERT],
            ENDS: [],
            55: [],
        }
        return AlertTest(series, firing)

    assert alert_errors(_rules(helm), test) == ""


def test_an_alert_fires_on_while_the_hub_is_gone_after_a_silence(
    helm: Helm, tmp_path: Path
) -> None:
    gone = 30
    series = [
        *_series(known=f"1x{gone} stale", success=f"0+60x{gone} stale"),
        _cluster("west", f"1x{QUIET - 1} stale", **FAILED),
        _cluster("west", f"_x{QUIET} 1x{gone - QUIET} stale", code="Silent"),
    ]
    unanswered = _alert("HubWithoutAnswers", **_CRITICAL)
    firing = {gone: [FAILED_ALERT, SILENT_ALERT], 55: [FAILED_ALERT, SILENT_ALERT, unanswered]}
    assert firing_errors(_rules(helm), series, firing, tmp_path) == ""


def test_a_recovery_is_shown_though_other_clusters_may_be_missing(
    helm: Helm, tmp_path: Path
) -> None:
    """A hub that begins and cannot read the history shows clusters, and no numbers of them."""
    begins = 20
    series = [
        *_series(known=f"1x{begins - 1} stale"),
        *(_cluster(name, f"1x{begins - 1} stale", **FAILED) for name in ("west", "east")),
        _cluster("west", f"_x{begins} 1x40", **CURRENT),
    ]
    east = FAILED_ALERT | {"cluster": "east"}
    firing = {begins - 1: [FAILED_ALERT, east], begins: [east], 55: [east]}
    assert firing_errors(_rules(helm), series, firing, tmp_path) == ""
