"""
Metrics pages of three real replicas in each state that the alerts tell apart.

The replicas are processes; their API server is the one in memory, over HTTP.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reporter.embedded.example.team import GATEWAY, TEAM
from reporter.embedded.http.faults.faults import rate_limited_response, status_response
from reporter.embedded.kubeconfig import render_kubeconfig
from reporter.embedded.server import EmbeddedServer
from tests.integration.reporter_process import (
    BBR,
    RunningReporter,
    holder,
    running_reporter,
    scale_to_zero,
)


Pages = tuple[str, ...]
"""
One page for each replica.
"""

FLAGS = (
    "--startup-grace-seconds=0",
    "--settle-seconds=0",
    "--heartbeat-seconds=10",
    "--resync-seconds=2",
    "--lease-duration-seconds=3",
    "--renew-deadline-seconds=2",
    "--retry-period-seconds=0.3",
)
ALONE = "--leader-elect=false"
REPLICAS = 3
USER = "replica-{}"
LEASES = ("*", "coordination.k8s.io", "leases")
DISCOVERY = r"^/apis?$"
LOST = 60.0
"""
Seconds within which a kind without a watch is Unknown, which it is after 30.
"""

AT_ONCE = 2
"""
States that are produced side by side: each has three processes, and most of the time they wait.
"""


@dataclass(frozen=True)
class State:
    """
    *before* and *after*: the same state at two moments; between them only counters differ.
    """

    before: Pages
    after: Pages


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

        await self.running[0].until(shown, within=LOST)

    async def counted(self, result: str, above: float = 0) -> float:
        """
        Wait until more than *above* writes had this result, and return how many had.
        """

        async def total() -> float:
            return sum([await r.metric("event_writes_total", result=result) for r in self.running])

        async def exceeded() -> bool:
            return await total() > above

        await self.running[0].until(exceeded, within=LOST)
        return await total()

    async def pages(self) -> Pages:
        return tuple([(await each.get("/metrics"))[1] for each in self.running])


Produce = Callable[[Path], Awaitable[State]]


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


def _restore(server: EmbeddedServer) -> None:
    """
    Scale up again. No controller runs here, so the status follows by hand.
    """
    scaled = server.cluster.patch(*BBR, {"spec": {"replicas": 2}})
    seen = {"status": {"observedGeneration": scaled["metadata"]["generation"]}}
    server.cluster.patch(*BBR, seen, subresource="status")


async def _steady(found: Replicas) -> State:
    pages = await found.pages()
    return State(pages, pages)


async def healthy(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        return await _steady(found)


async def finding(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.all_show("finding", 1, reason="clusterBBRNotReady")
        return await _steady(found)


async def suppressed(folder: Path) -> State:
    """
    Istio's control plane is out, and the Gateway names a class that never was.
    """
    async with replicas(folder) as found:
        await found.led()
        cluster = found.server.cluster
        cluster.patch("deployments.apps", "istio-system", "istiod", {"spec": {"replicas": 0}})
        await found.all_show("finding", 1, reason="clusterIstioControlPlaneNotReady")
        gateways = "gateways.gateway.networking.k8s.io"
        cluster.patch(gateways, TEAM, GATEWAY, {"spec": {"gatewayClassName": "never-was"}})
        await found.all_show("finding", 1, reason="modelharnessGatewayClassMissing")
        await found.all_show("suppressed", 1, reason="modelharnessGatewayClassMissing")
        return await _steady(found)


async def unknown(folder: Path) -> State:
    async with replicas(folder, deny=[("list", "", "pods")]) as found:
        await found.led()
        await found.all_show("unknown", 1, reason="inferencesetModelPodsNotReady")
        return await _steady(found)


async def discovery_fails(folder: Path) -> State:
    async with replicas(folder, broken=DISCOVERY) as found:
        await found.all_show("unknown", 1, reason="clusterCRDMissing")
        await found.all_show("leader", 1, of=1)
        return await _steady(found)


async def watch_lost(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        found.server.deny("watch", "", "pods")
        found.server.end_watches("pods")
        await found.all_show("watch_up", 0, kind="pods")
        await found.all_show("unknown", 1, reason="inferencesetModelPodsNotReady")
        return await _steady(found)


async def one_cut_off(folder: Path) -> State:
    """
    A follower lost the API server during a finding, which has ended since.
    """
    async with replicas(folder) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.all_show("finding", 1, reason="clusterBBRNotReady")
        leads = [await each.metric("leader") for each in found.running]
        found.server.deny(user=USER.format(leads.index(0)))
        found.server.end_watches()
        await found.all_show("watch_up", 0, of=1, kind="deployments.apps")
        _restore(found.server)
        await found.all_show("finding", 1, of=1, reason="clusterBBRNotReady")
        await found.all_show("unknown", 1, of=1, reason="clusterBBRNotReady")
        return await _steady(found)


async def no_leader(folder: Path) -> State:
    async with replicas(folder, deny=[LEASES]) as found:
        await found.ready()
        await found.all_show("leader", 0)
        return await _steady(found)


async def two_leaders(folder: Path) -> State:
    async with replicas(folder, ALONE, ALONE, deny=[LEASES]) as found:
        await found.ready()
        await found.all_show("leader", 1, of=2)
        return await _steady(found)


async def writes_refused(folder: Path) -> State:
    async with replicas(folder, deny=[("create", "", "events")]) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.all_show("finding", 1, reason="clusterBBRNotReady")
        count = await found.counted("refused")
        before = await found.pages()
        await found.counted("refused", above=count)
        return State(before, await found.pages())


async def one_write_throttled(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        found.server.faults.add(rate_limited_response(), method="POST", path="/events", times=1)
        scale_to_zero(found.server)
        await found.counted("throttled")
        await found.counted("created")
        return await _steady(found)


async def dropped(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        invalid = status_response(400, "BadRequest", "the Event is not understood")
        found.server.faults.add(invalid, method="POST", path="/events", times=1)
        scale_to_zero(found.server)
        await found.counted("dropped")
        return await _steady(found)


async def produce(folder: Path, wanted: Sequence[Produce]) -> dict[str, State]:
    """
    Produce the states, some of them side by side.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def one(state: Produce) -> State:
        async with places:
            return await state(folder / state.__name__)

    states = await asyncio.gather(*(one(each) for each in wanted))
    return {state.__name__: found for state, found in zip(wanted, states, strict=True)}
