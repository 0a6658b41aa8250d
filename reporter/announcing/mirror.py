"""
The Events that are written a second time, beside the InferenceSets or the Gateway that they are about.

They follow the Events in kube-system. None of those waits for them, whether their writes succeed or
not. The Event in kube-system is the announcement. Its mirror has the same reason, message, episode,
count and times, and is about the InferenceSet itself, or the Gateway of the namespace.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from reporter.announcing.announcements import Announcements
from reporter.announcing.eligibility import is_announceable, is_member_announceable, ready_groups
from reporter.announcing.event_writer import EventWriteLog
from reporter.announcing.grouping import member_key
from reporter.announcing.schedule import PublishContext
from reporter.kube.errors import Invalid, KubeError
from reporter.kube.event_record import EventRecord
from reporter.kube.leader_writer import AfterTry, Attempt, DueWrites, WritePlan
from reporter.kube.write_limits import WriteRate
from reporter.model.enums import EventType, Layer
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from reporter.process.subscribers import Subscribers


class MirrorKey(NamedTuple):
    """The Event, and the InferenceSet or harness beside whose object it is written."""

    event: FindingKey
    subject: Subject

    def __str__(self) -> str:
        return f"{self.event} beside {self.subject}"


class MirrorPlan(WritePlan[MirrorKey, EventRecord, EventRecord]):
    """
    The plan of the Events beside InferenceSets and Gateways: the first of each episode before its repeats.

    *involved_for* returns the InferenceSet or Gateway of a subject as involvedObject, None if it is not
    known.
    """

    operation = "write Event of"
    rate = WriteRate(10.0, 50.0, in_flight=4)
    fault = "Events cannot be written beside their InferenceSets"

    def __init__(
        self,
        announcements: Announcements,
        involved_for: Callable[[Subject], InvolvedObject | None],
        log: EventWriteLog,
    ) -> None:
        self._announcements, self._involved_for, self._log = announcements, involved_for, log
        self._first: dict[MirrorKey, EventRecord] = {}
        self._repeats: dict[MirrorKey, EventRecord] = {}
        self._changes: Subscribers[[]] = Subscribers()
        announcements.event_written.subscribe(self._follow)

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """
        Call *on_change* whenever Events were written in kube-system, whose mirrors are due from then on.
        """
        self._changes.subscribe(on_change)

    def _follow(self, record: EventRecord) -> None:
        """Take an Event that was written. A newer one of the same key replaces one that waits."""
        context = self._announcements.publish_context()
        subjects = mirror_subjects(record, context)
        if contradicts_ready(record, context):
            self._forget_ready(subjects)
        for subject in subjects:
            key = MirrorKey(record.key, subject)
            if record.count == 1 or key in self._first:
                self._first[key] = record
                self._repeats.pop(key, None)
            else:
                self._repeats[key] = record
        self._changes.notify()

    def _forget_ready(self, subjects: Collection[Subject]) -> None:
        for key, record in [*self._first.items(), *self._repeats.items()]:
            if key.subject in subjects and record.type is EventType.NORMAL:
                self._forget(key, record)

    def _forget(self, key: MirrorKey, record: EventRecord) -> None:
        """
        Forget a write, unless a newer Event of the key waits by now. *record*: the Event or its mirror.
        """
        for waiting in (self._first, self._repeats):
            found = waiting.get(key)
            if found and replace(found, involved_object=record.involved_object) == record:
                del waiting[key]

    async def find_due(self, *, now: datetime) -> DueWrites[MirrorKey]:
        """Return all mirrors that wait, due at once: the first ones of episodes, then repeats."""
        return DueWrites(dict.fromkeys(chain(self._first, self._repeats), now))

    def render(self, key: MirrorKey, *, now: datetime) -> EventRecord | AfterTry:
        """
        Return the mirror to write; RETRY for a Ready that is not true now, as nothing repeats it.
        """
        record = self._first.get(key) or self._repeats.get(key)
        if record is None:
            return AfterTry.DONE
        involved, context = self._involved_for(key.subject), self._announcements.publish_context()
        if involved is not None and is_mirror_true(record, key.subject, context):
            return replace(record, involved_object=involved)
        if involved is not None and may_become_true(record, key.subject, context):
            return AfterTry.RETRY
        self._forget(key, record)
        return AfterTry.DONE

    def written(self, attempt: Attempt[MirrorKey, EventRecord], result: EventRecord) -> AfterTry:
        """Forget the mirror, which nothing repeats unless its Event is written again."""
        self._log.written(attempt)
        self._forget(attempt.key, attempt.write)
        return AfterTry.DONE

    def failed(self, attempt: Attempt[MirrorKey, EventRecord], err: KubeError) -> AfterTry:
        """Log the failure and try again; forget a mirror that the API server finds invalid."""
        self._log.failed(attempt, err)
        if not isinstance(err, Invalid):
            return AfterTry.RETRY
        self._forget(attempt.key, attempt.write)
        return AfterTry.DONE

    def stand_down(self) -> None:
        """
        Forget all that wait, as the next leader writes mirrors with the Events that it writes.
        """
        self._first.clear()
        self._repeats.clear()


# --------------------------------------------------------------------
# Beside which objects an Event is written as well, and for how long that is true.


def mirror_subjects(record: EventRecord, context: PublishContext) -> frozenset[Subject]:
    """
    Return the InferenceSets or harness of an Event, before the state knows that it was written.

    There are none of an Event about the cluster.
    """
    subject = record.key.subject
    if subject.layer is Layer.CLUSTER:
        return frozenset()
    if subject.name or subject.layer is Layer.MODELHARNESS:
        return frozenset({subject})
    state = context.announcement_state
    if record.type is EventType.NORMAL:
        groups = ready_groups(state, context.catalogue).get(subject, ())
        return frozenset().union(*(group.ready_members for group in groups))
    group = state.groups.get(record.key)
    members = group.members if group is not None else frozenset()
    return frozenset(each for each in members if is_mirror_true(record, each, context))


def is_mirror_true(record: EventRecord, subject: Subject, context: PublishContext) -> bool:
    """Return whether what an Event says about an InferenceSet or a harness still holds."""
    evaluation = context.evaluation
    if not evaluation.known_subjects.may_include(subject):
        return False
    if record.type is EventType.NORMAL:
        return subject not in evaluation.not_ready
    key = record.key
    if not is_announceable(key, context.announcement_state, evaluation, context.settings):
        return False
    return key.subject == subject or is_member_announceable(
        member_key(key, subject), evaluation, context.settings
    )


def may_become_true(record: EventRecord, subject: Subject, context: PublishContext) -> bool:
    """
    Return whether a mirror waits while it is not true: that of a Ready, which nothing repeats.
    """
    is_known = context.evaluation.known_subjects.may_include(subject)
    return record.type is EventType.NORMAL and is_known


def contradicts_ready(record: EventRecord, context: PublishContext) -> bool:
    """Return whether an Event says that its subjects are not ready; another Ready follows it."""
    return record.type is EventType.WARNING and not context.catalogue[record.key.reason].orthogonal
