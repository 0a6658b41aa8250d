"""
The chart renders what was reviewed and what the earlier chart had, and names values that are wrong.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import (
    CHART,
    CRD_CHART,
    HUB_CHART,
    crds,
    golden,
    reasons,
    rights,
    runbooks,
    shared,
    values_table,
)
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.hub.rendered import ON
from e2e.chart.rendering.objects import arguments_of, namespace_of, object_of
from reporter.settings import load_settings


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

Json = dict[str, Any]
VALUES: Json = yaml.safe_load((CHART / "values.yaml").read_text())


# ---------------------------------------------------------------- as a whole


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        (CHART, ()),
        (HUB_CHART, ("--set=queryURL=https://engine.example.com",)),
        (CRD_CHART, ()),
    ],
    ids=lambda each: each.name if isinstance(each, Path) else "",
)
def test_chart_passes_lint(helm: Helm, chart: Path, values: tuple[str, ...]) -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(chart), *values)


@pytest.mark.parametrize("values", golden.VALUES, ids=lambda path: path.stem)
def test_what_is_rendered_is_what_was_reviewed(helm: Helm, values: Path) -> None:
    assert golden.rendered(helm, values) == golden.golden(values).read_text(), (
        "if this is meant: python -m e2e.chart.golden, and read the difference"
    )


def test_generated_files_are_up_to_date() -> None:
    assert rights.FILE.read_text() == rights.content()
    assert rights.HUB_FILE.read_text() == rights.hub_content()
    assert {file: file.read_text() for file in crds.contents()} == crds.contents()
    assert reasons.FILE.read_text() == reasons.content()
    assert {file: file.read_text() for file in runbooks.contents()} == runbooks.contents()
    copies = {file: file.read_text() for file in (HUB_CHART / shared.FOLDER).iterdir()}
    assert copies == shared.contents()
    for readme in values_table.READMES:
        assert values_table.updated(readme) == readme.read_text()


def test_default_memory_is_that_of_the_smallest_measured_size() -> None:
    lines = (CHART / "README.md").read_text().splitlines()
    smallest = next(line for line in lines if line.startswith("| 100 |"))
    *_, request, limit = (cell.strip() for cell in smallest.strip("|").split("|"))
    resources = VALUES["resources"]
    assert (resources["requests"]["memory"], resources["limits"]["memory"]) == (request, limit)


MOST_VALUES = 81
"""More than a person reads: what nobody sets is a flag, in extraArgs."""


def test_a_person_can_read_all_values() -> None:
    def count(values: Json) -> int:
        return sum(
            count(each) if isinstance(each, dict) and each else 1 for each in values.values()
        )

    assert count(VALUES) <= MOST_VALUES


@pytest.mark.parametrize("chart", [CHART, HUB_CHART], ids=lambda each: each.name)
def test_every_value_is_described_and_every_description_has_a_default(chart: Path) -> None:
    def compare(values: Json, schema: Json, where: str) -> None:
        known = set(schema["properties"]) - {"enabled", "global"} if not where else None
        assert set(values) == (known or set(schema["properties"])), where
        for name, value in values.items():
            described = schema["properties"][name]
            assert described.get("description"), f"{where}{name}"
            if "properties" in described:
                compare(value, described, f"{where}{name}.")

    schema = json.loads((chart / "values.schema.json").read_text())
    compare(yaml.safe_load((chart / "values.yaml").read_text()), schema, "")


# ---------------------------------------------------------------- what is typed wrong


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("image.repo=x", "repo"),
        ("controlPlane.weightDownload.minMbps=3", "minMbps"),
        ("controlPlane.weightDownload.minMBps=-1", "minMBps"),
        ("statusBindAddress=8082", "statusBindAddress"),
        ("statusBindAddress=1", "statusBindAddress"),
        ("statusBindAddress=:8081", "statusBindAddress: 8080 and 8081 serve"),
        ("statusBindAddress=0.0.0.0:8080", "statusBindAddress: 8080 and 8081 serve"),
        ("prometheusRule.clusterLabels={a-b}", "clusterLabels"),
        ("networkPolicy.statusFrom[0].podSelectr.a=b", "podSelectr"),
        ("leaderElection.ID=x", "ID"),
        ("sources={kafka}", "sources"),
        ("smokeChecks[0].namespace=team-a", "inferenceSet"),
        (
            "smokeChecks[0].namespace=a,smokeChecks[0].inferenceSet=b",
            "smokeChecks: nobody reads their results; add jobs to sources",
        ),
        ("scrape.mode=telepathy", "mode"),
        ("scrape.pods=some", "pods"),
        ("scrape.pods=true", "pods"),
        ("resyncSeconds=soon", "resyncSeconds"),
        ("image.digest=latest", "digest"),
        ("controlPlane.weightDownload.metricPort=70000", "metricPort"),
        ("extraArgs={resync-seconds=5}", "extraArgs"),
        ("resources.limit.memory=1Gi", "'limit'"),
        ("affinity.nodeAfinity.x=1", "nodeAfinity"),
        ("tolerations[0].efect=NoSchedule", "efect"),
        ("podSpec.containers[0].name=a", "containers"),
        ("podSpec.hostNetwork=true", "hostNetwork"),
        ("networkPolicy.metricsFrom[0].podSelectr.a=b", "podSelectr"),
        ("statusObjects.enable=true", "enable"),
        ("store.backend=mongodb", "backend"),
        ("store.retention=5", "retention"),
        ("rollupMetrics=all", "rollupMetrics"),
        ("statusAuthorization=basic", "statusAuthorization"),
        ("hub.enabled=true", "hub"),
        ("replcas=3", "replcas"),
        ("crds.install=true", "crds"),
        ("extraEnv[0].name=POD_NAME", "extraEnv"),
        ("probes.liveness.httpGet.path=/", "httpGet"),
        ("serviceAccount.nam=a", "nam"),
        ("networkPolicy.egress[0].from=a", "from"),
        ("rbac.eventsRole=maybe", "eventsRole"),
        ("rbac.eventRole=false", "eventRole"),
    ],
)
def test_wrong_value_is_refused_with_its_name(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(CHART, f"--set={setting}")


SECRETS = [{"apiGroups": ["", "apps"], "resources": ["pods", "secrets"]}]


@pytest.mark.parametrize(
    ("value", "given", "refused"),
    [
        ("extraRules", SECRETS, "extraRules: secrets are not granted"),
        (
            "ownPacks",
            {"mine": {"files": {"a.yaml": "reasons: []"}, "rules": SECRETS}},
            r"ownPacks\.mine\.rules: secrets are not granted",
        ),
        ("replicas", 2, "replicas: 2 replicas without leaderElection.enabled would all write"),
        ("extraArgs", ["--leader-elect=false"], "replicas: 2 replicas without"),
        (
            "extraArgs",
            ["--lease-duration-seconds=10"],
            "extraArgs: --lease-duration-seconds=10 must be longer than --renew-deadline-seconds=10",
        ),
        (
            "extraArgs",
            ["-renew-deadline-seconds=2.4", "--lease-duration-seconds=3"],
            "extraArgs: --renew-deadline-seconds=2.4 must be longer than 1.2 times --retry",
        ),
        ("catalogueOverlay", "reasons: [", "catalogueOverlay: no YAML mapping"),
        ("catalogueOverlay", "clusterKedaNotReady", "catalogueOverlay: no YAML mapping"),
        ("catalogueOverlay", {"reason": {}}, "catalogueOverlay: unknown key reason"),
        (
            "catalogueOverlay",
            {"reasons": ["clusterKedaNotReady"]},
            "catalogueOverlay: reasons is no mapping",
        ),
        (
            "catalogueOverlay",
            {"reasons": {"clusterKedaNotRedy": {"enabled": False}}},
            "catalogueOverlay: unknown reason clusterKedaNotRedy",
        ),
        (
            "catalogueOverlay",
            {"reasons": {"clusterKServeControllerNotReady": {"enabled": False}}},
            "catalogueOverlay: unknown reason clusterKServeControllerNotReady",
        ),
        ("podDisruptionBudget", {"enabled": True, "minAvailable": 2}, "minAvailable"),
        ("podDisruptionBudget", {"enabled": True, "maxUnavailable": 0}, "maxUnavailable"),
    ],
)
def test_what_would_fail_later_is_refused_when_it_is_rendered(
    helm: Helm, value: str, given: object, refused: str
) -> None:
    alone = ["--set=leaderElection.enabled=false"] if value == "replicas" else []
    with pytest.raises(HelmFailed, match=refused):
        helm.render(CHART, f"--set-json={value}={json.dumps(given)}", *alone)


OWN = {"own": {"files": {"a.yaml": "reasons: [{reason: ownReason}]", "b.yaml": {"reasons": []}}}}


@pytest.mark.parametrize(
    ("packs", "reason"),
    [
        (["kaito"], "clusterReady"),
        (["kserve"], "clusterKServeControllerNotReady"),
        (["kaito", "own"], "ownReason"),
    ],
)
def test_an_overlay_of_a_reason_that_a_pack_has_is_taken(
    helm: Helm, packs: list[str], reason: str
) -> None:
    words = {"packs": packs, "ownPacks": OWN, "catalogueOverlay": {"reasons": {reason: {}}}}
    assert helm.render(CHART, *(f"--set-json={k}={json.dumps(v)}" for k, v in words.items()))


def test_texts_that_begin_with_an_indented_comment_are_kept(helm: Helm) -> None:
    text = "  # the platform team's\nreasons: {}\n"
    own = {"own": {"files": {"a.yaml": text}}}
    objects = helm.render(
        CHART,
        "--set=packs={kaito,own}",
        f"--set-json=ownPacks={json.dumps(own)}",
        f"--set-json=catalogueOverlay={json.dumps(text)}",
    )
    texts = [each["data"] for each in objects if each["kind"] == "ConfigMap"]
    assert texts == [{"overlay.yaml": text}, {"a.yaml": text}]


def test_times_of_the_lease_that_fit_are_taken(helm: Helm) -> None:
    times = ["--lease-duration-seconds=60", "--renew-deadline-seconds=40"]
    objects = helm.render(CHART, f"--set-json=extraArgs={json.dumps(times)}")
    load_settings(arguments_of(objects), {})


# ---------------------------------------------------------------- pods


def test_pods_are_of_linux_know_no_services_and_take_what_is_given(helm: Helm) -> None:
    values = {
        "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
        "probes": {"liveness": {"failureThreshold": 6, "timeoutSeconds": 9}},
        "podSpec": {"priorityClassName": "system-cluster-critical"},
        "nodeSelector": {"pool": "system"},
    }
    objects = helm.render(CHART, *(f"--set-json={k}={json.dumps(v)}" for k, v in values.items()))
    pod = object_of(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux", "pool": "system"}
    assert pod["enableServiceLinks"] is False
    assert pod["priorityClassName"] == "system-cluster-critical"
    container = pod["containers"][0]
    assert container["env"][-1] == values["extraEnv"][0]
    probe = container["livenessProbe"]
    assert probe == {
        "httpGet": {"path": "/healthz", "port": "health"},
        "initialDelaySeconds": 15,
        "periodSeconds": 20,
        "timeoutSeconds": 9,
        "failureThreshold": 6,
    }
    assert container["readinessProbe"]["periodSeconds"] == 5


@pytest.mark.parametrize("chart", [(CHART, ()), (HUB_CHART, (ON,))], ids=["reporter", "hub"])
def test_a_probe_may_begin_at_once(helm: Helm, chart: tuple[Path, tuple[str, ...]]) -> None:
    objects = helm.render(*_words(chart), "--set=probes.readiness.initialDelaySeconds=0")
    pod = object_of(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["containers"][0]["readinessProbe"]["initialDelaySeconds"] == 0


@pytest.mark.parametrize("chart", [(CHART, ()), (HUB_CHART, (ON,))], ids=["reporter", "hub"])
@pytest.mark.parametrize(
    "refused",
    [
        "liveness.successThreshold=2",
        "liveness.terminationGracePeriodSeconds=0",
        "readiness.terminationGracePeriodSeconds=5",
    ],
)
def test_a_probe_that_kubernetes_refuses_is_refused(
    helm: Helm, chart: tuple[Path, tuple[str, ...]], refused: str
) -> None:
    with pytest.raises(HelmFailed, match=refused.partition(".")[2].partition("=")[0]):
        helm.render(*_words(chart), f"--set=probes.{refused}")
    taken = "liveness.successThreshold=1,probes.liveness.terminationGracePeriodSeconds=5"
    assert helm.render(*_words(chart), f"--set=probes.{taken},probes.readiness.successThreshold=2")


def _words(chart: tuple[Path, tuple[str, ...]]) -> list[Any]:
    return [chart[0], *chart[1]]


def test_a_service_account_that_is_there_is_bound_and_not_created(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=serviceAccount.name=there")
    assert not [each for each in objects if each["kind"] == "ServiceAccount"]
    pod = object_of(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "there"
    bound = {
        subject["name"]
        for each in objects
        if each["kind"].endswith("Binding")
        for subject in each["subjects"]
    }
    assert bound == {"there"}


@pytest.mark.parametrize(
    ("chart", "name"), [(CHART, "stack-status-reporter"), (HUB_CHART, "stack-status-hub")]
)
def test_a_service_account_by_the_name_of_the_charts_own_stays(
    helm: Helm, chart: Path, name: str
) -> None:
    """An upgrade to this value would delete the one that the chart created, with its pods' rights."""
    on = [ON] if chart == HUB_CHART else []
    assert helm.render(chart, *on, f"--set=serviceAccount.name={name}") == helm.render(chart, *on)


