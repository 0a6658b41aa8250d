"""
By which way the pods of each namespace are read: at their addresses or through the API server.

Under a network policy our packets are dropped, while the API server may still reach the pods.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from reporter.kube.access import Grant, Right, review
from reporter.kube.client import Api
from reporter.kube.pages import NoPage
from reporter.kube.rounds import Trust
from reporter.model.objects import Pod
from reporter.model.samples import ScrapeResult
from reporter.settings import ScrapeMode


ENOUGH = 3
"""
Failures to connect in a row, in one namespace, after which the other way is taken.
"""

logger = logging.getLogger(__name__)


class Way(Enum):
    """
    To the page of a pod.
    """

    DIRECT = "direct"
    PROXY = "proxy"


class Reader(Protocol):
    """
    Reads the page of a pod, or raises NoPage.
    """

    async def read(self, pod: Pod, trust: Trust) -> bytes: ...


@dataclass(slots=True)
class _Namespace:
    """
    *failures* to connect since anything there could be. *asking*: whether we may go the other way.
    """

    failures: int = 0
    asking: bool = False
    detour: bool = False
    told: bool = False


class Ways:
    """
    *allowed*: whether the API server lets us through to the pods of a namespace.
    """

    def __init__(
        self,
        mode: ScrapeMode,
        direct: Reader,
        proxy: Reader,
        *,
        allowed: Callable[[str], Awaitable[Grant]],
    ) -> None:
        self._mode, self._allowed = mode, allowed
        self._readers = {Way.DIRECT: direct, Way.PROXY: proxy}
        self._namespaces: dict[str, _Namespace] = {}

    def way(self, namespace: str) -> Way:
        """
        By which its pods are to be read now.
        """
        if self._mode is ScrapeMode.AUTO:
            return Way.PROXY if self._known(namespace).detour else Way.DIRECT
        return Way.PROXY if self._mode is ScrapeMode.PROXY else Way.DIRECT

    async def read(self, pod: Pod, trust: Trust, way: Way) -> bytes:
        """
        Raises NoPage.
        """
        known = self._known(pod.metadata.namespace)
        try:
            page = await self._readers[way].read(pod, trust)
        except NoPage as err:
            if self._mode is ScrapeMode.AUTO:
                await self._failed(pod.metadata.namespace, known, way, err.result)
            raise
        if way is Way.DIRECT:
            known.failures = 0
        return page

    def _known(self, namespace: str) -> _Namespace:
        return self._namespaces.setdefault(namespace, _Namespace())

    async def _failed(
        self, namespace: str, known: _Namespace, way: Way, result: ScrapeResult
    ) -> None:
        match way, result:
            case Way.PROXY, ScrapeResult.FORBIDDEN:
                known.detour, known.failures = False, 0
            case Way.DIRECT, ScrapeResult.UNREACHABLE if not known.detour:
                await self._unreachable(namespace, known)
            case Way.DIRECT, _ if result is not ScrapeResult.BARRED:
                known.failures = 0

    async def _unreachable(self, namespace: str, known: _Namespace) -> None:
        known.failures += 1
        if known.failures < ENOUGH or known.asking:
            return
        known.asking = True
        try:
            grant = await self._allowed(namespace)
        finally:
            known.asking = False
        known.failures = 0
        known.detour = grant is Grant.GRANTED
        if grant is not Grant.UNKNOWN and not known.told:
            known.told = True
            _tell(namespace, detour=known.detour)


def _tell(namespace: str, *, detour: bool) -> None:
    if detour:
        text = "pods of namespace %s cannot be connected to; they are read through the API server"
        logger.info(text, namespace)
    else:
        text = (
            "pods of namespace %s cannot be connected to, so how their models load is not known;"
            " let this namespace be reached on their port, or grant get pods/proxy"
        )
        logger.warning(text, namespace)


async def may_proxy(api: Api, namespace: str) -> Grant:
    ((_, grant),) = await review(api, [Right("get", "", "pods/proxy", namespace)])
    return grant
