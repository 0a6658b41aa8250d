"""
The status of a cluster that this process watches itself, as a reporter does.

The parts are those of the reporter: reflectors, passes, roll-up and second look, which paces what a
watch may have missed by the age of the object. Nothing is announced and nothing is written.

Who may read one namespace alone watches that, for questions about it.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from reporter.announcing.announcements import Announcements
from reporter.announcing.involved import involved_namespace
from reporter.catalogue.entries import Catalogue
from reporter.controller.controller import Controller
from reporter.controller.inputs import Inputs
from reporter.controller.roll_up_cache import RollUpCache
from reporter.controller.second_look import SecondLook
from reporter.controller.unread import UnreadKinds
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.kinds.core import NAMESPACES
from reporter.kinds.resource_kind import CORE_SCOPES, ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.discovery import discover
from reporter.kube.errors import Invalid, KubeError, NotFound, Refused, Unserved
from reporter.kube.lister import ListResult, get_one
from reporter.kube.paths import collection_path
from reporter.kube.watch_context import WatchTiming
from reporter.kube.watch_health import WatchHealth
from reporter.model.observations import NotSynced, Watching, WatchLost, WatchState
from reporter.model.silences import SilenceFile
from reporter.process.cancellation import stop_all
from reporter.process.clock import Clock
from reporter.rollup.document import StatusView
from reporter.rollup.rules import RollUpRules
from reporter.server.status_v1 import MAX_WAIT_SECONDS, StatusRequest, revision_of
from reporter.settings import Settings
from reporter.status import one_shot
from reporter.status.observations import describe_only_in, make_evaluator
from reporter.status.one_shot_cluster import Progress, confirm_discovery, read_reported
from reporter.status.source import StatusAnswer, Target


PROGRESS_INTERVAL = timedelta(milliseconds=100)
NAMESPACE_INTERVAL = timedelta(seconds=30)


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
        silence_file: SilenceFile | None = None,
    ) -> None:
        self.description = "the cluster, watched by this program"
        self._api, self._clock, self._on_progress = api, clock, on_progress
        self._settings, self._catalogue = settings, catalogue
        self._silence_file = silence_file if settings.silence_file is None else None
        self._not_judged = one_shot.find_not_judged(catalogue, settings.flag_texts)
        self._watched: _Watched | None = None
        self._loops: asyncio.Task[None] | None = None

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """
        Return the answer after the first pass; the first question starts the watches.

        Where objects of all namespaces may not be listed, those of the target's are watched alone. With
        *after* the answer comes once the namespace of the target has changed (anything, for a target
        without one), or after MAX_WAIT_SECONDS. Raises StatusQueryFailed if nothing at all can be read.
        """
        watched = await self._start(target.namespace)
        self._loops = loops = self._loops or asyncio.create_task(
            watched.run(), name="watch the cluster"
        )
        await _wait_unless_ended(loops, watched.wait_for_first())
        why = why_unreadable(watched.asked_states)
        if why is not None:
            raise one_shot.cannot_read(why.why, refused=why.refused)
        if after is not None:
            await _wait_unless_ended(loops, watched.wait_for_change(target, after.tag))
        now = self._clock.now()
        notes = watched.notes(now)
        if watched.is_limited:
            notes += (*await read_reported(self._api, watched.namespace, now=now),)
        answer = one_shot.answer_from(watched.view(), target, self._not_judged)
        return msgspec.structs.replace(answer, tag=watched.tag(target), notes=notes)

    async def close(self) -> None:
        """Stop the watches if a question has started them, and close the connections."""
        if self._loops is not None:
            await stop_all(self._loops)
        await self._api.close()

    async def _start(self, namespace: str) -> "_Watched":
        """
        Return what is to be watched. Resources that are missing are known to be so at the first pass.

        It is made once, however often the discovery after it fails: each one subscribes to the client.
        """
        crds = crds_to_track(self._catalogue, self._settings.sources)
        try:
            watched = self._watched = self._watched or await self._make_watched(crds, namespace)
            if self._loops is None:
                await confirm_discovery(self._api, watched.store, crds, self._clock)
        except KubeError as err:
            raise one_shot.cannot_read_after(err) from err
        return watched

    async def _make_watched(self, crds: frozenset[str], namespace: str) -> "_Watched":
        kinds = kinds_to_watch(self._catalogue, self._settings.sources)
        only_in = await find_limited(self._api, kinds, crds, namespace) if namespace else {}
        watched = _Watched(
            self._settings, self._catalogue, self._api, self._clock, only_in, self._on_progress
        )
        if self._silence_file is not None:
            watched.store.record_silence_file(self._silence_file)
        return watched


class _Watched:
    """
    The parts of a reporter that watch and evaluate. *only_in*: the kinds of which one namespace is watched.
    """

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        api: RestClient,
        clock: Clock,
        only_in: Mapping[str, str],
        on_progress: Progress,
    ) -> None:
        self.namespace = next(iter(only_in.values()), "")
        self._api, self._clock, self._on_progress = api, clock, on_progress
        self._inputs = Inputs(
            settings, catalogue, api, clock, count_scrape=lambda _: None, only_in=only_in
        )
        self.store = self._inputs.store
        self._unread = UnreadKinds(self.store, catalogue, settings.sources)
        evaluator = make_evaluator(settings, catalogue)
        announcements = Announcements(
            catalogue,
            evaluator.settings,
            clock,
            involved_for=partial(involved_namespace, settings.release_namespace),
        )
        rules = RollUpRules(catalogue, settings.flag_texts, settings.startup_grace)
        self._rollup = RollUpCache(rules, announcements, clock.now)
        self._controller = Controller(
            self.store,
            evaluator,
            announcements,
            clock,
            resync=settings.resync,
            followers=(self._rollup,),
        )
        # What is got again and again needs no second look.
        has_second_look = settings.second_look and not only_in
        self._second_look = (
            SecondLook(api, self._inputs, self._rollup, clock) if has_second_look else None
        )

    async def run(self) -> None:
        """Run the loops until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._controller.run(), name="controller")
            group.create_task(self._rollup.run(), name="status")
            group.create_task(self._show_progress(), name="progress")
            for name, loop in self._inputs.tasks():
                group.create_task(loop, name=name)
            if self._second_look is not None:
                group.create_task(self._second_look.run(), name="second look")
            if self.store.only_in.get(NAMESPACES.table):
                group.create_task(self._read_namespace(), name="namespace")

    async def _show_progress(self) -> None:
        first_pass, total = self._controller.pass_times.first_finished, len(self.store.kinds)
        while not first_pass.is_set():
            done = sum(state != NotSynced() for state in self.states)
            self._on_progress(done, total)
            await asyncio.sleep(PROGRESS_INTERVAL.total_seconds())
        self._on_progress(total, total)

    async def _read_namespace(self) -> None:
        """Get the Namespace again and again: who may not list Namespaces cannot watch one."""
        health = WatchHealth(NAMESPACES, self.store, self._clock)
        while True:
            try:
                found = await self._get_namespace()
            except KubeError as err:
                # Until it is read, the first pass does not wait for it: other kinds have answers.
                health.record_failure(err, refused=True)
            else:
                unread = {each.name: each.stub for each in found.undecodable}
                self.store.replace(NAMESPACES, found.objects, unread)
                health.record_list()
                health.record_watch_start()
            await asyncio.sleep(NAMESPACE_INTERVAL.total_seconds())

    async def _get_namespace(self) -> ListResult:
        timeout = WatchTiming().list_timeout
        (version,) = NAMESPACES.versions
        try:
            return await get_one(self._api, NAMESPACES, version, self.namespace, timeout=timeout)
        except NotFound:
            return ListResult(resource_version="", objects=())

    # ------------------------------------------------------------ answers

    @property
    def states(self) -> tuple[WatchState, ...]:
        """The state of each watch."""
        return self.store.watch_states

    @property
    def asked_states(self) -> tuple[WatchState, ...]:
        """The state of each watch, without the Namespace that may be got by who may read nothing in it."""
        pairs = zip(self.store.kinds, self.states, strict=True)
        got = {NAMESPACES.table} & self.store.only_in.keys()
        return tuple(state for kind, state in pairs if kind.table not in got)

    @property
    def is_limited(self) -> bool:
        """True if a kind is read in one namespace alone."""
        only_in = self.store.only_in.keys() - {NAMESPACES.table}
        pairs = zip(self.store.kinds, self.states, strict=True)
        return any(not isinstance(s, NotSynced) for kind, s in pairs if kind.table in only_in)

    async def wait_for_first(self) -> None:
        """Wait for the first pass."""
        while not self._rollup.rollup.revision:
            await self._rollup.next_change()

    async def wait_for_change(self, target: Target, tag: str) -> None:
        """Wait until what is asked about differs from the answer with this tag, or for MAX_WAIT_SECONDS."""
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                while self.tag(target) == tag:
                    await self._rollup.next_change()

    def view(self) -> StatusView:
        """Return the status as it is now."""
        return self._rollup.view()

    def tag(self, target: Target) -> str:
        """Return the revision of what is asked about."""
        return str(revision_of(self.view(), StatusRequest(target.namespace)))

    def notes(self, now: datetime) -> tuple[str, ...]:
        """Return what is not read and why; in one line where a namespace alone may be read."""
        unread = self._unread.find(now=now)
        if self.is_limited:
            return (describe_only_in(self.namespace, unread),)
        return tuple(f"{kind}: {each.why}" for kind, each in sorted(unread.items()))


