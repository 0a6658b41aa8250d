"""The objects of a hub that its chart renders."""

from typing import Any

from e2e.chart import HUB_CHART, golden
from e2e.chart.helm import Helm


NAME, NAMESPACE = "stack-status-hub", "kaito-system"
ON = "--set=queryURL=https://engine.example.com"
VALUES = golden.HERE / "values" / "hub.yaml"

Json = dict[str, Any]

READERS = f"{NAME}-status-reader"
"""The ClusterRole for those who read the status of the hub."""


def rendered_hub(helm: Helm, *words: str) -> list[Json]:
    return helm.render(HUB_CHART, ON, *words, golden.OPERATOR)


def objects_of_hub(objects: list[Json]) -> dict[str, Json]:
    """Return the objects of the hub by kind."""
    return {each["kind"]: each for each in objects if each["metadata"]["name"] == NAME}
