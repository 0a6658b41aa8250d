"""Each alert of the chart fires in the states it is for and in no other, and names the cluster."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from devcluster.example.team import TEAM
from e2e.chart.alerts import states as produced
from e2e.chart.alerts.capture import States
from e2e.chart.alerts.expected import (
    BEFORE,
    LASTS,
    READ_FROM_PAGES,
    Alert,
    expected_alerts,
    firing_by_minute,
    missing_alerts,
    own_alerts,
    phases,
    rights_unknown,
    silence_alerts,
    stalled_alerts,
    steady,
    unknown_alerts,
)
from e2e.chart.alerts.promtool import (
    AlertTest,
    alerts_of,
    errors_by_name,
    firing_errors,
    metrics_of,
)
from e2e.chart.alerts.texts import text_test
from e2e.chart.alerts.timeline import (
    POD_MONITOR,
    SERVICE_MONITOR,
    samples,
    scraped,
    series_of,
)
from e2e.chart.conftest import AlertErrors
from reporter.evaluation.registry import SPECS
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.model.silences import SilenceState
from tests.integration.process.reporter_process import LEASES
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.sample import one_in
from tests.support.status_objects import STATUSES


pytestmark = pytest.mark.controlplane
"""helm and promtool are built together with the control plane."""

Json = dict[str, Any]
TESTED_APART = {
    "ProductionStackMetricsPagesUnreadable",
    "ProductionStackStatusReporterPassesStale",
    "ProductionStackStatusReporterSeriesLeftOut",
    "ProductionStackStatusReporterStatusOutdated",
    "ProductionStackStalled",
}
"""
Those that no page of a state has: see test_unreadable_pages, test_silent, test_left_out and test_stalled.
"""


# ---------------------------------------------------------------- each state


STATES = [each.__name__ for each in produced.ALL]
CLUSTERS = [
    *(("", each) for each in STATES),
    *one_in(8, (("west", each) for each in STATES)),
]


@pytest.mark.parametrize(("cluster", "name"), CLUSTERS)
def test_each_state_fires_its_alerts_and_no_other(
    rules: Json, states: States, name: str, cluster: str, alert_errors: AlertErrors
) -> None:
    """With a cluster, a second one is healthy all the time, as in a central Prometheus."""
    metrics = metrics_of(rules)

    def test(name: str, cluster: str) -> AlertTest:
        healthy, state = states["healthy"], states[name]
        external = {"cluster": cluster} if cluster else {}
        series = [*series_of(phases(healthy, state), metrics, **external)]
        if cluster:
            series += series_of((steady(healthy, BEFORE + LASTS),), metrics, cluster="east")
        return AlertTest(series, firing_by_minute(name, state, **external))

    assert alert_errors(rules, test) == ""


def test_every_alert_fires_in_some_state(rules: Json, states: States) -> None:
    fired = {
        each["alertname"]
        for name, state in states.of().items()
        for each in expected_alerts(name, state)
    }
    assert fired | TESTED_APART == {each["alert"] for each in alerts_of(rules)}
    assert not fired & TESTED_APART


def test_nothing_is_unknown_where_the_stack_can_be_read(states: States) -> None:
    for name in ("healthy", "finding", "no_leader", "two_leaders", "writes_refused", "dropped"):
        assert unknown_alerts(states[name]) == []


def test_every_reason_can_be_unknown(states: States) -> None:
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


def test_what_is_missing_and_stalled_in_each_state(states: States) -> None:
    """The states above evaluate these alerts for what their pages show; this is what they show."""
    found = states.of()
    missing = {
        name: {(each["verb"], each["resource"]) for each in missing_alerts(state)}
        for name, state in found.items()
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
    assert [name for name, state in found.items() if rights_unknown(state)] == ["reviews_fail"]
    stalled = {
        name: [(each["workload_namespace"], each["reason"]) for each in stalled_alerts(state)]
        for name, state in found.items()
        if stalled_alerts(state)
    }
    of_bbr = [("", "clusterBBRNotReady")]
    scaled = ("finding", "writes_refused", "one_write_throttled", "dropped", "store_refused")
    by_bbr = dict.fromkeys(scaled, of_bbr)
    assert stalled == {
        **by_bbr,
        "suppressed": [("", "clusterIstioControlPlaneNotReady")],
        "harness_out": [(TEAM, "modelharnessExtAuthzProviderMissing")],
    }


def test_each_state_but_active_has_silences_in_one_state_of_the_cluster(
    states: States,
) -> None:
    found = {
        name: [each["state"] for each in silence_alerts(s)] for name, s in states.of().items()
    }
    shown = found.pop("silences_not_in_effect")
    assert set(shown) == set(SilenceState) - {SilenceState.ACTIVE}
    assert not any(found.values())


def test_an_event_that_is_dropped_before_the_first_scrape_is_noticed(
    rules: Json, states: States, tmp_path: Path
) -> None:
    state = states["dropped"]
    series = [*series_of((steady(state, 30),), metrics_of(rules), cluster="west")]
    expected = [each | {"cluster": "west"} for each in expected_alerts("dropped", state)]
    assert firing_errors(rules, series, {29: expected}, tmp_path) == ""


# ---------------------------------------------------------------- ways to scrape


# The cluster is healthy before each; the second has a finding too.
@pytest.mark.parametrize("name", ["two_leaders", "writes_refused"])
def test_two_monitors_and_two_prometheus_servers_change_nothing(
    rules: Json, states: States, name: str, alert_errors: AlertErrors
) -> None:
    def test(name: str) -> AlertTest:
        state = states[name]
        series = [
            each
            for server in ("a", "b")
            for each in series_of(
                phases(states["healthy"], state),
                metrics_of(rules),
                monitors=(SERVICE_MONITOR, POD_MONITOR),
                cluster="west",
                prometheus_replica=server,
            )
        ]
        return AlertTest(series, firing_by_minute(name, state, cluster="west"))

    assert alert_errors(rules, test) == ""


def test_scraping_renames_no_label(states: States) -> None:
    """So the rules hold with honorLabels and without."""
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


SUMMARIES = {
    "no_leader": "No replica of the status reporter is the leader in cluster west",
    "two_leaders": "Several replicas of the status reporter are the leader in cluster west",
    "writes_refused": "Events of the status reporter are not accepted (refused) in cluster west",
    "dropped": "An Event of the status reporter was dropped in cluster west",
    "mirrors_refused": "Events beside InferenceSets are not accepted (refused) in cluster west",
    "objects_refused": "The status of some ProductionStackStatuses is not written in cluster west",
    "objects_unread": "ProductionStackStatuses cannot be read in cluster west",
    "store_refused": "Episodes are not kept as HealthEvents in cluster west",
}
BLOCKED = "is kept from being Current by"
STALLED = {
    "finding": f"The control plane {BLOCKED} clusterBBRNotReady in cluster west",
    "harness_out": f"Namespace {TEAM} {BLOCKED} modelharnessExtAuthzProviderMissing in cluster west",
}


def _texts(states: States) -> Iterator[tuple[str, Sequence[Alert], Sequence[str]]]:
    """Yield states, alerts of one rule that fire in them, and their summaries."""
    for name, summary in SUMMARIES.items():
        yield name, [own_alerts(name)[-1]], [summary]
    (lacks,) = missing_alerts(states["writes_refused"])
    yield "writes_refused", [lacks], ["The status reporter may not create events in cluster west"]
    name = "silences_not_in_effect"
    yield (
        name,
        silence_alerts(states[name]),
        [
            f"Silences of findings are {each} in cluster west"
            for each in ("expired", "inapplicable", "malformed")
        ],
    )
    for name, summary in STALLED.items():
        yield name, stalled_alerts(states[name]), [summary]
    alerts = unknown_alerts(states["unknown"])
    summaries = [
        f"{each['reason']} cannot be evaluated"
        + (f" in namespace {space}" if (space := each["workload_namespace"]) else "")
        + " in cluster west"
        for each in alerts
    ]
    yield "unknown", alerts, summaries


def test_texts_name_cluster_and_namespace(rules: Json, states: States, tmp_path: Path) -> None:
    tests = {
        f"{name} {alerts[0]['alertname']}": text_test(rules, states, name, alerts, summaries)
        for name, alerts, summaries in _texts(states)
    }
    assert len(tests) == len([*_texts(states)])
    errors = errors_by_name(rules, tests, tmp_path)
    assert {name: error for name, error in errors.items() if error} == {}
