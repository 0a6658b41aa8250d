"""Several probes that request different pods, ports and families."""

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.controller.enabled_scrapes import find_scrapes
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import PODS
from reporter.model.enums import Reason
from reporter.scrape.scrapes import Scrape
from reporter.snapshot.scrape_targets import READY
from tests.integration.scrape.scraper_fixture import (
    ENTRY,
    SPEEDUP,
    scraping,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.downloads import SPEED
from tests.support.loading_pods import REASON, SCRAPE, a_loading_pod
from tests.support.stubs.api_servers import until
from tests.support.stubs.exporter import SIMULATED_DOWNLOADS, StubExporter


QUEUE = Reason("inferencesetQueueGrows")
WAITING = "vllm:num_requests_waiting"


def queue_spec(port: int) -> ProbeSpec:
    """
    A probe that reads the queue of serving engines: other pods, another port, other families.
    """
    return ProbeSpec(
        name="queue",
        parameters_type=dict,
        scrape=lambda *_: Scrape(
            families=(WAITING,),
            pods=READY,
            port=port,
            fingerprints=(
                lambda history: history.scrapes and history.scrapes[-1].max_value(WAITING),
            ),
        ),
    )


def scrapes_of_both(*, loading_port: int, serving_port: int):
    """Return the scrapes of a catalogue that has a reason with the second probe."""
    entry = replace(ENTRY, reason=QUEUE, probe="queue", parameters=None)
    catalogue = replace(DEFAULT_CATALOGUE, entries={**DEFAULT_CATALOGUE.entries, QUEUE: entry})
    flags = {**DEFAULT_FLAGS, "weight-download-metric-port": str(loading_port)}
    return find_scrapes(catalogue, {**SPECS, "queue": queue_spec(serving_port)}, flags)


def engine_page(waiting: float) -> bytes:
    return f'# TYPE {WAITING} gauge\n{WAITING}{{engine="0"}} {waiting}\n'.encode()


def latest(store, pod, reason: Reason, family: str) -> float | None:
    history = store.snapshot().scrape_history(pod, reason)
    return history.scrapes[-1].max_value(family) if history and history.scrapes else None


async def test_a_second_probe_reads_ready_pods_at_its_own_port_for_its_own_families(tmp_path):
    loading = a_loading_pod("loading-0", ip="127.0.7.1")
    serving = a_loading_pod("serving-0", ip="127.0.7.2", ready=True)
    async with (
        StubExporter({"127.0.7.1": SIMULATED_DOWNLOADS["fast"]}, haste=SPEEDUP) as weights,
        StubExporter({"127.0.7.2": lambda _: engine_page(7)}) as engines,
    ):
        scrapes = scrapes_of_both(loading_port=weights.port, serving_port=engines.port)
        async with scraping(tmp_path, loading, serving, scrapes=scrapes) as (run, _):
            store = run.store
            await until(lambda: latest(store, serving, QUEUE, WAITING) == 7)
            await until(lambda: latest(store, loading, REASON, SPEED) is not None)
            assert store.snapshot().scrape_history(serving, REASON) is None
            assert store.snapshot().scrape_history(loading, QUEUE) is None
            engines.downloads["127.0.7.2"] = lambda _: engine_page(9)
            await until(lambda: latest(store, serving, QUEUE, WAITING) == 9)
            history = store.snapshot().scrape_history(serving, QUEUE)
            assert history is not None
            assert len(history.scrapes) == 1  # keep_latest, the default
            # It becomes Ready: the one probe forgets it and the other begins to read it.
            ready = a_loading_pod("loading-0", ip="127.0.7.2", ready=True)
            store.upsert(PODS, ready)
            assert store.snapshot().scrape_history(ready, REASON) is None
            await until(lambda: latest(store, ready, QUEUE, WAITING) == 9)


async def test_two_probes_that_read_the_same_page_share_one_request(tmp_path):
    pod = a_loading_pod("loading-0", ip="127.0.7.1")
    async with StubExporter({"127.0.7.1": SIMULATED_DOWNLOADS["fast"]}, haste=SPEEDUP) as stub:
        ours = replace(SCRAPE, port=stub.port)
        other = Scrape(families=("process_start_time_seconds",), pods=ours.pods, port=stub.port)
        scrapes = {REASON: ours, QUEUE: other}
        async with scraping(tmp_path, pod, scrapes=scrapes) as (run, _):
            await until(lambda: run.results["read"] >= 3)
            assert len(stub.requested) <= run.results["read"] + 1
            for reason in (REASON, QUEUE):
                assert run.store.snapshot().scrape_history(pod, reason) is not None


async def test_a_family_that_is_malformed_spoils_only_the_scrape_that_asks_for_it(tmp_path):
    pod = a_loading_pod("serving-0", ip="127.0.7.1", ready=True)
    body = engine_page(7) + b"# TYPE broken gauge\nbroken{ 1\n"
    async with StubExporter({"127.0.7.1": lambda _: body}) as stub:
        queue = Scrape(families=(WAITING,), pods=READY, port=stub.port)
        scrapes = {QUEUE: queue, REASON: replace(queue, families=("broken",))}
        async with scraping(tmp_path, pod, scrapes=scrapes) as (run, _):
            await until(lambda: latest(run.store, pod, QUEUE, WAITING) == 7)
            await until(lambda: run.results["unusable"] > 0)
            history = run.store.snapshot().scrape_history(pod, REASON)
            assert history is not None
            assert history.last_failure is not None
