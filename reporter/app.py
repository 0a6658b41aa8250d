"""Builds the parts of the process, wires them and runs them until a signal stops it."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from reporter import PROGRAM_VERSION
from reporter.announcing.announcements import Announcements
from reporter.announcing.earlier_events import NOT_READ, EarlierEvents
from reporter.announcing.event_plan import EventPlan
from reporter.announcing.event_writer import EventWriteLog, EventWriter
from reporter.announcing.involved import involved_beside, involved_namespace
from reporter.announcing.mirror import MirrorPlan
from reporter.announcing.printed_events import PrintedEvents
from reporter.catalogue.entries import Catalogue
from reporter.controller.controller import Controller
from reporter.controller.effective_catalogue import CatalogueChanger, EffectiveCatalogue
from reporter.controller.enabled_scrapes import scraping_reasons
from reporter.controller.health import STALLED_RESYNCS, Health
from reporter.controller.inputs import Inputs
from reporter.controller.lease_owner import LeaseOwnership
from reporter.controller.overlay_watch import OverlayWatch
from reporter.controller.roll_up_cache import RollUpCache
from reporter.controller.second_look import SecondLook
from reporter.controller.start_log import log_start, log_target
from reporter.controller.unread import EVENTS, UnreadKind, UnreadKinds
from reporter.evaluation.registry import SPECS
from reporter.evaluation.silence_texts import SilenceLog
from reporter.kinds.health_events import HealthEvent, StoreLimits
from reporter.kinds.nvsentinel import NodeHealthEvent
from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES, ProductionStackStatus
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube import lifecycle
from reporter.kube.client import RestClient
from reporter.kube.elector import Elector
from reporter.kube.events import EventClient
from reporter.kube.leader_writer import Key, LeaderWriter, Result, Write, WritePlan
from reporter.kube.object_client import ObjectClient
from reporter.metrics.input_collectors import InputReport
from reporter.metrics.page import Metrics
from reporter.metrics.state_log import StateLog
from reporter.process.clock import Clock, monotonic_seconds
from reporter.process.heap import keep_heap_trimmed
from reporter.process.loop_lag import LagSelector
from reporter.process.signals import on_stop_signal
from reporter.server.authorization import make_guard
from reporter.server.served_document import REPORTER_DOCUMENT, StatusV1
from reporter.server.server import Pages, make_server
from reporter.server.static_files import page_routes
from reporter.settings import Settings
from reporter.snapshot.snapshot import Snapshot
from reporter.status.diagnosis import StateHistory
from reporter.status.diagnosis_page import DiagnosisPage, ProcessInfo
from reporter.status.object_plan import StatusObjectPlan, write_status
from reporter.status.packages import PackageIndex
from reporter.status.stack_statuses import StackStatuses


if TYPE_CHECKING:
    from reporter.history.writer import EpisodeBackend

LoadFunc: TypeAlias = Callable[[], Catalogue]


def run(settings: Settings, catalogue: Catalogue, load: LoadFunc) -> int:
    """
    Run until stopped; returns the exit code.

    0 after a stop, 1 after a failure, 2 for a configuration that cannot work.
    *load*: returns the catalogue as its files are now. Raises SettingsError.
    """

    async def connected(api: RestClient, clock: Clock, lag: LagSelector) -> None:
        log_target(settings, api.target, in_cluster=api.in_cluster)
        reporter = Reporter(settings, catalogue, api, clock, load)
        lag.subscribe(reporter.metrics.observe_loop_lag)
        await reporter.run()

    return lifecycle.run_connected(settings, connected)


class Reporter:
    """
    The parts of one process, wired: input into the store, evaluation, announcing, output.

    *load*: returns the catalogue as its files are now; without it the overlay is not watched.
    """

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        api: RestClient,
        clock: Clock,
        load: LoadFunc | None = None,
    ) -> None:
        self._effective = EffectiveCatalogue(settings, catalogue)
        self._settings, self._catalogue, self._api, self._clock = settings, catalogue, api, clock
        self._identity = f"{settings.instance}_{uuid.uuid4()}"
        self._ownership = LeaseOwnership(api, settings, self._take_snapshot)
        self._leadership = lifecycle.make_leadership(
            settings, self._ownership.lock, identity=self._identity, clock=clock
        )
        # Made before the parts that count in it. What it asks them for at a scrape it gets later, by its
        # methods `show_…` and `set_…_function`; the inputs are looked up only then.
        self.metrics = Metrics(catalogue, self._report_inputs, self._leadership, clock)
        api.requests.subscribe(self.metrics.count_api_request)
        self._inputs = Inputs(
            settings, catalogue, api, clock, count_scrape=self.metrics.count_scrape
        )
        self._store = self._inputs.store
        self._unread_kinds = UnreadKinds(self._store, catalogue, settings.sources)
        self._wire_evaluation()
        self._wire_reload(load)
        self._wire_output()
        self._wire_server()

    def _wire_evaluation(self) -> None:
        settings, catalogue, clock = self._settings, self._catalogue, self._clock
        evaluator = self._effective.make_evaluator()
        evaluation_settings = evaluator.settings
        involved_for = partial(involved_namespace, settings.release_namespace)
        self._announcements = Announcements(
            catalogue, evaluation_settings, clock, involved_for=involved_for, observer=self.metrics
        )
        self.metrics.show_findings(
            self._announcements.episode_starts,
            knows_episodes=lambda: self._announcements.is_complete,
            reading=scraping_reasons(catalogue, SPECS),
        )
        self._history = StateHistory(clock.now)
        self._rollup = self._make_rollup()
        self._controller = Controller(
            self._store,
            evaluator,
            self._announcements,
            clock,
            resync=settings.resync,
            followers=(self.metrics, self._history, StateLog(), SilenceLog(), self._rollup),
            leading=lambda: self._leadership.is_leader,
        )
        self.metrics.show_rollup(
            lambda: self._rollup.rollup, settings.rollup_metrics, version=PROGRAM_VERSION
        )
        self._second_look = SecondLook(self._api, self._inputs, self._rollup, clock)

    def _make_rollup(self) -> RollUpCache:
        inputs = self._inputs
        rollup = RollUpCache(
            self._effective.make_rules(),
            self._announcements,
            self._clock.now,
            PackageIndex(inputs.status_objects),
            inputs.proxied_page_age,
            inputs.missing_rights,
        )
        inputs.permissions.changes.subscribe(rollup.on_permissions_changed)
        return rollup

    def _wire_reload(self, load: LoadFunc | None) -> None:
        overlay = self._settings.catalogue_overlay
        changer = CatalogueChanger(
            self._settings,
            self._effective,
            inputs=self._inputs,
            unread=self._unread_kinds,
            controller=self._controller,
            announcements=self._announcements,
            rollup=self._rollup,
            metrics=self.metrics,
        )
        self._overlay_watch = (
            OverlayWatch(
                overlay, self._catalogue, load, changer.apply, count=self.metrics.count_reload
            )
            if overlay is not None and load is not None
            else None
        )
        self.metrics.set_overlay_function(lambda: bool(self._why_overlay_refused()))

    def _why_overlay_refused(self) -> str:
        return self._overlay_watch.why_refused if self._overlay_watch is not None else ""

    def _wire_output(self) -> None:
        settings = self._settings
        sink = PrintedEvents() if settings.dry_run else EventClient(self._api, settings.instance)
        # The first one remembers the findings of earlier Events at the start, in each replica. The second one
        # reads the Events in each term of a leader, to restore their episodes: its `waiting_for` tells why
        # that leader announces nothing yet.
        self._earlier_events = EarlierEvents(self._announcements, sink, self._clock)
        self._announcements.await_events(NOT_READ)
        self._event_plan = EventPlan(
            self._announcements,
            EarlierEvents(self._announcements, sink, self._clock),
            EventWriteLog(self.metrics.count_write),
        )
        events = EventWriter(sink, self._leadership, count_write=self.metrics.count_write)
        # By the name of the task. The publisher is the LeaderWriter of the EventPlan.
        self._writers: dict[str, LeaderWriter[Any, Any, Any]] = {
            "publisher": self._make_writer(self._event_plan, events.write)
        }
        self._wire_status_objects()
        self._wire_store()
        if settings.mirror_events:
            self._wire_mirror()
        self._diagnosis_page = DiagnosisPage(
            self._store,
            self._controller,
            self._announcements,
            self._history,
            self._leadership,
            process=ProcessInfo(
                self._identity,
                self._effective.find_unchecked,
                lambda: {kind: each.as_json() for kind, each in self._find_unread().items()},
                self._inputs.describe_permissions,
                self._why_overlay_refused,
            ),
        )

    def _make_writer(
        self, plan: WritePlan[Key, Write, Result], write: Callable[[Write], Awaitable[Result]]
    ) -> LeaderWriter[Key, Write, Result]:
        return LeaderWriter(plan, write, self._leadership, self._clock)

    def _wire_status_objects(self) -> None:
        """Write the status of ProductionStackStatuses, if that is switched on."""
        objects, kind = self._inputs.status_objects, PRODUCTION_STACK_STATUSES
        client = ObjectClient(self._api, kind, ProductionStackStatus)
        plan = StatusObjectPlan(
            objects,
            self._rollup,
            StackStatuses(self._settings.release_namespace, resync=self._settings.resync),
            kind=kind,
            count_write=self.metrics.count_status_write,
        )
        writer = self._make_writer(plan, partial(write_status, client))
        self.metrics.set_failing_objects_function(lambda: plan.count_failing(writer))
        if self._settings.status_objects:
            self._writers["status object publisher"] = writer

    def _wire_store(self) -> None:
        """Keep each episode as a HealthEvent, if that is switched on."""
        settings, inputs, announcements = self._settings, self._inputs, self._announcements
        kind = inputs.store_kind
        if kind is None:
            return
        from reporter.history.store_plan import StorePlan  # noqa: PLC0415  most have no store

        backend = self._make_backend(kind)
        announcements.restore_from(backend.objects)
        report = self.metrics.show_store(
            lambda: tuple(backend.objects.objects.values()),
            lambda: plan.is_up and not writer.is_faulty,
        )
        plan = StorePlan(
            backend,
            announcements,
            StoreLimits(settings.store_max_per_node, settings.store_max, settings.store_retention),
            report=report,
            on_rejections=inputs.record_store_rejections,
        )
        writer = self._writers["HealthEvent publisher"] = self._make_writer(plan, backend.write)

    def _make_backend(self, kind: ResourceKind) -> "EpisodeBackend":
        from reporter.history import node_event_publisher, writer  # noqa: PLC0415  as above

        inputs, announcements = self._inputs, self._announcements
        if kind.type is HealthEvent:
            client = ObjectClient(self._api, kind, HealthEvent)
            return writer.HealthEventWriter(client, inputs.health_events, announcements, kind)
        return node_event_publisher.NodeEventWriter(
            ObjectClient(self._api, kind, NodeHealthEvent),
            node_event_publisher.NodeEpisodeStore(inputs.node_health_events),
            announcements,
            kind,
            self._clock.now,
        )

    def _wire_mirror(self) -> None:
        """Write each Event about an InferenceSet beside it as well."""
        sink = EventClient(self._api, self._settings.instance)
        count = self.metrics.count_mirror_write
        plan = MirrorPlan(
            self._announcements,
            partial(involved_beside, self._store.snapshot, self._store.served_version),
            EventWriteLog(count, is_quiet=True),
        )
        events = EventWriter(sink, self._leadership, count_write=count)
        self._writers["Event mirror"] = self._make_writer(plan, events.write)

    def _find_unread(self) -> Mapping[str, UnreadKind]:
        found = self._unread_kinds.find(now=self._clock.now())
        why = self._announcements.unread_events
        return {**found, EVENTS: UnreadKind(why)} if why else found

    def _wire_server(self) -> None:
        settings = self._settings
        self._health = Health(
            self._controller,
            self._store,
            resync=settings.resync,
            waiting_for=lambda: self._event_plan.waiting_for,
            unread=lambda: {kind: each.why for kind, each in self._find_unread().items()},
            overlay_refused=self._why_overlay_refused,
            shows_status=lambda: bool(self._rollup.rollup.revision),
        )
        self._server = make_server(
            settings,
            Pages(
                self.metrics.expose,
                self._diagnosis_page.render,
                self._health.why_not_live,
                self._health.why_not_ready,
                self._health.describe_limits,
                StatusV1(
                    REPORTER_DOCUMENT,
                    self._rollup.view,
                    self._rollup.next_change,
                    process=self._identity.rpartition("_")[2],
                ).routes(),
                page_routes(STALLED_RESYNCS * settings.resync),
                make_guard(settings.status_authorization, self._api, monotonic_seconds),
            ),
            self.metrics.count_closed_connection,
        )

    async def run(self) -> None:
        """
        Run until SIGTERM or SIGINT; raises ConfigurationError for an address that is not free.
        """
        stop = asyncio.Event()
        on_stop_signal(stop.set)
        log_start(self._settings, self._catalogue)
        await lifecycle.serve_until_stopped(
            self._server,
            self._leadership,
            stop=stop,
            writers=self._writing_tasks(),
            others=self._other_tasks(),
        )

    def _writing_tasks(self) -> Iterator[lifecycle.NamedTask]:
        for name, writer in self._writers.items():
            yield name, writer.run()

    def _other_tasks(self) -> Iterator[lifecycle.NamedTask]:
        yield "controller", self._controller.run()
        yield "status", self._rollup.run()
        yield from self._inputs.tasks()
        yield "earlier Events", self._earlier_events.remember()
        yield "permissions", self._inputs.permissions.run()
        if self._overlay_watch is not None:
            yield "overlay", self._overlay_watch.run()
        if self._settings.second_look:
            yield "second look", self._second_look.run()
        yield (
            "heap",
            keep_heap_trimmed(self._controller.pass_times.first_finished, self._store.compact),
        )
        if isinstance(self._leadership, Elector) and self._settings.deployment_name:
            yield "lease owner", self._ownership.run(self._leadership)

    def _take_snapshot(self) -> Snapshot:
        return self._store.snapshot()

    def _report_inputs(self) -> InputReport:
        return self._inputs.report()
