"""Names that YAML takes for numbers, dates or truth values stay names."""

from collections.abc import Iterator
from typing import Any

import pytest

from e2e.chart import CHART, CRD_CHART, HUB_CHART, golden
from e2e.chart.helm import Helm


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

EVERYTHING = (
    "statusAuthorization=kubernetes,networkPolicy.enabled=true,podDisruptionBudget.enabled=true",
    "serviceMonitor.enabled=true,prometheusRule.enabled=true",
)
OF_REPORTER = "mirrorEvents=true,store.backend=healthevents,dashboard.enabled=true"
OF_HUB = "queryURL=https://engine.example.com,tokenSecret.name=token"
NAMES = {"name", "namespace", "serviceAccountName"}
LABELS = {"labels", "matchLabels", "annotations"}


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield what must be text by its path: names, labels, and what selects by labels."""
    if isinstance(value, list):
        for i, each in enumerate(value):
            yield from _texts(each, f"{path}[{i}]")
    elif isinstance(value, dict):
        for key, each in value.items():
            selects = key == "selector" and "matchLabels" not in each
            if key in NAMES and not isinstance(each, dict):
                yield f"{path}.{key}", each
            elif (key in LABELS or selects) and "properties" not in path:
                yield from ((f"{path}.{key}.{label}", text) for label, text in each.items())
            else:
                yield from _texts(each, f"{path}.{key}")


@pytest.mark.parametrize(
    ("release", "namespace"),
    [("2024", "2025"), ("on", "off"), ("true", "null"), ("1e3", "2024-01-01"), ("0x1", "no")],
)
def test_they_are_texts_everywhere(helm: Helm, release: str, namespace: str) -> None:
    charts = {CHART: (*EVERYTHING, OF_REPORTER), HUB_CHART: (*EVERYTHING, OF_HUB), CRD_CHART: ()}
    objects = [
        each
        for chart, values in charts.items()
        for each in helm.render(
            chart,
            *(f"--set={each}" for each in values),
            golden.OPERATOR,
            release=release,
            namespace=namespace,
        )
    ]
    assert len(objects) > 20
    texts = [(f"{each['kind']}{path}", text) for each in objects for path, text in _texts(each)]
    assert [(path, text) for path, text in texts if not isinstance(text, str)] == []
    found = {text for _, text in texts}
    assert {release, namespace, f"{release}-status-reporter", f"{release}-status-hub"} <= found


def test_the_namespace_of_values_is_a_text(helm: Helm) -> None:
    words = ("--set-string=namespaceOverride=2025", "--set=dashboard.enabled=true")
    found = {each["metadata"].get("namespace") for each in helm.render(CHART, *words)}
    assert found == {"2025", "kube-system", None}
