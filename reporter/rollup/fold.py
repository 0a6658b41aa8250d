"""Fold one pass into the roll-up: only what it touched is rolled up again."""

from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from datetime import datetime

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.model.enums import Layer, Reason
from reporter.model.states import State
from reporter.model.status_document import ComponentStatus, UnlistedLayer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.components import list_components
from reporter.rollup.findings import NO_FINDINGS, SubjectFindings, collect_findings
from reporter.rollup.namespaces import NamespaceRollUp
from reporter.rollup.other_rules import without_causes
from reporter.rollup.records import ClusterRecord, NamespaceRecord, RollUp, Standing
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.sets import SetRollUp
from reporter.rollup.standings import (
    SCALING,
    UPDATING,
    Facts,
    Remark,
    make_standing,
    remark_unread_events,
)
from reporter.rollup.touched import Touched, find_touched, route_outages


SETS_PER_BATCH = 200
"""InferenceSets that are rolled up without a pause: some milliseconds."""


def fold(before: RollUp, given: RollUpInput, rules: RollUpRules) -> RollUp:
    """Return the roll-up after this pass."""
    steps = fold_steps(before, given, rules)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            after: RollUp = end.value
            return after


def fold_steps(
    before: RollUp, given: RollUpInput, rules: RollUpRules
) -> Generator[None, None, RollUp]:
    """Return the roll-up after this pass. Yields where other tasks may run."""
    if given.has_other_rules:
        before = without_causes(before)
    touched = find_touched(before, given, rules)
    found = collect_findings(given.evaluation, touched.subjects, rules)
    yield
    draft = _Draft(before, given, rules, touched)
    yield from draft.update_namespaces(found)
    draft.update_cluster(found.get(CLUSTER_SUBJECT, NO_FINDINGS))
    return draft.finish()


