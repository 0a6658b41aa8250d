"""States in which no replica leads, or more than one."""

from pathlib import Path

from e2e.chart.alerts.capture import State, capture
from e2e.chart.alerts.replicas import replicas


ALONE = "--leader-elect=false"
LEASES = ("*", "coordination.k8s.io", "leases")


async def no_leader(folder: Path) -> State:
    async with replicas(folder, deny=[LEASES]) as found:
        await found.ready()
        await found.all_show("leader", 0)
        return await capture(found)


async def two_leaders(folder: Path) -> State:
    async with replicas(folder, ALONE, ALONE, deny=[LEASES]) as found:
        await found.ready()
        await found.all_show("leader", 1, of=2)
        return await capture(found)
