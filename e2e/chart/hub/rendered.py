"""The objects of a hub that the chart renders."""

from typing import Any

from e2e.chart import golden


NAME, NAMESPACE = "stack-status-hub", "kaito-system"
ON = "--set=hub.enabled=true,hub.queryURL=https://engine.example.com"
VALUES = golden.HERE / "values" / "hub.yaml"

Json = dict[str, Any]

READERS = f"{NAME}-status-reader"
"""The ClusterRole for those who read the status of the hub."""


def objects_of_hub(objects: list[Json]) -> dict[str, Json]:
    """Return the objects of the hub by kind."""
    return {each["kind"]: each for each in objects if each["metadata"]["name"] == NAME}
