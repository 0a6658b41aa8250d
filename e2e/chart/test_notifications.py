"""
The examples of notifications: Alertmanager accepts its configuration, which routes the alerts of the
chart by owner, and the API server that of a team; those for log stores name what Events have.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, golden
from e2e.chart.alerts.conftest import SWITCHED_ON
from e2e.chart.alerts.expected import Alert, of_reason
from e2e.chart.alerts.promtool import alerts_of
from e2e.chart.helm import Helm
from e2e.chart.installed import answer, install_crds
from e2e.controlplane import ControlPlane, assets, crds
from reporter import PROGRAM_NAME
from reporter.controller.coverage import reasons_without
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.model.enums import DetailSource, EventType, Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


pytestmark = pytest.mark.controlplane

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "notifications"
CONFIG = EXAMPLES / "alertmanager.yaml"
READ_VERBS = {"list", "watch"}
FINDING = "alertname=ProductionStackFinding"


def _amtool(*words: str) -> str:
    done = subprocess.run(
        [assets.program("amtool"), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_alertmanager_accepts_the_example() -> None:
    assert "SUCCESS" in _amtool("check-config", str(CONFIG))


@pytest.mark.parametrize(
    ("labels", "receivers"),
    [
        (f"{FINDING} severity=warning owner=user namespace=team-a", "team-a-slack"),
        (f"{FINDING} severity=critical owner=user namespace=team-a", "team-a-slack"),
        (f"{FINDING} severity=warning owner=user namespace=team-b", "platform-slack"),
        (f"{FINDING} severity=warning owner=platform", "platform-slack"),
        (f"{FINDING} severity=critical owner=platform", "platform-pagerduty,platform-slack"),
        (f"{FINDING} severity=warning owner=infrastructure", "infrastructure-slack"),
        (
            f"{FINDING} severity=critical owner=infrastructure",
            "platform-pagerduty,infrastructure-slack",
        ),
        ("alertname=Watchdog severity=none", "null"),
    ],
)
def test_alerts_go_to_those_who_must_act(labels: str, receivers: str) -> None:
    test = ("config", "routes", "test", f"--config.file={CONFIG}")
    assert _amtool(*test, *labels.split()) == receivers


RUNBOOKS = {"runbook_url": "https://docs.example.com#{}", "runbook": "1. Look at {}"}


def _rendered(
    text: str, folder: Path, summaries: Iterable[str], runbook: str = "runbook_url"
) -> str:
    """Return a text of the configuration as Alertmanager renders it for one group of alerts."""
    labels = {"alertname": "ProductionStackFinding", "severity": "critical", "owner": "platform"}
    annotations = [
        {"summary": each, runbook: RUNBOOKS[runbook].format(each)} for each in summaries
    ]
    alerts = [{"status": "firing", "labels": labels, "annotations": a} for a in annotations]
    common = dict(set.intersection(*(set(each.items()) for each in annotations)))
    groups = {"groupLabels": labels, "commonLabels": labels, "commonAnnotations": common}
    (folder / "data.json").write_text(json.dumps({"alerts": alerts, **groups}))
    (folder / "none.tmpl").write_text("")
    return _amtool(
        *("template", "render", f"--template.glob={folder}/none.tmpl"),
        *(f"--template.data={folder}/data.json", f"--template.text={text}"),
    )


@pytest.mark.parametrize("summaries", [["one"], ["one", "two"]], ids=["alike", "different"])
def test_pagerduty_gets_a_description_and_a_runbook_of_every_group(
    summaries: list[str], tmp_path: Path
) -> None:
    """It refuses an event without a summary (Events API v2), and the alert would reach nobody."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text("utf-8"))
    (found,) = (
        each for receiver in config["receivers"] for each in receiver.get("pagerduty_configs", ())
    )
    description = _rendered(found["description"], tmp_path, summaries)
    assert "one" in description
    assert len(summaries) == 1 or "2 alerts ProductionStackFinding" in description
    runbook = found["details"]["runbook"]
    assert _rendered(runbook, tmp_path, summaries) == "https://docs.example.com#one"
    assert _rendered(runbook, tmp_path, summaries, "runbook") == "1. Look at one"
    assert _rendered(found["severity"], tmp_path, summaries) == "critical"


