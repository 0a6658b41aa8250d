"""
Each value of the earlier chart is taken as it was, and an image of the earlier reporter is refused.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART
from e2e.chart.helm import IMAGE, IN_UMBRELLA, Helm, HelmFailed
from e2e.chart.installed import EARLIER, NAMESPACE, umbrella
from e2e.controlplane import ControlPlane
from reporter.settings import Settings, load_settings


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
VALUES: Json = yaml.safe_load((EARLIER / "values.yaml").read_text())
APP_VERSION = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
UNKNOWN = "UNKNOWN_CHART_VALUES"
WHERE = f"--namespace={NAMESPACE}"


def _paths(values: Json, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, dict) and value and name not in {"requests", "limits"}:
            yield from _paths(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _deployment(helm: Helm, *words: str) -> Json:
    objects = helm.render(CHART, *words)
    (found,) = (each for each in objects if each["kind"] == "Deployment")
    return found


def _settings(deployment: Json) -> Settings:
    """Return the settings of the process that the pods would run."""
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    environ = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    return load_settings(container["args"], environ)


# ---------------------------------------------------------------- taken


OWN_IMAGE = {"image.repository", "image.tag"}


PATHS = [path for path, _ in _paths(VALUES) if path not in OWN_IMAGE]


@pytest.mark.parametrize(
    "paths",
    [PATHS, *(pytest.param([each], marks=pytest.mark.slow) for each in PATHS)],
    ids=["all", *PATHS],
)
def test_each_default_of_the_earlier_chart_changes_nothing_but_resources(
    helm: Helm, paths: list[str]
) -> None:
    defaults = dict(_paths(VALUES))
    values = [f"--set-json={each}={json.dumps(defaults[each])}" for each in paths]
    ours, theirs = _deployment(helm), _deployment(helm, *values)
    for each in (ours, theirs):
        each["spec"]["template"]["spec"]["containers"][0].pop("resources")
    assert ours == theirs


NAMESPACES = ("istio", "kaito", "keda", "gatewayAuth", "bbr", "kedaScaler")
DEPLOYMENTS = ("istiod", "kaito", "bbr", "kedaScaler", "gatewayAuth")


@pytest.mark.parametrize(
    ("path", "value", "flag", "text"),
    [
        ("replicas", 1, "", ""),
        ("image.pullPolicy", "Never", "", ""),
        ("resyncSeconds", 1, "resync-seconds", "1"),
        ("resyncSeconds", 1_000_000, "resync-seconds", "1000000"),
        ("startupGraceSeconds", 0, "startup-grace-seconds", "0"),
        ("leaderElection.id", "other", "leader-election-id", "other"),
        *((f"controlPlane.{each}Namespace", "", "", "") for each in NAMESPACES),
        *((f"controlPlane.{each}Namespace", None, "", "") for each in NAMESPACES),
        *((f"controlPlane.{each}Deployment", "", "", "") for each in DEPLOYMENTS),
        *((f"controlPlane.{each}Deployment", None, "", "") for each in DEPLOYMENTS),
        ("controlPlane.azureAuthz", None, "azure-authz-deployment", ""),
        ("controlPlane.azureAuthz", {}, "azure-authz-deployment", ""),
        ("controlPlane.azureAuthz.name", "azure", "azure-authz-deployment", "azure"),
        ("controlPlane.azureAuthz.namespace", "auth", "azure-authz-deployment", ""),
        ("controlPlane.nodeProvisioner", None, "node-provisioner-name", ""),
        ("controlPlane.nodeProvisioner.name", "karpenter", "node-provisioner-name", ""),
        ("controlPlane.weightDownload.windowSeconds", 1, "weight-download-window-seconds", "1"),
        ("controlPlane.weightDownload.minMBps", 0, "weight-download-min-mbps", "0"),
        ("controlPlane.weightDownload.minMBps", 0.5, "weight-download-min-mbps", "0.5"),
        ("controlPlane.weightDownload.minMBps", 1e7, "weight-download-min-mbps", "1e+07"),
        ("controlPlane.weightDownload.metricName", "a-b", "weight-download-min-mbps", "0"),
        ("controlPlane.weightDownload.metricPort", 65535, "weight-download-metric-port", "65535"),
        ("resources", {}, "", ""),
        ("resources", None, "", ""),
        ("nodeSelector", None, "", ""),
        ("tolerations", [], "", ""),
        ("tolerations", None, "", ""),
        ("affinity", None, "", ""),
        ("podAntiAffinity", False, "", ""),
        ("podAntiAffinity", None, "", ""),
        ("namespaceOverride", None, "", ""),
    ],
)
def test_each_value_that_the_earlier_chart_took_is_taken(
    helm: Helm, path: str, value: object, flag: str, text: str
) -> None:
    made = _settings(_deployment(helm, "--set-json", f"{path}={json.dumps(value)}"))
    if flag:
        assert made.flag_texts[flag] == text
    elif path.endswith(("Namespace", "Deployment")):
        assert any(note.endswith("is not checked") for note in made.notes), made.notes


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("replicas", "2"),
        ("replicas", None),
        ("resyncSeconds", "60"),
        ("resyncSeconds", 0),
        ("resyncSeconds", None),
        ("startupGraceSeconds", None),
        ("leaderElection.enabled", "true"),
        ("leaderElection.id", None),
        ("controlPlane.istioNamespace", 1),
        ("controlPlane.kaitoDeployment", []),
        ("controlPlane.weightDownload.minMBps", "20"),
        ("controlPlane.weightDownload.minMBps", None),
        ("controlPlane.weightDownload.metricName", ""),
        ("podAntiAffinity", "yes"),
        ("tolerations", {}),
        ("image.tag", 1.0),
        ("image.repository", None),
    ],
)
def test_what_the_earlier_chart_refused_or_could_not_run_is_refused_with_its_name(
    helm: Helm, path: str, value: object
) -> None:
    with pytest.raises(HelmFailed, match=path.rpartition(".")[2]):
        helm.render(CHART, "--set-json", f"{path}={json.dumps(value)}")


def test_no_election_is_taken_with_one_replica(helm: Helm) -> None:
    one = _settings(_deployment(helm, "--set=leaderElection.enabled=false,replicas=1"))
    assert one.flag_texts["leader-elect"] == "false"


def test_unknown_values_at_the_top_are_refused_and_those_of_the_control_plane_named_in_the_log(
    helm: Helm,
) -> None:
    with pytest.raises(HelmFailed, match="replcas"):
        _deployment(helm, "--set=replcas=3")
    unknown = "controlPlane.istioNamspace=x,x-own.note=y,global.region=z"
    deployment = _deployment(helm, f"--set={unknown}")
    assert [note.split(",")[0] for note in _settings(deployment).notes] == [
        "the chart has no value controlPlane.istioNamspace",
    ]
    assert UNKNOWN not in json.dumps(_deployment(helm))


def test_known_values_are_those_of_the_values_file(helm: Helm) -> None:
    """Every value at once is known, so the list in the template is whole."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    control_plane = values["controlPlane"]
    both = {**values, "enabled": True, "controlPlane": {**control_plane, "zzz": 1}}
    text = json.dumps(_deployment(helm, *_all_set(both)))
    assert '"controlPlane.zzz"' in text


