"""
The CRDs are a release of their own, which is upgraded, rolled back and removed beside those that use them.

In a release that got CRDs later, Helm 3 could not go back and forth: it asks the API server to remove the
resourceVersion of what it finds, which the API server refuses for CRDs.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from e2e.chart import CHART, CRD_CHART
from e2e.chart.helm import IMAGE, Helm, Json
from e2e.chart.installed import NAMESPACE, SLOW, deployment
from e2e.chart.leftovers import until_nothing_is_left
from e2e.controlplane import ControlPlane, crds, until
from e2e.support import status_objects
from tests.support.status_objects import CRD


WHERE = f"--namespace={NAMESPACE}"
NAME = "status-crds"
FLAG = "--status-objects=true"


@pytest.fixture(params=["helm", pytest.param("helm4", marks=pytest.mark.slow)])
def either(request: pytest.FixtureRequest, tmp_path: Path, control_plane: ControlPlane) -> Helm:
    """Return helm of each major version that is in use."""
    return Helm(tmp_path, control_plane.kubeconfig(), request.param)


@pytest.fixture
def kept(plane: ControlPlane, either: Helm) -> Iterator[ControlPlane]:
    """Yield the control plane with the release of the CRDs and an object of a user."""
    either("install", NAME, str(CRD_CHART), WHERE)
    until(lambda: crds.served(plane.client, CRD), within=SLOW, what="the CRD is served")
    status_objects.create(plane.client, NAMESPACE)
    yield plane
    assert status_objects.read(plane.client, NAMESPACE)["spec"] == {"scope": "Namespace"}
    until_nothing_is_left(plane, NAMESPACE)


def test_a_reporter_goes_back_and_forth_over_what_uses_the_crds(
    kept: ControlPlane, either: Helm
) -> None:
    words = ("stack", str(CHART), WHERE, IMAGE)
    either("install", *words)
    either("upgrade", *words, "--set=statusObjects.enabled=true")
    for revision, uses in ((1, False), (2, True), (1, False)):
        either("rollback", "stack", str(revision), WHERE)
        container = deployment(kept)["spec"]["template"]["spec"]["containers"][0]
        assert (FLAG in container["args"]) is uses
    for each in ("stack", NAME):
        either("uninstall", each, WHERE, "--wait")


def test_the_crds_are_upgraded_rolled_back_and_taken_over(
    kept: ControlPlane, either: Helm, tmp_path: Path
) -> None:
    earlier = _earlier(tmp_path)
    either("upgrade", NAME, str(earlier), WHERE)
    for revision, columns in ((1, 4), (2, 3), (3, 4)):
        either("rollback", NAME, str(revision), WHERE)
        assert len(_columns(kept)) == columns
    either("rollback", NAME, "2", WHERE)
    either("uninstall", NAME, WHERE, "--wait")
    assert len(_columns(kept)) == 3
    either("install", NAME, str(CRD_CHART), WHERE)
    assert len(_columns(kept)) == 4
    either("uninstall", NAME, WHERE, "--wait")


def _earlier(folder: Path) -> Path:
    """Return a copy of the chart whose ProductionStackStatus has one column less."""
    chart = folder / "earlier"
    shutil.copytree(CRD_CHART, chart)
    file = chart / "files" / "productionstackstatuses.yaml"
    crd = yaml.safe_load(file.read_text("utf-8"))
    crd["spec"]["versions"][0]["additionalPrinterColumns"].pop()
    file.write_text(yaml.safe_dump(crd), "utf-8")
    return chart


def _columns(plane: ControlPlane) -> list[Json]:
    found: Json = plane.client.get(f"{crds.PATH}/{crds.name(CRD)}")
    columns: list[Json] = found["spec"]["versions"][0]["additionalPrinterColumns"]
    return columns
