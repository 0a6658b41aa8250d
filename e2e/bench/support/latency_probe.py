"""The latency of the API server for another client."""

import asyncio
import contextlib
import math
import statistics
import threading
import time
from collections.abc import Iterator, Sequence

from e2e.bench.support.plain_client import PlainClient
from e2e.controlplane import ControlPlane


PROBED_PATH = "/api/v1/namespaces/kube-system"
PROBE_INTERVAL = 0.02


class LatencyProbe:
    """Measures small reads of a client with its own connection; *took* has their seconds."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane, self._end = plane, threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._probe()), daemon=True)
        self.took: list[float] = []

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._end.set()
            self._thread.join()

    async def _probe(self) -> None:
        async with PlainClient(self._plane) as session:
            await session.get(PROBED_PATH)
            while not self._end.is_set():
                begun = time.monotonic()
                await session.get(PROBED_PATH)
                self.took.append(time.monotonic() - begun)
                await asyncio.sleep(PROBE_INTERVAL)

    def __str__(self) -> str:
        shown = (statistics.median(self.took), percentile(self.took, 99), max(self.took))
        return " / ".join(f"{seconds * 1000:.1f}" for seconds in shown)


def percentile(seconds: Sequence[float], percent: int) -> float:
    """Return the nearest-rank percentile; with few values this is the greatest."""
    return sorted(seconds)[math.ceil(len(seconds) * percent / 100) - 1]
