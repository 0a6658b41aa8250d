"""
The replay of a case file on the pure core: a stack, its changes, and the time of each
announcement.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from reporter.model.enums import DetailSource
from reporter.model.event_record import EventRecord
from reporter.model.kinds.productionstack.health_event_writes import StoreLimits
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching, WatchLost
from reporter.runtime.inputs.permissions import kinds_to_watch
from reporter.runtime.inputs.scrape_config import find_scrapes
from reporter.settings.parsers import choice_set_parser
from reporter.stages.evaluation.evaluation import EvaluationSettings
from reporter.stages.pipeline import Evaluator
from reporter.stages.probes import PROBES
from reporter.stages.probes.specs import SPECS
from reporter.stages.rollup.document import StatusView
from reporter.stages.rollup.fold import fold
from reporter.stages.rollup.records import RollUp
from reporter.stages.rollup.rules import RollUpInput, RollUpRules
from reporter.stages.snapshot.subjects import ALL_LAYERS
from reporter.stages.store.samples import SampleStore
from reporter.stages.store.store import Store
from tests.support.builders import LONG_AGO, NOON
from tests.support.cases.case_catalogue import case_catalogue
from tests.support.cases.expectations import since_start
from tests.support.cases.healthy_stack import HEALTHY_STACK
from tests.support.cases.metrics_pages import MetricsPages
from tests.support.cases.objects import CaseObjects, healthy_pods
from tests.support.cases.statuses import status_lines
from tests.support.cases.syntax import apply_merge_patch, parse_duration
from tests.support.catalogue_fixture import DEFAULT_FLAGS
from tests.support.health_events import StoreReplay
from tests.support.replay import Replay


KEYS = frozenset(
    {
        "why",
        "of",
        "flags",
        "overlay",
        "given",
        "story",
        "announced",
        "status",
        "until",
        "notes",
        "real",
    }
)
STEP = frozenset(
    {"at", "what", "change", "pages", "crds", "discovery", "watch", "restart", "clock"}
)
OBSERVE_AFTER_LAST_STEP = timedelta(minutes=15)
DISCOVERY_INTERVAL, CONFIRM_INTERVAL = timedelta(seconds=30), timedelta(seconds=11)


class CaseReplay(Replay):
    """
    A replay whose time starts with the process. Heartbeats are left out.
    """

    def __init__(self, case: Mapping) -> None:
        assert case.keys() <= KEYS, f"unknown: {', '.join(case.keys() - KEYS)}"
        unknown = case.get("flags", {}).keys() - DEFAULT_FLAGS.keys()
        assert not unknown, f"no such flag: {', '.join(unknown)}"
        self.case, self.world = case, CaseObjects()
        self.crds = dict(HEALTHY_STACK["crds"])
        self.discovery: Mapping = {}
        self.rollup = RollUp()
        self.statuses: dict[str, Mapping[str, str]] = {}
        self._jumped = timedelta(0)
        super().__init__(case_catalogue(case), EvaluationSettings(heartbeat=timedelta(days=2)))

    def __post_init__(self):
        flags = {**DEFAULT_FLAGS, **self.case.get("flags", {})}
        self.rollup_rules = RollUpRules(self.catalogue, flags, self.settings.delays.grace)
        self._status_at = [NOON + parse_duration(at) for at in self.case.get("status") or {}]
        self.evaluator = Evaluator(self.catalogue, PROBES, flags, self.settings)
        self.subjects = ALL_LAYERS
        self._kinds = kinds_to_watch(
            self.catalogue, SPECS, choice_set_parser(DetailSource)(flags["sources"])
        )
        self._scrapes = find_scrapes(self.catalogue, SPECS, flags)
        self.store = self._empty()
        self.pages = MetricsPages(flags["weight-download-metric"], self._scrapes)
        self._interval = _seconds(flags["scrape-interval-seconds"])
        self._sample_at = NOON + self._interval
        given = self.case.get("given", {})
        stack = apply_merge_patch(HEALTHY_STACK["objects"], given.get("change", {}))
        self._change({**stack, **_healthy_pods_of(stack)}, now=LONG_AGO)
        self._apply({**given, "change": {}})
        self._look_at = NOON
        self.health_events = _health_events(self, flags)
        self._discover()

    def _empty(self) -> Store:
        store = Store(self._kinds, HEALTHY_STACK["crds"], SampleStore(self._scrapes))
        for kind in self._kinds:
            store.set_watch_state(kind, Watching())
        return store

    def run(self) -> "CaseReplay":
        for step in self.case["story"]:
            assert step.keys() <= STEP, f"unknown: {', '.join(step.keys() - STEP)}"
            self._advance_until(NOON + parse_duration(step["at"]) + self._jumped)
            self._apply(step)
            self.run_pass()
        last = parse_duration(self.case["story"][-1]["at"]) if self.case["story"] else timedelta(0)
        until = self.case.get("until")
        span = parse_duration(until) if until else last + OBSERVE_AFTER_LAST_STEP
        self._advance_until(NOON + span + self._jumped)
        if self.now in self._status_at:
            self._note_status()
        return self

    def run_pass(self) -> "CaseReplay":
        super().run_pass()
        self._keep_episodes()
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
        Return what the last pass hands to the roll-up; every pass of a case looks at all subjects.
        """
        episodes = self.announcement_state.episodes.items()
        return RollUpInput(
            self.evaluation,
            self.store.snapshot(),
            looked_at=self.evaluation.subjects,
            dirty=self.store.take_dirty(),
            now=self.now,
            episodes={key: each.event.episode_start for key, each in episodes},
        )

    def restart(self, *, back_after: float = 0.0) -> "CaseReplay":
        self.rollup = RollUp()
        super().restart(back_after=back_after)
        return self

    def _advance_until(self, end: datetime) -> None:
        """
        Advance to the end, and note the status at each time that the case pins.
        """
        for moment in sorted(self._status_at):
            if self.now <= moment < end:
                self._advance_without_status(moment)
                self._note_status()
        self._advance_without_status(end)

    def _note_status(self) -> None:
        view = StatusView(self.rollup, self.rollup_rules, now=self.now)
        self.statuses[since_start(self.now)] = status_lines(view)

    def _advance_without_status(self, end: datetime) -> None:
        """
        Advance to the end. A sample due at the end is taken after the change of the next step.
        """
        while self._look_at <= end or self._sample_at < end:
            self.advance_to_change(min(self._look_at, self._sample_at))
            if self._look_at <= self._sample_at:
                self._discover()
            else:
                self._scrape_pages()
        self.advance(max(end - self.now, timedelta(0)))

    def _scrape_pages(self) -> None:
        self._sample_at += self._interval
        if self.pages.words:
            self.pages.scrape_into(self.store, now=self.now)
            self.run_pass()

    def _jump(self, text: str) -> None:
        """
        Set the clock forward or back; what is due by it happens when it would have.
        """
        span = parse_duration(text.removeprefix("-")) * (-1 if text.startswith("-") else 1)
        self._jumped += span
        self.now += span
        self._look_at += span
        self._sample_at += span

    def _apply(self, step: Mapping) -> None:
        if "clock" in step:
            self._jump(step["clock"])
        self._change(step.get("change", {}), now=self.now)
        self.pages.change(step.get("pages", {}), now=self.now)
        self.crds |= step.get("crds", {})
        self.discovery = step.get("discovery", self.discovery)
        for resource, how in step.get("watch", {}).items():
            sight = {
                "open": Watching(),
                "lost": WatchLost(self.now, "connection lost"),
                "forbidden": NotSynced("forbidden"),
                "unserved": NotServed(),
            }[how]
            self.store.set_watch_state(
                next(k for k in self.store.kinds if k.resource == resource), sight
            )
        if "restart" in step:
            self._restart_store()
            self.restart(back_after=parse_duration(step["restart"]).total_seconds())

    def _restart_store(self) -> None:
        """
        Restart with an empty store: the objects as they are, without the earlier observations of
        them.
        """
        before, self.store = self.store.snapshot(), self._empty()
        for kind in self._kinds:
            self.store.set_watch_state(kind, before.tables[kind.resource].watch_state)
            for each in before.all(kind):
                self.store.upsert(kind, each)
        self._record_discovery()

    def _change(self, changes: Mapping, *, now: datetime) -> None:
        for address, made in self.world.change(changes, now=now):
            if address.kind not in self.store.kinds:
                continue  # of a source that is switched off
            if made is None:
                self.store.delete(address.kind, address.namespace, address.name)
            else:
                self.store.upsert(address.kind, made)

    def _discover(self) -> None:
        """
        Run discovery once; the next run is due sooner if a loss needs a second answer.
        """
        self._record_discovery()
        self._look_at += (
            CONFIRM_INTERVAL if self.store.has_unconfirmed_loss else DISCOVERY_INTERVAL
        )
        self.run_pass()

    def _record_discovery(self) -> None:
        failing = self.discovery.get("failing")
        stale = frozenset(self.discovery.get("stale", ()))
        served = {
            crd: tuple(versions)
            for crd, versions in self.crds.items()
            if versions and crd.partition(".")[2] not in stale
        }
        answer = None if failing else DiscoveryResult(served, stale)
        self.store.record_discovery(answer, failing or "", now=self.now)

    # ------------------------------------------------------------ what came of it

    @property
    def announced(self) -> list[str]:
        return [f"{since_start(r.last_timestamp)} {_line(r)}" for r in self.writes]

    @property
    def notes(self) -> list[str]:
        return sorted(note for notes in self.evaluation.notes.values() for note in notes)


def _health_events(replay: CaseReplay, flags: Mapping[str, str]) -> StoreReplay | None:
    if flags["store"] == "none":
        return None
    limits = StoreLimits(
        int(flags["store-max-per-node"]),
        int(flags["store-max"]),
        _seconds(flags["store-retention-seconds"]),
    )
    return StoreReplay(replay, limits)


def _seconds(flag: str) -> timedelta:
    return timedelta(seconds=float(flag))


def _healthy_pods_of(stack: Mapping) -> Mapping:
    pods = healthy_pods(stack.items())
    return {text: apply_merge_patch(words, stack.get(text, {})) for text, words in pods.items()}


def _line(record: EventRecord) -> str:
    about = f"{record.involved_object.kind}/{record.involved_object.name}"
    return f"{record.type} {record.key.reason} {about}: {record.message}"
