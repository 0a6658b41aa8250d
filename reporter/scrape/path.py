"""
Choose how the pods of a namespace are read: at their addresses or through the API server's proxy.

A network policy may drop our packets while the API server still reaches the pods.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import Enum
from typing import NoReturn, Protocol

from msgspec import Struct

from reporter.kinds.core import Pod
from reporter.kube.access_review import Permission, PermissionStatus, review_permissions
from reporter.kube.client import RestClient
from reporter.scrape.exchange import FetchedPage
from reporter.scrape.limits import (
    DIRECT_TRY_INTERVAL,
    FAILURES_BEFORE_PROXY,
    MAX_DIRECT_TRIES,
    REVIEW_INTERVAL,
    TARGET_REFRESH_INTERVAL,
)
from reporter.scrape.samples import ScrapeError, ScrapeResult
from reporter.scrape.schedule import LastOutcome, ScrapePlace, ScrapeSchedule
from reporter.scrape.scrapes import MetricsPage
from reporter.settings import ScrapeMode


logger = logging.getLogger(__name__)


class ScrapePath(Enum):
    """The two paths to the page of a pod: its own address, or the proxy of the API server."""

    DIRECT = "direct"
    PROXY = "proxy"


class PageFetcher(Protocol):
    """The reader of the metrics page of a pod at a port, by one of the paths."""

    async def fetch(self, pod: Pod, port: int, last_outcome: LastOutcome) -> FetchedPage:
        """
        Return the page, or raise ScrapeError. *last_outcome*: when NEW, a pod may be silent for less time.
        """


class _PathState(Struct):
    """
    The path to one port of the pods of a namespace.

    *failures*: failures to connect since the last success. *is_reviewing*: an access review is
    under way. *logged*: the first decision was logged. *review_at*, *try_at*: no review, and no try of
    the direct path, before this, in seconds of the event loop.
    """

    failures: int = 0
    is_reviewing: bool = False
    uses_proxy: bool = False
    logged: bool = False
    review_at: float = 0.0
    try_at: float = 0.0


class PathSelector:
    """
    The fetcher of pages by the path that works: by the proxy where connecting keeps failing.

    *review_access*: returns whether the proxy may be used for the pods of a namespace; it is not
    asked again within *review_interval* after it denied that. *try_interval*: between two tries of the
    direct path where the proxy is used.
    """

    def __init__(
        self,
        mode: ScrapeMode,
        direct: PageFetcher,
        proxy: PageFetcher,
        *,
        review_access: Callable[[str], Awaitable[PermissionStatus]],
        review_interval: timedelta = REVIEW_INTERVAL,
        try_interval: timedelta = DIRECT_TRY_INTERVAL,
    ) -> None:
        self._mode, self._review_access = mode, review_access
        self._review_interval = review_interval.total_seconds()
        self._try_interval = try_interval.total_seconds()
        self._fetchers = {ScrapePath.DIRECT: direct, ScrapePath.PROXY: proxy}
        self._states: dict[ScrapePlace, _PathState] = {}

    def path_for(self, namespace: str, port: int) -> ScrapePath:
        """Return the path by which the pods of a namespace are to be read now."""
        if self._mode is ScrapeMode.AUTO:
            uses_proxy = self._state_of(namespace, port).uses_proxy
            return ScrapePath.PROXY if uses_proxy else ScrapePath.DIRECT
        return ScrapePath.PROXY if self._mode is ScrapeMode.PROXY else ScrapePath.DIRECT

    async def fetch(
        self, pod: Pod, port: int, last_outcome: LastOutcome, path: ScrapePath
    ) -> FetchedPage:
        """Return the page by this path, and learn from the outcome. Raise ScrapeError."""
        namespace = pod.metadata.namespace
        state = self._state_of(namespace, port)
        try:
            page = await self._fetchers[path].fetch(pod, port, last_outcome)
        except ScrapeError as err:
            if self._mode is ScrapeMode.AUTO:
                await self._record_failure(namespace, port, path, err.result)
            raise
        if path is ScrapePath.DIRECT:
            state.failures = 0
        return page

    def due_tries(self) -> list[ScrapePlace]:
        """
        Return where the proxy is used and the direct path may be tried again, the longest due first.
        """
        now = asyncio.get_running_loop().time()
        due = [
            (state.try_at, place)
            for place, state in self._states.items()
            if state.uses_proxy and state.try_at <= now
        ]
        return [place for _, place in sorted(due)]

    async def try_direct(self, pod: Pod, port: int) -> bool:
        """Read a page at the pod's address, and return whether that is the path from now on."""
        namespace = pod.metadata.namespace
        state = self._state_of(namespace, port)
        state.try_at = asyncio.get_running_loop().time() + self._try_interval
        direct = self._fetchers[ScrapePath.DIRECT]
        try:
            with await direct.fetch(pod, port, LastOutcome.FAILED):
                pass
        except ScrapeError:
            return False
        if state.uses_proxy:
            state.uses_proxy, state.failures = False, 0
            logger.info("port %d of pods in namespace %s can be reached again", port, namespace)
        return True

    def forget(self, namespace: str, port: int) -> None:
        """Forget the path to pods that are gone; new ones are tried at their addresses first."""
        self._states.pop((namespace, port), None)

    def _state_of(self, namespace: str, port: int) -> _PathState:
        return self._states.setdefault((namespace, port), _PathState())

    async def _record_failure(
        self, namespace: str, port: int, path: ScrapePath, result: ScrapeResult
    ) -> None:
        state = self._state_of(namespace, port)
        match path, result:
            case ScrapePath.PROXY, ScrapeResult.FORBIDDEN:
                state.uses_proxy, state.failures = False, 0
            case ScrapePath.DIRECT, ScrapeResult.UNREACHABLE if not state.uses_proxy:
                await self._record_unreachable(namespace, port)
            case ScrapePath.DIRECT, _ if result is not ScrapeResult.BARRED:
                state.failures = 0

    async def _record_unreachable(self, namespace: str, port: int) -> None:
        state = self._state_of(namespace, port)
        state.failures += 1
        now = asyncio.get_running_loop().time()
        if state.failures < FAILURES_BEFORE_PROXY or state.is_reviewing or now < state.review_at:
            return
        state.is_reviewing = True
        try:
            status = await self._review_access(namespace)
        finally:
            state.is_reviewing = False
        state.failures = 0
        state.uses_proxy = status is PermissionStatus.GRANTED
        state.try_at = now + self._try_interval
        if status is PermissionStatus.MISSING:
            state.review_at = now + self._review_interval
        if status is not PermissionStatus.UNKNOWN and not state.logged:
            state.logged = True
            _log_path(namespace, port, uses_proxy=state.uses_proxy)


