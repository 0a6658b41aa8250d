"""The example configuration of kube-state-metrics reads fields that HealthEvents have."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.support.health_events import CRD


EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "kube-state-metrics.yaml"
(RESOURCE,) = yaml.safe_load(EXAMPLE.read_text("utf-8"))["spec"]["resources"]
(VERSION,) = CRD["spec"]["versions"]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]


def paths() -> Iterator[list[str]]:
    for metric in RESOURCE["metrics"]:
        (content,) = (value for key, value in metric["each"].items() if key != "type")
        yield from content.get("labelsFromPath", {}).values()
        if "path" in content:
            yield content["path"]


def test_the_configuration_of_kube_state_metrics_is_about_the_kind_of_the_chart():
    group_version_kind = RESOURCE["groupVersionKind"]
    assert group_version_kind == {
        "group": CRD["spec"]["group"],
        "version": VERSION["name"],
        "kind": CRD["spec"]["names"]["kind"],
    }


def test_every_path_is_a_field():
    for first, second in paths():
        assert second in SCHEMA["properties"][first]["properties"], f"{first}.{second}"


def test_the_phases_are_those_of_the_crd():
    (states,) = (
        metric["each"]["stateSet"]["list"]
        for metric in RESOURCE["metrics"]
        if metric["each"]["type"] == "StateSet"
    )
    assert states == SCHEMA["properties"]["status"]["properties"]["phase"]["enum"]
