"""
The loop that tries now and then whether pods that are read through the API server can be reached again.

A try changes nothing that is known of a page: it only shows which path there is.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn, Protocol

from reporter.kinds.core import Pod
from reporter.scrape import limits
from reporter.scrape.path import PathSelector
from reporter.scrape.schedule import ScrapeSchedule
from reporter.scrape.scrapes import MetricsPage


class Pods(Protocol):
    """The source of the pods of pages."""

    def get_pod(self, namespace: str, name: str) -> Pod | None: ...


class DirectTries:
    """
    Tries one page for each namespace and port, another one each time.

    *every*: between two looks at what is due. *on_reached* is called when pods can be reached again.
    """

    def __init__(
        self,
        paths: PathSelector,
        schedule: ScrapeSchedule,
        pods: Pods,
        *,
        every: timedelta = limits.TARGET_REFRESH_INTERVAL,
        on_reached: Callable[[], None],
    ) -> None:
        self._paths, self._schedule, self._pods = paths, schedule, pods
        self._every, self._on_reached = every.total_seconds(), on_reached
        self._rounds = 0

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(self._every)
            await self.run_due()

    async def run_due(self) -> None:
        """Try the paths that are due, a few at a time."""
        due = self._paths.due_tries()[: limits.MAX_DIRECT_TRIES]
        if not due:
            return
        self._rounds += 1
        pages = self._schedule.pages_of(due)
        async with asyncio.TaskGroup() as tasks:
            for place in due:
                found = pages.get(place)
                if found:
                    tasks.create_task(self._try(found[self._rounds % len(found)]))
                else:
                    self._paths.forget(*place)

    async def _try(self, page: MetricsPage) -> None:
        pod = self._pods.get_pod(page.namespace, page.pod)
        if pod is not None and await self._paths.try_direct(pod, page.port):
            self._on_reached()
