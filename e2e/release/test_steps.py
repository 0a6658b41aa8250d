"""The steps of a release: they check the tag, and push image and chart, which then install."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from e2e.chart.helm import Helm
from e2e.chart.rendering.objects import object_of
from e2e.controlplane import assets
from e2e.release.workflow import ROOT, run_step
from e2e.support.registry import Registry


NAME = "productionstack-status-reporter"
CHART = Path("helm") / NAME
OTHERS = [CHART.with_name(f"productionstack-status-{each}") for each in ("hub", "crds")]
NAMES = "Names, and that the tag is the version of program and chart"
PUSH = "Push the charts beside the image"
OF_TAG = (
    "Makefile",
    "pyproject.toml",
    "reporter/__init__.py",
    "CHANGELOG.md",
    CHART / "Chart.yaml",
    CHART / "values.yaml",
    *(each / "Chart.yaml" for each in OTHERS),
)
VERSION = "99.2.3"
"""A version that the changelog never has."""

CHART_YAML = yaml.safe_load((ROOT / CHART / "Chart.yaml").read_text("utf-8"))


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    """
    Return the files of a checkout that is ready to be tagged v99.2.3, whichever version they had.
    """
    folder = tmp_path / "checkout"
    for name in OF_TAG:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    rewrite(folder / "pyproject.toml", '^version = ".*"', f'version = "{VERSION}"')
    rewrite(
        folder / "reporter/__init__.py",
        '^PROGRAM_VERSION = ".*"',
        f'PROGRAM_VERSION = "{VERSION}"',
    )
    rewrite(folder / CHART / "Chart.yaml", '^appVersion: ".*"', f'appVersion: "{VERSION}"')
    rewrite(folder / CHART / "Chart.yaml", r"^(version: .*\+reporter\.).*$", rf"\g<1>{VERSION}")
    for each in OTHERS:
        for key in ("version", "appVersion"):
            rewrite(folder / each / "Chart.yaml", f'^{key}: ".*"', f'{key}: "{VERSION}"')
    rewrite(folder / "CHANGELOG.md", r"^## \[\d[^\]]*\].*$", f"## [{VERSION}] - 2026-12-01")
    return folder


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """Start a registry, whose program is built with Go for the slow tests alone."""
    with Registry(tmp_path) as started:
        yield started


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    return Helm(tmp_path)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def rewrite(path: Path, pattern: str, new: str) -> None:
    """Replace the first match: a release and a fork have other texts there."""
    text, count = re.subn(pattern, new, path.read_text("utf-8"), count=1, flags=re.MULTILINE)
    assert count == 1
    path.write_text(text, "utf-8")


def set_registry(folder: Path, registry: str) -> None:
    rewrite(folder / CHART / "values.yaml", '^  registry: ".*"$', f'  registry: "{registry}"')


def plain_path(folder: Path) -> str:
    """Return a PATH whose helm pushes without TLS, which the registry here does not have."""
    program = folder / "bin" / "helm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{assets.program("helm")}" "$@" --plain-http\n')
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("set_in_chart", "variable"),
    [
        ("", "registry.example/team"),
        ("registry.example/team", ""),
        ("registry.example/team", "x.y"),
    ],
)
def test_names_of_a_release(
    tagged: Path, tmp_path: Path, set_in_chart: str, variable: str
) -> None:
    set_registry(tagged, set_in_chart)
    given = {"GITHUB_REF_NAME": f"v{VERSION}", "VARIABLE": variable}
    done = run_step("image", NAMES, tagged, tmp_path, **given)
    assert done.code == 0, done.output
    assert done.outputs == {
        "registry": "registry.example/team",
        "host": "registry.example",
        "version": VERSION,
    }


def test_a_release_without_a_registry_says_where_to_set_it(tagged: Path, tmp_path: Path) -> None:
    set_registry(tagged, "")
    done = run_step("image", NAMES, tagged, tmp_path, GITHUB_REF_NAME=f"v{VERSION}", VARIABLE="")
    assert (done.code, done.outputs) == (1, {})
    assert "image.registry in the chart's values.yaml, or the variable REGISTRY" in done.output


@pytest.mark.parametrize(
    ("file", "old", "new", "tag", "found"),
    [
        (
            "CHANGELOG.md",
            f"## [{VERSION}]",
            "## [Unreleased]",
            VERSION,
            f"nothing about [{VERSION}]",
        ),
        ("pyproject.toml", f'"{VERSION}"', '"99.2.4"', VERSION, "the version in pyproject.toml"),
        ("reporter/__init__.py", f'"{VERSION}"', '"0.1"', VERSION, "has another PROGRAM_VERSION"),
        (
            CHART / "Chart.yaml",
            f'appVersion: "{VERSION}"',
            'appVersion: "0.1.0"',
            VERSION,
            "Chart",
        ),
        (CHART / "Chart.yaml", f"+reporter.{VERSION}", "+reporter.0.1.0", VERSION, "Chart.yaml"),
        (
            OTHERS[0] / "Chart.yaml",
            f'version: "{VERSION}"',
            'version: "0.1"',
            VERSION,
            "hub/Chart",
        ),
        ("CHANGELOG.md", "# Changelog", "# Changelog", "99.2.4", "The tag is v99.2.4"),
    ],
)
def test_a_tag_that_does_not_fit_is_not_released(
    tagged: Path, file: str, old: str, new: str, tag: str, found: str
) -> None:
    replace(tagged / file, old, new)
    given = {"GITHUB_REF_NAME": f"v{tag}", "VARIABLE": "registry.example/team"}
    done = run_step("image", NAMES, tagged, tagged.parent, **given)
    assert done.code != 0
    assert found in done.output
    assert done.outputs == {}


@pytest.mark.controlplane
@pytest.mark.slow
def test_the_pushed_charts_install_from_their_registry(
    tmp_path: Path, registry: Registry, helm: Helm
) -> None:
    where, helm_program = f"{registry.host}/team", assets.program("helm")
    words = (f"REGISTRY={where}", f"DIST={tmp_path}/dist", f"HELM={helm_program}")
    made = subprocess.run(
        ["make", "--silent", "chart", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    done = run_step("chart", PUSH, tmp_path, tmp_path, REGISTRY=where, PATH=plain_path(tmp_path))
    assert done.code == 0, done.output
    names = [NAME, *(each.name for each in OTHERS)]
    pushed_charts = []
    for name in sorted(names):
        (tag,) = registry.crane("ls", f"team/charts/{name}").splitlines()
        pushed_charts.append(f"{name}@{registry.crane('digest', f'team/charts/{name}:{tag}')}")
    assert sorted(done.outputs["charts"].split()) == pushed_charts
    pushed = f"oci://{where}/charts/{NAME}"
    text = helm("template", "stack", pushed, f"--version={CHART_YAML['version']}", "--plain-http")
    objects = [each for each in yaml.safe_load_all(text) if each]
    container = object_of(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == f"{where}/{NAME}:{CHART_YAML['appVersion']}"


@pytest.mark.controlplane
@pytest.mark.slow
def test_a_chart_that_is_not_pushed_fails_the_step(tmp_path: Path, registry: Registry) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "broken-1.0.0.tgz").write_bytes(b"")
    path = plain_path(tmp_path)
    done = run_step("chart", PUSH, tmp_path, tmp_path, REGISTRY=registry.host, PATH=path)
    assert (done.code, done.outputs) == (1, {})
