"""
The hub in the chart: nothing of it by default, its own permissions, and its alerts.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from e2e.chart import CHART, golden
from e2e.chart.alerts.promtool import firing_errors, rule_errors
from e2e.chart.alerts.timeline import selector
from e2e.chart.helm import Helm, HelmFailed
from reporter.cli.configuration import load_hub_settings
from reporter.hub.permissions import needed_permissions
from reporter.kube.objects.access_review import Permission
from reporter.model.fleet.enums import Dropped, FleetCode, QueryName, QueryResult
from reporter.sinks.metrics.hub_declarations import (
    HUB_DROPPED_SERIES,
    HUB_LAST_SUCCESS,
    HUB_LEADER,
    HUB_METRICS,
    HUB_OBJECTS_FAILING,
    HUB_QUERY_RESULTS,
    HUB_UNKNOWN_CLUSTERS,
)


pytestmark = pytest.mark.controlplane

NAME, NAMESPACE = "stack-status-hub", "kaito-system"
ON = "--set=hub.enabled=true,hub.queryURL=https://engine.example.com"
VALUES = golden.HERE / "values" / "hub.yaml"

Json = dict[str, Any]


def _hub(objects: list[Json]) -> dict[str, Json]:
    return {each["kind"]: each for each in objects if each["metadata"]["name"] == NAME}


def _container(objects: list[Json]) -> Json:
    found: Json = _hub(objects)["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    return found


def test_nothing_of_it_is_rendered_by_default(helm: Helm) -> None:
    text = json.dumps(helm.render(CHART, golden.OPERATOR))
    assert "status-hub" not in text
    assert "hub_" not in text


def test_it_has_a_service_account_and_permissions_of_its_own(helm: Helm) -> None:
    found = _hub(helm.render(CHART, ON))
    assert found.keys() == {"ServiceAccount", "Role", "RoleBinding", "Deployment"}
    assert found["RoleBinding"]["roleRef"]["name"] == NAME
    (subject,) = found["RoleBinding"]["subjects"]
    assert (subject["name"], subject["namespace"]) == (NAME, NAMESPACE)
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == NAME


@pytest.mark.parametrize("engage", ["listed", "seen"])
def test_it_is_granted_exactly_what_it_asks_for(helm: Helm, engage: str) -> None:
    objects = helm.render(CHART, ON, f"--set=hub.engage={engage}")
    flags = _container(objects)["args"][1:]
    environ = {"POD_NAMESPACE": NAMESPACE}
    needed = frozenset(needed_permissions(load_hub_settings(flags, environ)))
    granted = frozenset(
        Permission(verb, group, resource, NAMESPACE, name)
        for rule in _hub(objects)["Role"]["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    )
    assert granted == needed


def test_the_pods_of_reporter_and_hub_are_told_apart(helm: Helm) -> None:
    words = f"--values={VALUES}"
    objects = helm.render(CHART, words, golden.OPERATOR)
    selectors = [
        each["spec"]["selector"]["matchLabels"]
        for each in objects
        if each["kind"] in {"Deployment", "ServiceMonitor"}
    ]
    labels = [
        each["spec"]["template"]["metadata"]["labels"]
        for each in objects
        if each["kind"] == "Deployment"
    ]
    for pod in labels:
        assert sum(each.items() <= pod.items() for each in selectors) == 2, pod


def test_the_program_accepts_every_flag_and_file(helm: Helm, tmp_path: Path) -> None:
    container = _container(helm.render(CHART, f"--values={VALUES}"))
    assert container["args"][0] == "hub"
    mounts = {each["mountPath"] for each in container["volumeMounts"]}
    flags = []
    for each in container["args"][1:]:
        name, _, text = each.partition("=")
        if name.endswith("-file"):
            assert str(Path(text).parent) in mounts
            (tmp_path / Path(text).name).write_text("")
            text = str(tmp_path / Path(text).name)
        flags.append(f"{name}={text}")
    settings = load_hub_settings(flags, {})
    assert settings.hub_query_url == "https://engine.example.com/prometheus"
    assert settings.hub_ca_file is not None
    assert settings.leader_election_id == NAME


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("hub.enabled=true", "hub.queryURL has no value"),
        ("hub.queryURL=http://engine.example.com", "queryURL"),
        ("hub.engage=some", "engage"),
        ("hub.clusterLabel=a-b", "clusterLabel"),
        ("hub.tokenSecret.nam=a", "nam"),
        ("hub.staleSecond=1", "staleSecond"),
        (f"{ON.removeprefix('--set=')},hub.statusBindAddress=:8080", "8080 and 8081 serve"),
    ],
)
def test_wrong_value_is_refused_with_its_name(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(CHART, f"--set={setting}")


def test_a_workload_cluster_may_send_the_status_alone(helm: Helm) -> None:
    words = "--set=serviceMonitor.enabled=true,serviceMonitor.rollupOnly=true"
    objects = helm.render(CHART, words, golden.OPERATOR)
    (monitor,) = (each for each in objects if each["kind"] == "ServiceMonitor")
    (endpoint,) = monitor["spec"]["endpoints"]
    (relabelling,) = endpoint["metricRelabelings"]
    assert relabelling["action"] == "keep"
    assert relabelling["regex"] == "productionstack_status_reporter_rollup_.*"


# ---------------------------------------------------------------- alerts


def _rules(helm: Helm, *words: str) -> Json:
    on = (ON, "--set=prometheusRule.enabled=true", *words)
    objects = helm.render(CHART, *on, golden.OPERATOR)
    found: Json = _hub(objects)["PrometheusRule"]["spec"]
    return found


def _groups(helm: Helm, *words: str) -> list[str]:
    """
    Return the groups of rules that are rendered with these values.
    """
    objects = helm.render(CHART, "--set=prometheusRule.enabled=true", *words, golden.OPERATOR)
    rules = (each["spec"]["groups"] for each in objects if each["kind"] == "PrometheusRule")
    return sorted(group["name"] for groups in rules for group in groups)


REPORTER_RULES, HUB_RULES = "productionstack-status-reporter", "productionstack-status-hub"


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        ((), [REPORTER_RULES]),
        ((ON,), [HUB_RULES, REPORTER_RULES]),
        ((ON, "--set=replicas=0"), [HUB_RULES]),
        ((ON, "--set=hub.replicas=0"), [REPORTER_RULES]),
        (("--set=replicas=0",), []),
    ],
)
def test_alerts_are_those_of_what_runs(
    helm: Helm, words: tuple[str, ...], groups: list[str]
) -> None:
    """
    Without a reporter the alerts on its absence would fire for ever, and without a hub those on it.
    """
    assert _groups(helm, *words) == groups


def test_followers_of_a_hub_are_told_apart_where_no_reporter_runs(helm: Helm) -> None:
    words = "--set=replicas=0,prometheusRule.enabled=true,prometheusRule.replicaLabels=null"
    with pytest.raises(HelmFailed, match="replicaLabels"):
        helm.render(CHART, ON, words, golden.OPERATOR)


def test_prometheus_accepts_the_alerts_and_they_name_metrics_of_the_hub(helm: Helm) -> None:
    rules = _rules(helm)
    assert rule_errors(rules) == ""
    names = {each.full_name for each in HUB_METRICS}
    text = json.dumps(rules)
    assert text.count("productionstack_status_reporter_hub_") == sum(
        text.count(f"{name}{end}") for name in names for end in ("{", ")", "[", " ")
    )


WITHOUT_AN_ALERT = {"Paused"}
OF_THE_ENGINE = {"NotAsked", "EngineUnavailable"}
"""
The codes for which ProductionStackHubWithoutAnswers fires.
"""


def test_an_alert_knows_each_cause_of_unknown(helm: Helm) -> None:
    found = re.findall(r'code=~"([^"]+)"', " ".join(each["expr"] for each in _all(_rules(helm))))
    known = {code for each in found for code in each.split("|")}
    assert known | WITHOUT_AN_ALERT | OF_THE_ENGINE == {each.value for each in FleetCode}


def _all(rules: Json) -> list[Json]:
    return [rule for group in rules["groups"] for rule in group["rules"]]


TARGET = {"job": NAME, "pod": "hub-0", "namespace": NAMESPACE}


def _series(pod: str = "hub-0", **values: str) -> list[Json]:
    """
    Return the series of a replica, healthy but for *values* by the name of a state below.
    """
    target = TARGET | {"pod": pod}
    found = [
        _one(HUB_LEADER.full_name, target, values.get("leader", "1+0x60")),
        _one(HUB_LAST_SUCCESS.full_name, target, values.get("success", "0+60x60")),
        _one(HUB_OBJECTS_FAILING.full_name, target, values.get("failing", "0+0x60")),
    ]
    for code in FleetCode:
        labels = target | {"code": code.value}
        found.append(_one(HUB_UNKNOWN_CLUSTERS.full_name, labels, values.get(code, "0+0x60")))
    for why in Dropped:
        labels = target | {"why": why.value}
        found.append(_one(HUB_DROPPED_SERIES.full_name, labels, values.get(why, "0+0x60")))
    for result in (QueryResult.COMPLETE, QueryResult.PARTIAL):
        labels = target | {"query": QueryName.CLUSTERS.value, "result": result.value}
        usual = "0+2x60" if result is QueryResult.COMPLETE else "0+0x60"
        found.append(_one(HUB_QUERY_RESULTS.full_name, labels, values.get(result, usual)))
    return [each for each in found if each["values"]]


def _one(name: str, labels: Mapping[str, str], values: str) -> Json:
    return {"series": selector(name, labels), "values": values}


def _alert(name: str, severity: str, **labels: str) -> dict[str, str]:
    return {"alertname": f"ProductionStack{name}", "severity": severity, **labels}


_CRITICAL = {"namespace": NAMESPACE, "severity": "critical"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"Paused": "1+0x60"}, []),
        ({"not_engaged": "0+9x60"}, []),
        ({"Silent": "3+0x60"}, [_alert("ClusterSilent", **_CRITICAL, code="Silent")]),
        (
            {"NeverReported": "1+0x60"},
            [_alert("ClusterSilent", **_CRITICAL, code="NeverReported")],
        ),
        (
            {"NotConfirmed": "1+0x60"},
            [_alert("ClusterSilent", **_CRITICAL, code="NotConfirmed")],
        ),
        (
            {"DuplicateCluster": "1+0x60"},
            [_alert("ClusterDuplicate", **_CRITICAL, code="DuplicateCluster")],
        ),
        (
            {"success": "0+0x60", "partial": "0+2x60", "EngineUnavailable": "9+0x60"},
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
    helm: Helm, tmp_path: Path, values: dict[str, str], expected: list[dict[str, str]]
) -> None:
    follower = [
        _one(HUB_LEADER.full_name, TARGET | {"pod": "hub-1"}, "0+0x60"),
        _one(HUB_OBJECTS_FAILING.full_name, TARGET | {"pod": "hub-1"}, "0+0x60"),
    ]
    series = [*_series(**values), *follower]
    assert firing_errors(_rules(helm), series, {55: expected}, tmp_path) == ""


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
def test_permissions_of_a_hub_without_a_reporter(
    helm: Helm,
    tmp_path: Path,
    metric: str,
    labels: dict[str, str],
    expected: dict[str, str],
) -> None:
    """
    Beside a reporter its alerts are about those of both.
    """
    rules = _rules(helm, "--set=replicas=0")
    found = _one(f"productionstack_status_reporter_{metric}", TARGET | labels, "1+0x60")
    alerts = [_alert(**expected, **labels)]
    assert firing_errors(rules, [*_series(), found], {55: alerts}, tmp_path) == ""
    assert metric not in json.dumps(_rules(helm))


def test_without_a_leader_there_are_no_answers(helm: Helm, tmp_path: Path) -> None:
    alert = _alert("HubWithoutAnswers", severity="critical")
    follower = _one(HUB_LEADER.full_name, TARGET, "0+0x60")
    assert firing_errors(_rules(helm), [follower], {55: [alert]}, tmp_path) == ""
    assert firing_errors(_rules(helm), [], {55: [alert]}, tmp_path) == ""
