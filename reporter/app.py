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

from reporter.clock import Clock
from reporter.kube.access import Right
from reporter.kube.client import Api, connect
from reporter.kube.errors import ConfigurationError
from reporter.kube.events import EventBook
from reporter.kube.lookout import Lookout
from reporter.kube.means import Means
from reporter.kube.reflector import Reflector
from reporter.kube.scraper import Scraper
from reporter.model.entries import Catalogue
from reporter.model.kinds import NAMESPACES
from reporter.model.objects import Namespace
from reporter.model.observations import Watched
from reporter.model.subjects import Subject
from reporter.model.verdicts import Involved
from reporter.runtime import scraping, turns
from reporter.runtime.controller import Controller
from reporter.runtime.elector import Elector
from reporter.runtime.leadership import Alone
from reporter.runtime.memory import settle
from reporter.runtime.ownership import Ownership
from reporter.runtime.rights import check, crds_of, kinds_of, rights
from reporter.runtime.server import Pages, Server
from reporter.runtime.speaker import Speaker
from reporter.settings import Settings
from reporter.sinks.lines import log_lines, one_line
from reporter.sinks.log import StateLog
from reporter.sinks.metrics import Metrics, WatchReport
from reporter.sinks.status import History, page
from reporter.stages.election import Terms as LeaseTerms
from reporter.stages.judgement import Terms
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from reporter.stages.probes.specs import SPECS
from reporter.stages.records import Patience
from reporter.stages.snapshot import Snapshot
from reporter.stages.store import Store


STALLED = 3
"""
Resyncs without a finished pass after which the process is not alive.
"""

logger = logging.getLogger("reporter")


def run(settings: Settings, catalogue: Catalogue) -> int:
    """
    The exit code: 0 after a stop, 1 after a failure, 2 for a configuration that cannot work.
    """
    log_lines(settings.log_format, settings.log_level)
    try:
        turns.run(lambda loop: _run(settings, catalogue, loop))
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


async def _run(settings: Settings, catalogue: Catalogue, loop: turns.Turns) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  asyncio.run made it
    _on_stop(task.cancel)
    clock = Clock()
    kubeconfig = str(settings.kubeconfig) if settings.kubeconfig is not None else None
    api = await connect(kubeconfig, on_date=clock.correct)
    try:
        reporter = Reporter(settings, catalogue, api, clock)
        loop.held = reporter.metrics.held
        await reporter.run()
    finally:
        await api.close()


