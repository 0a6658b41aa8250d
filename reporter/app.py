"""
Builds the parts, wires them and runs them until told to stop.
"""

import asyncio
import gc
import logging
import signal
import sys
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from reporter.kube.client.client import RestClient, connect
from reporter.kube.discovery.discovery_loop import DiscoveryLoop
from reporter.kube.objects.access_review import Permission
from reporter.kube.objects.events import EventClient
from reporter.kube.scrape.scraper import Scraper
from reporter.kube.watch.context import WatchContext
from reporter.kube.watch.reflector import Reflector
from reporter.kube.wire.errors import ConfigurationError
from reporter.model.entries import Catalogue
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.observations import Watching
from reporter.model.subjects import Subject
from reporter.model.verdicts import InvolvedObject
from reporter.runtime import loop_lag, scraping
from reporter.runtime.announcing.publisher import EventPublisher
from reporter.runtime.clock import Clock
from reporter.runtime.controller import Controller
from reporter.runtime.heap import trim_heap
from reporter.runtime.leaderelection.elector import Elector
from reporter.runtime.leaderelection.leadership import NoElection
from reporter.runtime.leaderelection.lease_owner import LeaseOwnership
from reporter.runtime.leaderelection.rules import LeaseTiming as LeaseTerms
from reporter.runtime.permissions import (
    check_permissions,
    crds_to_track,
    kinds_to_watch,
    required_permissions,
)
from reporter.runtime.server import HttpServer, Pages
from reporter.settings import Settings
from reporter.sinks.log_format import configure_logging, one_line
from reporter.sinks.metrics import Metrics, WatchReport
from reporter.sinks.state_log import StateLog
from reporter.sinks.status import StateHistory, render_status
from reporter.stages.evaluation.clocks import Delays
from reporter.stages.evaluation.evaluation import EvaluationSettings
from reporter.stages.pipeline import Evaluator
from reporter.stages.probes import PROBES
from reporter.stages.probes.specs import SPECS
from reporter.stages.snapshot.scrape_targets import TargetFinder
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.store.samples import SampleStore
from reporter.stages.store.store import Store


STALLED_RESYNCS = 3
"""
Resyncs without a finished pass after which the process is not alive.
"""

logger = logging.getLogger("reporter")


def run(settings: Settings, catalogue: Catalogue) -> int:
    """
    The exit code: 0 after a stop, 1 after a failure, 2 for a configuration that cannot work.
    """
    configure_logging(settings.log_format, settings.log_level)
    try:
        loop_lag.run_measured(lambda loop: _run(settings, catalogue, loop))
    except asyncio.CancelledError:
        logger.info("stopped before it began")
    except ConfigurationError as err:
        print(f"productionstack-status-reporter: {one_line(str(err))}", file=sys.stderr)  # noqa: T201
        return 2
    except Exception:
        logger.critical("stopping after a failure", exc_info=True)
        return 1
    return 0


def _on_stop(then: Callable[[], object]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, then)


async def _run(settings: Settings, catalogue: Catalogue, loop: loop_lag.LagSelector) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  asyncio.run made it
    _on_stop(task.cancel)
    clock = Clock()
    kubeconfig = str(settings.kubeconfig) if settings.kubeconfig is not None else None
    api = await connect(kubeconfig, on_date=clock.correct)
    try:
        reporter = Reporter(settings, catalogue, api, clock)
        loop.on_lag = reporter.metrics.observe_loop_lag
        await reporter.run()
    finally:
        await api.close()


