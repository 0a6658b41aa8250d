"""
The loops that fill the store: discovery, one reflector a kind, the scraper; and their permissions.
"""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import datetime
from typing import Any, NoReturn, TypeAlias

from reporter.kube.client.client import RestClient
from reporter.kube.discovery.discovery_loop import DiscoveryLoop
from reporter.kube.scrape.scraper import Scraper
from reporter.kube.watch.context import WatchContext
from reporter.kube.watch.reflector import Reflector
from reporter.model.entries import Catalogue
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.nvsentinel.node_health_events import NodeHealthEvent
from reporter.model.kinds.productionstack.health_event_writes import StoreLimit
from reporter.model.kinds.productionstack.health_events import HealthEvent
from reporter.model.kinds.productionstack.statuses import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)
from reporter.model.metrics.samples import ScrapeResult
from reporter.model.observations import Watching, WatchState
from reporter.runtime.inputs import scrape_config
from reporter.runtime.inputs.permission_review import PermissionReview
from reporter.runtime.inputs.permissions import crds_to_track, kinds_to_watch, permissions_for
from reporter.runtime.inputs.store_kind import find_store_kind
from reporter.runtime.process.clock import Clock
from reporter.settings import Settings
from reporter.sinks.metrics import PermissionReport, WatchReport
from reporter.stages.probes.specs import SPECS
from reporter.stages.second_look.contents import WatchProgress
from reporter.stages.snapshot.scrape_targets import TargetFinder
from reporter.stages.store.samples import SampleStore
from reporter.stages.store.store import Store
from reporter.stages.store.written_objects import WrittenObjectStore


WrittenStore: TypeAlias = (
    WrittenObjectStore[ProductionStackStatus]
    | WrittenObjectStore[HealthEvent]
    | WrittenObjectStore[NodeHealthEvent]
)


class Inputs:
    """
    Reads what the evaluated reasons of the catalogue need, and nothing else.

    *count_scrape* is called with the result of every attempt to read a pod's metrics.
    """

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        api: RestClient,
        clock: Clock,
        *,
        count_scrape: Callable[[ScrapeResult], None],
    ) -> None:
        self._clock = clock
        kinds = kinds_to_watch(catalogue, SPECS, settings.sources)
        crds = crds_to_track(catalogue, SPECS, settings.sources)
        if settings.status_objects:
            crds |= {PRODUCTION_STACK_STATUSES.group_resource}
        self.store_kind = find_store_kind(settings)
        if self.store_kind is not None:
            crds |= {self.store_kind.group_resource}
        scrapes = scrape_config.find_scrapes(catalogue, SPECS, settings.flag_texts)
        self.store = Store(kinds, crds, SampleStore(scrapes))
        context = WatchContext(api, clock)
        self._discovery = DiscoveryLoop(context, self.store, crds)
        self._reflectors = {
            kind: Reflector(context, kind, self.store, self._discovery) for kind in kinds
        }
        self._add_written_objects(settings, context)
        self._scraper = Scraper(
            scrape_config.make_scrape_config(settings, scrapes, inside=api.in_cluster),
            TargetFinder(scrapes.values(), self.store.snapshot),
            self.store,
            context,
            on_result=count_scrape,
        )
        self._has_scrapes = bool(scrapes)
        mode = self._scraper.mode
        needed = permissions_for(settings, catalogue, mode=mode)
        self._permissions = PermissionReview(context, needed, mode=mode)
        api.on_forbidden(self._permissions.record_forbidden)

    def _add_written_objects(self, settings: Settings, context: WatchContext) -> None:
        served_version = self.store.served_version
        self.status_objects = WrittenObjectStore(ProductionStackStatus, served_version)
        self.health_events = WrittenObjectStore(HealthEvent, served_version)
        self.node_health_events = WrittenObjectStore(NodeHealthEvent, served_version)
        self._writable: dict[Reflector, WrittenStore] = {}
        if settings.status_objects:
            self._add_writable(context, PRODUCTION_STACK_STATUSES, self.status_objects)
        if self.store_kind is not None:
            is_own = self.store_kind.type is HealthEvent
            kept = self.health_events if is_own else self.node_health_events
            self._add_writable(context, self.store_kind, kept)

    def _add_writable(
        self, context: WatchContext, kind: ResourceKind, objects: WrittenStore
    ) -> None:
        self._writable[Reflector(context, kind, objects, self._discovery)] = objects

    def describe_permissions(self) -> dict[str, Any]:
        """
        Return what is known of the permissions that are needed, also of those to write, for /status.
        """
        return self._permissions.states.as_json()

    def watch_progress(self, kind: ResourceKind) -> WatchProgress:
        """
        Return how far the watch of a kind has come.
        """
        reflector = self._reflectors[kind]
        return WatchProgress(reflector.resource_version, reflector.stats.last_event)

    def report_missed_event(self, kind: ResourceKind) -> None:
        """
        List a kind anew, as its watch has missed a change.
        """
        self._reflectors[kind].report_missed_event()

    def record_store_rejections(self, rejected: Mapping[str, StoreLimit]) -> None:
        """
        Show the evaluation what has no place among the HealthEvents. *rejected*: by name.
        """
        self.store.record_store_rejections(dict(Counter(rejected.values())))

    def tasks(self) -> Iterator[tuple[str, Coroutine[Any, Any, Any]]]:
        """
        Return the loops to run, each with a name for its task.
        """
        yield "discovery", self._discovery.run()
        for reflector in self._reflectors.values():
            yield f"reflector {reflector.kind.group_resource}", reflector.run()
        for reflector in self._writable:
            yield f"reflector {reflector.kind.group_resource}", reflector.run()
        if self._has_scrapes:
            yield "scraper", self._scraper.run()

    async def review_permissions(self) -> NoReturn:
        """
        Review the permissions that a reporter needs until cancelled, also those to write.
        """
        await self._permissions.run()

    def count_scrape_pages(self) -> Mapping[str, int]:
        """
        Count the metrics pages to be read, by the outcome of the last attempt, for the metrics page.
        """
        return {outcome.value: number for outcome, number in self._scraper.count_pages().items()}

    def report_permissions(self) -> PermissionReport:
        """
        Return what is known of the permissions, for the metrics page.
        """
        return self._permissions.report()

    def watch_reports(self) -> Iterator[WatchReport]:
        """
        Return the state of each watch, for the metrics page.
        """
        now, tables = self._clock.now(), self.store.snapshot().tables
        for reflector in self._reflectors.values():
            state = tables[reflector.kind.resource].watch_state
            yield report_watch(reflector, state, now)
        for reflector, objects in self._writable.items():
            yield report_watch(reflector, objects.watch_state, now)


def report_watch(reflector: Reflector, state: WatchState, now: datetime) -> WatchReport:
    stats = reflector.stats
    last = stats.last_event
    return WatchReport(
        kind=reflector.kind.group_resource,
        watching=isinstance(state, Watching),
        last_event_age=(now - last).total_seconds() if last is not None else None,
        objects=stats.objects,
        relists=max(stats.relists, 0),
        restarts=max(stats.rewatches, 0),
        decode_errors=stats.decode_errors,
        missed_events=stats.missed_events,
    )
