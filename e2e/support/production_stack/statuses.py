"""Statuses, written as controllers write them."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from e2e.controlplane import Client, Json


def write_status(client: Client, manifest: Json, status: Json) -> None:
    """Write a status as a controller that has seen the newest generation."""
    path = client.path(manifest)
    generation = client.get(path)["metadata"]["generation"]
    client.patch(f"{path}/status", {"status": _observed(status, generation)})


def set_conditions(
    client: Client, manifest: Json, changed: Mapping[str, Json], **status: Json | str
) -> None:
    """
    Set conditions. *changed*: status, reason and message by the condition's type; other types stay as
    they are.

    lastTransitionTime changes only with the condition's status, as in apimachinery's
    meta.SetStatusCondition.
    """
    live = client.get(client.path(manifest))
    known = {each["type"]: each for each in live.get("status", {}).get("conditions", [])}
    for kind, each in changed.items():
        known[kind] = {"type": kind, "lastTransitionTime": _since(known.get(kind), each), **each}
        known[kind]["observedGeneration"] = live["metadata"]["generation"]
    write_status(client, manifest, {**status, "conditions": list(known.values())})


def timestamp() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _since(before: Json | None, each: Json) -> str:
    same = before is not None and before["status"] == each["status"]
    return before["lastTransitionTime"] if before is not None and same else timestamp()


def _observed(value: Any, generation: int) -> Any:
    if isinstance(value, list):
        return [_observed(each, generation) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: generation if key == "observedGeneration" else _observed(each, generation)
        for key, each in value.items()
    }
