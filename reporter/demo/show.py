"""
The whole demo, wired: server, reporter, watch and story.
"""

import asyncio
import os
import signal
from contextlib import AsyncExitStack

import aiohttp

from reporter.clock import Clock
from reporter.demo import brisk, events
from reporter.demo.acts import acts
from reporter.demo.folder import Folder
from reporter.demo.introduction import conclude, introduce
from reporter.demo.process import ended, free_addresses, running
from reporter.demo.screen import Screen
from reporter.demo.stack import living_stack
from reporter.demo.story import Storyteller, Unsaid
from reporter.kube.client import connect


READY = 30.0
"""
Seconds within which the reporter must have seen all of the stack.
"""

POLL = 0.1
"""
Seconds.
"""


async def show(screen: Screen, folder: Folder) -> None:
    """
    Raises ReporterEnded, Unsaid, and CancelledError after SIGTERM or SIGHUP.
    """
    _end_on_signals()
    try:
        await _show(screen, folder)
    except BaseExceptionGroup as group:
        raise _first(group) from None


async def _show(screen: Screen, folder: Folder) -> None:
    clock = Clock()
    metrics, health = free_addresses(2)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(living_stack(clock))
        server.kubeconfig(folder.kubeconfig)
        arguments = brisk.arguments(folder, metrics=metrics, health=health)
        reporter = await stack.enter_async_context(running(arguments, os.environ, folder.log))
        introduce(screen, folder, metrics=metrics, health=health)
        api = await connect(str(folder.kubeconfig), environ={})
        stack.push_async_callback(api.close)
        storyteller = Storyteller(screen, clock, asyncio.Queue())
        async with asyncio.TaskGroup() as group:
            others = [
                group.create_task(ended(reporter, folder.log), name="reporter"),
                group.create_task(events.watch(api, storyteller.found), name="events"),
            ]
            await _until_ready(f"http://{health}/readyz")
            await storyteller.tell(acts(server.cluster, folder))
            conclude(screen, folder)
            if screen.terminal:
                await storyteller.listen()
            for task in others:
                task.cancel()


async def _until_ready(url: str) -> None:
    try:
        async with asyncio.timeout(READY), aiohttp.ClientSession() as session:
            while not await _is_ready(session, url):  # noqa: ASYNC110 - another process
                await asyncio.sleep(POLL)
    except TimeoutError:
        raise Unsaid(f"the reporter was not ready within {READY:.0f} s") from None


async def _is_ready(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.ok
    except aiohttp.ClientError:
        return False


def _end_on_signals() -> None:
    """
    As SIGINT, they let everything be stopped first.
    """
    task = asyncio.current_task()
    if task is None:
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
