"""ProductionStackStatuses, as a user makes them, and the CRD of the chart."""

from pathlib import Path
from typing import Any

import msgspec

from reporter.kinds.productionstack import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)
from reporter.stories.story_replay import StoryReplay
from tests.support.cases import read_yaml


CHART = Path(__file__).parents[2] / "helm" / "productionstack-status-crds"
CRD = read_yaml(CHART / "files" / "productionstackstatuses.yaml")
STATUSES = PRODUCTION_STACK_STATUSES.group_resource
PATH = "/apis/reporter.productionstack.kaito.sh/v1alpha1/namespaces/{}/productionstackstatuses"


def manifest(namespace: str = "team-m", name: str = "package", **spec: Any) -> dict:
    """Return an object as its user writes it."""
    return {
        "apiVersion": "reporter.productionstack.kaito.sh/v1alpha1",
        "kind": "ProductionStackStatus",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def a_status_object(
    namespace: str = "team-m",
    *,
    name: str = "package",
    generation: int = 1,
    status: dict | None = None,
    **spec: Any,
) -> ProductionStackStatus:
    """Return an object as the API server delivers it; one that no reporter has seen yet."""
    meta = {"generation": generation, "uid": f"uid-{name}", "resourceVersion": "7"}
    whole = manifest(namespace, name, **spec)
    whole["metadata"] |= meta
    whole["status"] = {"observedGeneration": -1} if status is None else status
    return msgspec.convert(whole, ProductionStackStatus)


def as_json(found: ProductionStackStatus, status: dict) -> dict:
    """Return the object with this status, as clients read it."""
    return {"metadata": {"generation": found.metadata.generation}, "status": status}


def condition(status: dict, kind: str) -> dict:
    (one,) = (each for each in status["conditions"] if each["type"] == kind)
    return one


def statuses(status: dict) -> dict[str, str]:
    """Return the status of each condition."""
    return {each["type"]: each["status"] for each in status["conditions"]}


def stack_without_pages(
    change: dict | None = None, *, until: str = "1m", given: dict | None = None, **step: Any
) -> StoryReplay:
    """Return the stack at *until*, after a change at its start. No metrics page is read."""
    case = {
        "why": "",
        "of": [],
        "flags": {"scrape": "off"},
        "given": {"change": given or {}},
        "story": [{"at": "1s", "change": change or {}, **step}],
        "until": until,
    }
    return StoryReplay(case).run()
