"""The roll-up of one namespace: its harness, its InferenceSets, and the worst of them."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.gateway_api import GATEWAYS
from reporter.model.enums import Layer
from reporter.model.states import State
from reporter.model.status_document import Package
from reporter.model.subjects import Subject, is_qualified
from reporter.model.verdicts import ObjectRef
from reporter.resources.gateways import find_gateways
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.findings import SubjectFindings
from reporter.rollup.records import (
    NO_SETS,
    Group,
    GroupKey,
    NamespaceRecord,
    SetRecord,
    Standing,
    Totals,
)
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.sets import SetRollUp, is_same
from reporter.rollup.standings import (
    NOT_EVALUATED,
    NOT_LISTED,
    UNDECODABLE,
    Facts,
    Remark,
    enter_state,
    make_standing,
    remark_unread_events,
)
from reporter.rollup.totals import (
    GroupsDraft,
    add_record,
    first_blocker,
    worst_state,
)
from reporter.snapshot.lookups import why_undecodable
from reporter.snapshot.subjects import placeholder, unlisted_in_namespaces


CHART_LABEL = "helm.sh/chart"
"""Set by charts to ``<name>-<version>`` (Helm, chart best practices, labels)."""

_CHART = re.compile(r"(?P<name>.+?)-(?P<revision>v?\d+\..*)")


class NamespaceRollUp:
    """The next record of a namespace, while its subjects are rolled up."""

    def __init__(
        self,
        name: str,
        before: NamespaceRecord | None,
        given: RollUpInput,
        rules: RollUpRules,
        blockers: BlockerFinder,
        *,
        revision: int,
    ) -> None:
        self._name, self._before, self._given = name, before, given
        self._blockers, self._revision, self._rules = blockers, revision, rules
        self._harness = before.harness if before is not None and not before.is_bare else None
        self._package = before.package if before is not None else None
        self._is_evaluated = before.is_evaluated if before is not None else False
        self._sets: Mapping[str, SetRecord] = before.sets if before is not None else NO_SETS
        self._new_sets: dict[str, SetRecord] | None = None
        self._totals = before.totals if before is not None else Totals()
        self._groups = GroupsDraft(before.groups if before is not None else {}, rules)
        unknown = given.evaluation.known_subjects.unknown
        self._unlisted_whole = unlisted_in_namespaces(unknown)
        self._unlisted = unknown[self._unlisted_whole] if self._unlisted_whole is not None else ""
        self._has_all_sets = placeholder(Layer.MODELDEPLOYMENT) not in unknown
        self._changed = before is None or self._is_outdated(before)

    def _is_outdated(self, before: NamespaceRecord) -> bool:
        """
        Return whether subjects became listed or unlisted, or have been unlisted for longer than may be.
        """
        blocker = before.standing.blocker
        deadline = blocker.deadline if blocker is not None and before.unlisted else None
        is_overdue = deadline is not None and deadline <= self._given.now
        is_listed_otherwise = (before.unlisted, before.has_all_sets) != (
            self._unlisted,
            self._has_all_sets,
        )
        return is_overdue or is_listed_otherwise

    def update_harness(
        self, subject: Subject, found: SubjectFindings, *, is_terminating: bool
    ) -> None:
        given, before = self._given, self._harness
        self._is_evaluated |= subject in given.looked_at
        facts = Facts(is_terminating=is_terminating, unknown=self._why_unknown())
        after = make_standing(before, subject, found, facts, self._blockers, now=given.now)
        package = find_package(given, self._name, self._rules)
        if after is before and package == self._package:
            return
        self._groups.replace("", before, after)
        self._harness, self._package, self._changed = after, package, True

    def remove_harness(self) -> None:
        self._groups.replace("", self._harness, None)
        self._harness, self._package, self._changed = None, None, True

    def _why_unknown(self) -> Remark | None:
        why = self._given.evaluation.known_subjects.unknown_layers.get(Layer.MODELHARNESS, "")
        if why:
            return Remark(NOT_LISTED, why)
        ref = ObjectRef(NAMESPACES.group_resource, "", self._name)
        if ref in self._given.snapshot.undecodable:
            return Remark(UNDECODABLE, why_undecodable(NAMESPACES, ("", self._name)))
        if not self._is_evaluated:
            return Remark(NOT_EVALUATED, "It has not been evaluated yet.")
        return remark_unread_events(self._given.evaluation)

    def update_set(self, subject: Subject, found: SubjectFindings, sets: SetRollUp) -> None:
        name, before = subject.name, self._sets.get(subject.name)
        after = sets.update(before, subject, found)
        if after is before:
            return
        if before is not None and is_same(before, after):
            self._writable_sets()[name] = after
            return
        after = replace(after, revision=self._revision)
        self._put_set(name, before, after)
        self._writable_sets()[name] = after

    def remove_set(self, name: str) -> None:
        before = self._sets.get(name)
        if before is not None:
            self._put_set(name, before, None)
            del self._writable_sets()[name]

    def _put_set(self, name: str, before: SetRecord | None, after: SetRecord | None) -> None:
        self._totals = add_record(add_record(self._totals, before, -1), after)
        self._groups.replace(
            name,
            before.standing if before is not None else None,
            after.standing if after is not None else None,
        )
        self._changed = True

    def _writable_sets(self) -> dict[str, SetRecord]:
        if self._new_sets is None:
            self._new_sets = dict(self._sets)
            self._sets = self._new_sets
        return self._new_sets

    def finish(self) -> NamespaceRecord | None:
        """
        Return the record; the one before if nothing has changed, None for a namespace without subjects.
        """
        before, harness, now = self._before, self._harness, self._given.now
        is_bare = harness is None
        if harness is None:
            # An InferenceSet is a subject in a workload namespace only.
            if not any(map(is_qualified, self._sets)):
                return None
            stand_in = before.harness if before is not None and before.is_bare else None
            harness = stand_in or enter_state(None, State.CURRENT, now=now)
        if not self._changed and before is not None:
            return before if self._new_sets is None else replace(before, sets=self._new_sets)
        groups = self._groups.finish()
        return NamespaceRecord(
            standing=self._make_standing(harness, groups),
            harness=harness,
            sets=self._sets,
            totals=self._totals,
            groups=groups,
            package=self._package,
            is_evaluated=self._is_evaluated,
            unlisted=self._unlisted,
            has_all_sets=self._has_all_sets,
            is_bare=is_bare,
            revision=self._revision,
        )

    def _make_standing(self, harness: Standing, groups: Mapping[GroupKey, Group]) -> Standing:
        is_ending = harness.state is State.TERMINATING
        state = harness.state if is_ending else worst_state(harness, self._totals)
        before = self._before.standing if self._before is not None else None
        may_hide_more = bool(self._unlisted) and state.severity < State.UNKNOWN.severity
        state = State.UNKNOWN if may_hide_more else state
        standing = enter_state(before, state, now=self._given.now)
        if may_hide_more and self._unlisted_whole is not None:
            blocker = self._blockers.without_finding(
                self._unlisted_whole.layer, NOT_LISTED, self._unlisted, since=standing.since
            )
            return replace(standing, blocker=blocker)
        return replace(standing, blocker=None if is_ending else first_blocker(groups))


def find_package(given: RollUpInput, namespace: str, rules: RollUpRules) -> Package | None:
    """
    Return the package that a status object names, else labels of the Namespace, else its chart.
    """
    if namespace in given.packages:
        return given.packages[namespace]
    labels = _namespace_labels(given, namespace)
    name, revision = labels.get(rules.package_label, ""), labels.get(rules.revision_label, "")
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
