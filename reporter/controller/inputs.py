"""
The loops that fill the store: discovery, one reflector a kind, the scraper; and their permissions.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NoReturn, TypeAlias

from reporter.catalogue.entries import Catalogue
from reporter.controller import scrape_config
from reporter.controller.enabled_scrapes import find_scrapes, renew_scrapes
from reporter.controller.permission_review import PermissionReview
from reporter.controller.permissions import permissions_for
from reporter.controller.reread_contents import WatchProgress
from reporter.controller.silence_file import SilenceFileReader
from reporter.controller.store_kind import find_store_kind
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.health_events import HealthEvent, StoreLimit
from reporter.kinds.nvsentinel import NodeHealthEvent
from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES, ProductionStackStatus
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.discovery import DiscoveryLoop
from reporter.kube.lifecycle import NamedTask
from reporter.kube.reflector import Reflector, Reflectors
from reporter.kube.watch_context import WatchContext
from reporter.metrics.input_collectors import InputReport, PageReport, WatchReport
from reporter.model.observations import NotServed, Watching, WatchState
from reporter.process.clock import Clock
from reporter.scrape.path import ScrapePath
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.scraper import Scraper
from reporter.scrape.scrapes import Scrape
from reporter.settings import Settings
from reporter.snapshot.scrape_targets import TargetFinder
from reporter.store.samples import SampleStore
from reporter.store.store import NOWHERE_ALONE, Store
from reporter.store.written_objects import WrittenObjectStore


WrittenStore: TypeAlias = (
    WrittenObjectStore[ProductionStackStatus]
    | WrittenObjectStore[HealthEvent]
    | WrittenObjectStore[NodeHealthEvent]
)


class Inputs:
    """
    Reads what the evaluated reasons of the catalogue need, and nothing else.

    *permissions*: those that a reporter needs, also to write, as they are reviewed.
    *count_scrape* is called with the result of every attempt to read a pod's metrics. *only_in*: the one
    namespace that is read of a kind, by its table; all others are read in every namespace. Namespaces among
    them are read by somebody else.
    """

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        api: RestClient,
        clock: Clock,
        *,
        count_scrape: Callable[[ScrapeResult], None],
        only_in: Mapping[str, str] = NOWHERE_ALONE,
    ) -> None:
        self._settings, self._catalogue, self._clock = settings, catalogue, clock
        kinds = kinds_to_watch(catalogue, settings.sources)
        self.store_kind = find_store_kind(settings)
        crds = self._crds_of(catalogue)
        self._scrapes = scrapes = find_scrapes(catalogue, SPECS, settings.flag_texts)
        self.store = Store(
            kinds,
            crds,
            SampleStore(scrapes),
            subjects=catalogue.subject_definitions,
            only_in=only_in,
        )
        context = WatchContext(api, clock)
        self._discovery = DiscoveryLoop(context, self.store, crds)
        self._reflectors = self._make_reflectors(context, kinds, only_in)
        self._add_written_objects(settings, context)
        self._scraper = Scraper(
            scrape_config.make_scrape_config(settings, scrapes, inside=api.in_cluster),
            TargetFinder(scrapes.values(), self.store.snapshot),
            self.store,
            context,
            on_result=count_scrape,
        )
        self._is_scraping = bool(scrapes)
        self._added: asyncio.Queue[NamedTask] = asyncio.Queue()
        mode = self._scraper.mode
        needed = permissions_for(settings, catalogue, mode=mode)
        self.permissions = PermissionReview(context, needed, mode=mode)
        api.forbidden.subscribe(self.permissions.record_forbidden)

    def _make_reflectors(
        self, context: WatchContext, kinds: Iterable[ResourceKind], only_in: Mapping[str, str]
    ) -> Reflectors:
        found = Reflectors(
            lambda kind: Reflector(
                context,
                kind,
                self.store,
                self._discovery,
                namespace=only_in.get(kind.table, ""),
            )
        )
        # A Namespace may be got by who may not list it, and has no path below itself to be watched at.
        read_elsewhere = only_in.keys() & {NAMESPACES.table}
        found.prepare_kinds(kind for kind in kinds if kind.table not in read_elsewhere)()
        return found

    def _crds_of(self, catalogue: Catalogue) -> frozenset[str]:
        """
        Return the CRDs whose presence matters: those of the catalogue, and those of what is written.
        """
        crds = crds_to_track(catalogue, self._settings.sources)
        if self._settings.status_objects:
            crds |= {PRODUCTION_STACK_STATUSES.group_resource}
        if self.store_kind is not None:
            crds |= {self.store_kind.group_resource}
        return crds

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

    def why_restart(self, catalogue: Catalogue) -> str:
        """Return what of another catalogue can only be read after a restart; empty if nothing."""
        before, after = self._catalogue.subject_definitions, catalogue.subject_definitions
        return "" if after.agree_with(before) else "other objects would make its subjects"

    def prepare_catalogue(self, catalogue: Catalogue) -> Callable[[], None]:
        """
        Return a function that reads what another catalogue needs, and nothing else.

        All that may fail is done here; the function only puts in effect what was prepared. A kind that is
        read in another way is listed anew, and is Unknown until then.
        """
        settings = self._settings
        kinds = kinds_to_watch(catalogue, settings.sources)
        crds = self._crds_of(catalogue)
        needed = permissions_for(settings, catalogue, mode=self._scraper.mode)
        scrapes = renew_scrapes(
            self._scrapes, (self._catalogue, catalogue), SPECS, settings.flag_texts
        )
        commits = (
            self._reflectors.prepare_kinds(kinds),
            self.store.prepare_kinds(kinds, crds, catalogue.subject_definitions),
            partial(self._discovery.set_resources, crds),
            partial(self._set_scrapes, scrapes),
            partial(self.permissions.set_needed, needed),
        )

        def commit() -> None:
            for each in commits:
                each()
            self._catalogue = catalogue

        return commit

    def _set_scrapes(self, scrapes: dict[str, Scrape]) -> None:
        before, self._scrapes = self._scrapes, scrapes
        if scrapes == before:
            return
        self.store.samples.set_scrapes(scrapes)
        targets = TargetFinder(scrapes.values(), self.store.snapshot)
        self._scraper.set_scrapes(scrapes, targets)
        if not self._is_scraping:
            self._is_scraping = True
            self._added.put_nowait(("scraper", self._scraper.run()))

    def describe_permissions(self) -> dict[str, Any]:
        """
        Return what is known of the permissions that are needed, also of those to write, for /status.
        """
        return self.permissions.states.as_json()

    def missing_rights(self) -> tuple[str, ...]:
        """Return the permissions that are needed and not granted, the most important first."""
        missing = self.permissions.states.missing_by_resource()
        return tuple(f"{verb} {resource}" for (verb, resource), is_so in missing.items() if is_so)

    def watch_progress(self, kind: ResourceKind) -> WatchProgress:
        """Return the resourceVersion up to which the watch of a kind has come, and its last event."""
        reflector = self._reflectors.by_kind[kind]
        return WatchProgress(reflector.resource_version, reflector.stats.last_event)

    def report_missed_event(self, kind: ResourceKind) -> None:
        """List a kind anew, as its watch has missed a change."""
        self._reflectors.by_kind[kind].report_missed_event()

    def record_store_rejections(self, rejected: Mapping[str, StoreLimit]) -> None:
        """
        Store how many episodes have no place among the HealthEvents, as a reason is about that.

        *rejected*: the limit that each exceeds, by the name of its object.
        """
        self.store.record_store_rejections(dict(Counter(rejected.values())))

    def tasks(self) -> Iterator[NamedTask]:
        """
        Yield the loops that read (discovery, reflectors, scraper, …), each with a name for its task.
        """
        yield "discovery", self._discovery.run()
        yield "reflectors", self._reflectors.run()
        for reflector in self._writable:
            yield f"reflector {reflector.kind.group_resource}", reflector.run()
        if self._is_scraping:
            yield "scraper", self._scraper.run()
        if self._settings.silence_file is not None:
            reader = SilenceFileReader(self._settings.silence_file, self.store.record_silence_file)
            yield "silence file", reader.run()
        yield "further inputs", self._run_added()

    async def _run_added(self) -> NoReturn:
        """Run the loops that a change of the catalogue adds."""
        async with asyncio.TaskGroup() as group:
            while True:
                name, loop = await self._added.get()
                group.create_task(loop, name=name)

    def proxied_page_age(self) -> int | None:
        """
        Return how many seconds old a page read through the API server may be, for the status.

        None if no page is read so, or if none is older than the interval.
        """
        age = self._scraper.page_ages().get(ScrapePath.PROXY)
        is_longer = age is not None and age > self._settings.scrape_interval
        return round(age.total_seconds()) if age is not None and is_longer else None

    def report(self) -> InputReport:
        """Return the state of all that is read, for the metrics page."""
        pages = PageReport(
            {outcome.value: number for outcome, number in self._scraper.count_pages().items()},
            {path.value: age for path, age in self._scraper.page_ages().items()},
        )
        return InputReport([*self._report_watches()], self.permissions.report(), pages)

    def _report_watches(self) -> Iterator[WatchReport]:
        now, snapshot = self._clock.now(), self.store.snapshot()
        undecodable = Counter(ref.resource for ref in snapshot.undecodable)
        for kind, reflector in self._reflectors.by_kind.items():
            state = snapshot.tables[kind.table].watch_state
            yield report_watch(reflector, state, now, undecodable=undecodable[kind.watch_name])
        for reflector, objects in self._writable.items():
            unread = len(objects.undecodable)
            yield report_watch(reflector, objects.watch_state, now, undecodable=unread)


def report_watch(
    reflector: Reflector, state: WatchState, now: datetime, *, undecodable: int
) -> WatchReport:
    """
    Return the state and counters of one watch for the metrics page.

    *undecodable*: how many objects cannot be decoded now. An age is in seconds; None before the
    first list.
    """
    stats = reflector.stats
    last = stats.last_event
    return WatchReport(
        kind=reflector.kind.watch_name,
        watching=isinstance(state, Watching),
        last_event_age=(now - last).total_seconds() if last is not None else None,
        objects=stats.objects,
        relists=max(stats.relists, 0),
        restarts=max(stats.rewatches, 0),
        decode_errors=stats.decode_errors,
        missed_events=stats.missed_events,
        undecodable=undecodable,
        served=not isinstance(state, NotServed),
    )
