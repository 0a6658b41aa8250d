"""The CRDs of this program are a chart of their own, and no other one has them."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, CRD_CHART, crds, golden
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.hub.rendered import VALUES, rendered_hub


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

CRD = "CustomResourceDefinition"
Json = dict[str, Any]


def _rendered(helm: Helm, *flags: str) -> list[Json]:
    return helm.render(CRD_CHART, *flags)


def test_crds_are_in_no_other_chart_and_are_kept_at_uninstall(helm: Helm) -> None:
    everything = f"--values={golden.HERE / 'values' / 'everything.yaml'}"
    others = [*helm.render(CHART, everything), *rendered_hub(helm, f"--values={VALUES}")]
    assert CRD not in {each["kind"] for each in others}
    found = _rendered(helm)
    for crd in found:
        assert crd["kind"] == CRD
        assert crd["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert [each["spec"] for each in found] == [
        yaml.safe_load(text)["spec"] for _, text in sorted(crds.contents().items())
    ]


def test_there_is_nothing_to_set(helm: Helm) -> None:
    with pytest.raises(HelmFailed, match="install"):
        helm.render(CRD_CHART, "--set=install=true")


@pytest.mark.parametrize(("version", "selects"), [("1.29.0", False), ("1.31.0", True)])
def test_selectable_fields_are_left_out_where_helm_would_refuse_them(
    helm: Helm, version: str, selects: bool
) -> None:
    found = [
        each
        for crd in _rendered(helm, f"--kube-version={version}")
        for each in crd["spec"]["versions"]
        if "selectableFields" in each
    ]
    assert bool(found) is selects


def test_every_part_of_a_health_event_is_bounded() -> None:
    """The API server refuses a rule over parts without bounds, as its cost is not known."""

    def unbounded(schema: Json, where: str) -> Iterator[str]:
        match schema.get("type"):
            case "object":
                for name, each in schema.get("properties", {}).items():
                    yield from unbounded(each, f"{where}.{name}")
            case "array":
                yield from [] if "maxItems" in schema else [where]
                yield from unbounded(schema["items"], f"{where}[]")
            case "string" if not {"maxLength", "enum", "format"} & schema.keys():
                yield where

    spec = crds.health_event_schema()["properties"]["spec"]
    assert list(unbounded(spec, "spec")) == []