class Reporter:
    """
    One process, wired.
    """

    def __init__(
        self, settings: Settings, catalogue: Catalogue, api: RestClient, clock: Clock
    ) -> None:
        self._settings, self._catalogue, self._api, self._clock = settings, catalogue, api, clock
        kinds = kinds_to_watch(catalogue, SPECS, settings.sources)
        crds = crds_to_track(catalogue, SPECS, settings.sources)
        scrapes = scraping.find_scrapes(catalogue, SPECS, settings.flag_texts)
        self._store = Store(kinds, crds, SampleStore(scrapes))
        scrape_config = scraping.make_scrape_config(settings, scrapes, inside=api.in_cluster)
        targets = TargetFinder(scrapes.values(), self._store.snapshot)
        means = WatchContext(api, clock)
        self._discovery_loop = DiscoveryLoop(means, self._store, crds)
        self._reflectors = [
            Reflector(means, kind, self._store, self._discovery_loop) for kind in kinds
        ]
        self.metrics = Metrics(catalogue, self._watch_reports)
        self._scraper = Scraper(
            scrape_config, targets, self._store, means, on_result=self.metrics.count_scrape
        )
        self._identity = f"{settings.instance}_{uuid.uuid4()}"
        self._ownership = LeaseOwnership(api, settings, self._store.snapshot)
        self._leadership = self._make_elector() if settings.leader_elect else NoElection()
        self.metrics.set_leader_function(lambda: self._leadership.is_leader)
        self._history = StateHistory(clock.now, lambda: self._leadership.is_leader)
        self._controller = Controller(
            self._store,
            Evaluator(catalogue, PROBES, settings.flag_texts, _evaluation_settings(settings)),
            clock,
            resync=settings.resync,
            involved_for=lambda snapshot, subject: _release_involved(settings, snapshot, subject),
            observers=(self.metrics, self._history, StateLog(lambda: self._leadership.is_leader)),
        )
        self._publisher = EventPublisher(
            self._controller,
            EventClient(api, settings.instance),
            self._leadership,
            clock,
            count_write=self.metrics.count_write,
        )
        self._server = HttpServer(
            Pages(self.metrics.render, self._status_page, self._why_not_live, self._why_not_ready),
            metrics=settings.metrics_bind_address,
            health=settings.health_probe_bind_address,
            status=settings.status_bind_address,
        )
        self._started_at = 0.0

    async def run(self) -> None:
        """
        Until SIGTERM or SIGINT. Raises ConfigurationError for an address that cannot be had.
        """
        stop = asyncio.Event()
        _on_stop(stop.set)
        self._started_at = asyncio.get_running_loop().time()
        gc.freeze()  # what was imported stays: the collector need not walk it in the start
        self._log_start()
        try:
            await self._server.start()
        except OSError as err:
            raise ConfigurationError(
                f"cannot listen: {err}; set --metrics-bind-address and"
                " --health-probe-bind-address to free addresses, or to 0 to serve nothing"
            ) from err
        try:
            await self._run_until(stop)
        finally:
            await self._server.stop()

    async def _run_until(self, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            speaking = group.create_task(self._publisher.run(), name="speaker")
            electing = group.create_task(self._leadership.run(), name="elector")
            others = [
                group.create_task(root, name=name) for name, root in self._background_tasks()
            ]
            try:
                await stop.wait()
                logger.info("stopping")
            finally:
                # The lease is given back only after the last write is over.
                await _cancel_all(speaking)
                await _cancel_all(electing)
                await self._leadership.release()
                await _cancel_all(*others)

    def _background_tasks(self) -> Iterator[tuple[str, Coroutine[Any, Any, Any]]]:
        catalogue = self._catalogue
        yield "controller", self._controller.run()
        yield "lookout", self._discovery_loop.run()
        for reflector in self._reflectors:
            yield f"reflector {reflector.kind.group_resource}", reflector.run()
        needed = required_permissions(
            catalogue,
            SPECS,
            lease=self._lease_permission(),
            sources=self._settings.sources,
            mode=self._scraper.mode,
        )
        yield "rights", check_permissions(self._api, needed, mode=self._scraper.mode)
        yield "settling in", self._trim_heap_after_first_pass()
        if isinstance(self._leadership, Elector) and self._settings.deployment_name:
            yield "ownership", self._ownership.run(self._leadership)
        if scraping.scraping_reasons(catalogue, SPECS):
            yield "scraper", self._scraper.run()

    async def _trim_heap_after_first_pass(self) -> None:
        await self._controller.pass_times.first_finished.wait()
        trim_heap()

    def _log_start(self) -> None:
        catalogue = self._catalogue
        logger.info(
            "productionstack-status-reporter %s: %d of %d reasons are on, %d switched off",
            version("productionstack-status-reporter"),
            len(catalogue.enabled_reasons),
            len(catalogue.entries),
            len(catalogue.disabled_reasons),
        )
        for note in self._settings.notes:
            logger.warning("%s", note)

    def _lease_permission(self) -> Permission | None:
        if not self._settings.leader_elect:
            return None
        where, name = self._settings.lease_namespace, self._settings.leader_election_id
        return Permission("get", "coordination.k8s.io", "leases", where, name)

    def _make_elector(self) -> Elector:
        settings = self._settings
        terms = LeaseTerms(
            lease_duration=settings.lease_duration,
            renew_deadline=settings.renew_deadline,
            retry_period=settings.retry_period,
        )
        return Elector(
            self._ownership.lock, terms, identity=self._identity, wall_clock=self._clock.now
        )

    # ------------------------------------------------------------ what is shown

    def _watch_reports(self) -> Iterator[WatchReport]:
        now, sights = self._clock.now(), self._store.snapshot().tables
        for reflector in self._reflectors:
            progress = reflector.stats
            heard = progress.last_event
            yield WatchReport(
                kind=reflector.kind.group_resource,
                watching=isinstance(sights[reflector.kind.resource].watch_state, Watching),
                last_event_age=(now - heard).total_seconds() if heard is not None else None,
                objects=progress.objects,
                relists=max(progress.relists, 0),
                restarts=max(progress.rewatches, 0),
                decode_errors=progress.decode_errors,
            )

    def _status_page(self) -> Iterator[str]:
        controller = self._controller
        process = {
            "version": version("productionstack-status-reporter"),
            "identity": self._identity,
            "leading": self._leadership.is_leader,
            "leader": self._leadership.holder or None,
            "lastPass": controller.pass_times.finished_at.isoformat()
            if controller.pass_times.finished_at
            else None,
        }
        return render_status(
            controller.publish_context(),
            self._store.snapshot(),
            since=self._history.freeze(),
            process=process,
        )

    def _why_not_live(self) -> str:
        if not (
            self._controller.pass_times.first_finished.is_set() or self._controller.has_synced
        ):
            # A server that is slow to list is not mended by another start of ours.
            return ""
        last = self._controller.pass_times.finished or self._started_at
        silent = timedelta(seconds=asyncio.get_running_loop().time() - last)
        limit = STALLED_RESYNCS * self._settings.resync
        return f"no pass was finished for {silent.total_seconds():.0f}s" if silent > limit else ""

    def _why_not_ready(self) -> str:
        if not self._controller.has_synced:
            return "not every kind was listed yet"
        return (
            ""
            if self._controller.pass_times.first_finished.is_set()
            else "no pass was finished yet"
        )


def _evaluation_settings(settings: Settings) -> EvaluationSettings:
    return EvaluationSettings(
        delays=Delays(grace=settings.startup_grace, settle=settings.settle),
        emission=settings.emission,
        heartbeat=settings.heartbeat,
    )


def _release_involved(settings: Settings, snapshot: Snapshot, subject: Subject) -> InvolvedObject:
    name = subject.namespace or settings.release_namespace
    found = snapshot.get(NAMESPACES, Namespace, "", name)
    return InvolvedObject("v1", "Namespace", name, found.metadata.uid if found is not None else "")


async def _cancel_all(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait(tasks)
