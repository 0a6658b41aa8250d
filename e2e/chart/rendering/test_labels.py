"""Labels of users beside those by which pods are found."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, golden
from e2e.chart.helm import IN_UMBRELLA, Helm, HelmFailed
from e2e.chart.installed import umbrella


pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize("value", ["extraLabels", "podLabels"])
@pytest.mark.parametrize("label", ["name", "instance", "component"])
def test_a_label_that_finds_the_pods_is_refused(helm: Helm, value: str, label: str) -> None:
    words = f"--set={value}.app\\.kubernetes\\.io/{label}=mine"
    with pytest.raises(HelmFailed, match=rf"{value}: app\.kubernetes\.io/{label} is a label by"):
        helm.render(CHART, words)


def test_other_labels_are_on_the_pods(helm: Helm) -> None:
    words = "--set=extraLabels.app\\.kubernetes\\.io/part-of=models,podLabels.team=a"
    (found,) = (each for each in helm.render(CHART, words) if each["kind"] == "Deployment")
    labels = found["spec"]["template"]["metadata"]["labels"]
    assert labels.items() >= {"app.kubernetes.io/part-of": "models", "team": "a"}.items()
    assert labels.items() >= found["spec"]["selector"]["matchLabels"].items()


# ---------------------------------------------------------------- labels of several values


LABELS = {"team": "of-all", "app.kubernetes.io/version": "mine", "helm.sh/chart": "mine"}
OWN = {"team": "of-one", "app.kubernetes.io/component": "rules", "release": "prometheus"}
HUB = "productionstack-status-hub"
MONITORS = ("ServiceMonitor", "PodMonitor", "PrometheusRule")
GROUPS = ("serviceMonitor", "podMonitor", "prometheusRule", "dashboard")
EVERYTHING = "hub.enabled=true,hub.queryURL=https://engine.example.com,crds.install=true,networkPolicy.enabled=true"


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


def test_no_label_or_annotation_is_there_twice(helm: Helm) -> None:
    annotations = {"contact": "me", "grafana_folder": "all", "helm.sh/resource-policy": "delete"}
    texts = {"summary": "mine", "runbook_url": "mine", "dashboard_url": "mine"}
    objects = _render(
        helm,
        CHART,
        f"--set={EVERYTHING}",
        f"--set-json=extraLabels={json.dumps(LABELS)}",
        f"--set-json=extraAnnotations={json.dumps(annotations)}",
        f"--set-json=podLabels={json.dumps({'team': 'of-pods'})}",
        f"--set-json=podAnnotations={json.dumps({'contact': 'of-pods'})}",
        f"--set-json=dashboard.annotations={json.dumps({'grafana_folder': 'one'})}",
        f"--set-json=prometheusRule.alertAnnotations={json.dumps(texts)}",
        *(f"--set=image.registry=registry.example/team,{each}.enabled=true" for each in GROUPS),
        *(f"--set-json={each}.labels={json.dumps(OWN)}" for each in GROUPS),
    )
    labels = {
        (each["kind"], each["metadata"]["name"]): each["metadata"]["labels"] for each in objects
    }
    selected = [each for (kind, _), each in labels.items() if kind in {*MONITORS}]
    assert len(selected) == 2 * len(MONITORS), "of the reporter and of the hub"
    assert all(each.items() >= {**LABELS, **OWN}.items() for each in selected)
    assert all(each["app.kubernetes.io/version"] == "mine" for each in labels.values())
    assert labels["ConfigMap", "stack-status-reporter-dashboard"]["team"] == "of-one"
    assert labels["Deployment", "stack-status-hub"]["app.kubernetes.io/name"] == HUB


def test_a_refused_label_is_named_by_its_path_in_the_umbrella_chart(
    helm: Helm, tmp_path: Path
) -> None:
    chart = umbrella(tmp_path)
    label = f"--set={CHART.name}.extraLabels.app\\.kubernetes\\.io/name=mine"
    with pytest.raises(HelmFailed, match=rf"{CHART.name}\.extraLabels: app\.kubernetes\.io/name"):
        helm("template", "stack", str(chart), IN_UMBRELLA, label)
