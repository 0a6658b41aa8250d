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
from reporter.model.enums import Layer
from reporter.model.observations import Watching
from reporter.model.states import State
from reporter.model.subjects import Subject
from reporter.rollup.desired import GENERATION_SETTLE
from reporter.rollup.document import StatusView
from reporter.status.roll_up_patches import RollUpPatches
from reporter.store.written_objects import WrittenObjectStore
from tests.support.builders import NOON
from tests.support.status_objects import a_status_object, stack_without_pages


NAME = ("team-m", "package")
RESYNC = timedelta(minutes=20)


class Looking:
    """The looks of one process at one object, long after it was made."""

    def __init__(self, found) -> None:
        self.replay, self.found = stack_without_pages(), found
        self.objects = WrittenObjectStore(ProductionStackStatus, lambda _: "v1alpha1")
        self.objects.set_watch_state(PRODUCTION_STACK_STATUSES, Watching())
        self.objects.upsert(PRODUCTION_STACK_STATUSES, found)
        self.patches = RollUpPatches(self.objects, self, "kaito-system", resync=RESYNC)
        self.look(after=-GENERATION_SETTLE)

    def view(self) -> StatusView:
        return StatusView(self.replay.rollup, self.replay.rollup_rules, now=NOON)

    def look(self, after=GENERATION_SETTLE * 0, rollup=None):
        rollup = rollup or self.replay.rollup
        view = StatusView(rollup, self.replay.rollup_rules, now=NOON)
        return self.patches.desired_of(NAME, self.found, view, now=NOON + after)

    async def pending(self, found) -> list[bool]:
        """Return for each object that is due now whether only its time is to be renewed."""
        self.found = found
        self.objects.upsert(PRODUCTION_STACK_STATUSES, found)
        pending, _ = await self.patches.find_pending(now=NOON)
        return [each.is_renewal for each in pending if each.due_at <= NOON]


def held(desired: Json, **changes):
    """Return the object with a status, evaluated just now."""
    status = {**desired, "lastEvaluationTime": NOON.isoformat(), **changes}
    return a_status_object(status=status)


def test_nothing_is_computed_again_while_nothing_changes():
    looking = Looking(a_status_object())
    assert looking.look() is looking.look()


def test_another_namespace_does_not_matter():
    looking = Looking(a_status_object())
    before, rollup = looking.look(), looking.replay.rollup
    other = {**rollup.namespaces, "team-a": msgspec.structs.replace(
        rollup.namespaces["team-a"], revision=99
    )}  # fmt: skip
    assert looking.look(rollup=replace(rollup, namespaces=other, revision=99)) is before


def test_what_cannot_be_listed_any_longer_is_looked_at_again():
    """
    A namespace whose InferenceSets are all missing keeps its record when their layer becomes unknown.
    """
    missing = {"observedGeneration": 1, "state": "NotFound"}
    looking = Looking(a_status_object(inferenceSets=["phi"], status=missing))
    assert looking.look().status["state"] == State.NOT_FOUND
    rollup = looking.replay.rollup
    known = replace(
        rollup.evaluation.known_subjects, unknown={Subject(Layer.MODELDEPLOYMENT): "may not list"}
    )
    lost = replace(rollup, evaluation=replace(rollup.evaluation, known_subjects=known))
    assert looking.look(rollup=lost).status["state"] == State.UNKNOWN


async def test_a_status_that_is_not_there_is_written_and_one_that_is_not():
    looking = Looking(a_status_object())
    desired = looking.look().status
    assert await looking.pending(a_status_object()) == [False]
    assert await looking.pending(held(desired)) == []
    assert await looking.pending(held(desired, state="Failed")) == [False]


async def test_what_the_crd_drops_is_not_written_again_until_something_changes():
    looking = Looking(a_status_object())
    desired = looking.look().status
    pruned = {key: value for key, value in desired.items() if key != "inferenceSets"}
    assert looking.patches.written(NAME, held(desired), desired)
    assert not looking.patches.written(NAME, held(pruned), desired)
    assert await looking.pending(held(pruned)) == []
    assert await looking.pending(held(pruned, state="Failed")) == [False]


def test_a_status_outlives_two_resyncs():
    looking = Looking(a_status_object())
    write = looking.patches.make_write(NAME, looking.found, now=NOON)
    status = write.patch["status"]
    evaluated, expires = (
        datetime.fromisoformat(status[key]) for key in ("lastEvaluationTime", "expirationTime")
    )
    assert expires - evaluated > 2 * RESYNC
