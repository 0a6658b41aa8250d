"""The hub in the chart: nothing of it by default, and its own permissions."""

import json
from pathlib import Path

import pytest

from e2e.chart import CHART, golden
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.hub.rendered import NAME, NAMESPACE, ON, READERS, VALUES, Json, objects_of_hub
from reporter.cli.configuration import load_hub_settings
from reporter.hub.run import needed_permissions
from reporter.kube.access_review import Permission


pytestmark = pytest.mark.controlplane


def _container(objects: list[Json]) -> Json:
    found: Json = objects_of_hub(objects)["Deployment"]["spec"]["template"]["spec"]["containers"][
        0
    ]
    return found


def test_nothing_of_it_is_rendered_by_default(helm: Helm) -> None:
    text = json.dumps(helm.render(CHART, golden.OPERATOR))
    assert "status-hub" not in text
    assert "hub_" not in text


def test_it_has_a_service_account_and_permissions_of_its_own(helm: Helm) -> None:
    found = objects_of_hub(helm.render(CHART, ON))
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
        for rule in objects_of_hub(objects)["Role"]["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    )
    assert granted == needed


def test_reviews_of_its_readers_are_granted_in_the_whole_cluster(helm: Helm) -> None:
    objects = helm.render(CHART, ON, "--set=hub.statusAuthorization=kubernetes")
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


def test_beside_no_reporter_nothing_is_granted_to_one(helm: Helm) -> None:
    every = "--set=replicas=0,statusAuthorization=kubernetes,mirrorEvents=true,store.backend=healthevents"
    objects = helm.render(CHART, ON, every)
    granting = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}
    found = {(each["kind"], each["metadata"]["name"]) for each in objects}
    assert {each for each in found if each[0] in granting} == {
        ("Role", NAME),
        ("RoleBinding", NAME),
    }


def test_a_hub_alone_and_a_reporter_are_two_releases_of_one_cluster(helm: Helm) -> None:
    """
    The name of the ClusterRole is the same in every release, as that of the earlier chart was.
    """
    hub = helm.render(CHART, f"--values={VALUES}", "--set=crds.install=false", release="fleet")
    both = [*hub, *helm.render(CHART)]
    names = [(each["kind"], each["metadata"]["name"]) for each in both]
    assert len(names) == len({*names})


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


@pytest.mark.parametrize("kind", ["ServiceMonitor", "PodMonitor"])
def test_either_monitor_scrapes_the_hub_too(helm: Helm, kind: str) -> None:
    """Without it the alerts on a hub whose series are missing fire for ever."""
    value = f"{kind[0].lower()}{kind[1:]}"
    objects = helm.render(CHART, f"{ON},{value}.enabled=true", golden.OPERATOR)
    found = objects_of_hub(objects)
    pod = found["Deployment"]["spec"]["template"]
    spec = found[kind]["spec"]
    selected = spec["selector"]["matchLabels"].items()
    assert selected <= (found.get("Service") or pod)["metadata"]["labels"].items()
    (endpoint,) = spec.get("endpoints") or spec["podMetricsEndpoints"]
    ports = {each["name"] for each in pod["spec"]["containers"][0]["ports"]}
    assert endpoint["port"] in ports


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
