"""The subjects whose roll-up may have changed in a pass."""

from collections.abc import Generator, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from reporter.catalogue.subject_definitions import (
    TERMINATING,
    NamespaceScope,
    SubjectDefinition,
    has_labels,
)
from reporter.evaluation.diff import different_keys
from reporter.evaluation.suppression import Outage, Suppressions
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.rollup.availability import hindered_subjects, path_findings, subjects_through
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.snapshot.snapshot import Snapshot


class Touched(NamedTuple):
    """
    The subjects to roll up again; those *gone* have no record any longer.

    *changed*: those of *subjects* of which more than their objects may have changed. *terminating*: all
    subjects that are being deleted, whether touched or not.
    """

    subjects: frozenset[Subject]
    changed: frozenset[Subject]
    gone: frozenset[Subject]
    terminating: frozenset[Subject]


def find_touched(
    before: RollUp, given: RollUpInput, rules: RollUpRules
) -> Generator[None, None, Touched]:
    """
    Return the subjects to roll up: those looked at, and those that depend on what changed.

    Yields where other tasks may run.
    """
    known, known_before = given.evaluation.known_subjects, before.evaluation.known_subjects
    terminating = before.terminating
    if _may_end(before, given):
        terminating = find_terminating(given.snapshot)
        yield
    if _is_all_new(before, given):
        there = known.all | terminating
        gone = (known_before.all | before.terminating) - there
        return Touched(there, there, gone, terminating)
    # What is being deleted is looked at no longer, but its replicas still end one by one.
    changed = (given.dirty & terminating).union(_changed_subjects(before, given, rules))
    changed |= {
        Subject(Layer.MODELHARNESS, each)
        for each in different_keys(before.packages, given.packages)
    }
    yield
    gone = frozenset()
    if known is not known_before or terminating != before.terminating:
        there, there_before = known.all | terminating, known_before.all | before.terminating
        changed |= (there - there_before) | (terminating ^ before.terminating)
        # One that is being deleted is known no longer, but has a record until it is gone.
        changed |= _reached_anew(known.all ^ known_before.all, given)
        gone = there_before - there
    existing = frozenset(s for s in changed if s in known.all or s in terminating)
    looked_at = given.evaluated & known.all
    if given.unchanged and not _hinders_others(given, rules):
        # A namespace and the cluster count also what no probe reads.
        looked_at -= {each for each in given.unchanged if each.name}
    return Touched(existing | looked_at, existing, gone, terminating)


def _is_all_new(before: RollUp, given: RollUpInput) -> bool:
    """Return whether every record may be another one."""
    old, new = before.evaluation, given.evaluation
    return (
        before.cluster is None
        or given.has_other_rules
        or old.unread_events != new.unread_events
        or old.known_subjects.unknown != new.known_subjects.unknown
    )


def _hinders_others(given: RollUpInput, rules: RollUpRules) -> bool:
    """Return whether a subject may depend on findings that are not its own."""
    findings = path_findings(given.evaluation, rules)
    return any(each.key.subject.layer is not Layer.MODELDEPLOYMENT for each in findings)


def _reached_anew(differ: Iterable[Subject], given: RollUpInput) -> frozenset[Subject]:
    """Return the subjects whose Gateway, in another namespace, began or ceased to be evaluated."""
    harnesses = {each.namespace for each in differ if each.layer is Layer.MODELHARNESS}
    known = given.evaluation.known_subjects.all
    return frozenset(subjects_through(given.snapshot, harnesses, known))


def _may_end(before: RollUp, given: RollUpInput) -> bool:
    """Return whether subjects may have begun or ended to be deleted."""
    known = given.evaluation.known_subjects
    # Each beginning and end changes the known subjects; a full pass looks in any case.
    return (
        before.cluster is None
        or known is not before.evaluation.known_subjects
        or Subject(Layer.MODELDEPLOYMENT) in given.dirty
        # So does one of a namespace that is being deleted, and may lose its label.
        or Subject(Layer.MODELHARNESS) in given.dirty
    )


def _changed_subjects(before: RollUp, given: RollUpInput, rules: RollUpRules) -> Iterator[Subject]:
    old, new = before.evaluation, given.evaluation
    yield from _due_subjects(before, rules, now=given.now)
    keys = given.changed | different_keys(before.episodes, given.episodes)
    dependents = _dependents(keys, old.suppressions, new.suppressions)
    yield from (key.subject for key in keys | dependents)
    yield from _hindered_subjects(keys | dependents, given, rules)


