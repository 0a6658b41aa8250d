"""The roll-up of one namespace: its harness, its InferenceSets, and the worst of them."""

import re
from collections.abc import Collection, Generator, Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.gateway_api import GATEWAYS
from reporter.model.enums import Layer
from reporter.model.states import State
from reporter.model.status_document import Package
from reporter.model.subjects import Subject, is_qualified
from reporter.model.verdicts import ObjectRef
from reporter.resources.gateways import find_gateways
from reporter.rollup import records, subject_states
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.findings import NO_FINDINGS, SubjectFindings
from reporter.rollup.progress import count_progress, find_counted
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.sets import NOT_EVALUATED_YET, SetRollUp
from reporter.rollup.totals import count_sets, first_blocker, group_blockers, worst_state
from reporter.rollup.touched import Touched
from reporter.snapshot.lookups import why_undecodable
from reporter.snapshot.subjects import placeholder, unlisted_in_namespaces


CHART_LABEL = "helm.sh/chart"
"""Set by charts to ``<name>-<version>`` (Helm, chart best practices, labels)."""

_CHART = re.compile(r"(?P<name>.+?)-(?P<revision>v?\d+\..*)")


SETS_PER_BATCH = 50
"""InferenceSets that are rolled up without a pause: some four milliseconds."""


class _Counts(NamedTuple):
    """The sums and the blockers over all subjects of a namespace."""

    totals: records.Totals
    groups: Mapping[records.GroupKey, records.Group]
    next_deadline: datetime | None


class NamespaceRollUp:
    """
    Rolls up the namespaces of one fold: the subjects that were touched, and the sums over all.

    *revision*: that of the records that change.
    """

    def __init__(
        self,
        given: RollUpInput,
        rules: RollUpRules,
        touched: Touched,
        found: Mapping[Subject, SubjectFindings],
        blockers: BlockerFinder,
        *,
        revision: int,
    ) -> None:
        self._given, self._rules, self._touched, self._found = given, rules, touched, found
        self._blockers, self._revision = blockers, revision
        self._sets = SetRollUp(given, rules, blockers, touched)
        unknown = given.evaluation.known_subjects.unknown
        self._unlisted_whole = unlisted_in_namespaces(unknown)
        self._unlisted = unknown[self._unlisted_whole] if self._unlisted_whole is not None else ""
        self._has_all_sets = placeholder(Layer.MODELDEPLOYMENT) not in unknown

    def update(
        self, name: str, before: records.NamespaceRecord | None, subjects: Collection[Subject]
    ) -> Generator[None, None, records.NamespaceRecord | None]:
        """
        Return the record of a namespace of which *subjects* were touched; None without any subject.

        Yields where other tasks may run.
        """
        sets = dict(before.sets if before is not None else records.NO_SETS)
        counted = dict(before.counted if before is not None else records.NO_OBJECTS)
        named = sorted(subject for subject in subjects if subject.name)
        for number, subject in enumerate(named, start=1):
            if not number % SETS_PER_BATCH:
                yield
            if subject in self._touched.gone:
                sets.pop(subject.name, None)
                counted.pop(subject.name, None)
            else:
                self._update_set(subject, sets, counted)
        after = self._make_record(name, before, sets, counted)
        if after is None or before is None:
            return after
        if replace(after, counted=before.counted, revision=before.revision) != before:
            return after
        return before if counted == before.counted else replace(before, counted=counted)

    def _update_set(
        self,
        subject: Subject,
        sets: dict[str, records.InferenceSetRecord],
        counted: dict[str, records.CountedObjects],
    ) -> None:
        name, snapshot = subject.name, self._given.snapshot
        before, objects_before = sets.get(name), counted.get(name)
        counted[name] = objects = find_counted(snapshot, subject, objects_before)
        if before is not None and objects is objects_before:
            progress = before.facts.progress
        else:
            progress = count_progress(snapshot, subject, objects)
        found = self._found.get(subject, NO_FINDINGS)
        sets[name] = self._sets.update(before, subject, found, progress)

    def _make_record(
        self,
        name: str,
        before: records.NamespaceRecord | None,
        sets: Mapping[str, records.InferenceSetRecord],
        counted: Mapping[str, records.CountedObjects],
    ) -> records.NamespaceRecord | None:
        subject = Subject(Layer.MODELHARNESS, name)
        is_evaluated = subject in self._given.evaluated or (
            before is not None and before.is_evaluated
        )
        harness = before.harness if before is not None and not before.is_bare else None
        package = before.package if before is not None else None
        if subject in self._touched.gone:
            harness = package = None
        elif subject in self._touched.subjects:
            harness = self._update_harness(subject, harness, is_evaluated=is_evaluated)
            package = find_package(self._given, name, self._rules)
        is_bare = harness is None
        if harness is None:
            # An InferenceSet is a subject in a workload namespace only.
            if not any(map(is_qualified, sets)):
                return None
            harness = self._stand_in(before)
        counts = self._count(before, harness, sets)
        return records.NamespaceRecord(
            subject_state=self._make_subject_state(before, harness, counts),
            harness=harness,
            sets=sets,
            counted=counted,
            totals=counts.totals,
            groups=counts.groups,
            next_deadline=counts.next_deadline,
            package=package,
            is_evaluated=is_evaluated,
            unlisted=self._unlisted,
            has_all_sets=self._has_all_sets,
            is_bare=is_bare,
            revision=self._revision,
        )

    def _stand_in(self, before: records.NamespaceRecord | None) -> records.SubjectState:
        """Return the harness of a namespace that is no subject: the one before, or a new one."""
        if before is not None and before.is_bare:
            return before.harness
        return subject_states.enter_state(None, State.CURRENT, now=self._given.now)

    def _count(
        self,
        before: records.NamespaceRecord | None,
        harness: records.SubjectState,
        sets: Mapping[str, records.InferenceSetRecord],
    ) -> _Counts:
        if (
            before is not None
            and (before.harness, before.sets) == (harness, sets)
            and not self._given.has_other_rules
        ):
            # A full pass touches all namespaces, of which most are as before.
            return _Counts(before.totals, before.groups, before.next_deadline)
        groups = group_blockers(harness, sets, self._rules)
        blockers = (each for group in groups.values() for each in group.values())
        deadlines = (each.deadline for each in blockers if each.deadline is not None)
        return _Counts(count_sets(sets.values()), groups, min(deadlines, default=None))

    def _update_harness(
        self, subject: Subject, before: records.SubjectState | None, *, is_evaluated: bool
    ) -> records.SubjectState:
        facts = subject_states.Facts(
            is_terminating=subject in self._touched.terminating,
            unknown=self._why_unknown(subject.namespace, is_evaluated=is_evaluated),
        )
        found = self._found.get(subject, NO_FINDINGS)
        return subject_states.make_subject_state(
            before, subject, found, facts, self._blockers, now=self._given.now
        )

    def _why_unknown(
        self, namespace: str, *, is_evaluated: bool
    ) -> subject_states.StateReason | None:
        why = self._given.evaluation.known_subjects.unknown_layers.get(Layer.MODELHARNESS, "")
        if why:
            return subject_states.StateReason(subject_states.NOT_LISTED, why)
        ref = ObjectRef(NAMESPACES.group_resource, "", namespace)
        if ref in self._given.snapshot.undecodable:
            return subject_states.StateReason(
                subject_states.UNDECODABLE, why_undecodable(NAMESPACES, ("", namespace))
            )
        if not is_evaluated:
            return subject_states.StateReason(subject_states.NOT_EVALUATED, NOT_EVALUATED_YET)
        return subject_states.explain_unread_events(self._given.evaluation)

    def _make_subject_state(
        self,
        before: records.NamespaceRecord | None,
        harness: records.SubjectState,
        counts: _Counts,
    ) -> records.SubjectState:
        is_ending = harness.state is State.TERMINATING
        state = harness.state if is_ending else worst_state(harness, counts.totals)
        may_hide_more = bool(self._unlisted) and state.severity < State.UNKNOWN.severity
        state = State.UNKNOWN if may_hide_more else state
        subject_state = subject_states.enter_state(
            before.subject_state if before is not None else None, state, now=self._given.now
        )
        if may_hide_more and self._unlisted_whole is not None:
            blocker = self._blockers.without_finding(
                self._unlisted_whole.layer,
                subject_states.NOT_LISTED,
                self._unlisted,
                since=subject_state.since,
            )
            return replace(subject_state, blocker=blocker)
        return replace(subject_state, blocker=None if is_ending else first_blocker(counts.groups))