def test_a_service_account_that_is_created_has_its_annotations(helm: Helm) -> None:
    key = r"azure\.workload\.identity/client-id"
    objects = helm.render(CHART, f"--set-string=serviceAccount.annotations.{key}=1")
    meta = object_of(objects, "ServiceAccount")["metadata"]
    assert meta["annotations"] == {"azure.workload.identity/client-id": "1"}


def test_what_pods_connect_to_is_limited_only_if_it_is_said(helm: Helm) -> None:
    def policy(*words: str) -> Json:
        objects = helm.render(CHART, "--set=networkPolicy.enabled=true", *words)
        found: Json = object_of(objects, "NetworkPolicy")["spec"]
        return found

    assert policy()["policyTypes"] == ["Ingress"]
    assert "egress" not in policy()
    egress = [{"ports": [{"port": 443, "protocol": "TCP"}]}]
    limited = policy(f"--set-json=networkPolicy.egress={json.dumps(egress)}")
    assert (limited["policyTypes"], limited["egress"]) == (["Ingress", "Egress"], egress)


# ---------------------------------------------------------------- the contract


def test_names_labels_ports_and_probes_are_those_of_the_earlier_chart(helm: Helm) -> None:
    objects = helm.render(CHART)
    deployment = object_of(objects, "Deployment", "stack-status-reporter")
    object_of(objects, "ServiceAccount", "stack-status-reporter")
    labels = {
        "app.kubernetes.io/name": "productionstack-status-reporter",
        "app.kubernetes.io/instance": "stack",
    }
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    template = deployment["spec"]["template"]
    pod_labels = {**labels, "app.kubernetes.io/component": "status-reporter"}
    assert template["metadata"]["labels"] == pod_labels
    container = template["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"metrics": 8080, "health": 8081}
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "health"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}
    assert template["spec"]["terminationGracePeriodSeconds"] == 30


