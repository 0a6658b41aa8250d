"""
The chart renders what was reviewed and what the earlier chart had, and names values that are wrong.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, crds, golden, rights, values_table
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.rendering.objects import arguments_of, namespace_of, object_of


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

Json = dict[str, Any]
VALUES: Json = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA: Json = json.loads((CHART / "values.schema.json").read_text())


# ---------------------------------------------------------------- as a whole


def test_chart_passes_lint(helm: Helm) -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART))


@pytest.mark.parametrize("values", golden.VALUES, ids=lambda path: path.stem)
def test_what_is_rendered_is_what_was_reviewed(helm: Helm, values: Path) -> None:
    assert golden.rendered(helm, values) == golden.golden(values).read_text(), (
        "if this is meant: python -m e2e.chart.golden, and read the difference"
    )


def test_generated_files_are_up_to_date() -> None:
    assert rights.FILE.read_text() == rights.content()
    assert rights.HUB_FILE.read_text() == rights.hub_content()
    assert {file: file.read_text() for file in crds.contents()} == crds.contents()
    text = values_table.README.read_text()
    assert values_table.updated(text) == text


def test_default_memory_is_that_of_the_smallest_measured_size() -> None:
    lines = values_table.README.read_text().splitlines()
    smallest = next(line for line in lines if line.startswith("| 100 |"))
    *_, request, limit = (cell.strip() for cell in smallest.strip("|").split("|"))
    resources = VALUES["resources"]
    assert (resources["requests"]["memory"], resources["limits"]["memory"]) == (request, limit)


def test_every_value_is_described_and_every_description_has_a_default() -> None:
    def compare(values: Json, schema: Json, where: str) -> None:
        known = set(schema["properties"]) - {"enabled", "global"} if not where else None
        assert set(values) == (known or set(schema["properties"])), where
        for name, value in values.items():
            described = schema["properties"][name]
            assert described.get("description"), f"{where}{name}"
            if "properties" in described:
                compare(value, described, f"{where}{name}.")

    compare(VALUES, SCHEMA, "")


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
        ("emission=both", "emission"),
        ("sources={kafka}", "sources"),
        ("smokeChecks.models[0].namespace=team-a", "inferenceSet"),
        (
            "smokeChecks.models[0].namespace=a,smokeChecks.models[0].inferenceSet=b",
            "smokeChecks.models: nobody reads their results; add jobs to sources",
        ),
        ("scrape.mode=telepathy", "mode"),
        ("scrape.pods=some", "pods"),
        ("scrape.pods=true", "pods"),
        ("resyncSeconds=soon", "resyncSeconds"),
        ("heartbeatSeconds=1", "heartbeatSeconds"),
        ("image.digest=latest", "digest"),
        ("controlPlane.weightDownload.metricPort=70000", "metricPort"),
        ("extraArgs={resync-seconds=5}", "extraArgs"),
        ("resources.limit.memory=1Gi", "'limit'"),
        ("affinity.nodeAfinity.x=1", "nodeAfinity"),
        ("tolerations[0].efect=NoSchedule", "efect"),
        ("topologySpreadConstraints[0].labelSelectr.a=b", "labelSelectr"),
        ("networkPolicy.metricsFrom[0].podSelectr.a=b", "podSelectr"),
        ("statusObjects.enable=true", "enable"),
        ("statusObjects.packageLabel=/", "packageLabel"),
        ("crds.install=maybe", "install"),
        ("store.backend=mongodb", "backend"),
        ("store.resource=nodes", "resource"),
        ("store.resource=healthevents.example", "resource"),
        ("store.max=0", "max"),
        ("store.retention=5", "retention"),
        ("rollupMetrics=all", "rollupMetrics"),
        ("statusAuthorization=basic", "statusAuthorization"),
        ("hub.statusAuthorization=basic", "statusAuthorization"),
        ("rbac.eventsRole=maybe", "eventsRole"),
        ("rbac.eventRole=false", "eventRole"),
    ],
)
def test_wrong_value_is_refused_with_its_name(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(CHART, f"--set={setting}")


def test_two_ways_to_disrupt_are_one_too_many(helm: Helm) -> None:
    both = "podDisruptionBudget.enabled=true,podDisruptionBudget.minAvailable=1"
    with pytest.raises(HelmFailed, match="minAvailable or maxUnavailable, not both"):
        helm.render(CHART, f"--set={both},podDisruptionBudget.maxUnavailable=1")


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