# --------------------------------------------------------------------
# Find the kinds that may be read in one namespace alone.


async def find_limited(
    api: RestClient, kinds: Iterable[ResourceKind], crds: Iterable[str], namespace: str
) -> Mapping[str, str]:
    """
    Return the kinds, by table, that may not be listed in all namespaces, each with *namespace*.

    A kind without namespaces is none of them: at a path below a namespace it seems not to be served.
    Raises KubeError if the API server does not answer.
    """
    found = [kind for kind in kinds if not kind.namespace]
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(_may_not_list(api, kind)) for kind in found]
    answers = [each.result() for each in asked]
    for each in answers:
        if isinstance(each, KubeError):
            raise each
    denied = [kind for kind, is_denied in zip(found, answers, strict=True) if is_denied]
    if not denied:
        return {}
    groups = frozenset(crd.partition(".")[2] for crd in crds)
    scopes = (await discover(api, groups, previous=None)).discovery.namespaced
    return {
        kind.table: namespace
        for kind in denied
        if kind.table == NAMESPACES.table or _has_namespaces(kind, scopes)
    }


async def _may_not_list(api: RestClient, kind: ResourceKind) -> bool | KubeError:
    """
    Ask for one object: authorization comes before everything else. Return the error without an answer.
    """
    path = collection_path(kind, next(iter(kind.versions), "v1"))
    try:
        await api.call(
            "GET", path, query=[("limit", "1")], operation=f"list {kind.group_resource}"
        )
    except Refused as err:
        return err.is_forbidden
    except (NotFound, Unserved, Invalid):
        return False
    except KubeError as err:
        # Raised in a task group, it would be part of an ExceptionGroup, which is no KubeError.
        return err
    return False


def _has_namespaces(kind: ResourceKind, scopes: Mapping[str, bool]) -> bool:
    """Return whether it certainly has. Groups without a domain, such as apps, have such kinds alone."""
    if not kind.group:
        return CORE_SCOPES.get(kind.resource, False)
    return scopes.get(kind.group_resource, "." not in kind.group)


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
