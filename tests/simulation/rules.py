"""
What the catalogue asks of time and of order, told once more and shorter.
"""

from collections.abc import Iterable
from datetime import timedelta

from reporter.model.entries import Entry, Scope
from reporter.model.subjects import Key
from reporter.model.verdicts import Trouble
from reporter.stages.gate import CRASH_SETTLE
from tests.shipped import CATALOGUE
from tests.simulation.replica import COURT


SETTLE = COURT.terms.patience.settle.total_seconds()
GRACE = COURT.terms.patience.grace
HEARTBEAT = COURT.terms.heartbeat.total_seconds()


def settle_of(entry: Entry, troubles: Iterable[Trouble]) -> float:
    settle = SETTLE if entry.settle is None else entry.settle.total_seconds()
    crash = any(trouble.crash for trouble in troubles)
    return max(settle, CRASH_SETTLE.total_seconds()) if crash else settle


def hold_of(entry: Entry, trouble: Trouble) -> float:
    hold = entry.holds.of(trouble.kind, grace=GRACE)
    missing = GRACE if entry.grace and trouble.born is None else timedelta(0)
    return max(hold, missing).total_seconds()


def covers(source: Key, target: Key) -> bool:
    if source == target:
        return False
    if source.reason == CATALOGUE.crd_source:
        return source.item in CATALOGUE.demands(target.reason)
    return any(
        (row.source, row.target) == (source.reason, target.reason)
        and (row.scope is Scope.CLUSTER or source.subject.namespace == target.subject.namespace)
        for row in CATALOGUE.suppressions
    )


def is_out(troubles: Iterable[Trouble]) -> bool:
    return any(trouble.out for trouble in troubles)
