"""One run of the demo: server, reporter, watch of Events and scenarios."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack

import aiohttp

from devcluster.demo import events, flags
from devcluster.demo.folder import DemoFolder
from devcluster.demo.live_stack import run_live_stack
from devcluster.demo.process import free_addresses, raise_on_exit, run_reporter
from devcluster.demo.scenario_runner import EventMissing, ScenarioRunner
from devcluster.demo.scenarios import build_scenarios
from devcluster.demo.terminal.introduction import conclude, introduce
from devcluster.demo.terminal.screen import Screen
from reporter.kube.connect import connect
from reporter.process.clock import Clock


READY_TIMEOUT = 30.0
"""Seconds for the reporter to become ready."""

POLL_INTERVAL = 0.1
"""Seconds between two readiness requests."""


async def run_session(screen: Screen, folder: DemoFolder) -> None:
    """
    Run the demo to its end.

    Raise ReporterExited, EventMissing, or CancelledError after SIGTERM or SIGHUP.
    """
    _end_on_signals()
    try:
        await _run_session(screen, folder)
    except BaseExceptionGroup as group:
        raise _first_exception(group) from None


async def _run_session(screen: Screen, folder: DemoFolder) -> None:
    clock = Clock()
    metrics, health = free_addresses(2)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(run_live_stack(clock))
        server.write_kubeconfig(folder.kubeconfig)
        arguments = flags.reporter_arguments(folder, metrics=metrics, health=health)
        reporter = await stack.enter_async_context(
            run_reporter(arguments, os.environ, folder.reporter_log)
        )
        introduce(screen, folder, metrics=metrics, health=health)
        api = await connect(str(folder.kubeconfig), environ={})
        stack.push_async_callback(api.close)
        runner = ScenarioRunner(screen, clock, asyncio.Queue())
        async with asyncio.TaskGroup() as group:
            background = [
                group.create_task(raise_on_exit(reporter, folder.reporter_log), name="reporter"),
                group.create_task(events.watch_events(api, runner.events), name="events"),
            ]
            await _until_ready(f"http://{health}/readyz")
            await runner.run(build_scenarios(server.cluster, folder))
            conclude(screen, folder)
            if screen.terminal:
                await runner.print_events()
            for task in background:
                task.cancel()


async def _until_ready(url: str) -> None:
    try:
        async with asyncio.timeout(READY_TIMEOUT), aiohttp.ClientSession() as session:
            while not await _is_ready(session, url):  # noqa: ASYNC110 - another process
                await asyncio.sleep(POLL_INTERVAL)
    except TimeoutError:
        raise EventMissing(f"the reporter was not ready within {READY_TIMEOUT:.0f} s") from None


async def _is_ready(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.ok
    except aiohttp.ClientError:
        return False


def _end_on_signals() -> None:
    """Cancel this task on SIGTERM and SIGHUP, so that everything stops as it does on SIGINT."""
    task = asyncio.current_task()
    if task is None:
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def _first_exception(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first_exception(first) if isinstance(first, BaseExceptionGroup) else first
