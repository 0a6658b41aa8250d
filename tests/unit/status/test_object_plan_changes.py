"""A plan looks only at the objects that may be due at another time, and misses none of them."""

import asyncio
from collections.abc import Callable, Container
from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reporter.hub.document import FleetView
from reporter.hub.fold import fold
from reporter.hub.objects import ClusterStatuses
from reporter.hub.query_results import Answers
from reporter.hub.records import Fleet, FleetRules, members_of
from reporter.kinds.productionstack import PRODUCTION_STACK_CLUSTERS, ProductionStackCluster
from reporter.kube.errors import Conflict, KubeError, Unreachable
from reporter.kube.leader_writer import Attempt, DueWrites
from reporter.model.observations import NotSynced, Watching
from reporter.model.states import State
from reporter.process.subscribers import Subscribers
from reporter.status.object_plan import StatusObjectPlan, StatusWrite
from reporter.store.written_objects import WrittenObjectStore
from reporter.stories.format import apply_merge_patch
from tests.support.fleet.rounds import MAX_AGE, a_cluster, answers_of
from tests.support.fleet.series import NOON, SourceSeries


KIND = PRODUCTION_STACK_CLUSTERS
NAMESPACE = "hub"


class CountingStatuses(ClusterStatuses):
    """*looked*: the names of the objects that were looked at."""

    def __init__(self, rules: FleetRules) -> None:
        super().__init__(rules)
        self.looked: list[str] = []

    def basis(self, found, view, *, now):
        self.looked.append(found.metadata.name)
        return super().basis(found, view, now=now)


