"""The chart of the hub: nothing of a reporter is in it, and nothing of it in the reporter's."""

import json
from pathlib import Path

import pytest

from e2e.chart import CHART, HUB_CHART, golden
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.hub.rendered import (
    NAME,
    NAMESPACE,
    ON,
    READERS,
    VALUES,
    Json,
    objects_of_hub,
    rendered_hub,
)
from reporter.cli.hub_configuration import load_hub_settings
from reporter.hub.run import needed_permissions
from reporter.kube.access_review import Permission


pytestmark = pytest.mark.controlplane


def _container(objects: list[Json]) -> Json:
    found: Json = objects_of_hub(objects)["Deployment"]["spec"]["template"]["spec"]["containers"][
        0
    ]
    return found


def test_neither_chart_renders_anything_of_the_other(helm: Helm) -> None:
    everything = f"--values={golden.HERE / 'values' / 'everything.yaml'}"
    text = json.dumps(helm.render(CHART, everything, golden.OPERATOR))
    assert "status-hub" not in text
    assert "hub_" not in text
    objects = rendered_hub(helm, f"--values={VALUES}")
    assert {each["metadata"]["name"] for each in objects} == {NAME, READERS}
    names = {each["metadata"]["labels"]["app.kubernetes.io/name"] for each in objects}
    assert names == {"productionstack-status-hub"}


def test_it_has_a_service_account_and_permissions_of_its_own(helm: Helm) -> None:
    found = objects_of_hub(rendered_hub(helm))
    assert found.keys() == {"ServiceAccount", "Role", "RoleBinding", "Deployment"}
    assert found["RoleBinding"]["roleRef"]["name"] == NAME
    (subject,) = found["RoleBinding"]["subjects"]
    assert (subject["name"], subject["namespace"]) == (NAME, NAMESPACE)
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == NAME


@pytest.mark.parametrize("engage", ["listed", "seen"])
def test_it_is_granted_exactly_what_it_asks_for(helm: Helm, engage: str) -> None:
    objects = rendered_hub(helm, f"--set=engage={engage}")
    flags = _container(objects)["args"][1:]
    environ = {"POD_NAMESPACE": NAMESPACE}
    needed = frozenset(needed_permissions(load_hub_settings(flags, environ)))
    granted = frozenset(
        Permission(verb, group, resource, NAMESPACE, name)
        for rule in objects_of_hub(objects)["Role"]["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    )
    assert granted == needed


def test_reviews_of_its_readers_are_granted_in_the_whole_cluster(helm: Helm) -> None:
    objects = rendered_hub(helm, "--set=statusAuthorization=kubernetes")
    found = objects_of_hub(objects)
    flags = _container(objects)["args"][1:]
    reviewing = needed_permissions(load_hub_settings(flags, {"POD_NAMESPACE": NAMESPACE}))
    granted = {
        (verb, group, resource)
        for rule in found["ClusterRole"]["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert granted == {
        (each.verb, each.group, each.resource) for each in reviewing if not each.namespace
    }
    assert found["ClusterRoleBinding"]["roleRef"]["name"] == NAME
    (readers,) = (each for each in objects if each["metadata"]["name"] == READERS)
    assert readers["rules"] == [
        {"nonResourceURLs": ["/", "/page/*", "/status", "/status/*"], "verbs": ["get"]}
    ]


def test_a_hub_and_a_reporter_may_have_one_name_and_namespace(helm: Helm) -> None:
    everything = f"--values={golden.HERE / 'values' / 'everything.yaml'}"
    both = [*rendered_hub(helm, f"--values={VALUES}"), *helm.render(CHART, everything)]
    names = [(each["kind"], each["metadata"]["name"]) for each in both]
    assert len(names) == len({*names})


def test_the_pods_of_reporter_and_hub_are_told_apart(helm: Helm) -> None:
    monitored = "--set=serviceMonitor.enabled=true"
    objects = [
        *rendered_hub(helm, monitored),
        *helm.render(CHART, monitored, golden.OPERATOR),
    ]
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


def test_its_monitor_keeps_the_cluster_that_series_are_about(helm: Helm) -> None:
    found = objects_of_hub(rendered_hub(helm, "--set=serviceMonitor.enabled=true"))
    spec = found["ServiceMonitor"]["spec"]
    selected = spec["selector"]["matchLabels"].items()
    assert selected <= found["Service"]["metadata"]["labels"].items()
    (endpoint,) = spec["endpoints"]
    assert endpoint == {"port": "metrics", "interval": "30s", "honorLabels": True}
    pod = found["Deployment"]["spec"]["template"]
    assert "metrics" in {each["name"] for each in pod["spec"]["containers"][0]["ports"]}


def test_its_budget_and_affinity_are_its_own(helm: Helm) -> None:
    found = objects_of_hub(rendered_hub(helm, "--set=podDisruptionBudget.enabled=true,replicas=2"))
    selector = found["Deployment"]["spec"]["selector"]
    assert found["PodDisruptionBudget"]["spec"] == {"maxUnavailable": 1, "selector": selector}
    pod = found["Deployment"]["spec"]["template"]["spec"]
    (preferred,) = pod["affinity"]["podAntiAffinity"].popitem()[1]
    assert preferred["podAffinityTerm"]["labelSelector"] == selector
    own: Json = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
    found = objects_of_hub(rendered_hub(helm, f"--set-json=affinity={json.dumps(own)}"))
    assert found["Deployment"]["spec"]["template"]["spec"]["affinity"] == own


def test_the_program_accepts_every_flag_and_file(helm: Helm, tmp_path: Path) -> None:
    container = _container(helm.render(HUB_CHART, f"--values={VALUES}"))
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
        ("queryURL=", "queryURL has no value"),
        ("queryURL=http://engine.example.com", "queryURL"),
        ("engage=some", "engage"),
        ("clusterLabel=a-b", "clusterLabel"),
        ("tokenSecret.nam=a", "nam"),
        ("staleSecond=1", "staleSecond"),
        ("staleSeconds=119", r"staleSeconds: 119 is too short: .* set 120 or more"),
        ("intervalSeconds=60,staleSeconds=170", r"staleSeconds: 170 is too short: .* set 180"),
        ("replicas=2,leaderElection.enabled=false", "replicas: 2 replicas without"),
        ("statusBindAddress=:8080", "8080 and 8081 serve"),
        ("statusAuthorization=basic", "statusAuthorization"),
        ("controlPlane.kaitoNamespace=a", "controlPlane"),
    ],
)
def test_wrong_value_is_refused_with_its_name(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(HUB_CHART, ON, f"--set={setting}")


def test_a_stale_time_that_the_program_takes_without_advice_is_taken(helm: Helm) -> None:
    container = _container(rendered_hub(helm, "--set=staleSeconds=120"))
    assert load_hub_settings(container["args"][1:], {}).notes == ()


def test_a_workload_cluster_may_send_the_status_alone(helm: Helm) -> None:
    words = "--set=serviceMonitor.enabled=true,serviceMonitor.rollupOnly=true"
    objects = helm.render(CHART, words, golden.OPERATOR)
    (monitor,) = (each for each in objects if each["kind"] == "ServiceMonitor")
    (endpoint,) = monitor["spec"]["endpoints"]
    (relabelling,) = endpoint["metricRelabelings"]
    assert relabelling["action"] == "keep"
    assert relabelling["regex"] == "productionstack_status_reporter_rollup_.*"
