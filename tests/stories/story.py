"""
A case file, played on the pure core: a stack, what happens to it, what is announced when.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import yaml

from reporter.model.events import EventRecord
from reporter.model.observations import Discovery, Unlisted, Unserved, Unwatched, Watched
from reporter.model.words import Source
from reporter.runtime.rights import kinds_of
from reporter.settings.values import choices
from reporter.stages.judgement import Terms
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from reporter.stages.probes.specs import SPECS
from reporter.stages.scrapes import Scrapes
from reporter.stages.store import Store
from reporter.stages.subjects import EVERYTHING
from tests.builders import LONG_AGO, NOON
from tests.play import Play
from tests.shipped import CATALOGUE, FLAGS
from tests.stories.pages import Pages
from tests.stories.words import merged, span
from tests.stories.world import World, healthy_pods


CASES = Path(__file__).parents[1] / "cases"
HEALTHY = yaml.safe_load((CASES / "healthy" / "stack.yaml").read_text("utf-8"))
KEYS = frozenset({"why", "of", "flags", "given", "story", "announced", "until", "notes", "real"})
STEP = frozenset({"at", "what", "change", "pages", "crds", "discovery", "watch", "restart"})
AFTERWARDS = timedelta(minutes=15)
DISCOVERY, SECOND_LOOK = timedelta(seconds=30), timedelta(seconds=11)


class Story(Play):
    """
    Time is counted from the start of the process. Heartbeats are left out.
    """

    def __init__(self, case: Mapping) -> None:
        assert case.keys() <= KEYS, f"unknown: {', '.join(case.keys() - KEYS)}"
        unknown = case.get("flags", {}).keys() - FLAGS.keys()
        assert not unknown, f"no such flag: {', '.join(unknown)}"
        self.case, self.world = case, World()
        self.crds = dict(HEALTHY["crds"])
        self.discovery: Mapping = {}
        super().__init__(CATALOGUE, Terms(heartbeat=timedelta(days=2)))

    def __post_init__(self):
        flags = {**FLAGS, **self.case.get("flags", {})}
        self.court = Court(self.catalogue, PROBES, flags, self.terms)
        self.subjects = EVERYTHING
        self._kinds = kinds_of(self.catalogue, SPECS, choices(Source)(flags["sources"]))
        self._window = _seconds(flags["weight-download-window-seconds"])
        self.store = self._empty()
        self.pages = Pages(flags["weight-download-metric"])
        self._interval = _seconds(flags["scrape-interval-seconds"])
        self._sample_at = NOON + self._interval
        given = self.case.get("given", {})
        stack = merged(HEALTHY["objects"], given.get("change", {}))
        self._change({**stack, **_pods_of(stack)}, now=LONG_AGO)
        self._apply({**given, "change": {}})
        self._look_at = NOON
        self._look()

    def _empty(self) -> Store:
        store = Store(self._kinds, HEALTHY["crds"], Scrapes(self._window))
        for kind in self._kinds:
            store.sight(kind, Watched())
        return store

    def play(self) -> "Story":
        for step in self.case["story"]:
            assert step.keys() <= STEP, f"unknown: {', '.join(step.keys() - STEP)}"
            self._until(NOON + span(step["at"]))
            self._apply(step)
            self.step()
        last = span(self.case["story"][-1]["at"]) if self.case["story"] else timedelta(0)
        until = self.case.get("until")
        self._until(NOON + (span(until) if until else last + AFTERWARDS))
        return self

    def _until(self, end: datetime) -> None:
        """
        A sample that is due at the end shows what the next step makes of the page.
        """
        while self._look_at <= end or self._sample_at < end:
            self.after(max(min(self._look_at, self._sample_at) - self.now, timedelta(0)))
            if self._look_at <= self._sample_at:
                self._look()
            else:
                self._sample()
        self.after(max(end - self.now, timedelta(0)))

    def _sample(self) -> None:
        self._sample_at += self._interval
        if self.pages.said:
            self.pages.read(self.store, now=self.now)
            self.step()

    def _apply(self, step: Mapping) -> None:
        self._change(step.get("change", {}), now=self.now)
        self.pages.change(step.get("pages", {}), now=self.now)
        self.crds |= step.get("crds", {})
        self.discovery = step.get("discovery", self.discovery)
        for resource, how in step.get("watch", {}).items():
            sight = {
                "open": Watched(),
                "lost": Unwatched(self.now, "connection lost"),
                "forbidden": Unlisted("forbidden"),
                "unserved": Unserved(),
            }[how]
            self.store.sight(next(k for k in self.store.kinds if k.resource == resource), sight)
        if "restart" in step:
            self._forget()
            self.restart(back_after=span(step["restart"]).total_seconds())

    def _forget(self) -> None:
        """
        What a new process finds: the objects as they are, without all that was seen of them.
        """
        before, self.store = self.store.view(), self._empty()
        for kind in self._kinds:
            self.store.sight(kind, before.tables[kind.resource].sight)
            for each in before.all(kind):
                self.store.put(kind, each)
        self._ask()

    def _change(self, changes: Mapping, *, now: datetime) -> None:
        for address, made in self.world.change(changes, now=now):
            if address.kind not in self.store.kinds:
                continue  # of a source that is switched off
            if made is None:
                self.store.drop(address.kind, address.namespace, address.name)
            else:
                self.store.put(address.kind, made)

    def _look(self) -> None:
        """
        One answer of discovery; the next is due sooner if a loss needs a second one.
        """
        self._ask()
        self._look_at += SECOND_LOOK if self.store.doubting else DISCOVERY
        self.step()

    def _ask(self) -> None:
        failing = self.discovery.get("failing")
        stale = frozenset(self.discovery.get("stale", ()))
        served = {
            crd: tuple(versions)
            for crd, versions in self.crds.items()
            if versions and crd.partition(".")[2] not in stale
        }
        answer = None if failing else Discovery(served, stale)
        self.store.discovered(answer, failing or "", now=self.now)

    # ------------------------------------------------------------ what came of it

    @property
    def announced(self) -> list[str]:
        return [f"{_since_start(r.last)} {_line(r)}" for r in self.written]

    @property
    def notes(self) -> list[str]:
        return sorted(note for notes in self.judged.notes.values() for note in notes)


def _seconds(flag: str) -> timedelta:
    return timedelta(seconds=float(flag))


def _pods_of(stack: Mapping) -> Mapping:
    said = healthy_pods(stack.items())
    return {text: merged(words, stack.get(text, {})) for text, words in said.items()}


def _since_start(moment: datetime) -> str:
    left = round((moment - NOON).total_seconds())
    parts = (left // 3600, "h"), (left % 3600 // 60, "m"), (left % 60, "s")
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


def _line(record: EventRecord) -> str:
    about = f"{record.involved.kind}/{record.involved.name}"
    return f"{record.type} {record.key.reason} {about}: {record.message}"


def told(case: Mapping) -> list[tuple[timedelta, str]]:
    """
    What a case says is announced, and when, since the start.
    """
    return [
        (span(at), line)
        for at, lines in (case.get("announced") or {}).items()
        for line in ([lines] if isinstance(lines, str) else lines)
    ]


def expected(case: Mapping) -> list[str]:
    """
    The same as lines with their time.
    """
    return [f"{_since_start(NOON + at)} {line}" for at, line in told(case)]


def says(line: str, expected_: str) -> bool:
    """
    Whether it is the expected line; one that ends in … is its beginning.
    """
    if expected_.endswith("…"):
        return line.startswith(expected_.removesuffix("…"))
    return line == expected_
