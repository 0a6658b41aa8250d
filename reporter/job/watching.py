"""Look at file, container and signals until there is something to report, or to leave."""

import asyncio
import logging
from datetime import timedelta
from math import inf, isinf
from typing import Any

from reporter.job import steps
from reporter.job.environment import SidecarSettings
from reporter.job.reports import Report
from reporter.job.result import InvalidResult
from reporter.job.result_file import read_result
from reporter.job.steps import Leave, LookAt, WaitUntil
from reporter.kube.errors import KubeError
from reporter.kube.job_client import SidecarPodReader
from reporter.model.job_results import SidecarPod, Terminated
from reporter.process.cancellation import cancel_all


logger = logging.getLogger(__name__)


class StopSignal:
    """
    The signal that tells the sidecar to stop.

    *received_at*: when the first one came, in seconds of the event loop; infinite until then.
    """

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.received_at = inf

    def receive(self) -> None:
        """Note the signal and its time; further signals change nothing. Needs a running event loop."""
        if not self._event.is_set():
            self.received_at = asyncio.get_running_loop().time()
            self._event.set()

    async def wait(self) -> None:
        """Return once the signal was received, at once if it was before."""
        await self._event.wait()


class AdapterWatch:
    """
    The watch of one adapter, by its result file, its container and the stop signal, in turn.

    *pod*: the own pod as it was last read; None before the first answer of the API server.
    """

    def __init__(
        self, settings: SidecarSettings, pods: SidecarPodReader, stop: StopSignal
    ) -> None:
        self._settings, self._rules, self._pods = settings, settings.rules, pods
        self._stop = stop
        self._now = asyncio.get_running_loop().time
        self._state = steps.begin(self._rules, now=self._now())
        self._question: asyncio.Task[SidecarPod] | None = None
        self.pod: SidecarPod | None = None

    @property
    def deadline(self) -> float:
        """The second of the event loop at which waiting for the adapter ends; a write may go on."""
        return self._state.deadline

    @property
    def is_native(self) -> bool:
        """Return whether the kubelet restarts this container, and stops it after the adapter."""
        if self._settings.native is not None:
            return self._settings.native
        return self.pod is not None and not self._settings.own_names.isdisjoint(
            self.pod.native_sidecars
        )

    async def conclude(self) -> Report | Leave:
        """
        Look until there is a report to write, or a stop signal tells to leave without one.

        A pod that cannot be read is logged, and read again later.
        """
        stopping = asyncio.create_task(self._stop.wait(), name="wait for a stop signal")
        try:
            while True:
                match steps.next_step(self._state, self._rules, now=self._now()):
                    case LookAt.FILE:
                        self._read_file()
                    case LookAt.CONTAINER:
                        self._ask()
                    case WaitUntil(until):
                        await self._wait(stopping, until)
                    case Report() | Leave() as end:
                        return end
        finally:
            await self._end(stopping)

    async def _end(self, stopping: "asyncio.Task[None]") -> None:
        tasks = [each for each in (stopping, self._question) if each is not None]
        await cancel_all(*tasks)
        for each in tasks:
            if not each.cancelled():
                each.exception()  # else asyncio logs one that nobody asked for

    def _read_file(self) -> None:
        seen = read_result(self._settings.results_path)
        if isinstance(seen, InvalidResult) and seen != self._state.suspect:
            logger.warning("the result file is not valid yet: %s", seen.error)
        self._state = steps.with_file(self._state, self._rules, seen, now=self._now())

    def _ask(self) -> None:
        self._question = asyncio.create_task(self._pods.read(), name="read the pod")
        self._state = steps.with_question(self._state)

    async def _wait(self, stopping: "asyncio.Task[None]", until: float) -> None:
        stopped = self._state.stop_until is not None
        waits: list[asyncio.Task[Any]] = [] if stopped else [stopping]
        waits += [self._question] if self._state.asking and self._question is not None else []
        timeout = None if isinf(until) else max(until - self._now(), 0)
        if waits:
            await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(timeout or 0)
        self._take_answer()
        if stopping.done() and not stopped:
            logger.info("received a stop signal")
            patience = self._rules.native_patience if self.is_native else timedelta(0)
            self._state = steps.with_stop(
                self._state, self._rules, patience=patience, now=self._now()
            )

    def _take_answer(self) -> None:
        if not self._state.asking or self._question is None or not self._question.done():
            return
        ended: Terminated | None = None
        try:
            self.pod = self._question.result()
        except KubeError as err:
            logger.warning("cannot read the status of the adapter, trying again: %s", err)
        else:
            ended = self._ended(self.pod)
            if self.is_native:
                # A stop signal may have arrived before the pod was read for the first time.
                patience = self._rules.native_patience.total_seconds()
                self._state = steps.with_patience(
                    self._state, until=self._stop.received_at + patience
                )
        self._state = steps.with_container(self._state, self._rules, ended, now=self._now())

    def _ended(self, pod: SidecarPod) -> Terminated | None:
        settings = self._settings
        adapter = steps.find_adapter(
            pod, adapter=settings.adapter_container, own_names=settings.own_names
        )
        if adapter is None:
            wanted = f"named {settings.adapter_container!r} " if settings.adapter_container else ""
            logger.warning("the pod has no status of an adapter container %syet", wanted)
            return None
        return adapter.terminated
