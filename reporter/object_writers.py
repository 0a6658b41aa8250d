"""The loops that write more than the Events in kube-system, each switched on by a flag."""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

from reporter.announcing.announcements import Announcements
from reporter.announcing.involved import involved_inference_set
from reporter.announcing.mirror import EventMirror
from reporter.controller.inputs import Inputs
from reporter.controller.keeper import RollUpKeeper
from reporter.history.node_event_publisher import NodeEpisodeStore, NodeEventWriter
from reporter.history.planner import HeldObjects, StorePlanner
from reporter.history.publisher import HealthEventPublisher
from reporter.history.writer import HealthEventWriter, StoreWriter
from reporter.kinds.health_events import HealthEvent, StoreLimits
from reporter.kinds.nvsentinel import NodeHealthEvent
from reporter.kinds.productionstack import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.event_format import health_event_name, node_event_name
from reporter.kube.events import EventClient
from reporter.kube.leadership import Leadership
from reporter.kube.lifecycle import NamedTask
from reporter.kube.object_client import ObjectClient
from reporter.metrics.page import Metrics
from reporter.model.observations import NotSynced
from reporter.process.clock import Clock
from reporter.rollup.answers import AnswerRules
from reporter.rollup.rules import RollUpRules
from reporter.settings import Settings
from reporter.status.object_looks import RollUpLooks
from reporter.status.object_publisher import StatusObjectPublisher


class ObjectWriters:
    """
    The writers of status objects, HealthEvents and mirrored Events. Their failure delays no Event.
    """

    def __init__(
        self,
        settings: Settings,
        api: RestClient,
        clock: Clock,
        leadership: Leadership,
        metrics: Metrics,
    ) -> None:
        self._settings, self._api, self._clock = settings, api, clock
        self._leadership, self._metrics = leadership, metrics
        self._runs: list[tuple[str, Callable[[], Coroutine[Any, Any, Any]]]] = []

    def add_status_objects(self, inputs: Inputs, rollup: RollUpKeeper, rules: RollUpRules) -> None:
        """Write the status of ProductionStackStatuses, if that is switched on."""
        objects, kind = inputs.status_objects, PRODUCTION_STACK_STATUSES
        publisher = StatusObjectPublisher(
            objects,
            RollUpLooks(objects, rollup, AnswerRules(rules, self._settings.release_namespace)),
            ObjectClient(self._api, kind, ProductionStackStatus),
            self._leadership,
            self._clock,
            kind=kind,
            count_write=self._metrics.count_status_write,
        )
        self._metrics.set_failing_objects_function(lambda: publisher.failing)
        if self._settings.status_objects:
            self._runs.append(("status object publisher", publisher.run))

    def add_mirror(self, inputs: Inputs, announcements: Announcements) -> None:
        """Write each Event about an InferenceSet beside it as well, if that is switched on."""
        if not self._settings.mirror_events:
            return
        store = inputs.store
        mirror = EventMirror(
            announcements,
            EventClient(self._api, self._settings.instance),
            self._leadership,
            self._clock,
            involved_for=partial(involved_inference_set, store.snapshot, store.served_version),
            count_write=self._metrics.count_mirror_write,
        )
        self._runs.append(("Event mirror", mirror.run))

    def add_store(self, inputs: Inputs, announcements: Announcements) -> None:
        """Keep each episode as a HealthEvent, if that is switched on."""
        kind = inputs.store_kind
        if kind is None:
            return
        parts = self._own_store if kind.type is HealthEvent else self._node_store
        objects, planner, writer = parts(inputs, announcements, kind)
        objects.subscribe(announcements.stored_changed.set)
        announcements.stored = lambda: (
            None if objects.watch_state == NotSynced() else tuple(objects.objects.values())
        )
        report = self._metrics.show_store(lambda: tuple(objects.objects.values()))
        publisher = HealthEventPublisher(
            objects,
            announcements,
            planner,
            writer,
            self._leadership,
            self._clock,
            kind=kind,
            report=report,
            on_rejections=inputs.record_store_rejections,
        )
        report.is_up = lambda: publisher.is_up
        self._runs.append(("HealthEvent publisher", publisher.run))

    def _own_store(
        self, inputs: Inputs, announcements: Announcements, kind: ResourceKind
    ) -> tuple[HeldObjects, StorePlanner, StoreWriter]:
        objects = inputs.health_events
        client = ObjectClient(self._api, kind, HealthEvent)
        writer = HealthEventWriter(client, objects, announcements, kind)
        planner = StorePlanner(
            objects,
            announcements,
            self._limits(),
            health_event_name,
            dropped=lambda: writer.dropped,
        )
        return objects, planner, writer

    def _node_store(
        self, inputs: Inputs, announcements: Announcements, kind: ResourceKind
    ) -> tuple[HeldObjects, StorePlanner, StoreWriter]:
        objects = NodeEpisodeStore(inputs.node_health_events)
        client = ObjectClient(self._api, kind, NodeHealthEvent)
        limits = self._limits()
        return (
            objects,
            StorePlanner(objects, announcements, limits, node_event_name, has_course=False),
            NodeEventWriter(client, objects, announcements, kind, self._clock.now),
        )

    def _limits(self) -> StoreLimits:
        settings = self._settings
        return StoreLimits(
            settings.store_max_per_node, settings.store_max, settings.store_retention
        )

    def tasks(self) -> Iterator[NamedTask]:
        """Return the loops to run, each with a name for its task."""
        for name, run in self._runs:
            yield name, run()