def _due_subjects(before: RollUp, rules: RollUpRules, *, now: datetime) -> Iterator[Subject]:
    """Yield the subjects whose record time alone has changed."""

    def is_due(moment: datetime | None) -> bool:
        return moment is not None and moment <= now

    blocker = before.cluster.subject_state.blocker if before.cluster is not None else None
    if blocker is not None and is_due(blocker.deadline):
        yield CLUSTER_SUBJECT
    for namespace, record in before.namespaces.items():
        if is_due(record.next_deadline):
            for group in record.groups.values():
                yield from (
                    rules.named_subject(namespace, name)
                    if name
                    else Subject(Layer.MODELHARNESS, namespace)
                    for name, each in group.items()
                    if is_due(each.deadline)
                )


def _dependents(
    keys: frozenset[FindingKey], before: Suppressions, after: Suppressions
) -> set[FindingKey]:
    """Return the keys that point at any changed one, or at one whose outage has changed."""
    sources = {key for each in after.suppressed_by.values() for key in each}
    changed = sources & (keys | _changed_outages(before, after))
    found: set[FindingKey] = set()
    while changed:
        dependents = {
            key for key, each in after.suppressed_by.items() if not changed.isdisjoint(each)
        }
        changed = (dependents & sources) - changed - found
        found |= dependents
    return found


def _changed_outages(before: Suppressions, after: Suppressions) -> set[FindingKey]:
    def times(outage: Outage) -> tuple[bool, datetime | None]:
        # When it ended; its other times advance with every pass.
        ended = outage.as_of - outage.recovered_for
        return (outage.is_out, None if outage.is_out else ended)

    return different_keys(
        {key: times(each) for key, each in before.outages.items()},
        {key: times(each) for key, each in after.outages.items()},
    )


def _hindered_subjects(
    keys: Iterable[FindingKey], given: RollUpInput, rules: RollUpRules
) -> Iterator[Subject]:
    """Yield the subjects whose requests begin or cease to depend on something that is out."""
    new = given.evaluation
    yield from hindered_subjects(keys, new.subjects, rules, given.snapshot)
    # Whether their filters call something that is out is read from these themselves.
    dirty = {each.namespace for each in given.dirty if each.layer is Layer.MODELHARNESS}
    if dirty and any(each.row.where_called for each in path_findings(new, rules)):
        yield from (each for each in new.subjects if each.name and each.namespace in dirty)
        yield from subjects_through(given.snapshot, dirty, new.subjects)


# ---------------------------------------------------------------- what is being deleted


def find_terminating(snapshot: Snapshot) -> frozenset[Subject]:
    """Return the subjects whose object is being deleted, or whose namespace is Terminating."""
    if NAMESPACES.table not in snapshot.tables:
        return frozenset()
    ending = {each.metadata.name for each in snapshot.all(NAMESPACES) if TERMINATING.are_on(each)}
    found: set[Subject] = set()
    for rule in snapshot.subject_definitions.all:
        if rule.kind.table in snapshot.tables:
            found.update(
                subject
                for each in snapshot.all(rule.kind)
                if (rule.ended.are_on(each) or rule.namespace_of(each) in ending)
                and (subject := rule.possible_subject(each))
                and _was_in_scope(snapshot, rule, subject)
            )
    return frozenset(found)


def _was_in_scope(snapshot: Snapshot, rule: SubjectDefinition, subject: Subject) -> bool:
    """Return whether the namespace counted for the rule before anything of it was deleted."""
    if rule.scope is NamespaceScope.ALL:
        return True
    namespace = snapshot.peek(NAMESPACES, Namespace, "", subject.namespace)
    if rule.scope is NamespaceScope.LABELLED:
        return namespace is not None and has_labels(namespace, rule.namespace_labels)
    harnesses = snapshot.subject_definitions.harnesses_of(rule.pack)
    of_namespaces = [each for each in harnesses if each.is_of_namespaces]
    if not of_namespaces:
        return True
    return namespace is not None and any(
        has_labels(namespace, each.labels) for each in of_namespaces
    )