def test_a_missing_permission_to_write_inhibits_nothing() -> None:
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text("utf-8"))
    rights = [
        rule["source_matchers"]
        for rule in config["inhibit_rules"]
        if any("RightMissing" in matcher for matcher in rule["source_matchers"])
    ]
    assert rights
    assert all('verb=~"list|watch"' in matchers for matchers in rights)


def test_the_example_names_alerts_and_labels_that_there_are(helm: Helm) -> None:
    words = "--set=prometheusRule.enabled=true"
    rules = [
        each["spec"]
        for each in helm.render(CHART, words, golden.OPERATOR)
        if each["kind"] == "PrometheusRule"
    ]
    names = {alert["alert"] for each in rules for alert in alerts_of(each)}
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text("utf-8"))
    known = {
        "alertname": names,
        "verb": READ_VERBS,
        "kind": set(KINDS),
        "layer": set(Layer),
        "reason": set(DEFAULT_CATALOGUE.entries),
        "severity": {"critical", "warning"},
    }
    for rule in config["inhibit_rules"]:
        for matcher in (*rule["source_matchers"], *rule["target_matchers"]):
            label, pattern = _parsed(matcher)
            assert any(pattern.fullmatch(each) for each in known[label]), matcher
        assert set(rule["equal"]) <= EQUAL


EQUAL = {"cluster", "namespace", "reason", "resource", "inferenceset"}


def _parsed(matcher: str) -> tuple[str, re.Pattern[str]]:
    """Return the label of a matcher, and what its value matches as a whole."""
    found = re.fullmatch(r'(\w+)(=~?)"([^"]+)"', matcher)
    assert found is not None, matcher
    label, operator, value = found.groups()
    return label, re.compile(value if operator == "=~" else re.escape(value))


def _matches(matchers: Iterable[str], labels: Mapping[str, str]) -> bool:
    return all(p.fullmatch(labels.get(label, "")) for label, p in map(_parsed, matchers))


def _inhibited(source: Mapping[str, str], targets: Iterable[Alert]) -> list[Alert]:
    """Return the alerts that a firing one inhibits (Alertmanager, inhibition-related settings)."""
    rules = yaml.safe_load(CONFIG.read_text("utf-8"))["inhibit_rules"]
    return [
        each
        for each in targets
        if any(
            _matches(rule["source_matchers"], source)
            and _matches(rule["target_matchers"], each)
            and all(source.get(name, "") == each.get(name, "") for name in rule["equal"])
            for rule in rules
        )
    ]


SOURCES = frozenset(DetailSource)
KINDS = {each.watch_name: each for each in kinds_to_watch(DEFAULT_CATALOGUE, SOURCES)}
UNKNOWN: list[Alert] = [
    {"alertname": "ProductionStackReasonUnknown", **of_reason(reason)}
    for reason in DEFAULT_CATALOGUE.enabled_reasons
    if DEFAULT_CATALOGUE[reason].is_evaluated
]
LOST: list[Alert] = [
    {"alertname": "ProductionStackStatusReporterWatchLost", "kind": name, "resource": name}
    for name in KINDS
]


@pytest.mark.parametrize("lost", LOST, ids=KINDS)
def test_a_lost_watch_inhibits_what_is_unknown_without_it_and_no_other(lost: Alert) -> None:
    follows = reasons_without(KINDS[lost["kind"]], DEFAULT_CATALOGUE, SOURCES).unknown
    assert (
        {each["reason"] for each in _inhibited(lost, UNKNOWN)}
        == follows
        < {each["reason"] for each in UNKNOWN}
    )
    elsewhere = [each | {"cluster": "east"} for each in UNKNOWN]
    assert _inhibited(lost | {"cluster": "west"}, elsewhere) == []


