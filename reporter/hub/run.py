"""Builds the parts of the hub, wires them and runs them until a signal stops it."""

import asyncio
import logging
import uuid
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial

from reporter import PROGRAM_NAME, PROGRAM_VERSION
from reporter.catalogue.subject_definitions import NO_SUBJECTS
from reporter.controller import permissions
from reporter.controller.inputs import report_watch
from reporter.controller.permission_review import PermissionReview
from reporter.hub.cluster_detail import ClusterDetails
from reporter.hub.document import FleetView
from reporter.hub.fleet_cache import FleetCache
from reporter.hub.metrics import HubMetrics
from reporter.hub.objects import ClusterStatuses
from reporter.hub.pages import FLEET_DOCUMENT, render_diagnosis
from reporter.hub.poller import Poller
from reporter.hub.query_client import QueryClient, QueryCredentials
from reporter.hub.records import FleetRules
from reporter.kinds.productionstack import PRODUCTION_STACK_CLUSTERS, ProductionStackCluster
from reporter.kube import lifecycle
from reporter.kube.access_review import Permission
from reporter.kube.client import RestClient
from reporter.kube.discovery import DiscoveryLoop
from reporter.kube.leader_writer import LeaderWriter
from reporter.kube.leases import LeaseLock
from reporter.kube.object_client import ObjectClient
from reporter.kube.reflector import Reflector
from reporter.kube.watch_context import WatchContext
from reporter.kube.write_limits import WriteRate
from reporter.metrics.input_collectors import InputReport
from reporter.model.enums import Engage
from reporter.process.clock import Clock, monotonic_seconds
from reporter.process.loop_lag import LagSelector
from reporter.process.signals import on_stop_signal
from reporter.server.authorization import make_guard
from reporter.server.served_document import StatusV1
from reporter.server.server import HttpServer, Pages, make_server
from reporter.server.static_files import page_routes
from reporter.settings import Settings, StatusAuthorization
from reporter.status.object_plan import StatusObjectPlan, write_status
from reporter.store.store import Store
from reporter.store.written_objects import WrittenObjectStore


WRITE_RATE = WriteRate(10.0, 50.0, in_flight=4)

logger = logging.getLogger("reporter")


def run_hub(settings: Settings) -> int:
    """Run a hub with these settings until a signal stops it, and return the exit code."""

    async def connected(api: RestClient, clock: Clock, lag: LagSelector) -> None:
        engine = QueryClient(settings.hub_query_url, QueryCredentials(settings))
        try:
            hub = Hub(settings, api, engine, clock)
            lag.subscribe(hub.metrics.observe_loop_lag)
            await hub.run()
        finally:
            await engine.close()

    return lifecycle.run_connected(settings, connected)


def needed_permissions(settings: Settings) -> Mapping[Permission, Collection[str]]:
    """
    Return the permissions that a hub with these settings needs, each with what needs it.

    They are in its own namespace, but for the reviews of who reads the status.
    """
    namespace, kind = settings.lease_namespace, PRODUCTION_STACK_CLUSTERS
    needed: dict[Permission, Collection[str]] = {}
    if settings.hub_engage is Engage.LISTED:
        for verb in permissions.READ_VERBS:
            needed[Permission(verb, kind.group, kind.resource, namespace)] = [
                "every cluster: which ones to answer for is not known"
            ]
        status = Permission("patch", kind.group, f"{kind.resource}/status", namespace)
        needed[status] = ["none: the status of objects is not written"]
    if settings.leader_elect:
        lease = Permission(
            "get", permissions.LEASE_GROUP, "leases", namespace, settings.leader_election_id
        )
        for permission in permissions.election_permissions(lease):
            needed[permission] = ["every cluster: this process cannot lead"]
    if settings.status_authorization is StatusAuthorization.KUBERNETES:
        for permission in permissions.reader_review_permissions():
            needed[permission] = ["none: the status is shown to nobody"]
    return needed


