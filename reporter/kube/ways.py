"""
By which way the pods of each namespace are read: at their addresses or through the API server.

Under a network policy our packets are dropped, while the API server may still reach the pods.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from reporter.kube.access import Grant, Right, review
from reporter.kube.client import Api
from reporter.kube.pages import NoPage
from reporter.model.objects import Pod
from reporter.model.samples import ScrapeResult
from reporter.settings import ScrapeMode


ENOUGH = 3
"""
Failures to connect in a row, in one namespace, after which the other way is taken.
"""

logger = logging.getLogger(__name__)


class Reader(Protocol):
    """
    Reads the page of a pod, or raises NoPage.
    """

    async def read(self, pod: Pod) -> bytes: ...


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
        self._mode, self._direct, self._proxy, self._allowed = mode, direct, proxy, allowed
        self._namespaces: dict[str, _Namespace] = {}

    async def read(self, pod: Pod) -> bytes:
        """
        Raises NoPage.
        """
        match self._mode:
            case ScrapeMode.DIRECT:
                return await self._direct.read(pod)
            case ScrapeMode.PROXY:
                return await self._proxy.read(pod)
            case ScrapeMode.AUTO:
                return await self._whichever(pod)

    async def _whichever(self, pod: Pod) -> bytes:
        known = self._namespaces.setdefault(pod.metadata.namespace, _Namespace())
        if known.detour:
            return await self._by_detour(pod, known)
        try:
            page = await self._direct.read(pod)
        except NoPage as err:
            if err.result is ScrapeResult.UNREACHABLE:
                await self._unreachable(pod.metadata.namespace, known)
            elif err.result is not ScrapeResult.BARRED:
                known.failures = 0
            raise
        known.failures = 0
        return page

    async def _by_detour(self, pod: Pod, known: _Namespace) -> bytes:
        try:
            return await self._proxy.read(pod)
        except NoPage as err:
            if err.result is ScrapeResult.FORBIDDEN:
                known.detour, known.failures = False, 0
            raise

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