def find_package(given: RollUpInput, namespace: str, rules: RollUpRules) -> Package | None:
    """
    Return the package that a status object names, else labels of the Namespace, else its chart; or None.

    The label of the revision wins over the version of the chart.
    """
    if namespace in given.packages:
        return given.packages[namespace]
    labels = _namespace_labels(given, namespace)
    name = labels.get(rules.flags.get("package-label", ""), "")
    revision = labels.get(rules.flags.get("revision-label", ""), "")
    chart = None if name else _find_chart(given, namespace)
    if chart is not None:
        return replace(chart, revision=revision) if revision else chart
    return Package(name=name, revision=revision) if name or revision else None


def _namespace_labels(given: RollUpInput, namespace: str) -> Mapping[str, str]:
    if NAMESPACES.resource not in given.snapshot.tables:
        return {}
    found = given.snapshot.peek(NAMESPACES, Namespace, "", namespace)
    return (found.metadata.labels if found is not None else None) or {}


def _find_chart(given: RollUpInput, namespace: str) -> Package | None:
    """
    Return the chart of the namespace's harness and its version, from the labels of its Gateway.
    """
    if GATEWAYS.resource not in given.snapshot.tables:
        return None
    labels = (
        gateway.metadata.label(CHART_LABEL) for gateway in find_gateways(given.snapshot, namespace)
    )
    label = min((each for each in labels if each), default="")
    match = _CHART.fullmatch(label)
    if match is not None:
        return Package(name=match["name"], revision=match["revision"])
    return Package(name=label) if label else None