class Hub:
    """
    The parts of one process, wired: objects and answers into the fleet, and the fleet to outputs.

    The namespace of the Lease is the only one whose objects are read.
    """

    def __init__(
        self, settings: Settings, api: RestClient, engine: QueryClient, clock: Clock
    ) -> None:
        self._settings, self._api, self._clock = settings, api, clock
        self._engine = engine
        self._identity = f"{settings.instance}_{uuid.uuid4()}"
        self._is_listed = settings.hub_engage is Engage.LISTED
        self._wire_inputs()
        self.metrics = HubMetrics(self._report_inputs, clock)
        api.requests.subscribe(self.metrics.count_api_request)
        lock = LeaseLock(api, settings.lease_namespace, settings.leader_election_id)
        self._leadership = lifecycle.make_leadership(
            settings, lock, identity=self._identity, clock=clock
        )
        self._fleet = FleetCache(
            Poller(engine, settings, clock, count_result=self.metrics.count_result),
            self._objects if self._is_listed else None,
            self._leadership,
            clock,
            rules=FleetRules(
                stale=settings.hub_stale.total_seconds(),
                engage=settings.hub_engage,
                max_clusters=settings.hub_max_clusters,
                forget=settings.hub_forget.total_seconds(),
            ),
            interval=settings.hub_interval,
            on_round=self.metrics.count_round,
        )
        plan = self._make_plan()
        client = ObjectClient(self._api, self._kind, ProductionStackCluster)
        self._writer = LeaderWriter(plan, partial(write_status, client), self._leadership, clock)
        self.metrics.show_fleet(
            self._fleet.view,
            hub=f"{settings.lease_namespace}/{settings.leader_election_id}",
            is_leader=lambda: self._leadership.is_leader,
            count_failing=lambda: plan.count_failing(self._writer),
        )
        self._server = self._make_server()

    def _wire_inputs(self) -> None:
        settings, api = self._settings, self._api
        self._kind = replace(PRODUCTION_STACK_CLUSTERS, namespace=settings.lease_namespace)
        crds = {self._kind.group_resource}
        context = WatchContext(api, self._clock)
        presences = Store((), crds, subjects=NO_SUBJECTS)
        self._discovery = DiscoveryLoop(context, presences, crds)
        self._objects = WrittenObjectStore(ProductionStackCluster, presences.served_version)
        self._reflector = Reflector(context, self._kind, self._objects, self._discovery)
        self._permissions = PermissionReview(context, needed_permissions(settings))
        api.forbidden.subscribe(self._permissions.record_forbidden)

    def _report_inputs(self) -> InputReport:
        permissions = self._permissions.report()
        if not self._is_listed:
            # A watch that never runs would look like one that is lost.
            return InputReport(permissions=permissions)
        objects, now = self._objects, self._clock.now()
        unread = len(objects.undecodable)
        watch = report_watch(self._reflector, objects.watch_state, now, undecodable=unread)
        return InputReport([watch], permissions)

    def _make_plan(self) -> StatusObjectPlan[ProductionStackCluster, FleetView]:
        return StatusObjectPlan(
            self._objects,
            self._fleet,
            ClusterStatuses(self._fleet.rules),
            kind=self._kind,
            count_write=self.metrics.count_write,
            rate=WRITE_RATE,
        )

    def _make_server(self) -> HttpServer:
        settings, fleet = self._settings, self._fleet
        process = self._identity.rpartition("_")[2]
        document = StatusV1(FLEET_DOCUMENT, fleet.view, fleet.next_change, process=process)
        details = ClusterDetails(self._engine, fleet, label=settings.hub_cluster_label)
        return make_server(
            settings,
            Pages(
                self.metrics.expose,
                lambda: render_diagnosis(
                    fleet.view(), self._identity, self._permissions.states.as_json()
                ),
                fleet.why_not_live,
                fleet.why_not_ready,
                fleet.describe_limits,
                {**document.routes(), **details.routes()},
                page_routes(settings.hub_stale),
                make_guard(settings.status_authorization, self._api, monotonic_seconds),
            ),
            self.metrics.count_closed_connection,
        )

    # ------------------------------------------------------------ running

    async def run(self) -> None:
        """
        Serve, ask and write until SIGTERM or SIGINT.

        Raises ConfigurationError for an address to listen on that is not free.
        """
        stop = asyncio.Event()
        on_stop_signal(stop.set)
        settings = self._settings
        logger.info(
            "%s hub %s: asks %s for clusters %s",
            PROGRAM_NAME,
            PROGRAM_VERSION,
            settings.hub_query_url,
            f"of objects in namespace {settings.lease_namespace}"
            if self._is_listed
            else "of all labels",
        )
        for note in settings.notes:
            logger.warning("%s", note)
        await lifecycle.serve_until_stopped(
            self._server,
            self._leadership,
            stop=stop,
            writers=self._writers(),
            others=self._other_tasks(),
        )

    def _writers(self) -> Iterator[lifecycle.NamedTask]:
        yield "rounds", self._fleet.run()
        if self._is_listed:
            yield "publisher", self._writer.run()

    def _other_tasks(self) -> Iterator[lifecycle.NamedTask]:
        if self._is_listed:
            yield "discovery", self._discovery.run()
            yield f"reflector {self._kind.group_resource}", self._reflector.run()
        if self._permissions.states.needed:
            yield "permissions", self._permissions.run()