def _all_set(values: Json) -> Iterator[str]:
    for name, value in values.items():
        yield from ("--set-json", f"{name}={json.dumps(value)}")


def test_notes_warn_of_values_that_switch_checks_off_or_open_the_status(
    installer: Helm, plane: ControlPlane
) -> None:
    def notes(*words: str) -> str:
        printed = installer(
            "install", "notes", str(CHART), WHERE, "--dry-run=server", IMAGE, *words
        )
        return printed.partition("NOTES:")[2]

    assert "WARNING" not in notes()
    azure = "--set=controlPlane.gatewayAuthDeployment=,controlPlane.azureAuthz.name=azure-authz"
    assert "WARNING" not in notes(azure)
    warned = notes(
        "--set=controlPlane.kaitoNamespce=a,controlPlane.kaitoNamespace=,controlPlane.bbrDeployment=",
        "--set=controlPlane.weightDownload.minMBps=0,statusBindAddress=:8090",
    ).partition("WARNING\n")[2]
    assert [line.partition(":")[0] for line in warned.strip().splitlines()] == [
        "- controlPlane.kaitoNamespce is not a value of this chart and has no effect.",
        "- controlPlane.kaitoNamespace is empty",
        "- controlPlane.bbrDeployment is empty",
        "- controlPlane.weightDownload.minMBps is 0",
        "- statusBindAddress opens /status, without authentication, at port 8090 of the pods.",
    ]


