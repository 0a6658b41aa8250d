"""The values that switch and route alerts, and the runbooks that alerts lead to."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, HUB_CHART, golden
from e2e.chart.alerts.promtool import AlertTest, alerts_of, errors_by_name, rule_errors
from e2e.chart.helm import IMAGE, Helm, HelmFailed
from e2e.chart.hub.rendered import ON
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
)
OWNED_BY_SERIES = {
    *("ProductionStackFinding", "ProductionStackStalled"),
    *(f"ProductionStackCluster{each}" for each in ("Failed", "Silent", "Duplicate")),
}
FINDING = "ProductionStackFinding"


def _names_of(chart: Path) -> list[str]:
    schema = json.loads((chart / "values.schema.json").read_text("utf-8"))
    rules = schema["properties"]["prometheusRule"]["properties"]["rules"]
    return list(rules["propertyNames"]["enum"])


OF_REPORTER, OF_HUB = _names_of(CHART), _names_of(HUB_CHART)
NAMES = [*OF_REPORTER, *OF_HUB]
LED_BY_REASON = "{{ $labels.reason | toLower }}"


def _alerts(helm: Helm, **values: Any) -> list[Json]:
    """Return the alerts of both charts, with these values of prometheusRule."""
    return [alert for each in (CHART, HUB_CHART) for alert in _of(helm, each, **values)]


def _of(helm: Helm, chart: Path, **values: Any) -> list[Json]:
    """Return the alerts of a chart; *rules* of the other one are left out, as its chart refuses them."""
    if "rules" in values:
        known = _names_of(chart)
        values["rules"] = {name: each for name, each in values["rules"].items() if name in known}
    words = [
        f"--set-json=prometheusRule.{name}={json.dumps(each)}" for name, each in values.items()
    ]
    (found,) = (
        each["spec"]
        for each in helm.render(chart, *_on(chart), *words, golden.OPERATOR)
        if each["kind"] == "PrometheusRule"
    )
    assert rule_errors(found) == ""
    return alerts_of(found)


def _on(chart: Path) -> tuple[str, ...]:
    return (f"--set={ALL}",) if chart == CHART else (ON, "--set=prometheusRule.enabled=true")


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
    alerts = _alerts(helm, runbookURL=f"{base}/")
    places = set(_places(alerts, base))
    assert len(places) > len(NAMES)
    known = {page: set(anchors((DOCS / page).read_text("utf-8"))) for page, _ in places}
    assert [place for place in sorted(places) if place[1] not in known[place[0]]] == []


def test_without_a_place_the_first_steps_are_text(helm: Helm) -> None:
    """No link is given that nobody vouches for."""
    for each in _alerts(helm):
        assert "://" not in json.dumps(each["annotations"]), each["alert"]
        assert len(each["annotations"]["runbook"]) > 20, each["alert"]
    (missing,) = _named(_alerts(helm), "ProductionStackStatusReporterRightMissing")
    assert missing["annotations"]["runbook"].startswith("1. `permissions` in `/status` says")


def test_the_text_of_a_finding_is_that_of_its_reason_and_the_command_that_prints_the_rest(
    helm: Helm, tmp_path: Path
) -> None:
    (finding,) = _named(_alerts(helm), FINDING)
    runbook = {"runbook": finding["annotations"]["runbook"]}
    rule = {"alert": FINDING, "expr": "reported", "annotations": runbook}
    steps = yaml.safe_load((CHART / "files" / "runbooks.yaml").read_text("utf-8"))["reasons"]
    texts = {**steps["kaito"], "ownReason": ""}
    rest = (
        "kubectl exec -n kaito-system deployment/stack-status-reporter -- python3 -m reporter.cli"
    )
    shown = [
        {"exp_labels": {"reason": reason}, "exp_annotations": {"runbook": f"{text}{line}"}}
        for reason, text in texts.items()
        for line in [f"{bool(text) * chr(10)}All steps: {rest} explain {reason}"]
    ]
    series = [{"series": f'reported{{reason="{reason}"}}', "values": "1x9"} for reason in texts]
    text = {"eval_time": "5m", "alertname": FINDING, "exp_alerts": shown}
    rules = {"groups": [{"name": "findings", "rules": [rule]}]}
    assert errors_by_name(rules, {"texts": AlertTest(series, {}, [text])}, tmp_path) == {
        "texts": ""
    }


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
    for chart in (CHART, HUB_CHART):
        words = (*_on(chart), golden.OPERATOR, IMAGE)
        lines = helm("template", "stack", str(chart), *words).splitlines()
        rules = [at for at, line in enumerate(lines) if line.strip().startswith("- alert: ")]
        assert rules
        assert [lines[at] for at in rules if not lines[at - 1].strip().startswith("# ")] == []


def test_all_labels_that_tell_clusters_apart_are_kept_and_matched(helm: Helm) -> None:
    for each in _alerts(helm, clusterLabels=["cluster", "region"]):
        for found in re.findall(r"(?:by|on) \(([^)]*)\)", each["expr"]):
            of_hub = each["alert"].startswith("ProductionStackCluster") or not found
            assert of_hub or found.startswith("cluster, region"), each["expr"]
    (finding,) = _named(_alerts(helm, clusterLabels=[]), FINDING)
    assert "unless on ()" in finding["expr"]


# ---------------------------------------------------------------- switches


@pytest.mark.parametrize("name", one_in(5, NAMES))
def test_each_alert_can_be_left_out(helm: Helm, name: str) -> None:
    off = _alerts(helm, rules={name: {"enabled": False}})
    assert {each["alert"] for each in off} == set(NAMES) - {name}


def test_each_alert_can_be_made_severe_and_delayed(helm: Helm) -> None:
    """Each gets values that no other has, so a value that another alert takes is noticed."""
    wanted = {name: (f"page-{i}", f"{i}m") for i, name in enumerate(NAMES, 61)}
    rules = {
        name: {"severity": severity, "for": time} for name, (severity, time) in wanted.items()
    }
    alerts = _alerts(helm, rules=rules)
    found = {(each["alert"], each["labels"]["severity"], each["for"]) for each in alerts}
    assert found == {(name, *values) for name, values in wanted.items()}


def test_findings_have_the_severity_and_owner_of_their_series(helm: Helm) -> None:
    (found,) = _named(_alerts(helm), "ProductionStackFinding")
    assert not {"severity", "owner"} & found["labels"].keys()


@pytest.mark.parametrize("severity", ["P1", "sev-2", "page_now", "1"])
def test_a_severity_may_be_any_word(helm: Helm, severity: str) -> None:
    rules = {f"ProductionStack{name}": {"severity": severity} for name in ("Finding", "Stalled")}
    alerts = _alerts(helm, rules=rules)
    assert [each["labels"]["severity"] for each in alerts].count(severity) == len(rules)


def test_an_alert_may_fire_on_after_its_end(helm: Helm) -> None:
    alerts = _alerts(helm, rules={FINDING: {"keepFiringFor": "5m"}})
    lasting = {each["alert"] for each in alerts if each.get("keep_firing_for") == "5m"}
    assert lasting == {"ProductionStackFinding"}
    assert not any("keep_firing_for" in each for each in _alerts(helm))


def test_labels_are_added_and_replace_none(helm: Helm) -> None:
    labels = {"team": "models", "namespace": "none-of-this", "severity": "none-of-this"}
    for before, each in zip(_alerts(helm), _alerts(helm, alertLabels=labels), strict=True):
        assert each["labels"] == {**before["labels"], "team": "models"}


def test_alerts_on_the_reporter_are_the_platforms(helm: Helm) -> None:
    for each in _alerts(helm):
        if each["alert"] not in OWNED_BY_SERIES:
            assert each["labels"]["owner"] == Owner.PLATFORM, each["alert"]


def test_a_label_by_which_rules_tell_series_apart_is_refused(helm: Helm) -> None:
    region = ["cluster", "region"]
    found = {
        label
        for each in _alerts(helm, clusterLabels=region)
        for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", each["expr"])
        for label in labels.split(", ")
        if label
    }
    assert {"cluster", "region", "kind", "code", "inferenceset"} <= found
    # These decide where an alert goes, and of an alert the chart's own one counts.
    for label in sorted(found - {"namespace", "severity"}):
        with pytest.raises(HelmFailed, match=rf"alertLabels: .* label {label}; choose another"):
            _of(helm, CHART, alertLabels={label: "a"}, clusterLabels=region)


# ---------------------------------------------------------------- API group, scraping


def _monitor(helm: Helm, chart: Path, **values: Any) -> Json:
    words = f"--set-json=serviceMonitor={json.dumps({'enabled': True, **values})}"
    objects = helm.render(chart, *_on(chart), words, golden.OPERATOR)
    (found,) = (each for each in objects if each["kind"] == "ServiceMonitor")
    return found


@pytest.mark.parametrize("chart", [CHART, HUB_CHART], ids=lambda each: each.name)
def test_a_monitor_may_be_of_the_group_that_aks_reads(helm: Helm, chart: Path) -> None:
    found = _monitor(helm, chart, apiGroup="azmonitoring.coreos.com")
    assert found["apiVersion"] == "azmonitoring.coreos.com/v1"


@pytest.mark.parametrize("chart", [CHART, HUB_CHART], ids=lambda each: each.name)
def test_a_monitor_takes_what_the_operator_has_for_an_endpoint(helm: Helm, chart: Path) -> None:
    values = {
        "honorLabels": True,
        "scrapeTimeout": "20s",
        "relabelings": [{"targetLabel": "zone", "replacement": "a"}],
        "metricRelabelings": [{"action": "drop", "sourceLabels": ["__name__"], "regex": "go_.*"}],
    }
    (endpoint,) = _monitor(helm, chart, endpoint=values)["spec"]["endpoints"]
    assert endpoint == {"port": "metrics", "interval": "30s", **values}
    (endpoint,) = _monitor(helm, chart, endpoint={"interval": "1m"})["spec"]["endpoints"]
    assert endpoint["interval"] == "1m"
    (endpoint,) = _monitor(helm, chart, endpoint={"honorLabels": False})["spec"]["endpoints"]
    assert endpoint["honorLabels"] is False


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
        ("serviceMonitor.apiGroup=coreos.com", "apiGroup"),
        ("prometheusRule.runbookURL=docs", "runbookURL"),
        ("serviceMonitor.endpoint.honorLabels=maybe", "honorLabels"),
        ("serviceMonitor.endpoint.scrapeTimeout=soon", "scrapeTimeout"),
        ("serviceMonitor.endpoint.port=other", "port"),
        ("dashboard.label=x", "label"),
    ],
)
def test_wrong_value_is_refused_with_its_name(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(CHART, f"--set={setting}")