def test_longest_release_name_is_cut_and_stays_one_name(helm: Helm) -> None:
    objects = helm.render(CHART, release="r" * 53)
    name = object_of(objects, "Deployment")["metadata"]["name"]
    assert name == ("r" * 53 + "-status-reporter")[:63]
    assert all(len(each["metadata"]["name"]) <= 70 for each in objects)
    bound = object_of(objects, "ClusterRoleBinding")
    assert bound["subjects"][0]["name"] == name


def test_namespace_can_be_another_than_the_release_s(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=namespaceOverride=status")
    spaces = {(each["kind"], namespace_of(each)) for each in objects}
    assert ("Deployment", "status") in spaces
    assert {where for _, where in spaces} == {"", "status", "kube-system"}
    assert "--release-namespace=kaito-system" in arguments_of(objects)


def test_secrets_wildcards_and_further_privileges_are_nowhere(helm: Helm) -> None:
    values = golden.HERE / "values" / "everything.yaml"
    objects = helm.render(CHART, f"--values={values}")
    text = json.dumps([each for each in objects if "rules" in each and not _is_for_readers(each)])
    assert "*" not in text
    assert "secrets" not in text
    pod = object_of(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    own = pod["containers"][0]["securityContext"]
    assert own["readOnlyRootFilesystem"] is True
    assert own["capabilities"] == {"drop": ["ALL"]}


def _is_for_readers(manifest: Json) -> bool:
    """Report whether a role has paths alone, and no resources: that of readers of the status."""
    return all(rule.keys() == {"nonResourceURLs", "verbs"} for rule in manifest["rules"])
