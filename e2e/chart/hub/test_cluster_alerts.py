"""The alerts on the clusters of a hub: when each fires, and what ends it."""

from pathlib import Path

import pytest

from e2e.chart.alerts.promtool import AlertTest, firing_errors
from e2e.chart.conftest import AlertErrors
from e2e.chart.helm import Helm
from e2e.chart.hub.hub_series import (
    CRITICAL,
    TARGET,
    cluster_series,
    hub_alert,
    hub_rules,
    hub_series,
    one_series,
)
from e2e.chart.hub.rendered import NAMESPACE, Json
from reporter.hub.metric_declarations import (
    HUB_CLUSTERS,
    HUB_DROPPED_SERIES,
    HUB_LAST_SUCCESS,
    HUB_LEADER,
    HUB_OBJECTS_FAILING,
    HUB_QUERY_RESULTS,
)
from reporter.model.fleet_status import Dropped, QueryName, QueryResult
from reporter.model.states import State


pytestmark = pytest.mark.controlplane


STALE_MINUTES = 5
FAILED = {"state": State.FAILED.key, "code": ""}


def _firing_of_clusters(
    helm: Helm, folder: Path, series: list[Json], firing: dict[int, list[dict[str, str]]]
) -> str:
    return firing_errors(hub_rules(helm), [*hub_series(), *series], firing, folder)


def test_each_failed_cluster_is_an_alert_for_whoever_must_act(helm: Helm, tmp_path: Path) -> None:
    series = [
        cluster_series("west", "1x60", **FAILED),
        cluster_series("east", "1x60", **FAILED, owner="user"),
        cluster_series("north", "1x60", state=State.CURRENT.key, code=""),
        cluster_series("south", "1x60", **{**FAILED, "silenced": "true"}),
    ]
    west, east = (
        hub_alert("ClusterFailed", **CRITICAL, cluster=name) | {"owner": owner}
        for name, owner in (("west", "platform"), ("east", "user"))
    )
    assert _firing_of_clusters(helm, tmp_path, series, {STALE_MINUTES: [], 55: [west, east]}) == ""


def test_the_second_silent_cluster_is_an_alert_of_its_own(helm: Helm, tmp_path: Path) -> None:
    series = [
        cluster_series("west", "1x60", code="Silent"),
        cluster_series("east", "_x20 1x40", code="Silent"),
    ]
    west, east = (
        hub_alert("ClusterSilent", **CRITICAL, cluster=name) for name in ("west", "east")
    )
    firing = {10: [west], 20 + STALE_MINUTES: [west], 55: [west, east]}
    assert _firing_of_clusters(helm, tmp_path, series, firing) == ""


def test_what_is_cured_within_the_stale_time_is_no_alert(helm: Helm, tmp_path: Path) -> None:
    series = [cluster_series("west", f"1x{STALE_MINUTES - 1} stale", code="DuplicateCluster")]
    never: dict[int, list[dict[str, str]]] = {minute: [] for minute in range(1, 55)}
    assert _firing_of_clusters(helm, tmp_path, series, never) == ""


def test_a_cluster_is_still_failed_while_no_hub_answers(helm: Helm, tmp_path: Path) -> None:
    """It is over once a hub knows the clusters again, and not this one as failed."""
    gone, back = 20, 40
    known = f"1x{gone} stale _x{back - gone - 2} 1x20"
    series = [
        *hub_series(
            known=known, success=f"0+60x{gone} stale _x{back - gone - 2} {60 * back}+60x20"
        ),
        cluster_series("west", f"1x{gone} stale", **FAILED),
    ]
    failed = hub_alert("ClusterFailed", **CRITICAL, cluster="west")
    unanswered = hub_alert("HubWithoutAnswers", **CRITICAL)
    firing = {gone: [failed], back - 1: [failed, unanswered], back: [], 55: []}
    assert firing_errors(hub_rules(helm), series, firing, tmp_path) == ""


def test_a_failed_cluster_that_is_well_is_no_alert_while_others_may_be_missing(
    helm: Helm, tmp_path: Path
) -> None:
    """The engine may never answer which clusters have been there."""
    series = [
        *hub_series(known=""),
        cluster_series("west", "1x20 stale", **FAILED),
        cluster_series("west", "_x21 1x38", state=State.CURRENT.key, code=""),
        cluster_series("east", "1x20 stale", **FAILED),
    ]
    west, east = (
        hub_alert("ClusterFailed", **CRITICAL, cluster=name) for name in ("west", "east")
    )
    firing = {20: [west, east], 22: [east], 55: [east]}
    assert firing_errors(hub_rules(helm), series, firing, tmp_path) == ""


def test_a_cluster_is_still_failed_until_a_hub_that_begins_sees_a_change(
    helm: Helm, tmp_path: Path
) -> None:
    series = [
        *hub_series(),
        cluster_series("west", "1x20 stale _x1 1x36", **FAILED),
        cluster_series("west", "_x21 1x1 stale", code="NotConfirmed"),
        cluster_series("east", "1x20 stale", **FAILED),
        cluster_series("east", "_x21 1x1 stale", code="NotConfirmed"),
        cluster_series("east", "_x23 1x36", state=State.CURRENT.key, code=""),
    ]
    west, east = (
        hub_alert("ClusterFailed", **CRITICAL, cluster=name) for name in ("west", "east")
    )
    firing = {20: [west, east], 22: [west, east], 25: [west], 55: [west]}
    assert firing_errors(hub_rules(helm), series, firing, tmp_path) == ""


