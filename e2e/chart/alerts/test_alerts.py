"""
Each alert of the chart fires in the states it is for and in no other, and names the cluster.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from e2e.chart import CHART, golden
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
    Alert,
    expected_alerts,
    firing_by_minute,
    unknown_alerts,
)
from e2e.chart.alerts.promtool import firing_errors
from e2e.chart.alerts.states import State
from e2e.chart.alerts.timeline import (
    POD_MONITOR,
    SERVICE_MONITOR,
    Phase,
    samples,
    scraped,
    selector,
    series_of,
)
from e2e.chart.helm import Helm
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


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
    produced.store_refused,
)


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, State]:
    return asyncio.run(produced.produce(tmp_path_factory.mktemp("states"), PRODUCED))


@pytest.fixture
def rules(helm: Helm) -> Json:
    enabled = (
        "--set=prometheusRule.enabled=true,statusObjects.enabled=true,store.backend=healthevents"
    )
    rendered = helm.render(CHART, enabled, golden.OPERATOR)
    (found,) = (each["spec"] for each in rendered if each["kind"] == "PrometheusRule")
    return dict(found)


def _metrics(rules: Json) -> set[str]:
    return {name for rule in _rules(rules) for name in re.findall(rf"{OURS}\w+", rule["expr"])}


def _rules(rules: Json) -> Iterator[Json]:
    for group in rules["groups"]:
        yield from group["rules"]


def _phases(healthy: State, state: State) -> tuple[Phase, ...]:
    return Phase(BEFORE, healthy.after), Phase(LASTS, state.before, state.after)


# ---------------------------------------------------------------- each state


@pytest.mark.parametrize("name", [each.__name__ for each in PRODUCED])
@pytest.mark.parametrize("cluster", ["", "west"])
def test_each_state_fires_its_alerts_and_no_other(
    rules: Json, states: Mapping[str, State], name: str, cluster: str, tmp_path: Path
) -> None:
    """
    With a cluster, a second one is healthy all the time, as in a central Prometheus.
    """
    healthy, state, metrics = states["healthy"], states[name], _metrics(rules)
    external = {"cluster": cluster} if cluster else {}
    series = [*series_of(_phases(healthy, state), metrics, **external)]
    if cluster:
        steady = (Phase(BEFORE + LASTS, healthy.after),)
        series += series_of(steady, metrics, cluster="east")
    firing = firing_by_minute(name, state, **external)
    assert firing_errors(rules, series, firing, tmp_path) == ""


def test_nothing_is_unknown_where_the_stack_can_be_read(states: Mapping[str, State]) -> None:
    for name in ("healthy", "finding", "no_leader", "two_leaders", "writes_refused", "dropped"):
        assert unknown_alerts(states[name]) == []


def test_every_reason_can_be_unknown(states: Mapping[str, State]) -> None:
    """
    The states above evaluate the alert for every reason that is on; those about the pages of Ready pods
    have a test of their own.
    """
    reasons = {e.reason for e in DEFAULT_CATALOGUE.entries.values() if e.is_evaluated}
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
    healthy, metrics = states["healthy"].after, _metrics(rules)
    external = {"cluster": cluster} if cluster else {}
    gone = 180
    series = [*series_of((Phase(BEFORE, healthy), Phase(gone)), metrics, **external)]
    if cluster:
        series += series_of((Phase(BEFORE + gone, healthy),), metrics, cluster="east")
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


def test_an_event_that_is_dropped_before_the_first_scrape_is_noticed(
    rules: Json, states: Mapping[str, State], tmp_path: Path
) -> None:
    state = states["dropped"]
    series = [*series_of((Phase(30, state.after),), _metrics(rules), cluster="west")]
    expected = [each | {"cluster": "west"} for each in expected_alerts("dropped", state)]
    assert firing_errors(rules, series, {29: expected}, tmp_path) == ""


# ---------------------------------------------------------------- metrics pages


def _page_series(pages: Mapping[str, int], *, cluster: str) -> Iterator[Json]:
    """
    Yield the series of a reporter with so many pages by outcome, which cannot evaluate two reasons.
    """
    target = {"namespace": "kaito-system", "pod": "reporter-0", "cluster": cluster}
    values = {("leader", ""): 1}
    values |= {("scrape_pages", f'outcome="{outcome}"'): n for outcome, n in pages.items()}
    for reason in sorted(READ_FROM_PAGES):
        values["unknown", f'layer="x",reason="{reason}",workload_namespace="team-a"'] = 1
    for (name, labels), value in values.items():
        series = selector(OURS + name, target).replace("{", f"{{{labels}," if labels else "{")
        yield {"series": series, "values": f"{value}x{LASTS}"}


@pytest.mark.parametrize(
    ("read", "failed", "unreadable"), [(0, 3, True), (1, 3, False), (0, 0, False)]
)
def test_one_alert_stands_for_all_namespaces_while_no_page_can_be_read(
    rules: Json, tmp_path: Path, read: int, failed: int, unreadable: bool
) -> None:
    pages = {"read": read, "failed": failed, "new": 0}
    series = [*_page_series(pages, cluster="west")]
    series += _page_series({"read": 5, "failed": 0, "new": 0}, cluster="east")
    found = {"namespace": "kaito-system", "severity": "warning"}

    def unknown(cluster: str) -> list[Alert]:
        labels = {"layer": "x", "workload_namespace": "team-a", "cluster": cluster}
        name = {"alertname": "ProductionStackReasonUnknown"}
        return [{**found, **name, **labels, "reason": each} for each in sorted(READ_FROM_PAGES)]

    one = {"alertname": "ProductionStackMetricsPagesUnreadable", "cluster": "west"}
    west = [{**found, **one, "outcome": "read"}] if unreadable else unknown("west")
    firing: dict[int, list[Alert]] = {50: [], LASTS - 1: [*unknown("east"), *west]}
    assert firing_errors(rules, series, firing, tmp_path) == ""


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
            _phases(healthy, state),
            _metrics(rules),
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
        alert = expected_alerts(name, states[name])[-1]
        assert _text_errors(rules, states, name, [alert], [summary], tmp_path) == ""
    alerts = unknown_alerts(states["unknown"])
    summaries = [
        f"{each['reason']} cannot be evaluated"
        + (f" in namespace {space}" if (space := each["workload_namespace"]) else "")
        + " in cluster west"
        for each in alerts
    ]
    assert _text_errors(rules, states, "unknown", alerts, summaries, tmp_path) == ""


def _text_errors(
    rules: Json,
    states: Mapping[str, State],
    name: str,
    alerts: Sequence[Alert],
    summaries: Sequence[str],
    folder: Path,
) -> str:
    """
    Compare the summaries of the alerts of one rule; the other texts are those of the rule.
    """
    rule = next(each for each in _rules(rules) if each["alert"] == alerts[0]["alertname"])
    phases = _phases(states["healthy"], states[name])
    series = [*series_of(phases, _metrics(rules), cluster="west")]
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
    return firing_errors(rules, series, {}, folder, texts=[text])
