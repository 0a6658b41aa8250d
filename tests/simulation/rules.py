"""The rules of the catalogue about time and order, written a second time for the checkers."""

from collections.abc import Iterable
from datetime import timedelta

from reporter.catalogue.entries import CatalogueEntry, Scope
from reporter.evaluation.holds import CRASH_SETTLE
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import Trouble
from tests.simulation.replica import EVALUATOR
from tests.simulation.troubles import CRDS
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


SETTLE = EVALUATOR.settings.delays.settle.total_seconds()
GRACE = EVALUATOR.settings.delays.grace
HEARTBEAT = EVALUATOR.settings.heartbeat.total_seconds()


def settle_of(entry: CatalogueEntry, troubles: Iterable[Trouble]) -> float:
    settle = SETTLE if entry.settle is None else entry.settle.total_seconds()
    crash = any(trouble.is_crash for trouble in troubles)
    return max(settle, CRASH_SETTLE.total_seconds()) if crash else settle


def hold_of(entry: CatalogueEntry, trouble: Trouble) -> float:
    """
    Return the hold of a trouble, which its probe may know better than the entry.

    So an InferenceSet lacks a Workspace for 3 minutes only, as KAITO makes one within seconds.
    """
    hold = trouble.hold
    if hold is None:
        hold = entry.holds.for_kind(trouble.kind, grace=GRACE)
    missing = (
        GRACE if entry.waits_for_grace and trouble.object_created_at is None else timedelta(0)
    )
    return max(hold, missing).total_seconds()


def evaluated_entries(reason: Reason) -> tuple[CatalogueEntry, ...]:
    """Return the entry of a reason, or all ranked entries of the layer for a Ready."""
    entry = DEFAULT_CATALOGUE[reason]
    ranked = (
        each for each in DEFAULT_CATALOGUE.evaluated_entries(entry.layer) if not each.orthogonal
    )
    return tuple(ranked) if entry.is_ready_reason else (entry,)


def required_kinds(key: FindingKey) -> frozenset[ResourceKind]:
    """Return the kinds without which the key cannot be evaluated."""
    specs = [EVALUATOR.probes[each.probe].spec for each in evaluated_entries(key.reason)]
    return frozenset(kind for spec in specs for kind in spec.required_kinds)


def reads_pages(reason: Reason) -> bool:
    return SPECS[DEFAULT_CATALOGUE[reason].probe].scrape is not None


def kinds_of(key: FindingKey) -> frozenset[ResourceKind]:
    """Return every kind that affects the key, including those that decide what is a subject."""
    specs = [EVALUATOR.probes[each.probe].spec for each in evaluated_entries(key.reason)]
    return frozenset(
        {NAMESPACES, INFERENCE_SETS, *(k for spec in specs for k in spec.watched_kinds())}
    )


def crds_of(key: FindingKey) -> frozenset[str]:
    if key.item:
        return frozenset({key.item})
    if any(
        each.reason == DEFAULT_CATALOGUE.missing_crd_reason
        for each in evaluated_entries(key.reason)
    ):
        return frozenset(CRDS)
    return frozenset(kind.group_resource for kind in kinds_of(key) if kind.group_resource in CRDS)


def may_suppress(source: FindingKey, target: FindingKey) -> bool:
    if source == target:
        return False
    if source.reason == DEFAULT_CATALOGUE.missing_crd_reason:
        return source.item in DEFAULT_CATALOGUE.required_crds(target.reason)
    return any(
        (row.source, row.target) == (source.reason, target.reason)
        and (row.scope is Scope.CLUSTER or source.subject.namespace == target.subject.namespace)
        for row in DEFAULT_CATALOGUE.suppressions
    )


def needs_no_looking(source: FindingKey) -> bool:
    """
    Return whether a source suppresses whatever else is so: nobody can look at what it suppresses.
    """
    return source.reason == DEFAULT_CATALOGUE.missing_crd_reason


def states_own_cause(key: FindingKey, trouble: Trouble) -> bool:
    """Return whether a trouble explains itself, whatever is out upstream."""
    own, code = DEFAULT_CATALOGUE[key.reason].own_causes, trouble.cause.code
    return bool({code, code.partition(".")[2]} & own)


def is_out(troubles: Iterable[Trouble]) -> bool:
    return any(trouble.is_out for trouble in troubles)
