"""
Measure the scraping of pods: many that respond, at once and spread, and many that hang.

Each pod has a loopback address. Pods that are scraped at once have uids that give them the same
position in the interval.
"""

import argparse
import asyncio
import math
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

import aiohttp

from e2e.bench.load.loading_pods import (
    ANSWERING,
    HANGING,
    LATE,
    READY,
    SERVING,
    address_model_pods,
)
from e2e.bench.load.scrape_bench import CHANGES, FILES, INTERVAL, ScrapeBench
from e2e.bench.load.teams import BenchTeams
from e2e.bench.rows import BenchRow
from e2e.bench.support import program
from e2e.bench.support.latency_probe import percentile
from e2e.controlplane import ControlPlane
from e2e.support import machine
from e2e.support.production_stack.workload import MINIMAL_OPTIONS
from reporter.kinds.core import Pod, PodStatus
from reporter.kinds.objects import Metadata
from reporter.scrape.fetcher import DirectFetcher
from reporter.scrape.schedule import LastOutcome


GOAL_AT_ONCE, SIZE_OF_GOAL = 2.0, 2_000
"""Maximum seconds to scrape this many pods."""

GOAL_OF_EVENT = 1.0
GOAL_OF_NEWCOMER = 2 * INTERVAL
"""Seconds: the Event of a change; the first page of a new pod."""

GOAL_OF_FIRST = 4 * INTERVAL
"""Seconds until all responding pods were scraped once while as many hang."""

SCRAPE_TIMEOUT = 20 * INTERVAL
"""Seconds to wait for a scrape; a timeout is a figure too."""

GOAL_OF_READY_CPU, GOAL_OF_READY_MEMORY = 4.0, 40.0
"""Seconds of CPU a minute, and MiB, that SIZE_OF_GOAL Ready pods may cost."""

FETCHES, TURNS = 300, 5
"""Fetches in a row of one page, and how often they and those of aiohttp take turns."""

GOAL_OF_FETCH = 0.6
"""Share of the CPU time that a GET of aiohttp takes."""

HANGING_HEAD_START = 10
"""Seconds from the creation of hanging pods to that of the responding one."""


def main() -> int:
    parser = program.parser(
        "scraping",
        __doc__,
        ("inferencesets", 1_000, "InferenceSets that the pods belong to"),
        ("pods", SIZE_OF_GOAL, "pods that respond, at once and spread"),
        ("many", 10_000, "pods of which half hang"),
        ("hanging", 10_000, "hanging pods when a new one is created"),
        ("rounds", 4, "intervals of 15 s to measure each figure"),
        ("window", 330, "seconds of pages that are kept of Ready pods"),
    )
    return program.run(parser.parse_args(), _measure)


