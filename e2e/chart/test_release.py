"""The charts as a release packages them install without a registry."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from e2e.chart import CHART, CRD_CHART, HUB_CHART, golden
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.hub.rendered import ON
from e2e.controlplane import assets


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

ROOT = CHART.parents[1]
NAME = CHART.name
CHART_YAML = yaml.safe_load((CHART / "Chart.yaml").read_text())
VERSION = CHART_YAML["appVersion"]


def package(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    helm = assets.program("helm")
    return subprocess.run(
        ["make", "--silent", "chart", f"DIST={folder}", f"HELM={helm}", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


OTHERS = {HUB_CHART: (ON,), CRD_CHART: ()}
ARCHIVES = {
    f"{NAME}-{CHART_YAML['version']}.tgz": (),
    **{f"{chart.name}-{VERSION}.tgz": words for chart, words in OTHERS.items()},
}
"""The archive of each chart, and the values without which it is not rendered."""


def test_packaged_charts_name_the_image_of_their_registry(helm: Helm, tmp_path: Path) -> None:
    before = (CHART / "values.yaml").read_text()
    done = package(tmp_path / "dist", "REGISTRY=registry.example/team")
    assert done.returncode == 0, done.stderr
    assert {each.name for each in (tmp_path / "dist").iterdir()} == {*ARCHIVES}
    for archive, words in ARCHIVES.items():
        objects = helm.render(tmp_path / "dist" / archive, *words)
        for each in objects:
            if each["kind"] == "Deployment":
                container = each["spec"]["template"]["spec"]["containers"][0]
                assert container["image"] == f"registry.example/team/{NAME}:{VERSION}"
    assert (CHART / "values.yaml").read_text() == before


def test_packaged_charts_lead_to_the_runbooks_of_their_repository(
    helm: Helm, tmp_path: Path
) -> None:
    home = "https://git.example/team/fork"
    words = (f"HOMEPAGE={home}", "REGISTRY=registry.example/team")
    done = package(tmp_path / "dist", *words)
    assert done.returncode == 0, done.stderr
    on = ("--set=prometheusRule.enabled=true", golden.OPERATOR)
    for archive, needed in [*ARCHIVES.items()][:2]:
        rules = helm.render(tmp_path / "dist" / archive, *needed, *on)
        links = re.findall(r'"runbook_url": "([^"]*)"', json.dumps(rules))
        assert links
        assert all(link.startswith(f"{home}/blob/main/docs/") for link in links)


def test_packaged_charts_have_what_artifact_hub_shows(helm: Helm, tmp_path: Path) -> None:
    home = "https://git.example/team/fork"
    done = package(tmp_path / "dist", f"HOMEPAGE={home}", "REGISTRY=registry.example/team")
    assert done.returncode == 0, done.stderr
    images = {}
    for archive in ARCHIVES:
        chart = yaml.safe_load(helm("show", "chart", str(tmp_path / "dist" / archive)))
        found = {
            key.removeprefix("artifacthub.io/"): yaml.safe_load(text)
            for key, text in chart["annotations"].items()
        }
        assert (found["category"], found["license"]) == ("monitoring-logging", "MIT")
        (link,) = found["links"]
        assert link["url"] == f"{home}/security/advisories/new"
        assert chart["home"] == home
        images[chart["name"]] = [each["image"] for each in found.get("images", ())]
    image = [f"registry.example/team/{NAME}:{VERSION}"]
    assert images == {NAME: image, HUB_CHART.name: image, CRD_CHART.name: []}


def test_artifact_hub_shows_each_crd_of_the_chart() -> None:
    chart = yaml.safe_load((CRD_CHART / "Chart.yaml").read_text())
    shown = yaml.safe_load(chart["annotations"]["artifacthub.io/crds"])
    texts = [path.read_text() for path in (CRD_CHART / "files").glob("*.yaml")]
    names = [yaml.safe_load(text)["metadata"]["name"] for text in texts]
    assert sorted(each["name"] for each in shown) == sorted(names)
    for each in shown:
        (text,) = (text for text in texts if each["name"] in text)
        spec = yaml.safe_load(text)["spec"]
        assert each["kind"] == spec["names"]["kind"]
        assert [each["version"]] == [version["name"] for version in spec["versions"]]


def test_no_chart_names_a_repository_that_nobody_vouches_for() -> None:
    for chart in (CHART, HUB_CHART, CRD_CHART):
        assert "home" not in yaml.safe_load((chart / "Chart.yaml").read_text())


def test_chart_is_not_packaged_without_a_registry(tmp_path: Path) -> None:
    done = package(tmp_path / "dist", "REGISTRY=")
    assert done.returncode != 0
    assert "Name the registry of the image with REGISTRY=…" in done.stdout


@pytest.mark.parametrize(
    ("words", "image"),
    [
        (
            ("image.registry=registry.example/fork",),
            f"registry.example/fork/{NAME}",
        ),
        (("image.registry=registry.example/fork/",), f"registry.example/fork/{NAME}"),
        (("image.registry=", "image.repository=fork/reporter"), "fork/reporter"),
        (("image.registry=localhost:5000", "image.repository=own"), "localhost:5000/own"),
        (("image.registry=registry.example", "image.repository=a/b"), "registry.example/a/b"),
        (("image.registry=registry.example", "image.repository=a.b"), "registry.example/a.b"),
        *(
            ((f"image.registry={registry}", f"image.repository={whole}"), whole)
            for registry in ("", "registry.example/fork")
            for whole in ("other.example/team/own", "other:5000/own", "localhost/own")
        ),
    ],
)
def test_image_is_given_by_registry_or_path(
    helm: Helm, words: tuple[str, ...], image: str
) -> None:
    text = helm("template", "stack", str(CHART), *(f"--set={each}" for each in words))
    assert f'image: "{image}:{VERSION}"' in text


@pytest.mark.parametrize("words", [(), ("--set=image.digest=sha256:" + "0" * 64,)])
def test_without_any_the_value_is_named(helm: Helm, words: tuple[str, ...]) -> None:
    with pytest.raises(HelmFailed, match=r"\): image\.registry has no value: set it to"):
        helm("template", "stack", str(CHART), "--set=image.registry=", *words)
