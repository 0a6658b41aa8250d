"""The values that switch and route alerts, and the runbooks that alerts lead to."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, golden
from e2e.chart.alerts.promtool import alerts_of, rule_errors
from e2e.chart.helm import IMAGE, Helm, HelmFailed
from reporter.model.enums import Owner
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.documents import anchors
from tests.support.sample import one_in


pytestmark = pytest.mark.controlplane
"""helm and promtool are built together with the control plane."""

Json = dict[str, Any]
DOCS = Path(__file__).parents[2] / "docs"
ALL = (
    "prometheusRule.enabled=true,statusObjects.enabled=true,rollupMetrics=namespace"
    ",store.backend=healthevents,mirrorEvents=true"
    ",hub.enabled=true,hub.queryURL=https://engine.example.com"
)
SCHEMA = json.loads((CHART / "values.schema.json").read_text("utf-8"))
NAMES = SCHEMA["properties"]["prometheusRule"]["properties"]["rules"]["propertyNames"]["enum"]
OWNED_BY_SERIES = {
    *("ProductionStackFinding", "ProductionStackStalled"),
    *(f"ProductionStackCluster{each}" for each in ("Failed", "Silent", "Duplicate")),
}
FINDING = "ProductionStackFinding"
LED_BY_REASON = "{{ $labels.reason | toLower }}"


def _alerts(helm: Helm, *words: str) -> list[Json]:
    """Return the alerts of a reporter with a hub, and those that only a hub by itself has."""
    both, hub = (_rendered(helm, *words, *more) for more in ((), ("--set=replicas=0",)))
    names = {each["alert"] for each in both}
    return [*both, *(each for each in hub if each["alert"] not in names)]


def _rendered(helm: Helm, *words: str) -> list[Json]:
    rendered = helm.render(CHART, f"--set={ALL}", *words, golden.OPERATOR)
    rules = [each["spec"] for each in rendered if each["kind"] == "PrometheusRule"]
    for each in rules:
        assert rule_errors(each) == ""
    return [alert for each in rules for alert in alerts_of(each)]


def _named(alerts: list[Json], name: str) -> list[Json]:
    return [each for each in alerts if each["alert"] == name]


# ---------------------------------------------------------------- runbooks


def test_the_command_of_the_page_prints_the_rules(
    helm: Helm, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (DOCS / "alerts.md").read_text("utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"^    helm (template .*)$", page, re.MULTILINE)
    monkeypatch.chdir(DOCS.parent)
    rules = yaml.safe_load(helm(*shlex.split(command)))["spec"]
    assert rule_errors(rules) == ""
    assert _named(alerts_of(rules), "ProductionStackFinding")


def _places(alerts: list[Json], base: str) -> Iterator[tuple[str, str]]:
    """
    Yield page and anchor of each runbook; one for each reason where the reason is in the address.
    """
    for each in alerts:
        url = each["annotations"]["runbook_url"]
        assert url.startswith(f"{base}/"), each["alert"]
        page, _, anchor = url.removeprefix(f"{base}/").partition("#")
        reasons = [e.reason for e in DEFAULT_CATALOGUE.entries.values() if not e.is_ready_reason]
        for reason in reasons if LED_BY_REASON in anchor else [""]:
            yield page, anchor.replace(LED_BY_REASON, reason.lower())


def test_every_runbook_is_a_section_of_the_documents(helm: Helm) -> None:
    base = "https://runbooks.example.com/docs"
    alerts = _alerts(helm, f"--set=prometheusRule.runbookURL={base}/")
    places = set(_places(alerts, base))
    assert len(places) > len(NAMES)
    known = {page: set(anchors((DOCS / page).read_text("utf-8"))) for page, _ in places}
    assert [place for place in sorted(places) if place[1] not in known[place[0]]] == []


def test_runbooks_are_in_the_repository_by_default(helm: Helm) -> None:
    home = "https://github.com/kaito-project/productionstack-status-reporter"
    assert set(_places(_alerts(helm), f"{home}/blob/main/docs"))


def test_every_alert_is_described_and_can_be_switched(helm: Helm) -> None:
    rendered = {each["alert"] for each in _alerts(helm)}
    assert rendered == set(NAMES)
    headings = re.findall(
        r"^### (ProductionStack\w+)$", (DOCS / "alerts.md").read_text(), re.MULTILINE
    )
    assert set(headings) == set(NAMES)


# ---------------------------------------------------------------- rules that a person can read


LONGEST = 400


def test_no_rule_is_longer_than_a_person_reads(helm: Helm) -> None:
    lengths = {each["alert"]: len(each["expr"]) for each in _alerts(helm)}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_the_meaning_of_each_rule_is_in_a_comment_above_it(helm: Helm) -> None:
    words = (f"--set={ALL}", golden.OPERATOR, IMAGE)
    for more in ((), ("--set=replicas=0",)):
        lines = helm("template", "stack", str(CHART), *words, *more).splitlines()
        rules = [at for at, line in enumerate(lines) if line.strip().startswith("- alert: ")]
        assert rules
        assert [lines[at] for at in rules if not lines[at - 1].strip().startswith("# ")] == []


def test_all_labels_that_tell_clusters_apart_are_kept_and_matched(helm: Helm) -> None:
    words = f"--set-json=prometheusRule.clusterLabels={json.dumps(['cluster', 'region'])}"
    for each in _alerts(helm, words):
        for found in re.findall(r"(?:by|on) \(([^)]*)\)", each["expr"]):
            of_hub = each["alert"].startswith("ProductionStackCluster") or not found
            assert of_hub or found.startswith("cluster, region"), each["expr"]
    (finding,) = _named(_alerts(helm, "--set-json=prometheusRule.clusterLabels=[]"), FINDING)
    assert "unless on ()" in finding["expr"]


# ---------------------------------------------------------------- switches


@pytest.mark.parametrize("name", one_in(5, NAMES))
def test_each_alert_can_be_left_out(helm: Helm, name: str) -> None:
    off = _alerts(helm, f"--set=prometheusRule.rules.{name}.enabled=false")
    assert {each["alert"] for each in off} == set(NAMES) - {name}


def test_each_alert_can_be_made_severe_and_delayed(helm: Helm) -> None:
    """Each gets values that no other has, so a value that another alert takes is noticed."""
    wanted = {name: (f"page-{i}", f"{i}m") for i, name in enumerate(NAMES, 61)}
    rules = {
        name: {"severity": severity, "for": time} for name, (severity, time) in wanted.items()
    }
    alerts = _alerts(helm, f"--set-json=prometheusRule.rules={json.dumps(rules)}")
    found = {(each["alert"], each["labels"]["severity"], each["for"]) for each in alerts}
    assert found == {(name, *values) for name, values in wanted.items()}


def test_findings_have_the_severity_and_owner_of_their_series(helm: Helm) -> None:
    (found,) = _named(_alerts(helm), "ProductionStackFinding")
    assert not {"severity", "owner"} & found["labels"].keys()


@pytest.mark.parametrize("severity", ["P1", "sev-2", "page_now", "1"])
def test_a_severity_may_be_any_word(helm: Helm, severity: str) -> None:
    values = {
        "rules.ProductionStackFinding.severity": severity,
        "rules.ProductionStackStalled.severity": severity,
    }
    words = (f"--set-string=prometheusRule.{name}={each}" for name, each in values.items())
    alerts = _alerts(helm, *words)
    assert [each["labels"]["severity"] for each in alerts].count(severity) == len(values)


def test_an_alert_may_fire_on_after_its_end(helm: Helm) -> None:
    on = "--set=prometheusRule.rules.ProductionStackFinding.keepFiringFor=5m"
    alerts = _alerts(helm, on)
    lasting = {each["alert"] for each in alerts if each.get("keep_firing_for") == "5m"}
    assert lasting == {"ProductionStackFinding"}
    assert not any("keep_firing_for" in each for each in _alerts(helm))


def test_labels_and_annotations_are_added_and_replace_none(helm: Helm) -> None:
    labels = dict.fromkeys(("namespace", "severity"), "none-of-this")
    added = {"dashboard_url": "https://grafana.example.com"}
    texts = dict.fromkeys(("summary", "description", "runbook_url"), "none-of-this")
    words = (
        f"--set-json=prometheusRule.alertLabels={json.dumps({'team': 'models', **labels})}",
        f"--set-json=prometheusRule.alertAnnotations={json.dumps({**added, **texts})}",
    )
    plain = _alerts(helm)
    for before, each in zip(plain, _alerts(helm, *words), strict=True):
        assert each["labels"] == {**before["labels"], "team": "models"}
        assert each["annotations"] == {**before["annotations"], **added}


def test_alerts_on_the_reporter_are_the_platforms(helm: Helm) -> None:
    for each in _alerts(helm):
        if each["alert"] not in OWNED_BY_SERIES:
            assert each["labels"]["owner"] == Owner.PLATFORM, each["alert"]


def test_a_label_by_which_rules_tell_series_apart_is_refused(helm: Helm) -> None:
    region = "--set-json=prometheusRule.clusterLabels=" + json.dumps(["cluster", "region"])
    found = {
        label
        for each in _alerts(helm, region)
        for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", each["expr"])
        for label in labels.split(", ")
        if label
    }
    assert {"cluster", "region", "kind", "code", "inferenceset"} <= found
    # These decide where an alert goes, and of an alert the chart's own one counts.
    for label in sorted(found - {"namespace", "severity"}):
        words = f"--set=prometheusRule.enabled=true,prometheusRule.alertLabels.{label}=a"
        with pytest.raises(HelmFailed, match=rf"alertLabels: .* label {label}; choose another"):
            helm.render(CHART, words, region)


# ---------------------------------------------------------------- API group, scraping


@pytest.mark.parametrize("kind", ["ServiceMonitor", "PodMonitor", "PrometheusRule"])
def test_each_kind_may_be_of_the_group_that_aks_reads(helm: Helm, kind: str) -> None:
    value = kind[0].lower() + kind[1:]
    group = f"{value}.enabled=true,{value}.apiGroup=azmonitoring.coreos.com"
    objects = helm.render(CHART, f"--set={ALL},{group}", golden.OPERATOR)
    found = [each["apiVersion"] for each in objects if each["kind"] == kind]
    assert found
    assert set(found) == {"azmonitoring.coreos.com/v1"}


@pytest.mark.parametrize("monitor", ["serviceMonitor", "podMonitor"])
def test_a_monitor_takes_what_the_operator_has_for_an_endpoint(helm: Helm, monitor: str) -> None:
    drop = [{"action": "drop", "sourceLabels": ["__name__"], "regex": ".*_inferenceset_.*"}]
    zone = [{"targetLabel": "zone", "replacement": "a"}]
    values = {
        "enabled": True,
        "honorLabels": True,
        "scrapeTimeout": "20s",
        "relabelings": zone,
        "metricRelabelings": drop,
    }
    words = f"--set-json={monitor}={json.dumps(values)}"
    (found,) = (
        each
        for each in helm.render(CHART, words, golden.OPERATOR)
        if each["kind"].lower() == monitor.lower()
    )
    spec = found["spec"]
    (endpoint,) = spec.get("endpoints") or spec["podMetricsEndpoints"]
    assert endpoint == {
        "port": "metrics",
        "interval": "30s",
        "scrapeTimeout": "20s",
        "honorLabels": True,
        "relabelings": zone,
        "metricRelabelings": drop,
    }


@pytest.mark.parametrize("monitor", ["serviceMonitor", "podMonitor"])
def test_the_series_of_a_hub_keep_the_cluster_they_are_about(helm: Helm, monitor: str) -> None:
    words = f"--set={ALL},replicas=0,{monitor}.enabled=true,{monitor}.honorLabels=false"
    (found,) = (
        each["spec"]
        for each in helm.render(CHART, words, golden.OPERATOR)
        if each["kind"].lower() == monitor.lower() and each["metadata"]["name"].endswith("-hub")
    )
    (endpoint,) = found.get("endpoints") or found["podMetricsEndpoints"]
    assert endpoint["honorLabels"] is True


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("prometheusRule.rules.ProductionStackFindings.enabled=false", "ProductionStackFindings"),
        ("prometheusRule.rules.ProductionStackFinding.severty=critical", "severty"),
        ("prometheusRule.rules.ProductionStackFinding.for=soon", "for"),
        ("prometheusRule.rules.ProductionStackFinding.keepFiringFor=long", "keepFiringFor"),
        ("prometheusRule.severities.user=critical", "severities"),
        ("prometheusRule.reasonSeverities.bbr=critical", "reasonSeverities"),
        ("prometheusRule.replicaLabels={pod}", "replicaLabels"),
        ("prometheusRule.apiGroup=coreos.com", "apiGroup"),
        ("prometheusRule.runbookURL=docs", "runbookURL"),
        ("serviceMonitor.honorLabels=maybe", "honorLabels"),
        ("podMonitor.scrapeTimeout=soon", "scrapeTimeout"),
        ("dashboard.label=x", "label"),
    ],
)
def test_wrong_value_is_refused_with_its_name(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(CHART, f"--set={setting}")