# ---------------------------------------------------------------- the earlier image


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("image.repository=ghcr.io/kaito-project/productionstack-status-reporter", "repository"),
        (
            "image.registry=ghcr.io,image.repository=kaito-project/productionstack-status-reporter",
            "repository",
        ),
        ("image.tag=0.4.0", "tag"),
        ("image.tag=v0.4.0", "tag"),
        ("image.tag=v0.3.1-rc.1", "tag"),
        ("image.tag=v0.4", "tag"),
    ],
)
def test_an_image_of_the_earlier_reporter_is_refused(helm: Helm, setting: str, named: str) -> None:
    with pytest.raises(HelmFailed, match=rf"image\.{named}: .*(earlier reporter)"):
        helm.render(CHART, f"--set={setting}")


@pytest.mark.parametrize(
    "setting",
    [
        f"image.tag={APP_VERSION}",
        f"image.tag=v{APP_VERSION}",
        f"image.tag={APP_VERSION}-patched",
        "image.tag=main",
        "image.tag=sha-0123abc",
        "image.tag=20260101",
        f"image.tag=0.4.0,image.digest=sha256:{'0' * 64}",
    ],
)
def test_another_image_of_this_program_is_taken(helm: Helm, setting: str) -> None:
    assert _deployment(helm, f"--set-string={setting}")


def test_reused_values_are_refused_and_reset_ones_taken(
    installer: Helm, plane: ControlPlane
) -> None:
    helm = installer
    helm("install", "stack", str(EARLIER), WHERE)
    upgrade = ("upgrade", "stack", str(CHART), WHERE)
    with pytest.raises(HelmFailed, match=r"scrape\.pods has no value.*--reset-then-reuse-values"):
        helm(*upgrade, "--reuse-values")
    own = "--set=image.repository=registry.example/reporter,image.tag="
    with pytest.raises(HelmFailed, match=r"scrape\.pods has no value"):
        helm(*upgrade, "--reuse-values", own)
    helm("upgrade", "stack", str(EARLIER), WHERE, "--set=image.tag=0.4.0,resyncSeconds=45")
    with pytest.raises(HelmFailed, match=r"image\.tag: 0\.4\.0 is not the version"):
        helm(*upgrade, "--reset-then-reuse-values", IMAGE)
    helm(*upgrade, "--reset-then-reuse-values", "--set=image.tag=", IMAGE)
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/stack-status-reporter"
    assert "--resync-seconds=45" in str(plane.client.get(path))
    helm("uninstall", "stack", WHERE, "--wait")


def test_reused_values_of_the_umbrella_are_refused_with_the_image(
    installer: Helm, plane: ControlPlane, tmp_path: Path
) -> None:
    before, after = (umbrella(tmp_path / each.name, each) for each in (EARLIER, CHART))
    installer("install", "stack", str(before), WHERE)
    upgrade = ("upgrade", "stack", str(after), WHERE)
    named = rf"{CHART.name}\.image\.repository: ghcr\.io/kaito-project/"
    with pytest.raises(HelmFailed, match=named):
        installer(*upgrade, "--reuse-values")
    installer(*upgrade, IN_UMBRELLA)
    installer("uninstall", "stack", WHERE, "--wait")
