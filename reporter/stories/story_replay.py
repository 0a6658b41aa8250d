"""
The replay of a story on the pure core: a stack, its changes, and the time of each announcement.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Self

import yaml
from msgspec.structs import replace

from reporter.catalogue.silence_file import parse_silence_file
from reporter.controller.enabled_scrapes import find_scrapes
from reporter.controller.evaluation_settings import make_evaluation_settings
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES, SPECS
from reporter.kinds.health_events import StoreLimits
from reporter.kube.event_record import EventRecord
from reporter.model import observations
from reporter.model.enums import DetailSource
from reporter.model.silences import SilenceFile
from reporter.model.states import State
from reporter.model.status_document import Blocking, Contributing
from reporter.probes.probe import ProbeRequest
from reporter.rollup.document import StatusView
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.settings.parsers import choice_set_parser
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from reporter.stories.catalogues import SHIPPED, AnnouncedCodes, StoryCatalogues, story_settings
from reporter.stories.format import (
    LONG_AGO,
    START,
    StoryError,
    apply_merge_patch,
    parse_duration,
    since_start,
)
from reporter.stories.healthy_stack import HEALTHY_STACK, stack_before
from reporter.stories.metrics_pages import MetricsPages
from reporter.stories.objects import StoryObjects, healthy_pods
from reporter.stories.process import ReplayedProcess, UnknownReasons
from reporter.stories.store_replay import ReplayedStore


# --------------------------------------------------------------------
# The status of each subject in one line, as a story pins it.


def status_lines(view: StatusView) -> Mapping[str, str]:
    """
    Return the lines by subject: ``cluster``, each namespace, its ``…/harness`` and InferenceSets.

    Other lines are ``counts`` of InferenceSets by state, ``Deployment …``, and ``… not judged`` of one.
    """
    return dict(_lines(view))


def _lines(view: StatusView) -> Iterator[tuple[str, str]]:
    cluster = view.cluster()
    counts = cluster.counts.inference_sets
    by_state = counts.by_state().items() if counts is not None else ()
    numbers = ", ".join(f"{number} {state}" for state, number in by_state if number)
    layers = "".join(f"; {each.layer} not listed" for each in cluster.unlisted_layers)
    yield "cluster", _status_line(cluster) + layers
    yield "counts", numbers
    for component in cluster.components:
        words = [str(component.state)]
        if component.replicas is not None:
            counted = component.replicas
            words.append(f"{counted.ready}/{counted.desired}, {counted.updated} updated")
        yield f"Deployment {component.namespace}/{component.name}", " ".join(words)
    for namespace in view.namespaces():
        more = "".join(f"; {_also(each)}" for each in namespace.contributing)
        yield namespace.name, _status_line(namespace) + more
        if namespace.harness is not None:
            yield f"{namespace.name}/harness", _status_line(namespace.harness)
        for each in namespace.inference_sets:
            yield f"{namespace.name}/{each.name}", _status_line(each)
            yield f"{namespace.name}/{each.name} not judged", ", ".join(each.not_judged)


def _status_line(status: Any) -> str:
    words = [str(status.state)]
    if status.last_known is not None:
        words.append(f"(was {status.last_known})")
    if getattr(status, "paused", False):
        words.append("paused")
    available = getattr(status, "available", None)
    words += (
        [{True: "available", False: "unavailable"}[available]] if available is not None else []
    )
    replicas = getattr(status, "replicas", None)
    if replicas is not None:
        updated = f", {replicas.updated} updated" if replicas.updated is not None else ""
        words.append(f"{replicas.ready}/{replicas.desired}{updated}")
    line = " ".join(words)
    if status.blocking is not None:
        line += f": {_describe(status.blocking)}"
    return line + _describe_unavailability(status)


def _describe_unavailability(status: Any) -> str:
    """Return why a subject is not available, unless what blocks it or its pause says so already."""
    cause = getattr(status, "not_available", None)
    if cause is None or status.paused or status.state is State.TERMINATING:
        return ""
    blocking = status.blocking
    if blocking is not None and (blocking.reason, blocking.code) == (cause.reason, cause.code):
        return ""
    words = [cause.reason, cause.code, str(cause.actionability), "held" if cause.held else ""]
    return f"; not available: {' '.join(word for word in words if word)}"


def _describe(blocking: Blocking) -> str:
    words = [blocking.reason, blocking.code, str(blocking.actionability)]
    words += ["held"] if blocking.held else []
    words += ["stalled"] if blocking.stalled else []
    words += [str(blocking.pattern)] if blocking.pattern else []
    words += [f"via {', '.join(blocking.via)}"] if blocking.pointer else []
    return " ".join(word for word in words if word)


def _also(each: Contributing) -> str:
    pointer = "pointer " if each.pointer else ""
    return f"also {pointer}{each.reason} {each.code} of {each.subjects}"


# --------------------------------------------------------------------
# The orders of the objects of a step that takes place ``within`` some time.


ORDERS = range(8)
WITHIN = "within"
PARTS = ("change", "crds")


def reordered(story: Mapping[str, Any], order: int) -> Mapping[str, Any]:
    """
    Return the story with each step that takes place within some time split into steps of their own.

    In one order an object always has the same delay, so that replays are alike.
    """
    steps = [each for step in story["story"] for each in _split_step(step, order)]
    return {**story, "story": sorted(steps, key=lambda step: parse_duration(step["at"]))}


def has_fixed_order(story: Mapping[str, Any]) -> bool:
    """
    Return whether no step takes place within some time, so that one order of the steps tells all.
    """
    return not any(WITHIN in step for step in story["story"])


def _split_step(step: Mapping[str, Any], order: int) -> Iterator[Mapping[str, Any]]:
    """Split a step into whole seconds, so that several objects may still come at once."""
    if WITHIN not in step:
        yield step
        return
    begin, most = parse_duration(step["at"]), int(parse_duration(step[WITHIN]).total_seconds())
    for part in PARTS:
        for name, words in step.get(part, {}).items():
            late = Random(f"{order} {name}").randint(0, most)  # noqa: S311  the same each time
            at = int(begin.total_seconds()) + late
            yield {"at": f"{at}s", part: {name: words}}


# --------------------------------------------------------------------
# The file of silences of a story, read as the program reads it.


def silence_file(given: Sequence[Mapping[str, Any]] | str) -> SilenceFile:
    """Return the file of silences as the program reads it, of these entries or of a whole text."""
    text = given if isinstance(given, str) else yaml.safe_dump({"silences": given})
    return parse_silence_file(text, Path("silences.yaml"))


# --------------------------------------------------------------------
# The words of a story for the state of a watch.


def parse_watch_state(text: str, *, now: datetime) -> observations.WatchState:
    """
    Return the state of a watch by the word of a story; raise StoryError for another word.

    The words are open, lost, forbidden and unserved.
    """
    states: Mapping[str, observations.WatchState] = {
        "open": observations.Watching(),
        "lost": observations.WatchLost(now, "connection lost"),
        "forbidden": observations.NotSynced("forbidden"),
        "unserved": observations.NotServed(),
    }
    if text not in states:
        raise StoryError(f"watch: `{text}` is none of {', '.join(states)}")
    return states[text]


def check_watched(resource: str, watched: Collection[str]) -> None:
    """Raise StoryError for a resource that is not among those that are watched."""
    if resource not in watched:
        known = ", ".join(dict.fromkeys(watched))
        raise StoryError(f"watch: {resource} is not watched; watched are {known}")


OBSERVE_AFTER_LAST_STEP = timedelta(minutes=15)
NO_HEARTBEAT = timedelta(days=2)
DISCOVERY_INTERVAL, CONFIRM_INTERVAL = timedelta(seconds=30), timedelta(seconds=11)
RESYNC_INTERVAL = timedelta(minutes=5)
"""
Time between two passes without a change or a deadline. The process has ten times as many (--resync), but
only checks and declared reasons read the clock; with these a story has as many, at each discovery.
"""


class StoryReplay(ReplayedProcess):
    """
    A replay whose time starts with the process. Heartbeats are left out.

    *story*: the content of its file. *step*: the last step that was applied; -1 before the first.
    *codes*: of the causes that were announced.
    """

    def __init__(self, story: Mapping[str, Any], catalogues: StoryCatalogues = SHIPPED) -> None:
        self.story = story
        self.discovery: Mapping[str, Any] = {}
        self.rollup, self.crds = RollUp(), dict(HEALTHY_STACK["crds"])
        self.statuses: dict[str, Mapping[str, str]] = {}
        self.step, self.codes = -1, AnnouncedCodes()
        self.unknown = UnknownReasons(story.get("of") or ())
        self._jumped, self._changed, self._passed_at = timedelta(0), False, START
        settings = story_settings(story)
        flags = settings.flag_texts
        without_heartbeats = replace(make_evaluation_settings(settings), heartbeat=NO_HEARTBEAT)
        super().__init__(catalogues.of(story), without_heartbeats)
        self.rollup_rules = RollUpRules(self.catalogue, flags, self.settings.delays.grace)
        self._status_at = [START + parse_duration(at) for at in self.story.get("status") or {}]
        self.evaluator = Evaluator(
            self.catalogue, PROBES, flags, self.settings, on_fault=self.on_fault
        )
        self.subjects = ALL_LAYERS
        self._kinds = kinds_to_watch(
            self.catalogue, choice_set_parser(DetailSource)(flags["sources"])
        )
        before = stack_before(catalogues.packs_of(story))
        declared = [kind for kind in self._kinds if kind.is_declared]
        self.world = StoryObjects(declared, before.keys(), self._kinds)
        reads_clock = bool(declared) or DetailSource.JOBS.value in flags["sources"].split(",")
        self._resync = timedelta(0) if reads_clock else RESYNC_INTERVAL
        self._scrapes = find_scrapes(self.catalogue, SPECS, flags)
        self.store = self._empty()
        self.pages = MetricsPages(flags["weight-download-metric"], self._scrapes)
        self._interval = _seconds(flags["scrape-interval-seconds"])
        self._scrape_at = START + self._interval
        self._discover_at = START
        self.health_events = _health_events(self, flags)
        self._begin(before)

    def _begin(self, before: Mapping[str, Any]) -> None:
        """Run the first pass, on the stack that was there before the process."""
        given = self.story.get("given", {})
        stack = apply_merge_patch(before, given.get("change", {}))
        healthy = healthy_pods(stack.items()).items()
        pods = {text: apply_merge_patch(words, stack.get(text, {})) for text, words in healthy}
        self._change({**stack, **pods}, now=LONG_AGO)
        self._apply({**given, "change": {}})
        self._changed = True
        self._discover()

    def on_fault(self, _: ProbeRequest, err: Exception) -> None:
        """End the replay: a fault of a probe must not pass for Unknown."""
        raise err

    def _empty(self) -> Store:
        crds = {*HEALTHY_STACK["crds"], *(kind.group_resource for kind in self.world.declared)}
        samples, subjects = SampleStore(self._scrapes), self.catalogue.subject_definitions
        store = Store(self._kinds, crds, samples, subjects=subjects)
        store.changes.subscribe(self._note_change)
        for kind in self._kinds:
            store.set_watch_state(kind, observations.Watching())
        return store

    def _note_change(self) -> None:
        self._changed = True

    def run(self) -> Self:
        """
        Replay the steps that were not applied yet, and then the time until the story's end.

        Without an end of its own, a story goes on for OBSERVE_AFTER_LAST_STEP.
        """
        steps = self.story["story"]
        for number in range(self.step + 1, len(steps)):
            self._advance_until(START + parse_duration(steps[number]["at"]) + self._jumped)
            self.step = number
            self._apply(steps[number])
            self.run_pass()
        last = parse_duration(steps[-1]["at"]) if steps else timedelta(0)
        until = self.story.get("until")
        span = parse_duration(until) if until else last + OBSERVE_AFTER_LAST_STEP
        self._advance_until(START + span + self._jumped)
        if self.now in self._status_at:
            self._note_status()
        return self

    def run_pass(self) -> Self:
        """
        Run a pass, carry out the plan of the HealthEvent store, and fold the roll-up of the status.
        """
        self._changed, self._passed_at = False, self.now
        super().run_pass()
        self._keep_episodes()
        self.codes.add(self.evaluation, self.announcement_state)
        self.unknown.add(self.evaluation, now=self.now)
        self.rollup = fold(self.rollup, self.rollup_input(), self.rollup_rules)
        return self

    def _keep_episodes(self) -> None:
        """
        Carry out the plan of the HealthEvent store; what has no place is evaluated in a further pass.
        """
        if self.health_events is None:
            return
        before = self.store.snapshot().store_rejections
        plan = self.health_events.settle().plan()
        rejected = dict(Counter(each.limit for each in plan.rejections))
        self.store.record_store_rejections(rejected)
        if rejected != before:
            super().run_pass()

    def rollup_input(self) -> RollUpInput:
        """
        Return what the last pass hands to the roll-up; every pass of a story looks at all subjects.
        """
        episodes = self.announcement_state.episodes.items()
        return RollUpInput(
            evaluation=self.evaluation,
            snapshot=self.store.snapshot(),
            changed=self.evaluation.changed_since(self.rollup.evaluation),
            evaluated=self.evaluation.subjects,
            dirty=self.store.take_dirty(),
            now=self.now,
            episodes={key: each.event.episode_start for key, each in episodes},
        )

    def restart(self, *, back_after: float = 0.0) -> Self:
        """
        Replace the process after *back_after* seconds without any; roll-up and HealthEvent store begin anew.
        """
        self.rollup = RollUp()
        if self.health_events is not None:
            self.health_events.restart(self)
        super().restart(back_after=back_after)
        return self

    def _advance_until(self, end: datetime) -> None:
        """Advance to the end, and note the status at each time that the story pins."""
        for moment in sorted(self._status_at):
            if self.now <= moment < end:
                self._advance_without_status(moment)
                self._note_status()
        self._advance_without_status(end)

    def _note_status(self) -> None:
        view = StatusView(self.rollup, self.rollup_rules, now=self.now)
        self.statuses[since_start(self.now)] = status_lines(view)

    def _advance_without_status(self, end: datetime) -> None:
        """Advance to the end. A scrape due at the end runs after the change of the next step."""
        while self._discover_at <= end or self._scrape_at < end:
            self.advance_to_change(min(self._discover_at, self._scrape_at))
            if self._discover_at <= self._scrape_at:
                self._discover()
            else:
                self._scrape_pages()
        self.advance(max(end - self.now, timedelta(0)))

    def _scrape_pages(self) -> None:
        self._scrape_at += self._interval
        if self.pages.words:
            self.pages.scrape_into(self.store, now=self.now)
            self._follow_change()

    def _jump(self, text: str) -> None:
        """Set the clock forward or back; what is due by it happens when it would have."""
        span = parse_duration(text.removeprefix("-")) * (-1 if text.startswith("-") else 1)
        self._jumped += span
        self.now += span
        self._discover_at += span
        self._scrape_at += span

    def _apply(self, step: Mapping[str, Any]) -> None:
        if "clock" in step:
            self._jump(step["clock"])
        self._change(step.get("change", {}), now=self.now)
        self.pages.change(step.get("pages", {}), now=self.now)
        self.crds |= step.get("crds", {})
        self.discovery = step.get("discovery", self.discovery)
        for resource, how in step.get("watch", {}).items():
            self._set_watch_states(resource, how)
        if step.get("silences") is not None:
            self.store.record_silence_file(silence_file(step["silences"]))
        if "restart" in step:
            self._start_store(self.store.snapshot())
            self.restart(back_after=parse_duration(step["restart"]).total_seconds())

    def _set_watch_states(self, resource: str, how: str) -> None:
        """
        Set the state of every watch of a resource: catalogues may declare some beside the program's.
        """
        check_watched(resource, [kind.resource for kind in self.store.kinds])
        for kind in self.store.kinds:
            if kind.resource == resource:
                self.store.set_watch_state(kind, parse_watch_state(how, now=self.now))

    def _start_store(self, before: Snapshot) -> None:
        """Start with an empty store: the objects as they are, without earlier observations of them."""
        self.store = self._empty()
        for kind in self._kinds:
            self.store.set_watch_state(kind, before.tables[kind.table].watch_state)
            for each in before.all(kind):
                self.store.upsert(kind, each)
        self.store.record_silence_file(before.silence_file)
        self._record_discovery()

    def _change(self, changes: Mapping[str, Any], *, now: datetime) -> None:
        for address, made in self.world.change(changes, now=now):
            if made is None:
                self.store.delete(address.kind, address.namespace, address.name)
            else:
                self.store.upsert(address.kind, made)

    def _discover(self) -> None:
        """Run discovery once; the next run is due sooner if a loss needs a second answer."""
        self._record_discovery()
        self._discover_at += (
            CONFIRM_INTERVAL if self.store.has_unconfirmed_loss else DISCOVERY_INTERVAL
        )
        self._follow_change()

    def _follow_change(self) -> None:
        """Run a pass if the store has changed since the last one, or that one is long ago."""
        if self._changed or self.now - self._passed_at >= self._resync:
            self.run_pass()

    def _record_discovery(self) -> None:
        failing = self.discovery.get("failing")
        stale = frozenset(self.discovery.get("stale", ()))
        served = {
            crd: tuple(versions)
            for crd, versions in self.crds.items()
            if versions and crd.partition(".")[2] not in stale
        }
        answer = None if failing else observations.DiscoveryResult(served, stale)
        self.store.record_discovery(answer, failing or "", now=self.now)

    # ------------------------------------------------------------ results

    @property
    def announced(self) -> list[str]:
        """
        The Events as a story pins them: the time since its start, then type, reason, object and message.
        """
        return [f"{since_start(r.last_timestamp)} {_line(r)}" for r in self.writes]

    @property
    def notes(self) -> list[str]:
        """
        The advice of all findings at this moment, sorted; it is no trouble and never announced.
        """
        return sorted(note for notes in self.evaluation.notes.values() for note in notes)


def _health_events(replay: StoryReplay, flags: Mapping[str, str]) -> ReplayedStore | None:
    if flags["store"] == "none":
        return None
    limits = StoreLimits(
        int(flags["store-max-per-node"]),
        int(flags["store-max"]),
        _seconds(flags["store-retention-seconds"]),
    )
    return ReplayedStore(replay, limits)


def _seconds(flag: str) -> timedelta:
    return timedelta(seconds=float(flag))


def _line(record: EventRecord) -> str:
    about = f"{record.involved_object.kind}/{record.involved_object.name}"
    return f"{record.type} {record.key.reason} {about}: {record.message}"