def _measure(arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with ControlPlane(MINIMAL_OPTIONS) as plane:
        teams = BenchTeams(plane)
        teams.grow(arguments.inferencesets)
        print("\n".join(machine.lines(plane)))
        print(f"cluster   {teams.inference_sets:,} InferenceSets\n", flush=True)
        cluster = ScrapeBench(plane, teams.inference_sets)
        yield from _rows(cluster, arguments)
        teams.grow(arguments.pods)
        yield from _ready(cluster, arguments, teams.inference_sets)
        cluster.reporter.stop()


def _rows(cluster: ScrapeBench, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    rounds = arguments.rounds
    yield _fetch(cluster)
    yield from _at_once(cluster, arguments.pods, rounds)
    yield from _spread(cluster, arguments.pods, rounds)
    yield from _large_pages(cluster, arguments.pods, rounds)
    yield from _half_hang(cluster, arguments.many, rounds)
    yield from _newcomer(cluster, arguments.hanging, rounds)


def _fetch(cluster: ScrapeBench) -> BenchRow:
    """Measure what it costs to fetch a page, beside a GET of aiohttp in the same process."""
    ours, theirs = asyncio.run(_fetch_costs(str(SERVING[1]), cluster.page_port))
    cluster.take_requests()
    return BenchRow(
        "a page of vLLM: CPU to fetch it alone",
        f"≤ {GOAL_OF_FETCH:.0%} of aiohttp's",
        f"{ours * 1e6:.0f} µs",
        ours <= GOAL_OF_FETCH * theirs,
        f"a GET of aiohttp: {theirs * 1e6:.0f} µs; the least of {TURNS} times {FETCHES}",
    )


async def _fetch_costs(address: str, port: int) -> tuple[float, float]:
    """Return the least CPU seconds that the fetcher and aiohttp take for a page."""
    fetcher = DirectFetcher(is_allowed=lambda _: True)
    pod = Pod(metadata=Metadata(name="alone"), status=PodStatus(pod_ip=address))
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ours() -> None:
            with await fetcher.fetch(pod, port, LastOutcome.SUCCEEDED) as page:
                assert page

        async def theirs() -> None:
            async with session.get(f"http://{address}:{port}/metrics") as response:
                assert await response.read()

        costs = [(await _cost(ours), await _cost(theirs)) for _ in range(TURNS)]
    return min(cost for cost, _ in costs), min(cost for _, cost in costs)


async def _cost(fetch: Callable[[], Awaitable[None]]) -> float:
    begun = time.process_time()
    for _ in range(FETCHES):
        await fetch()
    return (time.process_time() - begun) / FETCHES


def _at_once(cluster: ScrapeBench, many: int, rounds: int) -> Iterator[BenchRow]:
    cluster.pods.write(ANSWERING, many, together=True)
    cluster.wait_all_read(many, within=SCRAPE_TIMEOUT)
    requests, _ = cluster.during(rounds * INTERVAL)
    cluster.clear()
    took = max(_bursts(sorted(at for at, _ in requests)))
    goal = GOAL_AT_ONCE * max(many / SIZE_OF_GOAL, 1)
    yield BenchRow(
        f"{many:,} pods asked at once: a round",
        f"≤ {goal:g} s",
        f"{took:.2f} s",
        took <= goal,
        f"the slowest of {rounds}, first to last request",
    )


def _bursts(times: list[float]) -> Iterator[float]:
    """Yield the duration of each burst; bursts are at least half an interval apart."""
    if not times:
        yield math.inf
        return
    begin = last = times[0]
    for at in times[1:]:
        if at - last > INTERVAL / 2:
            yield last - begin
            begin = at
        last = at
    yield last - begin


def _spread(cluster: ScrapeBench, many: int, rounds: int) -> Iterator[BenchRow]:
    cluster.pods.write(ANSWERING, many)
    cluster.wait_all_read(many, within=SCRAPE_TIMEOUT)
    requests, cpu = cluster.during(rounds * INTERVAL)
    by_second = Counter(int(at) for at, _ in requests)
    mean, most = many / INTERVAL, max(by_second.values(), default=0)
    name = f"{many:,} pods spread over {INTERVAL} s"
    yield BenchRow(
        f"{name}: busiest second",
        f"≤ {2 * mean:.0f} pods",
        f"{most}",
        most <= 2 * mean,
        f"{mean:.0f} on average",
    )
    yield BenchRow(f"{name}: CPU a minute", "", f"{cpu * 60 / (rounds * INTERVAL):.1f} s")
    yield BenchRow(f"{name}: memory", "", f"{cluster.usage().memory:.0f} MiB")
    cluster.clear()


def _large_pages(cluster: ScrapeBench, many: int, rounds: int) -> Iterator[BenchRow]:
    _, quiet = cluster.during(INTERVAL)
    cluster.pods.write(SERVING, many)
    cluster.wait_all_read(many, within=SCRAPE_TIMEOUT)
    requests, cpu = cluster.during(rounds * INTERVAL)
    cluster.clear()
    spent = cpu - rounds * quiet
    yield BenchRow(
        f"{many:,} pods with pages of vLLM: CPU a page",
        "",
        f"{spent / max(len(requests), 1) * 1e6:.0f} µs",
        note=f"of 90 KiB; {len(requests):,} pages",
    )


def _half_hang(cluster: ScrapeBench, many: int, rounds: int) -> Iterator[BenchRow]:
    name = f"{many:,} pods of which half hang"
    quiet = cluster.measure_announcements()
    cluster.pods.write(ANSWERING, many // 2)
    cluster.pods.write(HANGING, many // 2)
    read, after = cluster.wait_all_read(many // 2, within=SCRAPE_TIMEOUT)
    yield BenchRow(
        f"{name}: each that answers was read",
        f"≤ {GOAL_OF_FIRST} s",
        f"{after:.0f} s"
        if read == many // 2
        else f"{read:,} of {many // 2:,} in {SCRAPE_TIMEOUT} s",
        read == many // 2 and after <= GOAL_OF_FIRST,
        "from when the last was written",
    )
    took = cluster.measure_announcements()
    yield BenchRow(
        f"{name}: a change is announced",
        f"≤ {GOAL_OF_EVENT:g} s",
        f"{percentile(took, 50):.2f} s, at most {max(took):.2f} s",
        max(took) <= GOAL_OF_EVENT,
        f"of {CHANGES}; without such pods at most {max(quiet):.2f} s",
    )
    yield from _steady_rows(cluster, name, many // 2, rounds)
    cluster.clear()


def _steady_rows(
    cluster: ScrapeBench, name: str, responding: int, rounds: int
) -> Iterator[BenchRow]:
    requests, cpu = cluster.during(rounds * INTERVAL)
    reads = Counter(address for _, address in requests)
    least = min(reads.values()) if len(reads) == responding else 0
    yield BenchRow(
        f"{name}: reads of each that answers",
        f"{rounds} ± 1",
        f"{least} to {max(reads.values(), default=0)}",
        least >= max(rounds - 1, 1),
        f"in {rounds} intervals",
    )
    yield BenchRow(f"{name}: CPU a minute", "", f"{cpu * 60 / (rounds * INTERVAL):.1f} s")
    yield BenchRow(f"{name}: memory", "", f"{cluster.usage().memory:.0f} MiB")


def _newcomer(cluster: ScrapeBench, many: int, rounds: int) -> Iterator[BenchRow]:
    cluster.pods.write(HANGING, many)
    time.sleep(HANGING_HEAD_START)
    cluster.pods.write(LATE, 1)
    read, after = cluster.wait_all_read(1, within=SCRAPE_TIMEOUT)
    yield BenchRow(
        f"a new pod while {many:,} hang: first read",
        f"≤ {GOAL_OF_NEWCOMER} s",
        f"{after:.0f} s" if read else f"not in {SCRAPE_TIMEOUT} s",
        bool(read) and after <= GOAL_OF_NEWCOMER,
        f"they came {HANGING_HEAD_START} s before it",
    )
    files = cluster.open_files()
    yield BenchRow(f"{many:,} hang: open files", f"< {FILES:,}", f"{files}", files < FILES)
    _, cpu = cluster.during(rounds * INTERVAL)
    yield BenchRow(f"{many:,} hang: CPU a minute", "", f"{cpu * 60 / (rounds * INTERVAL):.1f} s")
    cluster.clear()


def _ready(cluster: ScrapeBench, arguments: argparse.Namespace, many: int) -> Iterator[BenchRow]:
    """
    Measure what reading Ready pods costs, beside a reporter as old that only watches the same pods.

    *many*: the InferenceSets. Of the pods of each only the first is read, which has the HTTP server.
    Their pages are the newest that was recorded of vLLM, and then the larger one of two engines.
    """
    address_model_pods(cluster.plane, READY)
    seconds = arguments.rounds * INTERVAL
    cluster.restart("--scrape=loading")
    time.sleep(arguments.window)
    _, quiet = cluster.during(seconds)
    before = cluster.usage().memory
    cluster.restart("--scrape=all")
    yield from _ready_rows(cluster, arguments, many, "recorded pages", quiet, before)
    address_model_pods(cluster.plane, SERVING)
    cluster.during(INTERVAL)  # in which some are still read at the address before
    yield from _ready_rows(cluster, arguments, many, "made pages of 90 KiB", quiet, before)


def _ready_rows(
    cluster: ScrapeBench,
    arguments: argparse.Namespace,
    many: int,
    page: str,
    quiet: float,
    before: float,
) -> Iterator[BenchRow]:
    """*quiet*, *before*: seconds of CPU in as many rounds, and MiB, without reading."""
    seconds = arguments.rounds * INTERVAL
    name, scale = f"{many:,} Ready pods, {page} of vLLM", max(many / SIZE_OF_GOAL, 1)
    read, _ = cluster.wait_all_read(many, within=SCRAPE_TIMEOUT)
    time.sleep(arguments.window)
    requests, cpu = cluster.during(seconds)
    memory = cluster.usage().memory - before
    a_minute, goal = (cpu - quiet) * 60 / seconds, GOAL_OF_READY_CPU * scale
    yield BenchRow(
        f"{name}: CPU a minute",
        f"≤ {goal:.3g} s",
        f"{a_minute:.1f} s" if read == many else f"{read:,} of {many:,} were read",
        read == many and a_minute <= goal,
        f"more than without, {quiet * 60 / seconds:.1f} s; {len(requests):,} pages in {seconds} s",
    )
    goal = GOAL_OF_READY_MEMORY * scale
    yield BenchRow(
        f"{name}: memory",
        f"≤ {goal:.3g} MiB more",
        f"{memory:.0f} MiB more",
        read == many and memory <= goal,
        f"than without, {before:.0f} MiB; after {arguments.window} s",
    )


if __name__ == "__main__":
    sys.exit(main())
