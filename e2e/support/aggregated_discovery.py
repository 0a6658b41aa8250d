"""Aggregated discovery as the reporter reads it, which lags behind what the API server serves."""

import json
from collections.abc import Iterator

from e2e.controlplane import Client, Json
from reporter.kube.discovery import AGGREGATED_ACCEPT, DISCOVERY_PATH


def discovered_versions(client: Client, group: str) -> Iterator[Json]:
    """Yield the versions of a group, with their freshness and resources."""
    answer = json.loads(client.raw("GET", DISCOVERY_PATH, accept=AGGREGATED_ACCEPT))
    for each in answer["items"]:
        if each["metadata"]["name"] == group:
            yield from each["versions"]


def served_versions(client: Client, resource: str, group: str) -> set[str]:
    """Return the versions in which a resource is discovered."""
    return {
        version["version"]
        for version in discovered_versions(client, group)
        if resource in {each["resource"] for each in version.get("resources") or ()}
    }


def stale_versions(client: Client, group: str) -> set[str]:
    """Return the versions of a group whose server does not answer."""
    found = discovered_versions(client, group)
    return {each["version"] for each in found if each["freshness"] == "Stale"}
