"""Run the tasks of a process that takes part in an election, and stop them in the right order."""

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol, TypeAlias

from reporter.kube.elector import Elector
from reporter.kube.leadership import NoElection
from reporter.process.cancellation import stop_all
from reporter.settings.errors import ConfigurationError


NamedTask: TypeAlias = tuple[str, Coroutine[Any, Any, Any]]

logger = logging.getLogger("reporter")


class Server(Protocol):
    """*start* raises OSError for an address that is not free."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


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

    *writers*: write to the API server while this process leads. Both are iterated once it serves.
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
