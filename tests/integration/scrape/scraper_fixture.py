"""
A scraper over pods on real sockets.

A minute of the pods takes two seconds here, for them and for the clock alike.
"""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from msgspec.structs import replace

from devcluster.server import DevCluster
from reporter.kube.watch_context import WatchContext
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Unknown
from reporter.probes.probe import ProbeRequest
from reporter.scrape.scraper import ScrapeConfig, Scraper
from reporter.settings import ScrapeMode
from reporter.snapshot.scrape_targets import TargetFinder
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.loading_pods import REASON, SCRAPE, TEAM, a_loading_pod, a_loading_store
from tests.support.probe_verdicts import verdicts_of_request
from tests.support.stubs.api_servers import a_kubeconfig, connected
from tests.support.stubs.exporter import SIMULATED_DOWNLOADS, StubExporter


SPEEDUP = 30.0
INTERVAL = timedelta(seconds=15 / SPEEDUP)
ENTRY = DEFAULT_CATALOGUE[REASON]


class AcceleratedClock:
    """A clock that starts at noon and runs SPEEDUP times as fast as the event loop."""

    def __init__(self) -> None:
        self._began = asyncio.get_running_loop().time()

    def now(self) -> datetime:
        return NOON + timedelta(seconds=asyncio.get_running_loop().time() - self._began) * SPEEDUP


class ScraperFixture:
    """
    *verdicts*: by model, after each change that causes an evaluation, if these are evaluated.
    """

    scraper: Scraper

    def __init__(self, store, *, evaluating: bool) -> None:
        self.store = store
        self.results: Counter[str] = Counter()
        self.verdicts: dict[str, list[str]] = {}
        if evaluating:
            store.changes.subscribe(self._changed)

    def _changed(self) -> None:
        for subject in sorted(self.store.take_dirty()):
            if subject.name:
                self.verdicts.setdefault(subject.name, []).append(self.verdict(subject.name))

    def verdict(self, model: str) -> str:
        subject = Subject(Layer.MODELDEPLOYMENT, TEAM, model)
        question = ProbeRequest(ENTRY.reason, subject, ENTRY.parameters, DEFAULT_FLAGS, NOON)
        (found,) = verdicts_of_request(question, self.store)
        if isinstance(found, Active):
            return " ".join(f"{t.cause.object.name}={t.cause.code}" for t in found.troubles)
        return "unknown" if isinstance(found, Unknown) else "clear"

    def counted(self, result) -> None:
        self.results[str(result)] += 1


@asynccontextmanager
async def scraping(folder, *pods, mode=ScrapeMode.DIRECT, port=0, **how):
    """Run a scraper over a store with these pods, which the API server has as well."""
    async with (
        DevCluster() as server,
        connected(a_kubeconfig(folder, server.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        for pod in pods:
            _put(server, pod)
        scrapes = how.pop("scrapes", {REASON: replace(SCRAPE, port=port)})
        store = a_loading_store(*pods, scrapes=scrapes)
        run = ScraperFixture(store, evaluating=how.pop("evaluating", True))
        allowed = how.pop("allowed", lambda _: True)
        config = ScrapeConfig(
            scrapes,
            how.pop("interval", INTERVAL),
            mode,
            allowed,
            proxied_per_minute=how.pop("proxied_per_minute", 60 * SPEEDUP),
            try_interval=how.pop("try_interval", INTERVAL),
        )
        targets = TargetFinder(scrapes.values(), store.snapshot)
        context = WatchContext(api, AcceleratedClock())
        scraper = Scraper(config, targets, store, context, on_result=run.counted)
        run.scraper = scraper
        task = group.create_task(scraper.run())
        yield run, server
        task.cancel()


def _put(server: DevCluster, pod) -> None:
    meta = {"name": pod.metadata.name, "namespace": pod.metadata.namespace}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}}
    server.cluster.upsert(namespace)
    status = {"podIP": pod.status.pod_ip}
    server.cluster.upsert({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": status})


def pods_for_downloads(*names: str, one_model: str = ""):
    """
    Make a pod with its own address for each download, of a model of the download's name or of one model.
    """
    pods, downloads = [], {}
    for number, name in enumerate(names):
        address = f"127.0.7.{number + 1}"
        pod_name = f"{one_model or name}-{number}-0"
        pods.append(a_loading_pod(pod_name, model=one_model or name, ip=address))
        downloads[address] = SIMULATED_DOWNLOADS[name]
    return pods, StubExporter(downloads, haste=SPEEDUP)


def many_pods(many: int):
    return [a_loading_pod(f"p{n}-0", ip=f"127.0.{8 + n // 256}.{n % 256}") for n in range(many)]