def test_what_is_unknown_below_a_current_cluster_is_an_alert_of_the_platform(
    helm: Helm, tmp_path: Path
) -> None:
    current = {"state": State.CURRENT.key, "code": ""}
    series = [
        cluster_series("west", "1x60", **current, observed="false", owner="user"),
        cluster_series("east", "1x60", **current),
        cluster_series("north", "1x60", code="Silent", observed="false"),
    ]
    partly = hub_alert("ClusterPartlyUnknown", "warning", namespace=NAMESPACE, cluster="west")
    silent = hub_alert("ClusterSilent", **CRITICAL, cluster="north")
    firing = {STALE_MINUTES: [], 55: [partly, silent]}
    assert _firing_of_clusters(helm, tmp_path, series, firing) == ""


def test_another_hub_in_the_same_prometheus_ends_no_alert_of_this_one(
    helm: Helm, tmp_path: Path
) -> None:
    gone, other = 20, {"hub": "elsewhere/another-status-hub", "namespace": "elsewhere"}
    series = [
        *hub_series(
            known=f"1x{gone} stale", success=f"0+60x{gone} stale", leader=f"1x{gone} stale"
        ),
        cluster_series("west", f"1x{gone} stale", **FAILED),
        one_series(HUB_LEADER.full_name, TARGET | other, "1x60"),
        one_series(HUB_LAST_SUCCESS.full_name, TARGET | other, "0+60x60"),
        one_series(HUB_CLUSTERS.full_name, TARGET | other | {"state": "current"}, "1x60"),
        cluster_series("east", "1x60", TARGET | other, **FAILED),
    ]
    failed = hub_alert("ClusterFailed", **CRITICAL, cluster="west")
    unanswered = hub_alert("HubWithoutAnswers", **CRITICAL)
    firing = {gone: [failed], 55: [failed, unanswered]}
    assert firing_errors(hub_rules(helm), series, firing, tmp_path) == ""


def test_what_another_hub_in_the_same_prometheus_lacks_is_no_alert_of_this_one(
    helm: Helm, tmp_path: Path
) -> None:
    elsewhere = {"namespace": "elsewhere"}
    lease = {"hub": "elsewhere/another-status-hub"}
    asked = {"query": QueryName.CLUSTERS.value, "result": QueryResult.PARTIAL.value}
    series = [
        *hub_series(),
        one_series(HUB_LEADER.full_name, TARGET | elsewhere | lease, "1x60"),
        one_series(HUB_QUERY_RESULTS.full_name, TARGET | elsewhere | asked, "0+2x60"),
        one_series(
            HUB_DROPPED_SERIES.full_name, TARGET | elsewhere | {"why": Dropped.NO_LABEL}, "0+9x60"
        ),
        one_series(HUB_OBJECTS_FAILING.full_name, TARGET | elsewhere, "2x60"),
    ]
    assert firing_errors(hub_rules(helm), series, {55: []}, tmp_path) == ""


# ---------------------------------------------------------------- what ends the alert on a cluster


FAILED_ALERT = hub_alert("ClusterFailed", **CRITICAL, cluster="west")
SILENT_ALERT = hub_alert("ClusterSilent", **CRITICAL, cluster="west")
PARTLY_ALERT = hub_alert("ClusterPartlyUnknown", "warning", namespace=NAMESPACE, cluster="west")
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
            *hub_series(),
            cluster_series("west", f"1x{QUIET - 1} stale", **before),
            cluster_series("west", f"_x{QUIET} 1x{ENDS - QUIET - 1} stale", code="Silent"),
        ]
        if after:
            series.append(cluster_series("west", f"_x{ENDS} 1x20", **after))
        firing = {
            QUIET - 1: [alert],
            QUIET + 1: [alert],
            ENDS - 1: [alert, SILENT_ALERT],
            ENDS: [],
            55: [],
        }
        return AlertTest(series, firing)

    assert alert_errors(hub_rules(helm), test) == ""


def test_an_alert_fires_on_while_the_hub_is_gone_after_a_silence(
    helm: Helm, tmp_path: Path
) -> None:
    gone = 30
    series = [
        *hub_series(known=f"1x{gone} stale", success=f"0+60x{gone} stale"),
        cluster_series("west", f"1x{QUIET - 1} stale", **FAILED),
        cluster_series("west", f"_x{QUIET} 1x{gone - QUIET} stale", code="Silent"),
    ]
    unanswered = hub_alert("HubWithoutAnswers", **CRITICAL)
    firing = {gone: [FAILED_ALERT, SILENT_ALERT], 55: [FAILED_ALERT, SILENT_ALERT, unanswered]}
    assert firing_errors(hub_rules(helm), series, firing, tmp_path) == ""


def test_a_recovery_is_shown_though_other_clusters_may_be_missing(
    helm: Helm, tmp_path: Path
) -> None:
    """A hub that begins and cannot read the history shows clusters, and no numbers of them."""
    begins = 20
    series = [
        *hub_series(known=f"1x{begins - 1} stale"),
        *(cluster_series(name, f"1x{begins - 1} stale", **FAILED) for name in ("west", "east")),
        cluster_series("west", f"_x{begins} 1x40", **CURRENT),
    ]
    east = FAILED_ALERT | {"cluster": "east"}
    firing = {begins - 1: [FAILED_ALERT, east], begins: [east], 55: [east]}
    assert firing_errors(hub_rules(helm), series, firing, tmp_path) == ""
