"""
HealthEvents, the CRD of the chart, and a store that is a mapping.
"""

import itertools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import yaml

from reporter.kube.objects.event_names import health_event_name
from reporter.model.enums import Owner
from reporter.model.kinds.productionstack.health_event_writes import StoreLimits
from reporter.model.kinds.productionstack.health_events import (
    HEALTH_EVENTS,
    HealthEvent,
    HealthEventSpec,
    ProcessingStrategy,
    RecommendedAction,
    Resolution,
    subject_text,
)
from reporter.model.kinds.productionstack.status_object import VersionedMetadata
from reporter.model.rollup.states import Actionability
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.stages.healthevents.content import make_spec, make_status_patch
from reporter.stages.healthevents.ends import Ends
from reporter.stages.healthevents.plan import Plan, PlanInput, make_plan
from reporter.stages.healthevents.wanted import NameFunc, WantedCache
from reporter.stages.healthevents.writes import PlanMemory
from tests.support.builders import NOON
from tests.support.cases.syntax import apply_merge_patch
from tests.support.replay import Replay


CHART = Path(__file__).parents[2] / "helm" / "productionstack-status-reporter"
CRD = yaml.safe_load((CHART / "files" / "healthevents.yaml").read_text("utf-8"))
RESOURCE = HEALTH_EVENTS.group_resource
NAMESPACE = "kaito-system"
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
    """
    Return an object as the API server delivers it: Active, unless *status* says otherwise.
    """
    return HealthEvent(
        metadata=VersionedMetadata(
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
    """
    Return the status of an object whose episode is over.
    """
    return {"phase": "Resolved", "resolution": end.value, "resolvedTime": as_text(at)}


def as_text(moment: datetime) -> str:
    return str(msgspec.to_builtins(moment))


class StoreReplay:
    """
    The store of a replayed process: *held* is what is in the cluster, and every write succeeds.

    *name_of*, *has_course*: as of the backend.
    """

    def __init__(
        self,
        replay: Replay,
        limits: StoreLimits | None = None,
        *,
        name_of: NameFunc = health_event_name,
        has_course: bool = True,
    ) -> None:
        self.replay, self.limits = replay, limits or StoreLimits()
        self._name_of, self._has_course = name_of, has_course
        self.held: dict[str, HealthEvent] = {}
        self.restart(replay)

    def restart(self, replay: Replay) -> None:
        """
        Continue in another process, which knows nothing but the cluster.
        """
        self.replay, self.memory = replay, PlanMemory()
        self._wanted = WantedCache(self._name_of)

    def plan(self) -> Plan:
        context = self.replay.context
        plan = make_plan(
            PlanInput(
                self._wanted.update(context),
                dict(self.held),
                Ends(context),
                self.limits,
                context.settings.delays.settle,
                has_course=self._has_course,
            ),
            self.memory,
            now=self.replay.now,
        )
        self.memory = plan.memory
        return plan

    def write(self) -> Plan:
        """
        Carry out one plan.
        """
        plan = self.plan()
        self.carry_out(plan)
        return plan

    def settle(self) -> "StoreReplay":
        """
        Carry out plans until nothing is left to be written now.
        """
        for _ in range(100):
            plan = self.write()
            if not (plan.creates or plan.patches or plan.deletes):
                return self
        raise AssertionError("the plans never end")

    def carry_out(self, plan: Plan) -> None:
        context = self.replay.context
        for create in plan.creates:
            assert create.name not in self.held
            spec = make_spec(create.episode, create.node, context)
            self.held[create.name] = a_health_event(create.name, _as_read(spec))
        for patch in plan.patches:
            name = patch.found.metadata.name
            status = make_status_patch(patch, context)["status"]
            after = apply_merge_patch(self.held[name].status, status)
            self.held[name] = a_health_event(name, self.held[name].spec, **after)
        for each in plan.deletes:
            del self.held[each.metadata.name]

    # ------------------------------------------------------------ what is seen

    def phases(self) -> list[str]:
        """
        Return the objects as ``reason phase resolution``.
        """
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
            for each in self.held.values()
        )

    def only(self, which: Callable[[HealthEvent], bool] = lambda _: True) -> HealthEvent:
        (one,) = filter(which, self.held.values())
        return one


def _as_read(spec: HealthEventSpec) -> HealthEventSpec:
    return msgspec.json.decode(msgspec.json.encode(spec), type=HealthEventSpec)
