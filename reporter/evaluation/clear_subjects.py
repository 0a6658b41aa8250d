"""
Know the subjects that are clear, and what their probes read, so that a full pass skips them.

Nearly all that a full pass looks at is as before. While all that the probes of a clear subject have read
is the same, they would find it clear again. Probes that read the time, or more of a metrics page than what
it means to them (`Snapshot.scrape_fingerprint`), run in any case.
"""

from array import array
from collections.abc import Generator, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.model.enums import Reason
from reporter.model.subjects import Subject
from reporter.snapshot.noted_reads import DIFFERS, ReadNotes, changed_numbers, without_pages
from reporter.snapshot.snapshot import Snapshot


MAX_AGE: Final = timedelta(seconds=1)
"""The age of the kept snapshot while passes go on, as it keeps all objects alive that are gone."""

MAX_CHANGED: Final = 30_000
"""The changed numbers that are kept, of some 80 bytes each. With more, a full pass skips nothing."""


COMPARED_AT_ONCE: Final = 2_000
"""Subjects whose reads are compared without a pause: some five milliseconds."""


class ClearSubject(Struct, frozen=True, gc=False):
    """
    A subject whose probes found neither trouble nor anything to note.

    *read*: the numbers of what its probes have read, of eight bytes each. *repeated*: the reasons whose
    probes have to run again.
    """

    read: bytes
    repeated: tuple[Reason, ...] = ()


class ClearSubjects(Struct, frozen=True):
    """
    The subjects that were clear at some time, and what has *changed* from then until *snapshot*.

    *snapshot* is kept without the metrics pages; it is of a pass at *evaluated_at*. *evaluator*: the one that
    found them clear; another one may find something else.
    """

    snapshot: Snapshot | None = None
    evaluated_at: datetime | None = None
    evaluator: object = None
    by_subject: Mapping[Subject, ClearSubject] = field(default_factory=dict)
    changed: frozenset[int] = frozenset()

    def unchanged(
        self, snapshot: Snapshot, evaluator: object
    ) -> Generator[None, None, Mapping[Subject, ClearSubject]]:
        """
        Return the subjects that are still clear in another snapshot, as their probes would read the same.

        None of them for another evaluator, or if more has changed than entries of the snapshot's maps.
        Yields where other tasks may run.
        """
        changed = self._changed_until(snapshot) if evaluator is self.evaluator else None
        if changed is None:
            return {}
        if not changed:
            return self.by_subject
        found: dict[Subject, ClearSubject] = {}
        subjects = iter(self.by_subject.items())
        while part := [*islice(subjects, COMPARED_AT_ONCE)]:
            yield
            found.update(
                (subject, each)
                for subject, each in part
                if changed.isdisjoint(array("Q", each.read))
            )
        return found

    def moved_to(self, snapshot: Snapshot, *, now: datetime) -> "ClearSubjects":
        """
        Return the same with a later snapshot, at most once in MAX_AGE, as to compare takes time.

        So what was deleted since then is freed, and not only after the next full pass.
        """
        if self.evaluated_at is None or timedelta(0) <= now - self.evaluated_at < MAX_AGE:
            return self
        changed = self._changed_until(snapshot)
        if changed is None:
            return ClearSubjects()
        return replace(self, snapshot=without_pages(snapshot), evaluated_at=now, changed=changed)

    def _changed_until(self, snapshot: Snapshot) -> frozenset[int] | None:
        """Return what has changed; None if that is more than entries of maps, or more than MAX_CHANGED."""
        if self.snapshot is None:
            return None
        more = changed_numbers(self.snapshot, snapshot, at_most=MAX_CHANGED - len(self.changed))
        return None if more is None else self.changed | more


class SubjectReads:
    """Collects the numbers of what the probes of one subject read, one probe after the other."""

    __slots__ = ("_notes", "_read", "_repeated")

    def __init__(self, notes: ReadNotes) -> None:
        notes.take()
        self._notes, self._read = notes, set[int]()
        self._repeated: list[Reason] = []

    def add(self, reason: Reason | None = None) -> None:
        """Add what was read since the last call: for the probe of a reason, or for all of them."""
        numbers = self._notes.take()
        if reason is not None and DIFFERS in numbers:
            self._repeated.append(reason)
        else:
            self._read |= numbers

    def when_clear(self) -> ClearSubject | None:
        """
        Return these reads, of a subject that turned out clear; None if all its probes have to run each time.
        """
        if DIFFERS in self._read:
            return None
        return ClearSubject(array("Q", sorted(self._read)).tobytes(), tuple(self._repeated))


def merge_clear(
    before: Mapping[Subject, ClearSubject],
    evaluated: frozenset[Subject],
    found: Iterable[Mapping[Subject, ClearSubject]],
) -> Mapping[Subject, ClearSubject]:
    """Return *before* with what was *found* about the subjects that were evaluated."""
    merged = {subject: each for subject, each in before.items() if subject not in evaluated}
    for clear in found:
        merged.update(clear)
    return merged