def _log_path(namespace: str, port: int, *, uses_proxy: bool) -> None:
    if uses_proxy:
        logger.info(
            "cannot connect to port %d of pods in namespace %s;"
            " reading their metrics through the API server",
            port,
            namespace,
        )
    else:
        logger.warning(
            "cannot connect to port %d of pods in namespace %s, so their metrics are unknown;"
            " allow connections to this port in the namespace's network policies,"
            " or grant get pods/proxy",
            port,
            namespace,
        )


async def review_proxy_access(api: RestClient, namespace: str) -> PermissionStatus:
    """
    Review whether this program may get pods/proxy in a namespace; UNKNOWN without an answer in time.
    """
    ((_, status),) = await review_permissions(
        api, [Permission("get", "", "pods/proxy", namespace)]
    )
    return status


# ---------------------------------------------------------------- back to the direct path


class Pods(Protocol):
    """The source of the pods whose pages are read."""

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod as it is now; None if it is gone."""


class DirectTries:
    """
    The loop that tries now and then whether pods that are read through the API server can be reached.

    It tries one page for each namespace and port, another one each time. A try changes nothing that is
    known of a page: it only shows which path there is.
    *every*: between two looks at what is due. *on_reached* is called when pods can be reached again.
    """

    def __init__(
        self,
        paths: PathSelector,
        schedule: ScrapeSchedule,
        pods: Pods,
        *,
        every: timedelta = TARGET_REFRESH_INTERVAL,
        on_reached: Callable[[], None],
    ) -> None:
        self._paths, self._schedule, self._pods = paths, schedule, pods
        self._every, self._on_reached = every.total_seconds(), on_reached
        self._rounds = 0

    async def run(self) -> NoReturn:
        """Try what is due, again and again, until the task is cancelled."""
        while True:
            await asyncio.sleep(self._every)
            await self.run_due()

    async def run_due(self) -> None:
        """Try the paths that are due, a few at a time."""
        due = self._paths.due_tries()[:MAX_DIRECT_TRIES]
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