@pytest.mark.parametrize("verb", sorted(READ_VERBS))
def test_a_missing_permission_inhibits_the_lost_watch_of_its_kind_alone(verb: str) -> None:
    missing = {"alertname": "ProductionStackStatusReporterRightMissing", "verb": verb}
    for lost in LOST:
        assert _inhibited(missing | {"resource": lost["resource"]}, LOST) == [lost]
        assert _inhibited(missing | {"resource": lost["resource"]}, UNKNOWN) == []


SILENT = {"alertname": "ProductionStackStatusReporterSilent", "severity": "critical"}
BLIND = {"alertname": "ProductionStackStatusReporterNothingWatched", "severity": "critical"}


def _others_of_reporter(helm: Helm) -> list[Alert]:
    rendered = helm.render(CHART, f"--set={SWITCHED_ON}", golden.OPERATOR)
    rules = [each["spec"] for each in rendered if each["kind"] == "PrometheusRule"]
    names = {alert["alert"] for each in rules for alert in alerts_of(each)}
    return [{"alertname": each, "cluster": "west"} for each in sorted(names - {*SILENT.values()})]


FIRES_ON = {"Finding", "Stalled", "StatusReporterRightMissing", "StatusReporterWatchLost"}
"""Alerts that have been sent and end when somebody looks again: inhibited, they would never end."""


def test_the_silence_of_a_reporter_stands_for_what_follows_in_its_cluster(helm: Helm) -> None:
    others = _others_of_reporter(helm)
    fires_on = {f"ProductionStack{each}" for each in FIRES_ON}
    assert fires_on < {each["alertname"] for each in others}
    follows = [each for each in others if each["alertname"] not in fires_on]
    assert _inhibited(SILENT | {"cluster": "west"}, others) == follows
    assert _inhibited(SILENT | {"cluster": "east"}, others) == []


def test_a_reporter_that_sees_nothing_stands_for_what_follows_and_hides_no_finding(
    helm: Helm,
) -> None:
    found = _inhibited(BLIND | {"cluster": "west"}, _others_of_reporter(helm))
    names = {each["alertname"].removeprefix("ProductionStack") for each in found}
    assert {"ReasonUnknown", "StatusReporterWatchLost", "StatusReporterRightsUnknown"} <= names
    assert not names & {"Finding", "Stalled", "StatusReporterNothingWatched"}


def test_no_two_alerts_inhibit_each_other(helm: Helm) -> None:
    """Alertmanager lets an inhibited alert inhibit as well, so that nobody would hear of either."""
    all_of_them = [SILENT | {"cluster": "west"}, *_others_of_reporter(helm)]
    pairs = {
        (source["alertname"], target["alertname"])
        for source in all_of_them
        for target in _inhibited(source, all_of_them)
        if source is not target
    }
    assert pairs
    assert not {pair for pair in pairs if pair[::-1] in pairs}


def test_what_takes_every_model_down_is_one_message() -> None:
    labels = {"alertname": "ProductionStackFinding", "namespace": "kaito-system"}
    labels |= {"reason": "clusterBBRNotReady"}
    warning = labels | {"severity": "warning"}
    another = warning | {"reason": "clusterKedaNotReady"}
    assert _inhibited(labels | {"severity": "critical"}, [warning, another]) == [warning]


@pytest.mark.parametrize(
    "path", [CONFIG, EXAMPLES / "alertmanagerconfig.yaml"], ids=["all", "team"]
)
def test_each_receiver_has_a_text_with_runbook_and_owner(path: Path) -> None:
    config = path.read_text("utf-8")
    channels = len(re.findall(r"channel: ", config))
    texts = re.findall(r"^ +text: '(.*)'$", config, re.MULTILINE)
    assert channels == len(texts) > 0
    for each in texts:
        assert ".Annotations.summary" in each
        for annotation in RUNBOOKS:
            assert f".Annotations.{annotation} " in each
        assert ".Labels.owner" in each


# ---------------------------------------------------------------- of a team


