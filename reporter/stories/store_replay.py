"""The HealthEvent store of a replayed process: a mapping in which every write succeeds."""

import itertools
from typing import Any, Self

import msgspec

from reporter.history.content import make_spec, make_status_patch
from reporter.history.desired import DesiredCache, NameFunc
from reporter.history.ends import EndFinder
from reporter.history.existing import PlanInput, PlanMemory
from reporter.history.plan import Plan, make_plan
from reporter.kinds import health_events
from reporter.kube.event_format import episode_annotations, health_event_name
from reporter.stories.format import apply_merge_patch
from reporter.stories.process import ReplayedProcess


NAMESPACE = "kaito-system"
MAX_PLANS = 100
"""The plans after which the writes of one moment must have ended."""

_VERSIONS = itertools.count(1)


class ReplayedStore:
    """
    The HealthEvent store of a replayed process, in which every write succeeds.

    *existing*: the HealthEvents in the cluster by name.
    *name_of*: returns the name of the object of an episode. *has_course*: objects show the course of their
    episodes, as of the backend.
    """

    def __init__(
        self,
        replay: ReplayedProcess,
        limits: health_events.StoreLimits | None = None,
        *,
        name_of: NameFunc = health_event_name,
        has_course: bool = True,
    ) -> None:
        self.replay, self.limits = replay, limits or health_events.StoreLimits()
        self._name_of, self._has_course = name_of, has_course
        self.existing: dict[str, health_events.HealthEvent] = {}
        self.restart(replay)

    def restart(self, replay: ReplayedProcess) -> None:
        """Continue in another process, which knows nothing but the cluster."""
        self.replay, self.memory = replay, PlanMemory()
        self._wanted = DesiredCache(self._name_of)
        replay.stored = lambda: tuple(self.existing.values())

    def plan(self) -> Plan:
        """Return the writes that are due, and keep their memory for the next plan."""
        context = self.replay.context
        plan = make_plan(
            PlanInput(
                self._wanted.update(context),
                dict(self.existing),
                EndFinder(context),
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
        """Make one plan, carry it out and return it."""
        plan = self.plan()
        self.carry_out(plan)
        return plan

    def settle(self) -> Self:
        """
        Carry out plans until nothing is left to be written now. Raises RuntimeError after MAX_PLANS.
        """
        for _ in range(MAX_PLANS):
            plan = self.write()
            if not (plan.creates or plan.patches or plan.deletes):
                return self
        raise RuntimeError("the plans never end")

    def carry_out(self, plan: Plan) -> None:
        """Carry out a plan on *existing*, as the API server would: create, patch and delete."""
        context = self.replay.context
        for create in plan.creates:
            spec = make_spec(create.episode, create.node, context)
            annotations = episode_annotations(create.episode.record)
            self.existing[create.name] = _stored(
                create.name,
                msgspec.json.decode(msgspec.json.encode(spec), type=health_events.HealthEventSpec),
                annotations,
            )
        for patch in plan.patches:
            name = patch.found.metadata.name
            status: Any = make_status_patch(patch, context)["status"]
            after = apply_merge_patch(self.existing[name].status, status)
            annotations = self.existing[name].metadata.annotations or {}
            self.existing[name] = _stored(name, self.existing[name].spec, annotations, **after)
        for each in plan.deletes:
            del self.existing[each.metadata.name]


def _stored(
    name: str, spec: health_events.HealthEventSpec, annotations: dict[str, str], **status: Any
) -> health_events.HealthEvent:
    """Return an object as the API server delivers it: Active, unless *status* says otherwise."""
    return health_events.HealthEvent(
        metadata=health_events.HealthEventMetadata(
            name=name,
            namespace=NAMESPACE,
            uid=f"uid-{name}",
            annotations=annotations,
            resource_version=str(next(_VERSIONS)),
        ),
        spec=spec,
        status={"phase": "Active", "occurrences": 1, **status},
    )
