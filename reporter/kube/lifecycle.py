"""
Run a process that is connected to an API server and takes part in an election, and stop it in order.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Protocol, TypeAlias

from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.elector import Elector, ResourceLock
from reporter.kube.leadership import NoElection
from reporter.kube.lease_rules import LeaseTiming
from reporter.process.cancellation import stop_all
from reporter.process.clock import Clock
from reporter.process.loop_lag import LagSelector
from reporter.process.main import run_process
from reporter.process.signals import on_stop_signal
from reporter.settings import Settings
from reporter.settings.errors import ConfigurationError


NamedTask: TypeAlias = tuple[str, Coroutine[Any, Any, Any]]

logger = logging.getLogger("reporter")


def run_connected(
    settings: Settings,
    main: Callable[[RestClient, Clock, LagSelector], Coroutine[Any, Any, None]],
) -> int:
    """Run *main* with a client of the API server; returns the exit code, as `run_process` does."""

    async def connect_and_run(lag: LagSelector) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  asyncio.Runner made it
        on_stop_signal(task.cancel)
        clock = Clock()
        kubeconfig = str(settings.kubeconfig) if settings.kubeconfig is not None else None
        api = await connect(kubeconfig, clock=clock)
        try:
            await main(api, clock, lag)
        finally:
            await api.close()

    return run_process(settings, connect_and_run)


def make_leadership(
    settings: Settings, lock: ResourceLock, *, identity: str, clock: Clock
) -> Elector | NoElection:
    """Return a candidate with the durations of the flags, or NoElection for --leader-elect=false."""
    if not settings.leader_elect:
        return NoElection()
    timing = LeaseTiming(
        lease_duration=settings.lease_duration,
        renew_deadline=settings.renew_deadline,
        retry_period=settings.retry_period,
    )
    return Elector(lock, timing, identity=identity, wall_clock=clock.now)


class Server(Protocol):
    """The endpoints of a process (metrics, health, status), which serve from its start until its end."""

    async def start(self) -> None:
        """Listen on the configured addresses. Raises OSError for one that is not free."""

    async def stop(self) -> None:
        """Close the addresses; called last, after the Lease is released."""


async def serve_until_stopped(
    server: Server,
    leadership: Elector | NoElection,
    *,
    stop: asyncio.Event,
    writers: Iterable[NamedTask],
    others: Iterable[NamedTask],
) -> None:
    """
    Run until *stop*; raises ConfigurationError for an address that is not free.

    *writers*: the tasks that write to the API server while this process leads. *others*: all other
    tasks, which end after the Lease is released. Both are iterated once the process serves.
    """
    try:
        await server.start()
    except OSError as err:
        raise ConfigurationError(
            f"cannot listen: {err}; set --metrics-bind-address, --health-probe-bind-address"
            " and --status-bind-address to free addresses, or to 0 to serve nothing"
        ) from err
    try:
        async with asyncio.TaskGroup() as group:
            writing = [group.create_task(task, name=name) for name, task in writers]
            electing = group.create_task(leadership.run(), name="elector")
            rest = [group.create_task(task, name=name) for name, task in others]
            try:
                await stop.wait()
                logger.info("stopping")
            finally:
                # The lease is released only after the last write has ended.
                await stop_all(*writing)
                await stop_all(electing)
                await leadership.release()
                await stop_all(*rest)
    finally:
        await server.stop()
