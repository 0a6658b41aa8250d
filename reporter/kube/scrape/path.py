"""
By which way the pods of each namespace are read: at their addresses or through the API server.

Under a network policy our packets are dropped, while the API server may still reach the pods.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from reporter.kube.client.client import RestClient
from reporter.kube.objects.access_review import Permission, PermissionStatus, review_permissions
from reporter.kube.scrape.fetcher import ScrapeError
from reporter.kube.scrape.schedule import LastOutcome
from reporter.model.kinds.core.pods import Pod
from reporter.model.samples import ScrapeResult
from reporter.settings import ScrapeMode


FAILURES_BEFORE_PROXY = 3
"""
Failures to connect in a row, in one namespace, after which the other way is taken.
"""

logger = logging.getLogger(__name__)


class ScrapePath(Enum):
    """
    To the page of a pod.
    """

    DIRECT = "direct"
    PROXY = "proxy"


class Fetcher(Protocol):
    """
    Reads the page of a pod, or raises NoPage.
    """

    async def fetch(self, pod: Pod, trust: LastOutcome) -> bytes: ...


@dataclass(slots=True)
class _NamespacePath:
    """
    *failures* to connect since anything there could be. *asking*: whether we may go the other way.
    """

    failures: int = 0
    is_reviewing: bool = False
    uses_proxy: bool = False
    logged: bool = False


class PathSelector:
    """
    *allowed*: whether the API server lets us through to the pods of a namespace.
    """

    def __init__(
        self,
        mode: ScrapeMode,
        direct: Fetcher,
        proxy: Fetcher,
        *,
        review_access: Callable[[str], Awaitable[PermissionStatus]],
    ) -> None:
        self._mode, self._review_access = mode, review_access
        self._fetchers = {ScrapePath.DIRECT: direct, ScrapePath.PROXY: proxy}
        self._namespaces: dict[str, _NamespacePath] = {}

    def path_for(self, namespace: str) -> ScrapePath:
        """
        By which its pods are to be read now.
        """
        if self._mode is ScrapeMode.AUTO:
            return ScrapePath.PROXY if self._state_of(namespace).uses_proxy else ScrapePath.DIRECT
        return ScrapePath.PROXY if self._mode is ScrapeMode.PROXY else ScrapePath.DIRECT

    async def fetch(self, pod: Pod, trust: LastOutcome, way: ScrapePath) -> bytes:
        """
        Raises NoPage.
        """
        known = self._state_of(pod.metadata.namespace)
        try:
            page = await self._fetchers[way].fetch(pod, trust)
        except ScrapeError as err:
            if self._mode is ScrapeMode.AUTO:
                await self._record_failure(pod.metadata.namespace, known, way, err.result)
            raise
        if way is ScrapePath.DIRECT:
            known.failures = 0
        return page

    def _state_of(self, namespace: str) -> _NamespacePath:
        return self._namespaces.setdefault(namespace, _NamespacePath())

    async def _record_failure(
        self, namespace: str, known: _NamespacePath, way: ScrapePath, result: ScrapeResult
    ) -> None:
        match way, result:
            case ScrapePath.PROXY, ScrapeResult.FORBIDDEN:
                known.uses_proxy, known.failures = False, 0
            case ScrapePath.DIRECT, ScrapeResult.UNREACHABLE if not known.uses_proxy:
                await self._record_unreachable(namespace, known)
            case ScrapePath.DIRECT, _ if result is not ScrapeResult.BARRED:
                known.failures = 0

    async def _record_unreachable(self, namespace: str, known: _NamespacePath) -> None:
        known.failures += 1
        if known.failures < FAILURES_BEFORE_PROXY or known.is_reviewing:
            return
        known.is_reviewing = True
        try:
            grant = await self._review_access(namespace)
        finally:
            known.is_reviewing = False
        known.failures = 0
        known.uses_proxy = grant is PermissionStatus.GRANTED
        if grant is not PermissionStatus.UNKNOWN and not known.logged:
            known.logged = True
            _log_path(namespace, detour=known.uses_proxy)


def _log_path(namespace: str, *, detour: bool) -> None:
    if detour:
        text = "pods of namespace %s cannot be connected to; they are read through the API server"
        logger.info(text, namespace)
    else:
        text = (
            "pods of namespace %s cannot be connected to, so how their models load is not known;"
            " let this namespace be reached on their port, or grant get pods/proxy"
        )
        logger.warning(text, namespace)


async def review_proxy_access(api: RestClient, namespace: str) -> PermissionStatus:
    ((_, grant),) = await review_permissions(api, [Permission("get", "", "pods/proxy", namespace)])
    return grant