def test_the_api_server_accepts_the_example_of_a_team(plane: ControlPlane) -> None:
    wanted = assets.manifests_on_demand("alertmanager-crds.json")
    install_crds(plane, wanted)
    try:
        example = (EXAMPLES / "alertmanagerconfig.yaml").read_text("utf-8")
        name, meta = yaml.safe_load(example)["metadata"]["namespace"], {"name": "team-a"}
        assert name == meta["name"]
        plane.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        applied = answer(plane, "apply", example, "--dry-run=server", "--validate=strict")
        assert "alertmanagerconfig.monitoring.coreos.com/models created" in applied
    finally:
        for each in wanted:
            crds.remove(plane.client, crds.name(each))


# ---------------------------------------------------------------- Events


RULE = {
    *("labels", "annotations", "message", "apiVersion", "kind", "namespace", "reason", "type"),
    *("minCount", "component", "host", "receiver"),
}
"""
The keys of a rule of kubernetes-event-exporter, whose values are regular expressions (pkg/exporter/rule.go).
"""

COLUMNS = {
    *("ClusterId", "ClusterName", "Computer", "Count", "FirstSeen", "KubeEventType", "LastSeen"),
    *("Message", "Name", "Namespace", "ObjectKind", "Reason", "SourceComponent", "TimeGenerated"),
}
"""Columns of the table KubeEvents (Azure Monitor, reference of tables)."""

KQL = {"KubeEvents", "where", "summarize", "order", "by", "desc", "ago", "and", "arg_max", "min"}
LOKI_FIELDS = {"job", "namespace", "sourcecomponent", "reason", "type"}


def _reasons(pattern: str) -> set[Layer]:
    """Return the layers of the reasons that a pattern is found in."""
    entries = DEFAULT_CATALOGUE.entries.values()
    return {each.layer for each in entries if re.search(pattern, each.reason)}


def _queries(heading: str) -> list[str]:
    """Return the code blocks of a section of the page."""
    page = (EXAMPLES.parents[1] / "notifications.md").read_text("utf-8")
    section = page.split(f"### {heading}\n")[1].split("\n##")[0]
    found = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
    assert found
    return found


def test_the_exporter_matches_the_events_of_the_reporter() -> None:
    config = yaml.safe_load((EXAMPLES / "event-exporter.yaml").read_text("utf-8"))
    rules = [rule for route in config["route"]["routes"] for rule in route["match"]]
    receivers = [each["name"] for each in config["receivers"]]
    assert [rule["receiver"] for rule in rules] == receivers == ["loki", "webhook"]
    for rule in rules:
        assert rule.keys() <= RULE
        assert re.search(rule["component"], PROGRAM_NAME)
    assert _reasons(rules[0].get("reason", "")) == set(Layer)
    assert _reasons(rules[1]["reason"]) == {Layer.MODELDEPLOYMENT}
    assert rules[1]["type"] == EventType.WARNING


def test_queries_of_azure_name_columns_of_its_table() -> None:
    for query in _queries("Azure Log Analytics"):
        words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"|\b\d+\w', "", query)))
        assert words - KQL <= COLUMNS | {"first"}
        assert query.split()[0] == "KubeEvents"
        texts = set(re.findall(r'"([^"]*)"', query))
        assert texts == {PROGRAM_NAME, EventType.WARNING}


def test_queries_of_loki_name_labels_and_fields_that_there_are() -> None:
    (text,) = _queries("Loki")
    matched = dict(re.findall(r'(\w+)=~?"([^"]*)"', text))
    assert matched.keys() == LOKI_FIELDS
    config = yaml.safe_load((EXAMPLES / "event-exporter.yaml").read_text("utf-8"))
    labels = next(each["loki"]["streamLabels"] for each in config["receivers"] if "loki" in each)
    assert f'job="{labels["job"]}"' in text
    assert (matched["sourcecomponent"], matched["type"]) == (PROGRAM_NAME, EventType.WARNING)
    assert _reasons(matched["reason"]) == {Layer.MODELDEPLOYMENT}
