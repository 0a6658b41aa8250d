"""
The status of a cluster that this process watches itself, as a reporter does.

The parts are those of the reporter: reflectors, passes, roll-up and second look, which paces what a
watch may have missed by the age of the object. Nothing is announced and nothing is written.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from reporter.announcing.announcements import Announcements
from reporter.announcing.involved import involved_namespace
from reporter.catalogue.entries import Catalogue
from reporter.controller.controller import Controller
from reporter.controller.inputs import Inputs
from reporter.controller.permissions import crds_to_track
from reporter.controller.roll_up_cache import RollUpCache
from reporter.controller.second_look import SecondLook
from reporter.controller.unread import UnreadKinds
from reporter.evaluation.registry import SPECS
from reporter.kube.client import RestClient
from reporter.kube.errors import KubeError
from reporter.model.observations import NotSynced, Watching, WatchLost, WatchState
from reporter.process.cancellation import stop_all
from reporter.process.clock import Clock
from reporter.rollup.rules import RollUpRules
from reporter.server.status_v1 import MAX_WAIT_SECONDS, StatusRequest, revision_of
from reporter.settings import Settings
from reporter.status import one_shot
from reporter.status.one_shot_cluster import Progress, confirm_discovery, make_evaluator
from reporter.status.source import StatusAnswer, Target


PROGRESS_INTERVAL = timedelta(milliseconds=100)


class WatchingSource:
    """
    Watches the cluster from the first question on; a question with *after* waits for a change.

    *settings* have ``--scrape=off``: with pages wanted that nobody reads, those reasons would be
    Unknown and hide all others.
    """

    may_lag = False

    def __init__(
        self,
        api: RestClient,
        settings: Settings,
        catalogue: Catalogue,
        clock: Clock,
        *,
        on_progress: Progress = lambda _, __: None,
    ) -> None:
        self.description = "the cluster, watched by this program"
        self._api, self._clock, self._on_progress = api, clock, on_progress
        self._crds = crds_to_track(catalogue, SPECS, settings.sources)
        self._inputs = Inputs(settings, catalogue, api, clock, count_scrape=lambda _: None)
        self._store = self._inputs.store
        self._unread = UnreadKinds(self._store, catalogue, SPECS, settings.sources)
        self._not_judged = one_shot.find_not_judged(catalogue, settings.flag_texts)
        self._wire(settings, catalogue)
        self._loops: asyncio.Task[None] | None = None

    def _wire(self, settings: Settings, catalogue: Catalogue) -> None:
        evaluator = make_evaluator(settings, catalogue)
        announcements = Announcements(
            catalogue,
            evaluator.settings,
            self._clock,
            involved_for=partial(involved_namespace, settings.release_namespace),
        )
        rules = RollUpRules(catalogue, settings.flag_texts, settings.startup_grace)
        self._rollup = RollUpCache(rules, announcements, self._clock.now)
        self._controller = Controller(
            self._store,
            evaluator,
            announcements,
            self._clock,
            resync=settings.resync,
            followers=(self._rollup,),
        )
        self._second_look = (
            SecondLook(self._api, self._inputs, self._rollup, self._clock)
            if settings.second_look
            else None
        )

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """
        Return the answer after the first pass; the first question starts the watches.

        With *after* the answer comes once the namespace of the target has changed (anything, for a
        target without one), or after MAX_WAIT_SECONDS. Raises StatusQueryFailed if nothing at all can be read.
        """
        loops = await self._start()
        await _wait_unless_ended(loops, self._wait_for_first())
        why = why_unreadable(self._store.watch_states)
        if why is not None:
            raise one_shot.cannot_read(why.why, refused=why.refused)
        if after is not None:
            await _wait_unless_ended(loops, self._wait_for_change(target, after.tag))
        return self._answer(target)

    async def close(self) -> None:
        """Stop the watches if a question has started them, and close the connections."""
        if self._loops is not None:
            await stop_all(self._loops)
        await self._api.close()

    # ------------------------------------------------------------ the loops

    async def _start(self) -> asyncio.Task[None]:
        """
        Start the loops, once. Resources that are missing are known to be so at the first pass.
        """
        if self._loops is not None:
            return self._loops
        try:
            await confirm_discovery(self._api, self._store, self._crds, self._clock)
        except KubeError as err:
            raise one_shot.cannot_read_after(err) from err
        self._loops = asyncio.create_task(self._run(), name="watch the cluster")
        return self._loops

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._controller.run(), name="controller")
            group.create_task(self._show_progress(), name="progress")
            for name, loop in self._inputs.tasks():
                group.create_task(loop, name=name)
            if self._second_look is not None:
                group.create_task(self._second_look.run(), name="second look")

    async def _show_progress(self) -> None:
        first_pass, total = self._controller.pass_times.first_finished, len(self._store.kinds)
        while not first_pass.is_set():
            done = sum(state != NotSynced() for state in self._store.watch_states)
            self._on_progress(done, total)
            await asyncio.sleep(PROGRESS_INTERVAL.total_seconds())
        self._on_progress(total, total)

    # ------------------------------------------------------------ answers

    async def _wait_for_first(self) -> None:
        while not self._rollup.rollup.revision:
            await self._rollup.next_change()

    async def _wait_for_change(self, target: Target, tag: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                while self._tag(target) == tag:
                    await self._rollup.next_change()

    def _tag(self, target: Target) -> str:
        return str(revision_of(self._rollup.view(), StatusRequest(target.namespace)))

    def _answer(self, target: Target) -> StatusAnswer:
        unread = self._unread.find(now=self._clock.now())
        notes = tuple(f"{kind}: {each.why}" for kind, each in sorted(unread.items()))
        answer = one_shot.answer_from(self._rollup.view(), target, self._not_judged)
        return msgspec.structs.replace(answer, tag=self._tag(target), notes=notes)


def why_unreadable(states: Iterable[WatchState]) -> NotSynced | None:
    """Return why nothing at all can be read; None if anything can."""
    found = tuple(states)
    if any(isinstance(each, Watching | WatchLost) for each in found):
        return None
    return next((each for each in found if isinstance(each, NotSynced)), None)


async def _wait_unless_ended(loops: asyncio.Task[None], waiting: Coroutine[Any, Any, Any]) -> None:
    """Wait, but not for what cannot come any more: loops end by a fault alone, which is raised."""
    task = asyncio.create_task(waiting)
    try:
        await asyncio.wait({task, loops}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await stop_all(task)
    if loops.done():
        await loops
