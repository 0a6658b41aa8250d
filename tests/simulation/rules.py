"""
What the catalogue asks of time and of order, told once more and shorter.
"""

from collections.abc import Iterable
from datetime import timedelta

from reporter.model.entries import Entry, Scope
from reporter.model.kinds import INFERENCE_SETS, NAMESPACES, ResourceKind
from reporter.model.subjects import Key
from reporter.model.verdicts import Trouble
from reporter.model.words import Reason
from reporter.stages.gate import CRASH_SETTLE
from tests.shipped import CATALOGUE
from tests.simulation.replica import COURT
from tests.simulation.troubles import CRDS


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


def judged_with(reason: Reason) -> tuple[Entry, ...]:
    """
    The entries by which a reason is judged: its own, or all that a Ready takes back.
    """
    entry = CATALOGUE[reason]
    ranked = (each for each in CATALOGUE.of(entry.layer) if not each.orthogonal)
    return tuple(ranked) if entry.ready else (entry,)


def required(key: Key) -> frozenset[ResourceKind]:
    """
    The kinds without which it cannot be judged.
    """
    specs = [COURT.probes[each.probe].spec for each in judged_with(key.reason)]
    return frozenset(kind for spec in specs for kind in spec.requires)


def kinds_of(key: Key) -> frozenset[ResourceKind]:
    """
    Every kind that makes a difference to it, by who is a subject too.
    """
    specs = [COURT.probes[each.probe].spec for each in judged_with(key.reason)]
    return frozenset({NAMESPACES, INFERENCE_SETS, *(k for spec in specs for k in spec.reads())})


def crds_of(key: Key) -> frozenset[str]:
    if key.item:
        return frozenset({key.item})
    if any(each.reason == CATALOGUE.crd_source for each in judged_with(key.reason)):
        return frozenset(CRDS)
    return frozenset(kind.qualified for kind in kinds_of(key) if kind.qualified in CRDS)


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
