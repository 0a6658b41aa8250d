"""
A stub of the metrics pages of pods that load a model; it needs no model and no GPU.

Each address serves a download; ``python -m tests.support.stubs.exporter stall --port 5000`` serves
one.
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from aiohttp import web

from tests.support.ports import free_port
from tests.support.stubs import metrics_pages


DownloadPage = Callable[[float], bytes | None]
"""Returns the page at so many seconds after the container's start; None while nothing answers."""

MB, GB = 1e6, 1e9
MEAN = 10.0
"""Seconds over which KAITO averages the speed."""

WARM_UP = 290.0
"""Seconds from the last byte until vLLM serves: compilation and benchmark."""


@dataclass(frozen=True)
class SimulatedDownload:
    """
    *steps*: a second and the bytes a second from then on. *sized*: whether the size is known.
    """

    total: float
    steps: tuple[tuple[float, float], ...]
    sized: bool = True

    def __call__(self, t: float) -> bytes:
        end = self.end
        if t >= end + WARM_UP:
            return metrics_pages.engine()
        if t >= end:
            return metrics_pages.pre_download(self.speed(end), 0.0)
        speed, left = self.speed(t), self.total - self.arrived(t)
        known = speed > 0 and self.sized
        return metrics_pages.pre_download(speed, left / speed if known else metrics_pages.UNKNOWN)

    def speed(self, t: float) -> float:
        since = max(t - MEAN, 0.0)
        return (self.arrived(t) - self.arrived(since)) / (t - since) if t > since else 0.0

    def arrived(self, t: float) -> float:
        return min(
            sum(speed * max(min(t, end) - begin, 0.0) for begin, end, speed in self._spans),
            self.total,
        )

    @property
    def end(self) -> float:
        """The second of the last byte; infinite if the last step is a stall."""
        arrived = 0.0
        for begin, end, speed in self._spans:
            if speed and arrived + speed * (end - begin) >= self.total:
                return begin + (self.total - arrived) / speed
            arrived += speed * (end - begin) if speed else 0.0
        return float("inf")

    @property
    def _spans(self) -> list[tuple[float, float, float]]:
        ends = [*(begin for begin, _ in self.steps[1:]), 1e12]
        return [(begin, end, v) for (begin, v), end in zip(self.steps, ends, strict=True)]


def _no_page(_: float) -> None:
    return None


def _streaming(_: float) -> bytes:
    return metrics_pages.pre_download()


SIMULATED_DOWNLOADS: Mapping[str, DownloadPage] = {
    "slow": SimulatedDownload(50 * GB, ((0, 3.1 * MB),)),
    "slow-of-unknown-size": SimulatedDownload(50 * GB, ((0, 3.1 * MB),), sized=False),
    "dip": SimulatedDownload(500 * GB, ((0, 200 * MB), (60, 2 * MB), (100, 200 * MB))),
    "half": SimulatedDownload(500 * GB, ((0, 3 * MB), (40, 200 * MB))),
    "stall": SimulatedDownload(50 * GB, ((0, 300 * MB), (20, 0))),
    "fast": SimulatedDownload(500 * GB, ((0, 850 * MB),)),
    "finished": SimulatedDownload(0.1 * GB, ((0, 10 * MB),)),
    "cold": SimulatedDownload(55.6 * GB, ((95, 850 * MB),)),
    "streaming": _streaming,
    "dead": _no_page,
}


class StubExporter:
    """
    ``async with StubExporter({"127.0.0.11": SCENES["slow"]}) as stub:`` serves at ``stub.port``.

    *haste*: seconds of a download that pass in one second.
    """

    def __init__(
        self, downloads: Mapping[str, DownloadPage], *, port: int = 0, haste: float = 1.0
    ) -> None:
        self.downloads, self.port, self.haste = dict(downloads), port, haste
        self.requested: list[str] = []
        self._began = 0.0
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        self.port = self.port or free_port()
        for address in self.downloads:
            await web.TCPSite(self._runner, address, self.port).start()
        self.restart()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def restart(self) -> None:
        """Start all downloads anew."""
        self._began = asyncio.get_running_loop().time()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        address = request.transport.get_extra_info("sockname")[0]
        self.requested.append(address)
        download = self.downloads.get(address) or next(iter(self.downloads.values()))
        page = download((asyncio.get_running_loop().time() - self._began) * self.haste)
        if page is None:
            request.transport.abort()
            return web.Response()
        if request.path != "/metrics":
            return web.Response(status=404)
        response = web.Response(body=page, headers={"Content-Type": "text/plain; version=1.0.0"})
        response.force_close()
        return response


async def _serve(download: str, address: str, port: int, haste: float) -> None:
    async with StubExporter({address: SIMULATED_DOWNLOADS[download]}, port=port, haste=haste):
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("download", choices=SIMULATED_DOWNLOADS)
    parser.add_argument("--address", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--haste", type=float, default=1.0)
    given = parser.parse_args()
    asyncio.run(_serve(given.download, given.address, given.port, given.haste))


if __name__ == "__main__":
    main()
