"""
The chart grants what the program needs, and nothing else.
"""

import itertools
from pathlib import Path

import pytest
import yaml

from e2e.chart import CHART, crds
from e2e.chart.helm import Helm
from e2e.chart.rendering.objects import arguments_of, granted_by, object_of
from e2e.controlplane.rules import needed
from reporter.model.enums import DetailSource, ScrapeScope
from reporter.settings import ScrapeMode, load_settings


pytestmark = pytest.mark.controlplane
"""
The helm program is built together with the control plane.
"""

LEASE = ("kaito-system", "productionstack-status-reporter")


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
    assert granted_by(objects) == needed(
        sources=[DetailSource(each) for each in sources], mode=mode, lease=lease
    )


def test_status_objects_have_rights_of_their_own_and_nobody_may_create_them(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=statusObjects.enabled=true,scrape.mode=direct")
    granted = granted_by(objects)
    assert granted == needed(mode=ScrapeMode.DIRECT, lease=LEASE, status_objects=True)
    added = granted - needed(mode=ScrapeMode.DIRECT, lease=LEASE)
    assert {(each.verb, each.resource) for each in added} == {
        ("list", "productionstackstatuses"),
        ("watch", "productionstackstatuses"),
        ("patch", "productionstackstatuses/status"),
    }
    assert load_settings(arguments_of(objects), {}).status_objects


def test_crd_is_rendered_only_if_asked_for_and_kept_at_uninstall(helm: Helm) -> None:
    assert "CustomResourceDefinition" not in {each["kind"] for each in helm.render(CHART)}
    objects = helm.render(CHART, "--set=crds.install=true")
    for kind in crds.SCHEMAS:
        crd = object_of(objects, "CustomResourceDefinition", kind.group_resource)
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
    assert load_settings(arguments_of(objects), {}).scrape is ScrapeScope.OFF
    assert granted_by(objects) == needed(mode=ScrapeMode.DIRECT, lease=LEASE)
