"""
Each alert of the chart fires in the states it is for and in no other, and names the cluster.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts import states as produced
from e2e.chart.alerts.expected import (
    BEFORE,
    HEALTHY_YET,
    LASTS,
    LATE,
    OURS,
    OVERDUE,
    READ_FROM_PAGES,
    REPORTER_SILENT,
    STATUS_OUTDATED,
    Alert,
    expected_alerts,
    firing_by_minute,
    missing_alerts,
    own_alerts,
    phases,
    rights_unknown,
    stalled_alerts,
    steady,
    unknown_alerts,
)
from e2e.chart.alerts.promtool import firing_errors, metrics_of
from e2e.chart.alerts.states import State
from e2e.chart.alerts.texts import text_errors
from e2e.chart.alerts.timeline import (
    POD_MONITOR,
    SERVICE_MONITOR,
    Phase,
    samples,
    scraped,
    series_of,
)
from reporter.embedded.example.team import TEAM
from reporter.model.kinds.productionstack.health_events import HEALTH_EVENTS
from reporter.stages.probes.specs import SPECS
from tests.integration.process.reporter_process import LEASES
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.status_objects import STATUSES


pytestmark = pytest.mark.controlplane
"""
helm and promtool are built together with the control plane.
"""

Json = dict[str, Any]
PRODUCED = (
    produced.healthy,
    produced.one_cut_off,
    produced.watch_lost,
    produced.discovery_fails,
    produced.finding,
    produced.suppressed,
    produced.unknown,
    produced.no_leader,
    produced.two_leaders,
    produced.writes_refused,
    produced.one_write_throttled,
    produced.dropped,
    produced.objects_refused,
    produced.objects_unread,
    produced.harness_out,
    produced.reviews_fail,
    produced.store_refused,
)


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, State]:
    return asyncio.run(produced.produce(tmp_path_factory.mktemp("states"), PRODUCED))


# ---------------------------------------------------------------- each state


@pytest.mark.parametrize("name", [each.__name__ for each in PRODUCED])
@pytest.mark.parametrize("cluster", ["", "west"])
def test_each_state_fires_its_alerts_and_no_other(
    rules: Json, states: Mapping[str, State], name: str, cluster: str, tmp_path: Path
) -> None:
    """
    With a cluster, a second one is healthy all the time, as in a central Prometheus.
    """
    healthy, state, metrics = states["healthy"], states[name], metrics_of(rules)
    external = {"cluster": cluster} if cluster else {}
    series = [*series_of(phases(healthy, state), metrics, **external)]
    if cluster:
        series += series_of((steady(healthy, BEFORE + LASTS),), metrics, cluster="east")
    firing = firing_by_minute(name, state, **external)
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_nothing_is_unknown_where_the_stack_can_be_read(states: Mapping[str, State]) -> None:
    for name in ("healthy", "finding", "no_leader", "two_leaders", "writes_refused", "dropped"):
        assert unknown_alerts(states[name]) == []


def test_every_reason_can_be_unknown(states: Mapping[str, State]) -> None:
    """
    The states above evaluate the alert for every reason that is on and needs no source; those about the
    pages of Ready pods have a test of their own.
    """
    entries = DEFAULT_CATALOGUE.entries.values()
    reasons = {e.reason for e in entries if e.is_evaluated and SPECS[e.probe].source is None}
    reasons -= READ_FROM_PAGES - {"inferencesetWeightDownloadSlow"}
    reasons -= {"clusterHealthEventStoreFull"}  # it reads nothing of the cluster
    lost = [*unknown_alerts(states["one_cut_off"]), *unknown_alerts(states["discovery_fails"])]
    assert {each["reason"] for each in lost} == reasons
    for name in ("unknown", "watch_lost"):
        affected = {each["reason"] for each in unknown_alerts(states[name])}
        assert "inferencesetModelPodsNotReady" in affected
        assert affected < reasons


@pytest.mark.parametrize("cluster", ["", "west"])
def test_alert_fires_for_a_reporter_that_is_gone(
    rules: Json, states: Mapping[str, State], cluster: str, tmp_path: Path
) -> None:
    healthy, metrics = states["healthy"], metrics_of(rules)
    external = {"cluster": cluster} if cluster else {}
    gone = 180
    series = [*series_of((steady(healthy, BEFORE), Phase(gone)), metrics, **external)]
    if cluster:
        series += series_of((steady(healthy, BEFORE + gone),), metrics, cluster="east")
    expected = [REPORTER_SILENT | external]
    firing: dict[int, list[Alert]] = {
        HEALTHY_YET: [],
        OVERDUE: expected,
        BEFORE + gone - 1: expected,
    }
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_alert_fires_for_a_reporter_that_was_never_scraped(rules: Json, tmp_path: Path) -> None:
    other = [{"series": "up{}", "values": "1x30"}]
    assert firing_errors(rules, other, {29: [REPORTER_SILENT]}, tmp_path) == ""


def test_alert_fires_for_a_leader_whose_status_no_longer_changes(
    rules: Json, states: Mapping[str, State], tmp_path: Path
) -> None:
    """
    Evaluate the rules against the same pages for longer than the reporter may take for a pass.
    """
    healthy, metrics = states["healthy"], metrics_of(rules)
    stuck = (steady(healthy, BEFORE), Phase(LASTS, healthy.after))
    series = [*series_of(stuck, metrics, cluster="west")]
    expected = [STATUS_OUTDATED | {"cluster": "west"}]
    firing = {HEALTHY_YET: [], OVERDUE: expected, LATE: expected}
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_alert_fires_for_a_leader_that_cannot_make_a_status(
    rules: Json, states: Mapping[str, State], tmp_path: Path
) -> None:
    healthy, metrics = states["healthy"], metrics_of(rules)
    without = {name for name in metrics if not name.startswith(f"{OURS}rollup_")}
    series = [*series_of((steady(healthy, LASTS),), without, cluster="west")]
    expected = [STATUS_OUTDATED | {"cluster": "west"}]
    assert firing_errors(rules, series, {1: [], 20: expected}, tmp_path) == ""


def test_what_is_missing_and_stalled_in_each_state(states: Mapping[str, State]) -> None:
    """
    The states above evaluate these alerts for what their pages show; this is what they show.
    """
    missing = {
        name: {(each["verb"], each["resource"]) for each in missing_alerts(state)}
        for name, state in states.items()
        if missing_alerts(state)
    }
    assert {("create", "events"), ("list", "pods")} <= missing.pop("one_cut_off")
    leases = {(verb, LEASES) for verb in ("create", "get", "update")}
    assert missing == {
        "unknown": {("list", "pods")},
        "watch_lost": {("watch", "pods")},
        "no_leader": leases,
        "two_leaders": leases,
        "writes_refused": {("create", "events")},
        "objects_refused": {("patch", f"{STATUSES}/status")},
        "store_refused": {("create", HEALTH_EVENTS.group_resource)},
    }
    assert [name for name, state in states.items() if rights_unknown(state)] == ["reviews_fail"]
    stalled = {
        name: [(each["scope"], each["reason"]) for each in stalled_alerts(state)]
        for name, state in states.items()
        if stalled_alerts(state)
    }
    of_bbr = [("cluster", "clusterBBRNotReady")]
    by_bbr = dict.fromkeys(
        ("finding", "writes_refused", "store_refused", "one_write_throttled", "dropped"), of_bbr
    )
    assert stalled == {
        **by_bbr,
        "suppressed": [("cluster", "clusterIstioControlPlaneNotReady")],
        "harness_out": [("namespace", "modelharnessExtAuthzProviderMissing")],
    }


def test_an_event_that_is_dropped_before_the_first_scrape_is_noticed(
    rules: Json, states: Mapping[str, State], tmp_path: Path
) -> None:
    state = states["dropped"]
    series = [*series_of((steady(state, 30),), metrics_of(rules), cluster="west")]
    expected = [each | {"cluster": "west"} for each in expected_alerts("dropped", state)]
    assert firing_errors(rules, series, {29: expected}, tmp_path) == ""


# ---------------------------------------------------------------- ways to scrape


@pytest.mark.parametrize("name", ["healthy", "finding", "two_leaders", "writes_refused"])
def test_two_monitors_and_two_prometheus_servers_change_nothing(
    rules: Json, states: Mapping[str, State], name: str, tmp_path: Path
) -> None:
    healthy, state = states["healthy"], states[name]
    series = [
        each
        for server in ("a", "b")
        for each in series_of(
            phases(healthy, state),
            metrics_of(rules),
            monitors=(SERVICE_MONITOR, POD_MONITOR),
            cluster="west",
            prometheus_replica=server,
        )
    ]
    firing = firing_by_minute(name, state, cluster="west")
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_scraping_renames_no_label(states: Mapping[str, State]) -> None:
    """
    So the rules hold with honorLabels and without.
    """
    target = dict.fromkeys(("namespace", "pod", "instance", "job", "service", "endpoint"), "x")
    target |= dict.fromkeys(("container", "cluster", "prometheus_replica", "node"), "x")
    assert "exported_namespace" in scraped({"namespace": "y"}, target)
    names = {
        label
        for page in states["finding"].after
        for _, labels in samples(page)
        for label in scraped(dict(labels), target)
    }
    assert not [each for each in names if each.startswith("exported_")]
    assert "workload_namespace" in names


# ---------------------------------------------------------------- texts


def test_texts_name_cluster_namespace_and_number(
    rules: Json, states: Mapping[str, State], tmp_path: Path
) -> None:
    wanted = {
        "no_leader": "No replica of the status reporter is the leader in cluster west",
        "two_leaders": "2 replicas of the status reporter are the leader in cluster west",
        "writes_refused": "Events of the status reporter are not accepted (refused) in cluster west",
        "dropped": "An Event of the status reporter was dropped in cluster west",
        "objects_refused": "The status of 1 ProductionStackStatuses is not written in cluster west",
        "objects_unread": "ProductionStackStatuses cannot be read in cluster west",
        "store_refused": "Episodes are not kept as HealthEvents in cluster west",
    }
    for name, summary in wanted.items():
        alert = own_alerts(name)[-1]
        assert text_errors(rules, states, name, [alert], [summary], tmp_path) == ""
    may_not = "The status reporter may not create events in cluster west"
    (lacks,) = missing_alerts(states["writes_refused"])
    assert text_errors(rules, states, "writes_refused", [lacks], [may_not], tmp_path) == ""
    blocked = "is kept from being Current by"
    stalled = {
        "finding": f"The control plane {blocked} clusterBBRNotReady in cluster west",
        "harness_out": f"Namespace {TEAM} {blocked} modelharnessExtAuthzProviderMissing in cluster west",
    }
    for name, summary in stalled.items():
        kept = stalled_alerts(states[name])
        assert text_errors(rules, states, name, kept, [summary], tmp_path) == ""
    alerts = unknown_alerts(states["unknown"])
    summaries = [
        f"{each['reason']} cannot be evaluated"
        + (f" in namespace {space}" if (space := each["workload_namespace"]) else "")
        + " in cluster west"
        for each in alerts
    ]
    assert text_errors(rules, states, "unknown", alerts, summaries, tmp_path) == ""
