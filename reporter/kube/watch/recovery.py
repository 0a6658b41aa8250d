"""
The moment at which the API server answers again, which ends the pauses of all that wait for it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from reporter.kube.wire.errors import KubeError


class Recovery:
    """
    Lets what failed together go on together: alone, each kind would wait for its own pause.

    Only the first success after a failure of the same request counts. So a kind that goes on failing
    while the others work keeps its pauses.
    """

    def __init__(self) -> None:
        self._failing: set[object] = set()
        self._answered = asyncio.Event()

    @contextmanager
    def attempt(self, request: object) -> Iterator[None]:
        """Note whether a request fails, and end all pauses when it succeeds after that."""
        try:
            yield
        except KubeError:
            self._failing.add(request)
            raise
        if request in self._failing:
            self._failing.remove(request)
            self._answered.set()
            self._answered = asyncio.Event()

    async def wait(self, pause: timedelta, *, at_least: timedelta) -> bool:
        """Wait for the whole *pause*, or until a request has recovered. Return whether one has."""
        answered, soonest = self._answered, min(at_least, pause)
        await asyncio.sleep(soonest.total_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout((pause - soonest).total_seconds()):
                await answered.wait()
        return answered.is_set()