class Reporter:
    """
    One process, wired.
    """

    def __init__(self, settings: Settings, catalogue: Catalogue, api: Api, clock: Clock) -> None:
        self._settings, self._catalogue, self._api, self._clock = settings, catalogue, api, clock
        kinds = kinds_of(catalogue, SPECS, settings.sources)
        crds = crds_of(catalogue, SPECS, settings.sources)
        self._store = Store(kinds, crds, scraping.windows(settings))
        how = scraping.how(settings, inside=api.inside)
        means = Means(api, clock)
        self._lookout = Lookout(means, self._store, crds)
        self._reflectors = [Reflector(means, kind, self._store, self._lookout) for kind in kinds]
        self.metrics = Metrics(catalogue, self._watches)
        self._scraper = Scraper(how, self._store, clock, api, counted=self.metrics.scraped)
        self._identity = f"{settings.instance}_{uuid.uuid4()}"
        self._ownership = Ownership(api, settings, self._store.view)
        self._leadership = self._elector() if settings.leader_elect else Alone()
        self.metrics.leads(lambda: self._leadership.leading)
        self._history = History(clock.now, lambda: self._leadership.leading)
        self._controller = Controller(
            self._store,
            Court(catalogue, PROBES, settings.flags, _terms(settings)),
            clock,
            resync=settings.resync,
            home=lambda snapshot, subject: _home(settings, snapshot, subject),
            observers=(self.metrics, self._history, StateLog(lambda: self._leadership.leading)),
        )
        self._speaker = Speaker(
            self._controller,
            EventBook(api, settings.instance),
            self._leadership,
            clock,
            wrote=self.metrics.wrote,
        )
        self._server = Server(
            Pages(self.metrics.page, self._status, self._alive, self._ready),
            metrics=settings.metrics_bind_address,
            health=settings.health_probe_bind_address,
            status=settings.status_bind_address,
        )
        self._started = 0.0

    async def run(self) -> None:
        """
        Until SIGTERM or SIGINT. Raises ConfigurationError for an address that cannot be had.
        """
        stop = asyncio.Event()
        _on_stop(stop.set)
        self._started = asyncio.get_running_loop().time()
        gc.freeze()  # what was imported stays: the collector need not walk it in the start
        self._greet()
        try:
            await self._server.start()
        except OSError as err:
            raise ConfigurationError(
                f"cannot listen: {err}; set --metrics-bind-address and"
                " --health-probe-bind-address to free addresses, or to 0 to serve nothing"
            ) from err
        try:
            await self._until(stop)
        finally:
            await self._server.stop()

    async def _until(self, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            speaking = group.create_task(self._speaker.run(), name="speaker")
            electing = group.create_task(self._leadership.run(), name="elector")
            others = [group.create_task(root, name=name) for name, root in self._others()]
            try:
                await stop.wait()
                logger.info("stopping")
            finally:
                # The lease is given back only after the last write is over.
                await _ended(speaking)
                await _ended(electing)
                await self._leadership.release()
                await _ended(*others)

    def _others(self) -> Iterator[tuple[str, Coroutine[Any, Any, Any]]]:
        catalogue = self._catalogue
        yield "controller", self._controller.run()
        yield "lookout", self._lookout.run()
        for reflector in self._reflectors:
            yield f"reflector {reflector.kind.qualified}", reflector.run()
        needed = rights(
            catalogue,
            SPECS,
            lease=self._lease(),
            sources=self._settings.sources,
            mode=self._scraper.mode,
        )
        yield "rights", check(self._api, needed, mode=self._scraper.mode)
        yield "settling in", self._settle_in()
        if isinstance(self._leadership, Elector) and self._settings.deployment:
            yield "ownership", self._ownership.run(self._leadership)
        if scraping.reasons(catalogue, SPECS):
            yield "scraper", self._scraper.run()

    async def _settle_in(self) -> None:
        await self._controller.pulse.first.wait()
        settle()

    def _greet(self) -> None:
        catalogue = self._catalogue
        logger.info(
            "productionstack-status-reporter %s: %d of %d reasons are on, %d switched off,"
            " %d cannot be judged yet as their probes are missing",
            version("productionstack-status-reporter"),
            len(catalogue.on),
            len(catalogue.entries),
            len(catalogue.off),
            len(catalogue.pending),
        )
        for note in self._settings.notes:
            logger.warning("%s", note)

    def _lease(self) -> Right | None:
        if not self._settings.leader_elect:
            return None
        where, name = self._settings.lease_namespace, self._settings.leader_election_id
        return Right("get", "coordination.k8s.io", "leases", where, name)

    def _elector(self) -> Elector:
        settings = self._settings
        terms = LeaseTerms(
            lease=settings.lease_duration,
            renew=settings.renew_deadline,
            retry=settings.retry_period,
        )
        return Elector(self._ownership.book, terms, me=self._identity, wall=self._clock.now)

    # ------------------------------------------------------------ what is shown

    def _watches(self) -> Iterator[WatchReport]:
        now, sights = self._clock.now(), self._store.view().tables
        for reflector in self._reflectors:
            progress = reflector.progress
            heard = progress.last_event
            yield WatchReport(
                kind=reflector.kind.qualified,
                watching=isinstance(sights[reflector.kind.resource].sight, Watched),
                silence=(now - heard).total_seconds() if heard is not None else None,
                objects=progress.objects,
                relists=max(progress.relists, 0),
                restarts=max(progress.rewatches, 0),
                undecodable=progress.spoilt,
            )

    def _status(self) -> Iterator[str]:
        controller = self._controller
        process = {
            "version": version("productionstack-status-reporter"),
            "identity": self._identity,
            "leading": self._leadership.leading,
            "leader": self._leadership.holder or None,
            "lastPass": controller.pulse.at.isoformat() if controller.pulse.at else None,
        }
        return page(
            controller.stage(), self._store.view(), since=self._history.since(), process=process
        )

    def _alive(self) -> str:
        if not (self._controller.pulse.first.is_set() or self._controller.listed):
            # A server that is slow to list is not mended by another start of ours.
            return ""
        last = self._controller.pulse.last or self._started
        silent = timedelta(seconds=asyncio.get_running_loop().time() - last)
        limit = STALLED * self._settings.resync
        return f"no pass was finished for {silent.total_seconds():.0f}s" if silent > limit else ""

    def _ready(self) -> str:
        if not self._controller.listed:
            return "not every kind was listed yet"
        return "" if self._controller.pulse.first.is_set() else "no pass was finished yet"


def _terms(settings: Settings) -> Terms:
    return Terms(
        patience=Patience(grace=settings.startup_grace, settle=settings.settle),
        emission=settings.emission,
        heartbeat=settings.heartbeat,
    )


def _home(settings: Settings, snapshot: Snapshot, subject: Subject) -> Involved:
    name = subject.namespace or settings.release_namespace
    found = snapshot.get(NAMESPACES, Namespace, "", name)
    return Involved("v1", "Namespace", name, found.metadata.uid if found is not None else "")


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait(tasks)
