"""Three reporters side by side, and their API server in memory, over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path

import aiohttp

from devcluster.http.faults.rules import status_response
from devcluster.kubeconfig import render_kubeconfig
from devcluster.server import DevCluster
from reporter.app import Reporter
from reporter.cli.configuration import load_configuration, load_shipped_catalogue
from reporter.kube.connect import connect
from reporter.metrics.declarations import PREFIX
from reporter.process.clock import Clock
from tests.integration.process.reporter_process import holder, value_of
from tests.integration.server.served_pages import free
from tests.support.background import running_beside
from tests.support.metrics_text import metrics_text


Pages = tuple[str, ...]
"""One page for each replica."""

FLAGS = (
    "--startup-grace-seconds=0",
    "--scrape=loading",  # the Ready pods of the example have no page
    "--settle-seconds=0",
    "--heartbeat-seconds=10",
    "--resync-seconds=1",
    "--lease-duration-seconds=90",  # no state needs another leader, and a busy machine makes none
    "--renew-deadline-seconds=60",
    "--retry-period-seconds=5",
    "--rollup-metrics=namespace",
    "--metrics-bind-address=127.0.0.1:0",
    "--status-bind-address=127.0.0.1:0",
)
REPLICAS = 3
USER = "replica-{}"
PASSES = f"{PREFIX}pass_duration_seconds_count"
LOOK_AGAIN = 0.2
"""Seconds between two looks at the pages, of which each takes ten milliseconds to render."""

WAIT_TIMEOUT = 180.0
"""Seconds within which a kind without a watch is Unknown on a busy machine; it is after 30."""


@dataclass(frozen=True)
class Replica:
    """
    All parts of a process, wired as the program wires them: a process of its own would load them anew.
    """

    reporter: Reporter
    running: asyncio.Task[None]
    health: str
    session: aiohttp.ClientSession

    def page(self) -> str:
        return metrics_text(self.reporter.metrics)

    def metric(self, name: str, **labels: str) -> float:
        return value_of(self.page(), name, **labels)

    def passes(self) -> float:
        """Return how many passes it has ended, without a page."""
        return self.reporter.metrics.registry.get_sample_value(PASSES) or 0

    async def is_ready(self) -> bool:
        try:
            async with self.session.get(f"http://{self.health}/readyz") as response:
                return response.status == HTTPStatus.OK
        except aiohttp.ClientConnectionError:
            return False


@dataclass(frozen=True)
class Replicas:
    """Running reporters and their API server."""

    server: DevCluster
    running: Sequence[Replica]

    async def until(self, condition: Callable[[], object], what: str) -> None:
        async def holds() -> bool:
            return bool(condition())

        await self._until(holds, what)

    async def _until(self, holds: Callable[[], Awaitable[bool]], what: str) -> None:
        try:
            async with asyncio.timeout(WAIT_TIMEOUT):
                while not await holds():
                    for each in self.running:
                        assert not each.running.done(), each.running
                    await asyncio.sleep(LOOK_AGAIN)
        except TimeoutError:
            raise AssertionError(f"not within {WAIT_TIMEOUT} s: {what}") from None

    async def ready(self) -> None:
        for each in self.running:
            await self._until(each.is_ready, "each is ready")

    async def led(self) -> None:
        await self.ready()
        await self.until(lambda: holder(self.server), "somebody holds the Lease")
        await self.all_show("leader", 1, of=1)

    async def all_show(
        self, metric: str, value: float, *, of: int = REPLICAS, **labels: str
    ) -> None:
        """Wait until exactly *of* replicas show the metric with this value."""

        def shown() -> bool:
            return [each.metric(metric, **labels) for each in self.running].count(value) == of

        await self.until(shown, f"{of} replicas show {metric} {labels} {value}")

    async def in_state(self, state: str, *, reason: str, of: int = REPLICAS) -> None:
        """Wait until exactly *of* replicas show a reason in this state, as one series each."""
        await self.all_show("reason_state", 1, of=of, state=state, reason=reason)

    async def counted(
        self, result: str, above: float = 0, *, metric: str = "event_writes_total"
    ) -> float:
        """Wait until more than *above* writes had this result, and return how many had."""

        def total() -> float:
            return sum(each.metric(metric, result=result) for each in self.running)

        await self.until(lambda: total() > above, f"more than {above} writes are {result}")
        return total()

    async def passed(self) -> None:
        """Wait until each has ended two further passes; the second began after this was called."""
        least = [each.passes() + 2 for each in self.running]

        def ended() -> bool:
            pairs = zip(self.running, least, strict=True)
            return all(each.passes() >= number for each, number in pairs)

        await self.until(ended, "two further passes")

    def pages(self) -> Pages:
        return tuple(each.page() for each in self.running)


@asynccontextmanager
async def _replica(kubeconfig: Path, pod: str, *flags: str) -> AsyncIterator[Replica]:
    environ = {"POD_NAME": pod, "POD_NAMESPACE": "kaito-system"}
    health = str(free())
    given = [*FLAGS, f"--health-probe-bind-address={health}", *flags]
    settings, catalogue = load_configuration(given, environ)
    load = partial(load_shipped_catalogue, settings.catalogue_overlay, settings.packs)
    clock = Clock()
    api = await connect(str(kubeconfig), clock=clock)
    try:
        reporter = Reporter(settings, catalogue, api, clock, load)
        async with (
            running_beside(reporter.run(), pod) as task,
            aiohttp.ClientSession() as session,
        ):
            yield Replica(reporter, task, health, session)
    finally:
        await api.close()


@asynccontextmanager
async def replicas(
    folder: Path, *each: str, deny: Sequence[tuple[str, ...]] = (), broken: str = ""
) -> AsyncIterator[Replicas]:
    """
    Run three replicas on the example stack.

    *each*: a further flag for each of them. *deny*: what none of them may. *broken*: a regular
    expression of paths that answer with an error.
    """
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(DevCluster())
        server.load_example_stack()
        for denial in deny:
            server.deny(*denial)
        if broken:
            server.faults.add(status_response(503, "ServiceUnavailable", "down"), path=broken)
        running = []
        for number in range(REPLICAS):
            user = USER.format(number)
            server.tokens[user] = user
            config = folder / f"kubeconfig-{number}"
            config.write_text(render_kubeconfig(server.url, user))
            pod = f"stack-status-reporter-{number}"
            context = _replica(config, pod, *each[number : number + 1])
            running.append(await stack.enter_async_context(context))
        yield Replicas(server, running)
