"""HealthEvents, the CRD of the chart, and a store that is a mapping."""

import itertools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from reporter.history.plan import Plan
from reporter.kinds.health_events import (
    HEALTH_EVENTS,
    HealthEvent,
    HealthEventMetadata,
    HealthEventSpec,
    ProcessingStrategy,
    RecommendedAction,
    Resolution,
    subject_text,
)
from reporter.model.enums import Owner
from reporter.model.states import Actionability
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.stories import store_replay
from reporter.stories.store_replay import ReplayedStore
from tests.support.builders import NOON
from tests.support.cases import read_yaml


CHART = Path(__file__).parents[2] / "helm" / "productionstack-status-crds"
CRD = read_yaml(CHART / "files" / "healthevents.yaml")
RESOURCE = HEALTH_EVENTS.group_resource
NAMESPACE = store_replay.NAMESPACE
EPISODE = int(NOON.timestamp())

_VERSIONS = itertools.count(1)


def a_spec(
    reason: str = "clusterBBR",
    subject: Subject = CLUSTER_SUBJECT,
    *,
    item: str = "",
    node: str = "",
    episode: int = EPISODE,
    **changes: Any,
) -> HealthEventSpec:
    given = {
        "agent": "productionstack-status-reporter",
        "component_class": subject.layer,
        "check_name": reason,
        "is_fatal": True,
        "message": "Thing thing is broken. Platform: look at it.",
        "recommended_action": RecommendedAction.NONE,
        "processing_strategy": ProcessingStrategy.STORE_ONLY,
        "generated_timestamp": NOON,
        "node_name": node,
        "layer": subject.layer,
        "subject": subject_text(subject),
        "item": item,
        "episode": episode,
        "owner": Owner.PLATFORM,
        "actionability": Actionability.PLATFORM,
    }
    return HealthEventSpec(**{**given, **changes})


def a_health_event(
    name: str = "one",
    spec: HealthEventSpec | None = None,
    *,
    deleted_at: datetime | None = None,
    **status: Any,
) -> HealthEvent:
    """Return an object as the API server delivers it: Active, unless *status* says otherwise."""
    return HealthEvent(
        metadata=HealthEventMetadata(
            name=name,
            namespace=NAMESPACE,
            uid=f"uid-{name}",
            resource_version=str(next(_VERSIONS)),
            deletion_timestamp=deleted_at,
        ),
        spec=spec or a_spec(),
        status={"phase": "Active", "occurrences": 1, **status},
    )


def resolved(at: datetime, end: Resolution = Resolution.CLEARED) -> dict[str, str]:
    """Return the status of an object whose episode is over."""
    return {"phase": "Resolved", "resolution": end.value, "resolvedTime": as_text(at)}


def as_text(moment: datetime) -> str:
    return str(msgspec.to_builtins(moment))


class StoreReplay(ReplayedStore):
    """The store of a replayed process, as tests look at it."""

    replay: Any

    def carry_out(self, plan: Plan) -> None:
        assert not {create.name for create in plan.creates} & self.existing.keys()
        super().carry_out(plan)

    # ------------------------------------------------------------ what is seen

    def phases(self) -> list[str]:
        """Return the objects as ``reason phase resolution``."""
        return sorted(
            " ".join(
                filter(
                    None,
                    (
                        each.spec.check_name,
                        each.spec.node_name,
                        each.phase,
                        (each.status or {}).get("resolution"),
                    ),
                )
            )
            for each in self.existing.values()
        )

    def only(self, which: Callable[[HealthEvent], bool] = lambda _: True) -> HealthEvent:
        (one,) = filter(which, self.existing.values())
        return one
