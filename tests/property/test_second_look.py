"""
A second look stays within its budget, takes the earliest deadline first, and finds what a watch has missed.
"""

from bisect import bisect_left
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from reporter.controller.reread_contents import Cache, Reading, WatchProgress
from reporter.controller.reread_schedule import (
    CONFIRM_AFTER,
    MINUTE,
    READS_PER_MINUTE,
    RELIST_INTERVAL,
    SPACING,
    RereadState,
    begin_read,
    finish_read,
    next_read,
    reread_interval,
    track,
)
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import PODS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.objects import ApiObject
from reporter.model.verdicts import ObjectRef
from tests.support.builders import NOON, a_deployment, a_pod, a_store


RUN = timedelta(minutes=12)
TICK = timedelta(seconds=5)
"""Least time between two updates of the waiting objects between looks."""


class World:
    """
    Objects in the API server and in a cache behind a watch that swallows changes.

    Each object waits until its content is *done*.
    """

    def __init__(self, ages: list[int]) -> None:
        self.server: dict[ObjectRef, ApiObject] = {}
        self.store, self.now, self.state = a_store(), NOON, RereadState()
        self.looks: list[tuple[datetime, ObjectRef, timedelta]] = []
        self.relists: list[tuple[datetime, str]] = []
        self.missed_since: dict[ObjectRef, datetime] = {}
        self.healed_after: list[tuple[timedelta, timedelta]] = []
        for number, age in enumerate(ages):
            self.put(number, version=0, age=age)

    def put(self, number: int, version: int, *, age: int = 0, is_swallowed: bool = False) -> None:
        kind = PODS if number % 2 else DEPLOYMENTS
        ref = ObjectRef(kind.group_resource, "kaito-system", f"o{number}")
        old = self.server.get(ref)
        born = old.metadata.creation_timestamp if old else self.now - timedelta(seconds=age)
        new = (
            a_pod(ref.name, restarts=version, created_at=born)
            if kind is PODS
            else a_deployment(ref.name, replicas=version, created_at=born)
        )
        self.server[ref] = new
        if not is_swallowed:
            self.store.upsert(kind, new)
            self.missed_since.pop(ref, None)
        else:
            self.missed_since.setdefault(ref, self.now)

    def cache(self) -> Cache:
        return Cache(DEFAULT_KINDS, self.store.snapshot())

    def track(self) -> None:
        self.state = track(self.state, self.server, self.cache(), now=self.now)

    def advance(self, until: datetime) -> None:
        while True:
            self.track()
            look = next_read(self.state, now=self.now)
            wake = min(self.now + TICK, until)
            if look is None or look.at > wake:
                if wake == until:
                    self.now = until
                    return
                self.now = wake
                continue
            self.now = look.at
            self.look(look.ref)

    def look(self, ref: ObjectRef) -> None:
        waiting, doubted = self.state.tracked, ref in self.state.mismatches
        if not doubted:
            assert waiting[ref].due == min(
                each.due for other, each in waiting.items() if other not in self.state.mismatches
            )
            assert self.now >= waiting[ref].last + reread_interval(
                waiting[ref].last - waiting[ref].born
            )
        self.looks.append((self.now, ref, waiting[ref].interval))
        self.state = begin_read(self.state, ref, now=self.now)
        kind = PODS if ref.resource == "pods" else DEPLOYMENTS
        content = self.cache().content(kind, ref)
        self.state, missed = finish_read(
            self.state, ref, Reading(self.server[ref]), content, WatchProgress(), now=self.now
        )
        if missed:
            assert ref in self.missed_since, "a delivered change counts as missed"
            self.relist(kind)

    def relist(self, kind) -> None:
        self.relists.append((self.now, kind.group_resource))
        objects = {r: o for r, o in self.server.items() if r.resource == kind.group_resource}
        self.store.replace(kind, objects.values())
        for ref in objects:
            since = self.missed_since.pop(ref, None)
            if since is not None:
                self.healed_after.append((self.now - since, self.state.tracked[ref].interval))


@st.composite
def changes(draw):
    """
    Changes of some objects: after how many seconds, of which, and whether its line is swallowed.
    """
    one = st.tuples(st.integers(0, 90), st.integers(0, 3), st.sampled_from([False, False, True]))
    return draw(st.lists(one, max_size=12))


@given(st.lists(st.integers(0, 900), min_size=1, max_size=40), changes())
def test_no_minute_has_more_looks_than_the_budget_and_the_earliest_deadline_comes_first(
    ages, steps
):
    world = World(ages)
    play(world, steps)
    times = [at for at, _, _ in world.looks]
    for first, at in enumerate(times):
        assert bisect_left(times, at + MINUTE) - first <= READS_PER_MINUTE
    by_kind: dict[str, datetime] = {}
    for at, kind in world.relists:
        assert kind not in by_kind or at - by_kind[kind] >= RELIST_INTERVAL
        by_kind[kind] = at


@given(st.integers(0, 900), changes())
def test_a_single_object_is_healed_within_its_interval(age, steps):
    world = World([age])
    play(world, [(after, 0, swallowed) for after, _, swallowed in steps])
    world.advance(world.now + RUN)
    assert not world.missed_since
    for took, interval in world.healed_after:
        assert took <= max(interval, RELIST_INTERVAL) + TICK + 2 * SPACING + CONFIRM_AFTER


@given(st.integers(0, 50))
def test_a_young_object_is_healed_within_five_seconds(age):
    world = World([age])
    world.advance(NOON + timedelta(seconds=3))
    world.put(0, version=1, is_swallowed=True)
    world.advance(world.now + timedelta(seconds=5))
    assert not world.missed_since


def play(world: World, steps) -> None:
    for version, (after, number, is_swallowed) in enumerate(steps, start=1):
        world.advance(world.now + timedelta(seconds=after))
        if number < len(world.server):
            world.put(number, version, is_swallowed=is_swallowed)
    world.advance(world.now + TICK)
