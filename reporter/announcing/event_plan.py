"""
The plan by which the LeaderWriter writes Events: which are due, and what becomes of each write.

Each term of leadership begins with the Events of a predecessor, which are read back first.
"""

from collections.abc import Callable
from datetime import datetime

from reporter.announcing.announcement_state import WriteOutcome
from reporter.announcing.announcements import Announcements
from reporter.announcing.earlier_events import EarlierEvents
from reporter.announcing.event_writer import EventWriteLog
from reporter.evaluation.evaluation import Evaluation
from reporter.kube.errors import Invalid, KubeError, Unreachable
from reporter.kube.event_record import EventRecord
from reporter.kube.leader_writer import AfterTry, Attempt, DueWrites, WritePlan
from reporter.kube.write_limits import WriteRate
from reporter.model.subjects import FindingKey


class EventPlan(WritePlan[FindingKey, EventRecord, EventRecord]):
    """
    The writes that *announcements* says are due, by importance.

    A write stays due for as long as it is true. A fault of this program ends the process.
    """

    operation = "write Event of"
    rate = WriteRate(10.0, 50.0, in_flight=8)

    def __init__(
        self, announcements: Announcements, earlier: EarlierEvents, log: EventWriteLog
    ) -> None:
        self._announcements, self._earlier, self._log = announcements, earlier, log
        self._pending: dict[FindingKey, datetime] = {}
        self._finished: set[FindingKey] = set()
        self._scheduled: Evaluation | None = None

    @property
    def waiting_for(self) -> str:
        """The reason why a leader announces nothing yet; empty otherwise."""
        return self._earlier.waiting_for

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """
        Call *on_change* after each Evaluation and each write, since both may make other Events due.
        """
        self._announcements.changes.subscribe(on_change)

    async def prepare(self) -> None:
        """Restore the episodes of a predecessor; before that is done, nothing is written."""
        announcements = self._announcements
        await announcements.first_evaluation.wait()
        found = await self._earlier.read()
        announcements.restored(found or ())
        if found is not None:
            announcements.events_read()
        await announcements.complete.wait()
        self._scheduled = None

    async def find_due(self, *, now: datetime) -> DueWrites[FindingKey]:
        """
        Return the writes that are due.

        All are scheduled anew after an Evaluation; after a write its key alone, which then comes
        last. One that failed keeps its place.
        """
        context, pending = self._announcements.publish_context(), self._pending
        if context.evaluation is not self._scheduled:
            pending = {each.key: each.due_at for each in context.pending_writes(now=now)}
            self._scheduled = context.evaluation
        else:
            for key in self._finished:
                write = context.pending_write(key, now=now)
                if write is None or write.due_at > now:
                    pending.pop(key, None)
                if write is not None:
                    pending[key] = write.due_at
        self._pending = pending
        self._finished.clear()
        return DueWrites(pending)

    def render(self, key: FindingKey, *, now: datetime) -> EventRecord | AfterTry:
        """Return the Event composed at this moment; DONE if nothing is to be written any more."""
        record = self._announcements.publish_context().compose_event(key, now=now)
        return record or AfterTry.DONE

    def written(self, attempt: Attempt[FindingKey, EventRecord], result: EventRecord) -> AfterTry:
        """
        Note a write that succeeded and update the episode by the Event as the API server has it.
        """
        self._log.written(attempt)
        self._announcements.write_finished(result, WriteOutcome.WRITTEN)
        return AfterTry.DONE

    def failed(self, attempt: Attempt[FindingKey, EventRecord], err: KubeError) -> AfterTry:
        """
        Note a write that failed, which is tried again.

        An invalid Event is dropped. One that may have arrived all the same counts as uncertain.
        """
        self._log.failed(attempt, err)
        if isinstance(err, Invalid):
            self._announcements.write_finished(attempt.write, WriteOutcome.DROPPED)
            return AfterTry.DONE
        if isinstance(err, Unreachable) and err.may_have_applied:
            self._announcements.write_finished(attempt.write, WriteOutcome.UNCERTAIN)
        return AfterTry.RETRY

    def finished(self, key: FindingKey) -> None:
        """Schedule the key anew, whatever became of its write."""
        self._finished.add(key)

    def stand_down(self) -> None:
        """Forget the episodes, which the next leader reads back from the Events."""
        self._announcements.stood_down()
