"""
The chart's objects for the Prometheus Operator are accepted by an API server with its CRDs, and by
Prometheus.
"""

import re
from collections.abc import Iterator

import pytest

from e2e.chart import CHART, golden
from e2e.chart.alerts.promtool import alerts_of, each_rule, rule_errors
from e2e.chart.helm import Helm, Json
from e2e.chart.installed import NAMESPACE, answer, install_crds, until_no_difference
from e2e.chart.leftovers import until_nothing_is_left
from e2e.chart.test_notes import notes
from e2e.controlplane import ControlPlane, assets, crds
from e2e.support.production_stack.components import namespace_manifest
from reporter.kube.event_record import WriteResult
from reporter.metrics.declarations import METRICS
from reporter.metrics.index import STATE_NAMES
from reporter.metrics.input_collectors import (
    InputReport,
    PageReport,
    PermissionReport,
    WatchReport,
)
from reporter.model.silences import SilenceState
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import leading_metrics, metrics_text
from tests.support.rollups import show_rollup, stack_after


pytestmark = pytest.mark.controlplane

EVERYTHING = golden.HERE / "values" / "everything.yaml"
ROOT = "/apis/monitoring.coreos.com/v1"
MONITORS = {
    "ServiceMonitor": "servicemonitors",
    "PrometheusRule": "prometheusrules",
}
OURS = "productionstack_status_reporter_"
SMOKE_CHECKED = "team-a"
"""The namespace in which the values have models asked."""


@pytest.fixture
def monitored(plane: ControlPlane) -> Iterator[ControlPlane]:
    """
    Yield a control plane with the operator's CRDs; delete them afterwards, as other tests count CRDs.
    """
    wanted = assets.find().monitoring_crds()
    install_crds(plane, wanted)
    plane.client.create("/api/v1/namespaces", namespace_manifest(SMOKE_CHECKED))
    yield plane
    plane.client.delete(f"/api/v1/namespaces/{SMOKE_CHECKED}")
    for crd in wanted:
        crds.remove(plane.client, crds.name(crd))


def test_every_value_at_once_is_accepted_by_the_api_server(
    monitored: ControlPlane, installer: Helm
) -> None:
    helm, client = installer, monitored.client
    where = f"--namespace={NAMESPACE}"
    override = f"--set=namespaceOverride={NAMESPACE}"
    helm("install", "all", str(CHART), where, f"--values={EVERYTHING}", override)
    notes = helm("get", "notes", "all", where)
    assert "kubectl get events -n kube-system --field-selector source=" in notes

    manifest = helm("get", "manifest", "all", where)
    # Strict validation names unknown and duplicate fields.
    applied = answer(monitored, "apply", manifest, "--dry-run=server", "--validate=strict")
    assert "unknown field" not in applied
    assert applied.count("monitoring.coreos.com/all-status-reporter") == len(MONITORS)
    until_no_difference(monitored, manifest)
    for rendered in helm.render(
        CHART, f"--values={EVERYTHING}", override, release="all", namespace=NAMESPACE
    ):
        if rendered["kind"] in MONITORS:
            stored = client.get(client.path(rendered))
            assert stored["spec"] == rendered["spec"]

    helm("uninstall", "all", where, "--wait")
    kinds = (f"{ROOT}/{plural}" for plural in MONITORS.values())
    until_nothing_is_left(monitored, NAMESPACE, *kinds)


@pytest.mark.usefixtures("monitored")
def test_alerts_without_their_series_are_warned_of(installer: Helm) -> None:
    alerts = "--set=prometheusRule.enabled=true,serviceMonitor.enabled=true"
    warned = "- serviceMonitor.rollupOnly leaves out series that the alerts of prometheusRule need"
    assert warned in notes(installer, alerts, "--set=serviceMonitor.rollupOnly=true")
    assert "WARNING" not in notes(installer, alerts)


def test_prometheus_accepts_every_rule(helm: Helm) -> None:
    rules = _rules(helm)
    assert len(alerts_of(rules)) > 15
    assert rule_errors(rules) == ""


def test_a_broken_rule_is_noticed(helm: Helm) -> None:
    for place, wrong in (("expr", "sum(x"), ("annotations", {"summary": "{{ $labels.reason }"})):
        rules = _rules(helm)
        alerts_of(rules)[0][place] = wrong
        assert "ProductionStackFinding" in rule_errors(rules)


def test_rules_use_metrics_and_results_that_exist(helm: Helm) -> None:
    expressions = " ".join(rule["expr"] for rule in each_rule(_rules(helm)))
    asked = set(re.findall(rf"{OURS}\w+", expressions))
    assert {f"{OURS}finding", f"{OURS}reason_state", f"{OURS}leader"} <= asked
    assert asked <= set(re.findall(rf"^{OURS}\w+", _page_in_outage(), re.MULTILINE))
    results = _alternatives(r'result=~?"([^"]+)"', expressions)
    assert {"refused", "dropped"} <= results <= set(WriteResult)
    states = _alternatives(r'\bstate(?:!=|=~?)"([^"]+)"', expressions)
    assert {"unknown", "active"} <= states <= {*STATE_NAMES, *SilenceState}
    # e2e/chart/alerts/timeline.py makes no series of other states.
    selectors = re.findall(rf"{OURS}reason_state\b(?:{{([^}}]*)}})?", expressions)
    assert {_state(each) for each in selectors} == {"unknown"}
    labels = {label for metric in METRICS for label in metric.labels}
    named = {
        each
        for found in re.findall(r"(?:by|on) \(([^)]*)\)", expressions)
        for each in found.split(", ")
    }
    of_target = {"namespace", "pod", "pod_name", "kubernetes_pod_name"}
    assert named - labels - {""} == {"cluster", "region"} | of_target


def _alternatives(pattern: str, expressions: str) -> set[str]:
    return {each for found in re.findall(pattern, expressions) for each in found.split("|")}


def _state(selector: str) -> str:
    """Return the one state that a selector asks for; empty if it asks for several."""
    found = re.search(r'\bstate="([^"]+)"', selector)
    return found[1] if found else ""


def _page_in_outage() -> str:
    """Return a page that shows every metric."""
    watch = WatchReport(
        kind="pods",
        watching=True,
        last_event_age=0.0,
        objects=1,
        relists=0,
        restarts=0,
        decode_errors=0,
        missed_events=0,
    )
    permissions = PermissionReport({("list", "pods"): False})
    inputs = InputReport([watch], permissions, PageReport({"read": 0}))
    metrics = leading_metrics(DEFAULT_CATALOGUE, lambda: inputs)
    out = {"Deployment kaito-system/body-based-router": {"replicas": 0}}
    outage = stack_after(out, until="1h")
    show_rollup(metrics, outage.rollup)
    metrics.follow(finished_pass(outage.evaluation))
    metrics.show_store(list, lambda: False)
    return metrics_text(metrics)


def _rules(helm: Helm) -> Json:
    rendered = helm.render(CHART, f"--values={EVERYTHING}", golden.OPERATOR)
    (found,) = (each["spec"] for each in rendered if each["kind"] == "PrometheusRule")
    return dict(found)