class _Draft:
    """The parts of the next roll-up."""

    def __init__(
        self, before: RollUp, given: RollUpInput, rules: RollUpRules, touched: Touched
    ) -> None:
        self._before, self._given, self._touched, self._rules = before, given, touched, rules
        self._revision = before.revision + 1
        self._blockers = BlockerFinder(given, rules)
        cut_off = route_outages(given.evaluation, rules)
        self._sets = SetRollUp(
            given,
            rules,
            self._blockers,
            cut_off=frozenset(key.subject.namespace for key in cut_off),
            terminating=touched.terminating,
            changed=touched.changed,
        )
        self._namespaces = dict(before.namespaces)
        self._set_counts, self._namespace_counts = (
            dict(before.set_counts),
            dict(before.namespace_counts),
        )
        self._deadlines: dict[Subject, datetime] | None = None
        self._changed = before.cluster is None
        self._cluster = before.cluster

    # ------------------------------------------------------------ namespaces

    def update_namespaces(self, found: Mapping[Subject, SubjectFindings]) -> Iterator[None]:
        by_namespace: defaultdict[str, list[Subject]] = defaultdict(list)
        for subject in (*self._touched.subjects, *self._touched.gone):
            if subject.namespace:
                by_namespace[subject.namespace].append(subject)
        done = 0
        for name, subjects in by_namespace.items():
            yield from self._update_namespace(name, subjects, found)
            done += len(subjects)
            if done >= SETS_PER_BATCH:
                done = 0
                yield

    def _update_namespace(
        self, name: str, subjects: list[Subject], found: Mapping[Subject, SubjectFindings]
    ) -> Iterator[None]:
        before = self._namespaces.get(name)
        draft = NamespaceRollUp(
            name, before, self._given, self._rules, self._blockers, revision=self._revision
        )
        for number, subject in enumerate(sorted(subjects), start=1):
            if not number % SETS_PER_BATCH:
                yield
            is_gone = subject in self._touched.gone
            if subject.layer is Layer.MODELHARNESS and not subject.name:
                if is_gone:
                    draft.remove_harness()
                else:
                    is_ending = subject in self._touched.terminating
                    draft.update_harness(
                        subject, found.get(subject, NO_FINDINGS), is_terminating=is_ending
                    )
            elif is_gone:
                draft.remove_set(subject.name)
            else:
                draft.update_set(subject, found.get(subject, NO_FINDINGS), self._sets)
        after = draft.finish()
        self._put_namespace(name, before, after)

    def _put_namespace(
        self, name: str, before: NamespaceRecord | None, after: NamespaceRecord | None
    ) -> None:
        if after is before:
            return
        if after is None:
            del self._namespaces[name]
            self._changed = True
        else:
            self._namespaces[name] = after
            self._changed |= before is None or after.revision != before.revision
        for record, sign in ((before, -1), (after, 1)):
            if record is not None:
                self._namespace_counts[record.standing.state] += sign
                for state, number in record.totals.by_state.items():
                    self._set_counts[state] += sign * number
        self._put_deadlines(name, before, after)

    def _put_deadlines(
        self, name: str, before: NamespaceRecord | None, after: NamespaceRecord | None
    ) -> None:
        harness = Subject(Layer.MODELHARNESS, name)
        self._put_deadline(harness, after.harness if after is not None else None)
        old = before.sets if before is not None else {}
        new = after.sets if after is not None else {}
        if old is new:
            return
        for each in old.keys() | new.keys():
            record = new.get(each)
            if record is not old.get(each):
                subject = self._rules.named_subject(name, each)
                self._put_deadline(subject, record.standing if record is not None else None)

    def _put_deadline(self, subject: Subject, standing: Standing | None) -> None:
        blocker = standing.blocker if standing is not None else None
        moment = blocker.deadline if blocker is not None else None
        deadlines = self._before.deadlines if self._deadlines is None else self._deadlines
        if deadlines.get(subject) == moment:
            return
        if self._deadlines is None:
            self._deadlines = dict(self._before.deadlines)
        if moment is None:
            self._deadlines.pop(subject, None)
        else:
            self._deadlines[subject] = moment

    # ------------------------------------------------------------ cluster

    def update_cluster(self, found: SubjectFindings) -> None:
        before, given = self._cluster, self._given
        unknown = given.evaluation.known_subjects.unknown
        unlisted = tuple(UnlistedLayer(layer=each.layer, why=why) for each, why in unknown.items())
        components = before.components if before is not None else ()
        standing = before.standing if before is not None else None
        if standing is None or CLUSTER_SUBJECT in self._touched.subjects:
            components = list_components(given, self._rules)
            standing = make_standing(
                standing,
                CLUSTER_SUBJECT,
                found,
                Facts(
                    unknown=remark_unread_events(given.evaluation),
                    progress=_describe_components(components, self._rules),
                ),
                self._blockers,
                now=given.now,
            )
        after = ClusterRecord(
            standing=standing,
            uid=_cluster_uid(given),
            components=components,
            unlisted=unlisted,
        )
        if after != before:
            self._cluster, self._changed = after, True
        self._put_deadline(CLUSTER_SUBJECT, standing)

    # ------------------------------------------------------------ the end

    def finish(self) -> RollUp:
        before = self._before
        deadlines = before.deadlines if self._deadlines is None else self._deadlines
        unchanged = deadlines is before.deadlines
        return RollUp(
            evaluation=self._given.evaluation,
            cluster=self._cluster,
            namespaces=self._namespaces,
            set_counts=self._set_counts,
            namespace_counts=self._namespace_counts,
            terminating=self._touched.terminating,
            episodes=self._given.episodes,
            packages=self._given.packages,
            deadlines=deadlines,
            next_deadline=before.next_deadline
            if unchanged
            else min(deadlines.values(), default=None),
            revision=self._revision if self._changed else before.revision,
        )


def _cluster_uid(given: RollUpInput) -> str:
    if NAMESPACES.resource not in given.snapshot.tables:
        return ""
    found = given.snapshot.peek(NAMESPACES, Namespace, "", "kube-system")
    return found.metadata.uid if found is not None else ""


def _describe_components(
    components: tuple[ComponentStatus, ...], rules: RollUpRules
) -> Remark | None:
    behind = [
        each
        for each in components
        if each.state is State.IN_PROGRESS and not _is_spare(each, components, rules)
    ]
    if not behind:
        return None
    names = ", ".join(f"{each.namespace}/{each.name}" for each in behind)
    is_short = any(
        each.replicas is None or (each.replicas.ready or 0) < each.replicas.desired
        for each in behind
    )
    return Remark(SCALING if is_short else UPDATING, f"In progress: {names}.")


def _is_spare(
    component: ComponentStatus, components: tuple[ComponentStatus, ...], rules: RollUpRules
) -> bool:
    """Return whether another revision of the component works, which suffices."""
    return rules.has_revisions(Reason(component.reason)) and any(
        each.reason == component.reason and each.state is State.CURRENT for each in components
    )