class HubOfClusters:
    """A hub at NOON and later, with an object and a source for each of some clusters."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.rules, self.seconds = names, FleetRules(), 0.0
        self.fleet = Fleet()
        self.answered_at: datetime | None = None
        self.failed: set[str] = set()
        self.changes: Subscribers[[]] = Subscribers()
        self.objects = WrittenObjectStore(ProductionStackCluster, lambda _: "v1alpha1")
        self.objects.set_watch_state(KIND, Watching())
        for name in names:
            self.objects.upsert(KIND, a_cluster(name))
        self.statuses = CountingStatuses(self.rules)
        self.plan = self.new_plan()

    def new_plan(self) -> StatusObjectPlan[ProductionStackCluster, FleetView]:
        return StatusObjectPlan(
            self.objects, self, self.statuses, kind=KIND, count_write=lambda _: None
        )

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(NOON + self.seconds, UTC)

    def view(self) -> FleetView:
        return FleetView(self.fleet, self.rules, self.seconds, self.answered_at)

    def find_due(self, plan: StatusObjectPlan | None = None) -> DueWrites:
        self.statuses.looked.clear()
        return asyncio.run((plan or self.plan).find_due(now=self.now))

    # ------------------------------------------------------------ what happens

    def round(self) -> None:
        """Play a round in which each source has evaluated anew."""
        sources = [
            SourceSeries(
                label=name,
                uid=f"uid-{name}",
                evaluated=NOON + self.seconds,
                states=(State.FAILED if name in self.failed else State.CURRENT,),
            )
            for name in self.names
        ]
        self.answered_at = self.now
        self._fold(answers_of(sources, time=NOON + self.seconds))

    def round_without_answer(self) -> None:
        self._fold(Answers())

    def _fold(self, answers: Answers) -> None:
        objects = self.objects.objects.values()
        known = self.fleet.clusters
        members = members_of(objects, known, now=self.seconds, wall_time=self.now, max_age=MAX_AGE)
        self.fleet = fold(self.fleet, members, answers, now=self.seconds, rules=self.rules)

    def settle(self) -> None:
        """Play the rounds after which each cluster is known, and write all."""
        for _ in range(2):
            self.round()
            self.seconds += 1
        for _ in self.names:
            self.write_first()
        assert not self.find_due().waiting

    def found(self, name: str) -> ProductionStackCluster | None:
        return self.objects.objects.get((NAMESPACE, name))

    def change(self, name: str, **changes) -> None:
        """Change what the watch shows of an object, if there is one."""
        found = self.found(name)
        if found is not None:
            self.objects.upsert(KIND, msgspec.structs.replace(found, **changes))

    def write_first(self, err: KubeError | None = None) -> str | None:
        """Write the most important object, or fail with *err*; returns its name."""
        name = next(iter(self.find_due().waiting), None)
        if name is None:
            return None
        write = self.plan.render(name, now=self.now)
        if isinstance(write, StatusWrite):
            attempt = Attempt(name, write, 0, self.now)
            if err is not None:
                self.plan.failed(attempt, err)
            else:
                status = apply_merge_patch(write.found.status or {}, write.patch["status"])
                self.plan.written(attempt, msgspec.structs.replace(write.found, status=status))
        self.plan.finished(name)
        return name[1]


def many(number: int) -> HubOfClusters:
    hub = HubOfClusters([f"c{each:03}" for each in range(number)])
    hub.settle()
    hub.find_due()
    return hub


# ---------------------------------------------------------------- few are looked at


def test_nothing_is_looked_at_while_nothing_changes():
    hub = many(100)
    assert (hub.find_due().waiting, hub.statuses.looked) == ({}, [])


def test_only_what_changed_is_looked_at():
    hub = many(100)
    hub.change("c042", status={"state": "Failed"})
    assert list(hub.find_due().waiting) == [(NAMESPACE, "c042")]
    assert hub.statuses.looked == ["c042"]
    hub.objects.delete(KIND, NAMESPACE, "c042")
    assert (hub.find_due().waiting, hub.statuses.looked) == ({}, [])


def test_only_what_was_written_or_failed_is_looked_at_while_others_are_due():
    hub = many(100)
    hub.failed = set(hub.names)
    hub.seconds += 30
    hub.round()
    assert (len(hub.find_due().waiting), len(hub.statuses.looked)) == (100, 100)
    assert hub.write_first() == "c000"
    assert (len(hub.find_due().waiting), hub.statuses.looked) == (99, ["c000"])
    assert hub.write_first(Unreachable("patch")) == "c001"
    assert (len(hub.find_due().waiting), hub.statuses.looked) == (99, ["c001"])


def test_only_what_is_to_be_renewed_is_looked_at():
    hub = many(100)
    hub.seconds += 100
    hub.round()
    hub.change("c042", status={})
    assert hub.write_first() == "c042"
    hub.seconds += 100
    hub.round()
    for due, looked in ((99, 99), (100, 1)):
        deadline = hub.find_due().deadline
        assert deadline is not None
        hub.seconds = deadline.timestamp() - NOON
        assert (len(hub.find_due().waiting), len(hub.statuses.looked)) == (due, looked)
    assert hub.statuses.looked == ["c042"]


def test_all_are_looked_at_once_after_a_round():
    hub = many(100)
    hub.seconds += 30
    hub.round()
    hub.find_due()
    assert len(hub.statuses.looked) == 100
    hub.find_due()
    assert hub.statuses.looked == []


def test_a_plan_that_was_not_finished_is_made_again():
    hub = many(100)
    hub.seconds += 200
    hub.round()
    assert not hub.find_due().waiting
    hub.seconds += 200
    hub.statuses.looked.clear()

    async def cancelled() -> None:
        planning = asyncio.create_task(hub.plan.find_due(now=hub.now))
        await asyncio.sleep(0)
        planning.cancel()
        await asyncio.wait([planning])
        assert planning.cancelled()

    asyncio.run(cancelled())
    assert 0 < len(hub.statuses.looked) < 100
    assert len(hub.find_due().waiting) == 100


def test_a_write_that_ends_during_a_plan_is_not_due_again_in_it():
    hub = many(100)
    hub.failed = set(hub.names)
    hub.seconds += 30
    hub.round()
    first = (NAMESPACE, "c000")

    async def planned() -> Container[object]:
        planning = asyncio.create_task(hub.plan.find_due(now=hub.now))
        await asyncio.sleep(0)
        assert "c000" in hub.statuses.looked
        hub.plan.finished(first)
        return (await planning).waiting

    assert first not in asyncio.run(planned())
    assert first in hub.find_due().waiting


def test_one_object_more_changes_the_interval_of_all_only_with_others():
    hub = many(300)
    hub.statuses.spacing = timedelta(seconds=2)
    hub.find_due()
    for number, looked in ((1, 1), (2, 1), (3, 1), (4, 304)):
        hub.objects.upsert(KIND, a_cluster(f"new{number}"))
        hub.find_due()
        assert len(hub.statuses.looked) == looked


def test_an_object_that_changed_often_is_looked_at_once_when_its_time_comes():
    hub = many(1)
    hub.seconds += 400  # without a newer evaluation its renewal is looked at again and again
    for number in range(9):
        meta = msgspec.structs.replace(hub.found("c000").metadata, labels={"number": str(number)})
        hub.change("c000", metadata=meta)
        assert (hub.find_due().waiting, hub.statuses.looked) == ({}, ["c000"])
        hub.seconds += 1
    looked = 0
    for _ in range(61):
        hub.find_due()
        looked += len(hub.statuses.looked)
        hub.seconds += 1
    assert looked == 2


def test_changes_are_written_in_the_order_of_their_names_whenever_they_were_noticed():
    hub = many(9)
    for name in ("c007", "c003", "c005"):
        hub.change(name, status={"state": "Failed"})
        hub.find_due()
        hub.seconds += 1
    waiting = hub.find_due().waiting
    assert [name for _, name in waiting] == ["c003", "c005", "c007"]
    assert set(waiting.values()) == {hub.now}


def test_a_conflict_waits_for_the_watch_or_for_a_pause():
    hub = many(9)
    hub.change("c003", status={"state": "Failed"})
    assert hub.write_first(Conflict("patch", status=409)) == "c003"
    assert hub.find_due().waiting[NAMESPACE, "c003"] > hub.now
    hub.change("c003", status={"state": "Unknown"})
    assert hub.find_due().waiting[NAMESPACE, "c003"] == hub.now


def test_times_of_a_clock_that_was_set_back_are_forgotten():
    hub = many(1)
    deadline = hub.find_due().deadline
    hub.seconds += 3600
    hub.find_due()
    hub.seconds -= 3600
    assert hub.find_due().deadline == deadline


# ---------------------------------------------------------------- none is missed


NAMES = ["a", "b", "c", "d"]


def _fail_or_recover(hub: HubOfClusters, name: str) -> None:
    hub.failed ^= {name}
    hub.round()


def _recreate(hub: HubOfClusters, name: str) -> None:
    hub.objects.delete(KIND, NAMESPACE, name)
    hub.objects.upsert(KIND, a_cluster(name))


def _lose_watch(hub: HubOfClusters, name: str) -> None:
    hub.objects.set_watch_state(KIND, NotSynced())
    hub.find_due()
    hub.objects.set_watch_state(KIND, Watching())


def _tell_text(hub: HubOfClusters, name: str) -> None:
    found = hub.found(name)
    if found is not None and found.status and found.status.get("conditions"):
        first, *rest = found.status["conditions"]
        hub.change(name, status={**found.status, "conditions": [{**first, "message": "x"}, *rest]})


def _wait(seconds: float) -> Callable[[HubOfClusters, str], None]:
    def wait(hub: HubOfClusters, name: str) -> None:
        hub.seconds += seconds

    return wait


EVENTS: dict[str, Callable[[HubOfClusters, str], object]] = {
    "round": lambda hub, _: hub.round(),
    "round without answer": lambda hub, _: hub.round_without_answer(),
    "fail or recover": _fail_or_recover,
    "wait": _wait(0.2),
    "wait until texts are due": _wait(61),
    "wait until times are due": _wait(290),
    "set the clock back": _wait(-10),
    "write": lambda hub, _: hub.write_first(),
    "conflict": lambda hub, _: hub.write_first(Conflict("patch", status=409)),
    "refuse": lambda hub, _: hub.write_first(Unreachable("patch")),
    "change status": lambda hub, name: hub.change(name, status={"state": "Failed"}),
    "change text": _tell_text,
    "delete": lambda hub, name: hub.objects.delete(KIND, NAMESPACE, name),
    "create": lambda hub, name: hub.objects.upsert(KIND, a_cluster(name)),
    "create with another label": lambda hub, name: hub.objects.upsert(
        KIND, a_cluster(name, label="a", generation=2)
    ),
    "recreate": _recreate,
    "undecodable": lambda hub, name: hub.objects.mark_undecodable(KIND, NAMESPACE, name, None),
    "lose the watch": _lose_watch,
    "stand down": lambda hub, _: hub.plan.stand_down(),
}


@given(st.lists(st.tuples(st.sampled_from(sorted(EVENTS)), st.sampled_from(NAMES)), max_size=30))
def test_what_is_due_is_what_a_look_at_all_objects_finds(events):
    hub = HubOfClusters(NAMES)
    hub.statuses.spacing = timedelta(minutes=2)  # so that each object counts
    hub.settle()
    for what, name in events:
        EVENTS[what](hub, name)
        due, all_due = hub.find_due(), hub.find_due(hub.new_plan())
        assert list(due.waiting) == list(all_due.waiting), what
        if all_due.deadline is not None:
            assert due.deadline is not None
            assert due.deadline <= all_due.deadline


def test_changes_precede_renewals_and_the_longest_overdue_its_kind():
    hub = HubOfClusters(["a", "b", "c", "d", "e"])
    hub.settle()
    hub.seconds += 400
    hub.round()
    hub.change("d", status={})
    assert hub.write_first() == "d"
    hub.seconds += 400
    hub.failed = {"e", "b"}
    hub.round()
    names = [name for _, name in hub.find_due().waiting]
    assert names == ["b", "e", "a", "c", "d"]
    now, earlier = hub.now, timedelta(seconds=1)
    assert hub.find_due().waiting[NAMESPACE, "b"] == now
    assert hub.find_due().waiting[NAMESPACE, "d"] < now - earlier
