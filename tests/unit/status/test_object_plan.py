"""
An object is looked at again if what it is about has changed, and written again if its status has.
"""

from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from reporter.kinds.productionstack import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)
from reporter.kube.decoding import Json
from reporter.kube.leader_writer import AfterTry, Attempt
from reporter.model.enums import Layer
from reporter.model.observations import Watching
from reporter.model.states import State
from reporter.model.subjects import Subject
from reporter.process.subscribers import Subscribers
from reporter.rollup.desired import GENERATION_SETTLE
from reporter.rollup.document import StatusView
from reporter.status.object_plan import StatusObjectPlan, StatusWrite
from reporter.status.stack_statuses import StackStatuses
from reporter.store.written_objects import WrittenObjectStore
from tests.support.builders import NOON
from tests.support.status_objects import a_status_object, stack_without_pages


NAME = ("team-m", "package")
RESYNC = timedelta(minutes=20)


class Looking:
    """The looks of one process at one object, long after it was made."""

    def __init__(self, found) -> None:
        replay = stack_without_pages()
        self.rollup, self.rules = replay.rollup, replay.rollup_rules
        self.changes: Subscribers[[]] = Subscribers()
        self.objects = WrittenObjectStore(ProductionStackStatus, lambda _: "v1alpha1")
        self.objects.set_watch_state(PRODUCTION_STACK_STATUSES, Watching())
        self.show(found)
        self.plan = StatusObjectPlan(
            self.objects,
            self,
            StackStatuses("kaito-system", resync=RESYNC),
            kind=PRODUCTION_STACK_STATUSES,
            count_write=lambda _: None,
        )
        self.render(now=NOON - GENERATION_SETTLE)

    def view(self) -> StatusView:
        return StatusView(self.rollup, self.rules, now=NOON)

    def show(self, found) -> None:
        self.objects.upsert(PRODUCTION_STACK_STATUSES, found)

    def render(self, now=NOON) -> StatusWrite | AfterTry:
        return self.plan.render(NAME, now=now)

    def look(self) -> Json:
        """Return the status that the object is to have at noon."""
        write = self.render()
        assert isinstance(write, StatusWrite)
        return write.desired

    def written(self, after) -> None:
        """Write the status; the API server answers with the object *after* it."""
        self.plan.written(Attempt(NAME, self.render(), 0, NOON), after)

    async def is_due(self, found) -> bool:
        """Return whether anything is to be written to the object now, as it is in the cluster."""
        self.show(found)
        return NAME in (await self.plan.find_due(now=NOON)).waiting


def held(desired: Json, **changes):
    """Return the object with a status, evaluated just now."""
    status = {**desired, "lastEvaluationTime": NOON.isoformat(), **changes}
    return a_status_object(status=status)


def test_nothing_is_made_again_while_nothing_changes():
    looking = Looking(a_status_object())
    assert looking.look() is looking.look()


def test_another_namespace_does_not_matter():
    looking = Looking(a_status_object())
    before, rollup = looking.look(), looking.rollup
    other = {**rollup.namespaces, "team-a": msgspec.structs.replace(
        rollup.namespaces["team-a"], revision=99
    )}  # fmt: skip
    looking.rollup = replace(rollup, namespaces=other, revision=99)
    assert looking.look() is before


def test_what_cannot_be_listed_any_longer_is_looked_at_again():
    """
    A namespace whose InferenceSets are all missing keeps its record when their layer becomes unknown.
    """
    missing = {"observedGeneration": 1, "state": "NotFound"}
    looking = Looking(a_status_object(inferenceSets=["phi"], status=missing))
    assert looking.look()["state"] == State.NOT_FOUND
    rollup = looking.rollup
    known = replace(
        rollup.evaluation.known_subjects, unknown={Subject(Layer.MODELDEPLOYMENT): "may not list"}
    )
    looking.rollup = replace(rollup, evaluation=replace(rollup.evaluation, known_subjects=known))
    assert looking.look()["state"] == State.UNKNOWN


async def test_a_status_that_is_not_there_is_written_and_one_that_is_not():
    looking = Looking(a_status_object())
    desired = looking.look()
    assert await looking.is_due(a_status_object())
    assert not await looking.is_due(held(desired))
    assert await looking.is_due(held(desired, state="Failed"))


async def test_what_the_crd_drops_is_not_written_again_until_something_changes(caplog):
    looking = Looking(a_status_object())
    desired = looking.look()
    pruned = {key: value for key, value in desired.items() if key != "inferenceSets"}
    looking.written(held(desired))
    assert not caplog.records
    looking.written(held(pruned))
    assert "drops a part" in caplog.text
    assert not await looking.is_due(held(pruned))
    assert await looking.is_due(held(pruned, state="Failed"))


def test_a_status_outlives_two_resyncs():
    write = Looking(a_status_object()).render()
    status = write.patch["status"]
    evaluated, expires = (
        datetime.fromisoformat(status[key]) for key in ("lastEvaluationTime", "expirationTime")
    )
    assert expires - evaluated > 2 * RESYNC
