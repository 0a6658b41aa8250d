"""Builds the parts of the hub, wires them and runs them until a signal stops it."""

import asyncio
import logging
import uuid
from collections.abc import Iterator
from importlib.metadata import version

from reporter import PROGRAM_NAME
from reporter.hub.asking import Asker
from reporter.hub.detail import ClusterDetails
from reporter.hub.health import HubHealth
from reporter.hub.inputs import HubInputs
from reporter.hub.keeper import FleetKeeper
from reporter.hub.metrics import HubMetrics
from reporter.hub.objects import FleetLooks
from reporter.hub.pages import FLEET_DOCUMENT, render_diagnosis
from reporter.hub.query_client import QueryClient, QueryCredentials
from reporter.hub.records import Fleet, FleetRules
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.kube.client import RestClient, connect
from reporter.kube.elector import Elector
from reporter.kube.leader_writer import LeaderWriter
from reporter.kube.leadership import NoElection
from reporter.kube.lease_rules import LeaseTiming
from reporter.kube.leases import LeaseLock
from reporter.kube.lifecycle import NamedTask, serve_until_stopped
from reporter.kube.object_client import ObjectClient
from reporter.kube.write_limits import WriteRate
from reporter.model.fleet_status import Engage
from reporter.process import loop_lag
from reporter.process.clock import Clock, monotonic_seconds
from reporter.process.main import run_process
from reporter.process.signals import on_stop_signal
from reporter.server.authorization import make_guard
from reporter.server.connection import ClosedConnectionLog
from reporter.server.served_document import StatusV1
from reporter.server.server import HttpServer, Pages
from reporter.server.static_files import page_routes
from reporter.settings import Settings
from reporter.status.object_plan import StatusObjectPlan


WRITE_RATE = WriteRate(10.0, 50.0, in_flight=4)

logger = logging.getLogger("reporter")


def run_hub(settings: Settings) -> int:
    """Run until stopped; returns the exit code, as `run_process` does."""
    return run_process(settings, lambda lag: _connect_and_run(settings, lag))


async def _connect_and_run(settings: Settings, lag: loop_lag.LagSelector) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  asyncio.Runner made it
    on_stop_signal(task.cancel)
    clock = Clock()
    kubeconfig = str(settings.kubeconfig) if settings.kubeconfig is not None else None
    api = await connect(kubeconfig, clock=clock)
    engine = QueryClient(settings.hub_query_url, QueryCredentials(settings))
    try:
        hub = Hub(settings, api, engine, clock)
        lag.on_lag = hub.metrics.observe_loop_lag
        await hub.run()
    finally:
        await engine.close()
        await api.close()


class Hub:
    """
    The parts of one process, wired: objects and answers into the fleet, and the fleet to outputs.
    """

    def __init__(
        self, settings: Settings, api: RestClient, engine: QueryClient, clock: Clock
    ) -> None:
        self._settings, self._api, self._clock = settings, api, clock
        self._engine = engine
        self._identity = f"{settings.instance}_{uuid.uuid4()}"
        self._inputs = HubInputs(settings, api, clock)
        self.metrics = HubMetrics(self._inputs.watch_reports)
        api.on_request(self.metrics.count_api_request)
        self.metrics.set_permissions_function(self._inputs.report_permissions)
        self._leadership = self._make_leadership()
        self._is_listed = settings.hub_engage is Engage.LISTED
        self._keeper = FleetKeeper(
            Asker(engine, settings, clock, count_result=self.metrics.count_result),
            self._inputs.objects if self._is_listed else None,
            self._leadership,
            clock,
            rules=FleetRules(
                stale=settings.hub_stale.total_seconds(),
                engage=settings.hub_engage,
                max_clusters=settings.hub_max_clusters,
            ),
            interval=settings.hub_interval,
            on_round=self._count_round,
        )
        plan = self._make_plan()
        self._writer = LeaderWriter(plan, plan.write, self._leadership, clock)
        self.metrics.set_clock_functions(skew=lambda: clock.skew, spread=lambda: clock.spread)
        self.metrics.show_fleet(
            self._keeper.view,
            is_leader=lambda: self._leadership.is_leader,
            count_failing=lambda: plan.count_failing(self._writer),
        )
        self._server = self._make_server()

    def _make_leadership(self) -> Elector | NoElection:
        settings = self._settings
        if not settings.leader_elect:
            return NoElection()
        timing = LeaseTiming(
            lease_duration=settings.lease_duration,
            renew_deadline=settings.renew_deadline,
            retry_period=settings.retry_period,
        )
        lock = LeaseLock(self._api, settings.lease_namespace, settings.leader_election_id)
        return Elector(lock, timing, identity=self._identity, wall_clock=self._clock.now)

    def _make_plan(self) -> StatusObjectPlan[ProductionStackCluster]:
        objects = self._inputs.objects
        return StatusObjectPlan(
            objects,
            FleetLooks(objects, self._keeper),
            ObjectClient(self._api, self._inputs.kind, ProductionStackCluster),
            kind=self._inputs.kind,
            count_write=self.metrics.count_write,
            rate=WRITE_RATE,
        )

    def _make_server(self) -> HttpServer:
        settings, keeper = self._settings, self._keeper
        health = HubHealth(keeper, self._clock, interval=settings.hub_interval)
        process = self._identity.rpartition("_")[2]
        return HttpServer(
            Pages(
                self.metrics.expose,
                lambda: render_diagnosis(
                    keeper.view(), self._identity, self._inputs.describe_permissions()
                ),
                health.why_not_live,
                health.why_not_ready,
                health.describe_limits,
                {
                    **StatusV1(
                        FLEET_DOCUMENT, keeper.view, keeper.next_change, process=process
                    ).routes(),
                    **ClusterDetails(
                        self._engine, keeper, label=settings.hub_cluster_label
                    ).routes(),
                },
                page_routes(settings.hub_stale),
                make_guard(settings.status_authorization, self._api, monotonic_seconds),
            ),
            metrics=settings.metrics_bind_address,
            health=settings.health_probe_bind_address,
            status=settings.status_bind_address,
            on_closed=ClosedConnectionLog(
                self.metrics.count_closed_connection, monotonic_seconds
            ).record,
        )

    def _count_round(self, seconds: float, answered: Fleet | None) -> None:
        self.metrics.observe_round(seconds)
        for why, each in answered.dropped.items() if answered is not None else ():
            self.metrics.count_dropped(why, each.series)

    # ------------------------------------------------------------ running

    async def run(self) -> None:
        stop = asyncio.Event()
        on_stop_signal(stop.set)
        settings = self._settings
        logger.info(
            "%s hub %s: asks %s for clusters %s",
            PROGRAM_NAME,
            version(PROGRAM_NAME),
            settings.hub_query_url,
            f"of objects in namespace {settings.lease_namespace}"
            if self._is_listed
            else "of all labels",
        )
        for note in settings.notes:
            logger.warning("%s", note)
        await serve_until_stopped(
            self._server,
            self._leadership,
            stop=stop,
            writers=self._writers(),
            others=self._other_tasks(),
        )

    def _writers(self) -> Iterator[NamedTask]:
        yield "rounds", self._keeper.run()
        if self._is_listed:
            yield "publisher", self._writer.run()

    def _other_tasks(self) -> Iterator[NamedTask]:
        if self._is_listed:
            yield from self._inputs.tasks()
        if self._inputs.needs_permissions:
            yield "permissions", self._inputs.review_permissions()
