"""Labels of users beside those by which pods are found."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, HUB_CHART, golden
from e2e.chart.helm import IN_UMBRELLA, Helm, HelmFailed
from e2e.chart.installed import umbrella


pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize("label", ["name", "instance", "component"])
def test_a_label_that_finds_the_pods_is_refused(helm: Helm, label: str) -> None:
    words = f"--set=extraLabels.app\\.kubernetes\\.io/{label}=mine"
    with pytest.raises(HelmFailed, match=rf"extraLabels: app\.kubernetes\.io/{label} is a label"):
        helm.render(CHART, words)


def test_other_labels_are_on_the_pods(helm: Helm) -> None:
    words = "--set=extraLabels.app\\.kubernetes\\.io/part-of=models,extraLabels.team=a"
    (found,) = (each for each in helm.render(CHART, words) if each["kind"] == "Deployment")
    labels = found["spec"]["template"]["metadata"]["labels"]
    assert labels.items() >= {"app.kubernetes.io/part-of": "models", "team": "a"}.items()
    assert labels.items() >= found["spec"]["selector"]["matchLabels"].items()


# ---------------------------------------------------------------- labels of several values


LABELS = {"team": "of-all", "app.kubernetes.io/version": "mine", "helm.sh/chart": "mine"}
OWN = {"team": "of-one", "app.kubernetes.io/component": "rules", "release": "prometheus"}
MONITORS = ("ServiceMonitor", "PrometheusRule")
ON = "serviceMonitor.enabled=true,prometheusRule.enabled=true,networkPolicy.enabled=true"
CHARTS = {
    CHART: f"--set={ON},dashboard.enabled=true",
    HUB_CHART: f"--set={ON},queryURL=https://engine.example.com",
}


class StrictLoader(yaml.SafeLoader):
    """Refuses a key that is there twice, as kustomize does, and with it Flux."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len({*keys}), keys
        return super().construct_mapping(node, deep)


def _render(helm: Helm, chart: Path, *words: str) -> list[dict[str, Any]]:
    text = helm("template", "stack", str(chart), *words, golden.OPERATOR)
    # A subclass of the safe loader.
    return [each for each in yaml.load_all(text, StrictLoader) if each]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda each: each.name)
def test_no_label_or_annotation_is_there_twice(helm: Helm, chart: Path) -> None:
    objects = _render(
        helm,
        chart,
        CHARTS[chart],
        "--set=image.registry=registry.example/team",
        f"--set-json=extraLabels={json.dumps(LABELS)}",
        f"--set-json=podAnnotations={json.dumps({'contact': 'of-pods'})}",
        *(f"--set-json={each[0].lower()}{each[1:]}.labels={json.dumps(OWN)}" for each in MONITORS),
    )
    labels = {each["kind"]: each["metadata"]["labels"] for each in objects}
    for each in MONITORS:
        assert labels[each].items() >= {**LABELS, **OWN}.items()
    assert all(each["app.kubernetes.io/version"] == "mine" for each in labels.values())
    program = chart.name
    assert labels["Deployment"]["app.kubernetes.io/name"] == program
    if chart == CHART:
        assert labels["ConfigMap"].items() >= {"grafana_dashboard": "1", **LABELS}.items()


def test_a_refused_label_is_named_by_its_path_in_the_umbrella_chart(
    helm: Helm, tmp_path: Path
) -> None:
    chart = umbrella(tmp_path)
    label = f"--set={CHART.name}.extraLabels.app\\.kubernetes\\.io/name=mine"
    with pytest.raises(HelmFailed, match=rf"{CHART.name}\.extraLabels: app\.kubernetes\.io/name"):
        helm("template", "stack", str(chart), IN_UMBRELLA, label)
