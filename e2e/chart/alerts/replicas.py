"""
Three reporters, each a process of its own, and their API server in memory, over HTTP.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reporter.embedded.http.faults.rules import status_response
from reporter.embedded.kubeconfig import render_kubeconfig
from reporter.embedded.server import EmbeddedServer
from tests.integration.process.reporter_process import RunningReporter, holder, running_reporter


Pages = tuple[str, ...]
"""
One page for each replica.
"""

FLAGS = (
    "--startup-grace-seconds=0",
    "--scrape=loading",  # the Ready pods of the example have no page
    "--settle-seconds=0",
    "--heartbeat-seconds=10",
    "--resync-seconds=2",
    "--lease-duration-seconds=90",  # no state needs another leader, and a busy machine makes none
    "--renew-deadline-seconds=60",
    "--retry-period-seconds=0.3",
    "--rollup-metrics=namespace",
)
REPLICAS = 3
USER = "replica-{}"
PASSES = "pass_duration_seconds_count"
WAIT_TIMEOUT = 180.0
"""
Seconds within which a kind without a watch is Unknown on a busy machine; it is after 30.
"""


@dataclass(frozen=True)
class Replicas:
    """
    Running reporters and their API server.
    """

    server: EmbeddedServer
    running: Sequence[RunningReporter]

    async def ready(self) -> None:
        for each in self.running:
            await each.wait_ready()

    async def led(self) -> None:
        await self.ready()
        await self.running[0].until(lambda: holder(self.server))
        await self.all_show("leader", 1, of=1)

    async def all_show(
        self, metric: str, value: float, *, of: int = REPLICAS, **labels: str
    ) -> None:
        """
        Wait until exactly *of* replicas show the metric with this value.
        """

        async def shown() -> bool:
            for each in self.running:
                assert each.process.returncode is None, each.log
            values = [await each.metric(metric, **labels) for each in self.running]
            return values.count(value) == of

        await self.running[0].until(shown, within=WAIT_TIMEOUT)

    async def counted(
        self, result: str, above: float = 0, *, metric: str = "event_writes_total"
    ) -> float:
        """
        Wait until more than *above* writes had this result, and return how many had.
        """

        async def total() -> float:
            return sum([await each.metric(metric, result=result) for each in self.running])

        async def exceeded() -> bool:
            return await total() > above

        await self.running[0].until(exceeded, within=WAIT_TIMEOUT)
        return await total()

    async def passed(self) -> None:
        """
        Wait until each has ended two further passes; the second began after this was called.
        """
        for each in self.running:
            before = await each.metric(PASSES)

            async def ended(each: RunningReporter = each, least: float = before + 2) -> bool:
                return await each.metric(PASSES) >= least

            await each.until(ended, within=WAIT_TIMEOUT)

    async def pages(self) -> Pages:
        return tuple([(await each.get("/metrics"))[1] for each in self.running])


@asynccontextmanager
async def replicas(
    folder: Path, *each: str, deny: Sequence[tuple[str, ...]] = (), broken: str = ""
) -> AsyncIterator[Replicas]:
    """
    Run three replicas on the example stack.

    *each*: a further flag for each of them. *deny*: what none of them may. *broken*: a regular
    expression of paths that answer with an error.
    """
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(EmbeddedServer())
        server.load_example_stack()
        for denial in deny:
            server.deny(*denial)
        if broken:
            server.faults.add(status_response(503, "ServiceUnavailable", "down"), path=broken)
        running = []
        for number in range(REPLICAS):
            pod = f"stack-status-reporter-{number}"
            (folder / pod).mkdir(parents=True)
            user = USER.format(number)
            server.tokens[user] = user
            config = folder / f"kubeconfig-{number}"
            config.write_text(render_kubeconfig(server.url, user))
            flags = (*FLAGS, f"--kubeconfig={config}", *each[number : number + 1])
            context = running_reporter(server, folder / pod, *flags, pod=pod)
            running.append(await stack.enter_async_context(context))
        yield Replicas(server, running)
