"""
The chart renders what was reviewed, grants what the program needs, and names values that are wrong.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, crds, golden, rights, values_table
from e2e.chart.helm import Helm, HelmFailed
from e2e.controlplane.rules import needed
from reporter.kube.objects.access_review import Permission
from reporter.model.enums import DetailSource, ScrapeScope
from reporter.settings import ScrapeMode, load_settings


pytestmark = pytest.mark.controlplane
"""
The helm program is built together with the control plane.
"""

Json = dict[str, Any]
VALUES: Json = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA: Json = json.loads((CHART / "values.schema.json").read_text())
LEASE = ("kaito-system", "productionstack-status-reporter")
DIFFERS = {"kaito-namespace": "kaito-workspace", "resync-seconds": "60"}
"""
Flags whose default in the chart has always differed from the program's.
"""


def _of(objects: list[Json], kind: str, name: str = "") -> Json:
    found = [o for o in objects if o["kind"] == kind and name in {"", o["metadata"]["name"]}]
    assert len(found) == 1, [o["metadata"]["name"] for o in found]
    return found[0]


def _arguments(objects: list[Json]) -> list[str]:
    deployment = _of(objects, "Deployment", "stack-status-reporter")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    given: list[str] = container["args"]
    return given


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
    for kind in crds.SCHEMAS:
        assert crds.file_of(kind).read_text() == crds.content(kind)
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
        ("statusBindAddress=:8081", "statusBindAddress: 8080 and 8081 serve"),
        ("statusBindAddress=0.0.0.0:8080", "statusBindAddress: 8080 and 8081 serve"),
        ("prometheusRule.replicaLabels={a-b}", "replicaLabels"),
        ("prometheusRule.enabled=true,prometheusRule.replicaLabels=null", "replicaLabels"),
        ("networkPolicy.statusFrom[0].podSelectr.a=b", "podSelectr"),
        ("leaderElection.ID=x", "ID"),
        ("emission=both", "emission"),
        ("sources={kafka}", "sources"),
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
    ],
)
def test_wrong_value_is_refused_with_its_name(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(CHART, f"--set={setting}")


def test_two_ways_to_disrupt_are_one_too_many(helm: Helm) -> None:
    both = "podDisruptionBudget.enabled=true,podDisruptionBudget.minAvailable=1"
    with pytest.raises(HelmFailed, match="minAvailable or maxUnavailable, not both"):
        helm.render(CHART, f"--set={both},podDisruptionBudget.maxUnavailable=1")


# ---------------------------------------------------------------- flags


@pytest.mark.parametrize("values", golden.VALUES, ids=lambda path: path.stem)
def test_program_accepts_every_flag(helm: Helm, values: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons: {}\n")
    mounted = "/etc/status-reporter/overlay.yaml"
    arguments = _arguments(helm.render(CHART, f"--values={values}"))
    load_settings([each.replace(mounted, str(overlay)) for each in arguments], {})


def test_defaults_are_those_of_the_program(helm: Helm) -> None:
    given = dict(each.removeprefix("--").split("=", 1) for each in _arguments(helm.render(CHART)))
    loaded = load_settings([], {})
    inside = {"status-bind-address": str(loaded.status_bind_address)}
    ours = {**loaded.flag_texts, **DIFFERS, **inside, "release-namespace": "kaito-system"}
    assert given == {name: ours[name] for name in given}
    assert {"metrics-bind-address", "emission", "scrape-mode"} <= given.keys()


def test_status_is_inside_the_pod_alone_and_no_peer_is_let_in(helm: Helm) -> None:
    ports, address = _ingress_and_status_address(helm)
    assert address == "127.0.0.1:8082"
    assert ports == {"health": None, "metrics": None}
    assert load_settings([f"--status-bind-address={address}"], {}).status_bind_address == (
        load_settings([], {}).status_bind_address
    )


def test_status_that_is_opened_is_so_to_named_peers_alone(helm: Helm) -> None:
    peers = [{"ipBlock": {"cidr": "10.0.0.0/8"}}]
    named = ("--set-json", f"networkPolicy.statusFrom={json.dumps(peers)}")
    opened = "--set=statusBindAddress=:8090"
    assert _ingress_and_status_address(helm, opened) == (
        {"health": None, "metrics": None},
        ":8090",
    )
    assert _ingress_and_status_address(helm, *named)[0].keys() == {"health", "metrics"}
    assert _ingress_and_status_address(helm, opened, *named)[0][8090] == peers


def _ingress_and_status_address(helm: Helm, *words: str) -> tuple[dict[str | int, Any], str]:
    """
    Return the peers by port, None for everyone, and the address of the status page.
    """
    objects = helm.render(CHART, "--set=networkPolicy.enabled=true", *words)
    given = dict(each.removeprefix("--").split("=", 1) for each in _arguments(objects))
    rules = _of(objects, "NetworkPolicy")["spec"]["ingress"]
    peers = {port["port"]: rule.get("from") for rule in rules for port in rule["ports"]}
    return peers, given["status-bind-address"]


def test_overlay_is_mounted_and_a_change_of_it_restarts_the_pods(helm: Helm) -> None:
    def template(overlay: str) -> Json:
        objects = helm.render(CHART, "--set-json", f"catalogueOverlay={overlay}")
        found: Json = _of(objects, "Deployment")["spec"]["template"]
        content = yaml.safe_load(_of(objects, "ConfigMap")["data"]["overlay.yaml"])
        assert content == json.loads(overlay)
        return found

    one = template('{"reasons": {"clusterKedaNotReady": {"enabled": false}}}')
    other = template('{"reasons": {"clusterKedaNotReady": {"enabled": true}}}')
    assert one["spec"] == other["spec"]
    assert one["metadata"]["annotations"] != other["metadata"]["annotations"]


# ---------------------------------------------------------------- rights


@pytest.mark.parametrize(
    ("sources", "mode", "elect"),
    [
        *itertools.product(
            [(), ("keda",), ("karpenter", "istio"), tuple(DetailSource)], ScrapeMode, [True, False]
        ),
    ],
)
def test_chart_grants_exactly_what_the_program_asks_for(
    helm: Helm, sources: tuple[str, ...], mode: ScrapeMode, elect: bool
) -> None:
    objects = helm.render(
        CHART,
        f"--set=sources={{{','.join(sources)}}}" if sources else f"--set=scrape.mode={mode}",
        f"--set=scrape.mode={mode},leaderElection.enabled={str(elect).lower()}",
    )
    lease = LEASE if elect else None
    assert _granted(objects) == needed(
        sources=[DetailSource(each) for each in sources], mode=mode, lease=lease
    )


def test_status_objects_have_rights_of_their_own_and_nobody_may_create_them(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=statusObjects.enabled=true,scrape.mode=direct")
    granted = _granted(objects)
    assert granted == needed(mode=ScrapeMode.DIRECT, lease=LEASE, status_objects=True)
    added = granted - needed(mode=ScrapeMode.DIRECT, lease=LEASE)
    assert {(each.verb, each.resource) for each in added} == {
        ("list", "productionstackstatuses"),
        ("watch", "productionstackstatuses"),
        ("patch", "productionstackstatuses/status"),
    }
    assert load_settings(_arguments(objects), {}).status_objects


def test_crd_is_rendered_only_if_asked_for_and_kept_at_uninstall(helm: Helm) -> None:
    assert "CustomResourceDefinition" not in {each["kind"] for each in helm.render(CHART)}
    objects = helm.render(CHART, "--set=crds.install=true")
    for kind in crds.SCHEMAS:
        crd = _of(objects, "CustomResourceDefinition", kind.group_resource)
        assert crd["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
        assert crd["spec"] == yaml.safe_load(crds.content(kind))["spec"]


@pytest.mark.parametrize("written", ["off", '"off"', "false"])
def test_nothing_is_read_from_pods_and_granted_for_it_with_scrape_off(
    helm: Helm, tmp_path: Path, written: str
) -> None:
    """
    Helm reads off without quotes as false.
    """
    values = tmp_path / "values.yaml"
    values.write_text(f"scrape: {{pods: {written}}}\n")
    objects = helm.render(CHART, f"--values={values}")
    assert load_settings(_arguments(objects), {}).scrape is ScrapeScope.OFF
    assert _granted(objects) == needed(mode=ScrapeMode.DIRECT, lease=LEASE)


def _granted(objects: list[Json]) -> frozenset[Permission]:
    roles = [each for each in objects if each["kind"] in {"Role", "ClusterRole"}]
    bound = [each for each in objects if each["kind"] in {"RoleBinding", "ClusterRoleBinding"}]
    assert {(b["roleRef"]["kind"], b["roleRef"]["name"], _where(b)) for b in bound} == {
        (role["kind"], role["metadata"]["name"], _where(role)) for role in roles
    }
    return frozenset(
        Permission(verb, group, resource, _where(role), name)
        for role in roles
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    )


def _where(manifest: Json) -> str:
    return str(manifest["metadata"].get("namespace", ""))


# ---------------------------------------------------------------- the contract


def test_names_labels_ports_and_probes_are_those_of_the_earlier_chart(helm: Helm) -> None:
    objects = helm.render(CHART)
    deployment = _of(objects, "Deployment", "stack-status-reporter")
    _of(objects, "ServiceAccount", "stack-status-reporter")
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
    name = _of(objects, "Deployment")["metadata"]["name"]
    assert name == ("r" * 53 + "-status-reporter")[:63]
    assert all(len(each["metadata"]["name"]) <= 70 for each in objects)
    bound = _of(objects, "ClusterRoleBinding")
    assert bound["subjects"][0]["name"] == name


def test_namespace_can_be_another_than_the_release_s(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=namespaceOverride=status")
    spaces = {(each["kind"], _where(each)) for each in objects}
    assert ("Deployment", "status") in spaces
    assert {where for _, where in spaces} == {"", "status", "kube-system"}
    assert "--release-namespace=kaito-system" in _arguments(objects)


def test_secrets_wildcards_and_further_privileges_are_nowhere(helm: Helm) -> None:
    values = golden.HERE / "values" / "everything.yaml"
    objects = helm.render(CHART, f"--values={values}")
    text = json.dumps([each for each in objects if "rules" in each])
    assert "*" not in text
    assert "secrets" not in text
    pod = _of(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    own = pod["containers"][0]["securityContext"]
    assert own["readOnlyRootFilesystem"] is True
    assert own["capabilities"] == {"drop": ["ALL"]}
