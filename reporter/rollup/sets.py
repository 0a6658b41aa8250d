"""The roll-up of one InferenceSet."""

from msgspec.structs import replace

from reporter.kinds.core import PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer, Reason
from reporter.model.states import State
from reporter.model.status_document import Replicas
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import ObjectRef
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.findings import SubjectFindings
from reporter.rollup.progress import count_progress
from reporter.rollup.reachability import Reachability
from reporter.rollup.records import SetFacts, SetRecord
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.standings import (
    NOT_EVALUATED,
    NOT_LISTED,
    SCALING,
    STALE,
    UNDECODABLE,
    UPDATING,
    Facts,
    Remark,
    make_standing,
    remark_unread_events,
)
from reporter.snapshot.lookups import why_undecodable
from reporter.snapshot.subjects import why_undecodable_subject


NOT_EVALUATED_YET = "It has not been evaluated yet."


class SetRollUp:
    """
    Rolls up the InferenceSets of one fold, and the other subjects with a name.

    *cut_off*: the namespaces without a working Gateway. *terminating*: subjects being deleted.
    *changed*: subjects of which more than their objects may have changed.
    """

    def __init__(
        self,
        given: RollUpInput,
        rules: RollUpRules,
        blockers: BlockerFinder,
        *,
        cut_off: frozenset[str],
        terminating: frozenset[Subject],
        changed: frozenset[Subject],
    ) -> None:
        self._given, self._blockers = given, blockers
        self._cut_off, self._terminating, self._changed = cut_off, terminating, changed
        self._serving = rules.serving_reasons
        self._reachability = Reachability(given.snapshot, rules)
        self._why_unlisted = given.evaluation.known_subjects.unknown_layers.get(
            Layer.MODELDEPLOYMENT, ""
        ) or _why_uncounted(given, WORKSPACES, PODS)
        self._is_unread = bool(_why_uncounted(given, INFERENCE_SETS))
        self._is_uncounted = bool(_why_uncounted(given, WORKSPACES, PODS))

    def update(
        self, before: SetRecord | None, subject: Subject, found: SubjectFindings
    ) -> SetRecord:
        """Return the record of an InferenceSet; *before* itself if nothing has changed."""
        given = self._given
        old_facts = before.facts if before is not None else None
        facts = count_progress(given.snapshot, subject, old_facts)
        is_cut_off = subject.namespace in self._cut_off
        not_judged = tuple(key.reason for key in found.unread)
        unreachable = self._reachability.why_not(subject)
        replicas = self._known_replicas(subject, facts)
        if (
            before is not None
            and (before.unreachable, before.replicas) == (unreachable, replicas)
            and self._stays(before, subject, facts, not_judged)
        ):
            return before
        is_evaluated = subject in given.looked_at or (before is not None and before.is_evaluated)
        standing = make_standing(
            before.standing if before is not None else None,
            subject,
            found,
            self._facts_of(subject, facts, is_evaluated=is_evaluated),
            self._blockers,
            now=given.now,
        )
        after = SetRecord(
            standing=standing,
            facts=facts,
            replicas=replicas,
            is_evaluated=is_evaluated,
            is_cut_off=is_cut_off,
            unreachable=unreachable,
            not_judged=not_judged,
            revision=before.revision if before is not None else 0,
        )
        after = replace(after, available=self._is_available(after, found))
        is_before = before is not None and facts is old_facts and is_same(before, after)
        return before if before is not None and is_before else after

    def _stays(
        self, before: SetRecord, subject: Subject, facts: SetFacts, not_judged: tuple[Reason, ...]
    ) -> bool:
        """Return whether the record cannot have changed."""
        return (
            facts is before.facts
            and subject not in self._changed
            and before.is_evaluated
            and before.not_judged == not_judged
            # What was Unknown may be known again although nothing of the subject has changed.
            and before.standing.state is not State.UNKNOWN
            and not self._why_unlisted
            and not (subject.kind and self._given.evaluation.known_subjects.unknown)
            and not self._given.snapshot.undecodable
        )

    def _facts_of(self, subject: Subject, facts: SetFacts, *, is_evaluated: bool) -> Facts:
        if subject in self._terminating:
            return Facts(is_terminating=True)
        return Facts(
            unknown=self._why_unknown(subject, facts, is_evaluated=is_evaluated),
            progress=describe_progress(facts),
        )

    def _why_unknown(
        self, subject: Subject, facts: SetFacts, *, is_evaluated: bool
    ) -> Remark | None:
        if subject.kind:
            return self._why_other_unknown(subject, is_evaluated=is_evaluated)
        ref = ObjectRef(INFERENCE_SETS.group_resource, subject.namespace, subject.name)
        if self._why_unlisted:
            return Remark(NOT_LISTED, self._why_unlisted)
        if ref in self._given.snapshot.undecodable:
            name = (subject.namespace, subject.name)
            return Remark(UNDECODABLE, why_undecodable(INFERENCE_SETS, name))
        if facts.replicas is None or not is_evaluated:
            return Remark(NOT_EVALUATED, NOT_EVALUATED_YET)
        return remark_unread_events(self._given.evaluation)

    def _why_other_unknown(self, subject: Subject, *, is_evaluated: bool) -> Remark | None:
        """Return why the state of a subject without replicas of KAITO is not known."""
        why = self._given.evaluation.known_subjects.why_not_all_known(subject)
        if why:
            return Remark(NOT_LISTED, why)
        why = why_undecodable_subject(self._given.snapshot, subject)
        if why:
            return Remark(UNDECODABLE, why)
        if not is_evaluated:
            return Remark(NOT_EVALUATED, NOT_EVALUATED_YET)
        return remark_unread_events(self._given.evaluation)

    def _known_replicas(self, subject: Subject, facts: SetFacts) -> Replicas | None:
        """Return the replicas without the numbers of objects that cannot be read now."""
        replicas = facts.replicas
        ref = ObjectRef(INFERENCE_SETS.group_resource, subject.namespace, subject.name)
        if self._is_unread or ref in self._given.snapshot.undecodable:
            return None
        if replicas is None or not self._is_uncounted:
            return replicas
        return replace(replicas, ready=None, updated=None)

    def _is_available(self, record: SetRecord, found: SubjectFindings) -> bool | None:
        state, replicas = record.standing.state, record.replicas
        if record.facts is not None and not record.facts.has_replicas:
            return True if state is State.CURRENT else None
        if state is State.UNKNOWN or replicas is None:
            return None
        is_out = any(self._is_not_serving(key) for key in found.failed + found.held)
        if record.is_cut_off or record.unreachable or is_out:
            return False
        if replicas.ready is None or found.unknown or self._given.evaluation.unread_events:
            return None
        return replicas.ready > 0

    def _is_not_serving(self, key: FindingKey) -> bool:
        state = self._given.evaluation.gate.finding_states.get(key)
        return (
            key.reason in self._serving
            and state is not None
            and any(trouble.is_out for trouble in state.troubles)
        )


def _why_uncounted(given: RollUpInput, *kinds: ResourceKind) -> str:
    """Return why the objects of these kinds cannot be counted now; empty if they can."""
    watched = (kind for kind in kinds if kind.resource in given.snapshot.tables)
    whys = (given.snapshot.why_unknown(kind, now=given.now) for kind in watched)
    return next((why for why in whys if why), "")


def is_same(before: SetRecord, after: SetRecord) -> bool:
    """Return whether nothing but the objects that were counted has changed."""
    return replace(after, facts=before.facts) == before and _shown(before) == _shown(after)


def _shown(record: SetRecord) -> object:
    facts = record.facts
    if facts is None:
        return None
    return (facts.replicas, facts.observed_generation, facts.generation, facts.is_stale)


def describe_progress(facts: SetFacts) -> Remark | None:
    """Return what is not as wanted yet; None if everything is."""
    replicas = facts.replicas
    if replicas is None:
        return None
    if facts.is_stale:
        why = f"KAITO has acted on generation {facts.observed_generation} of {facts.generation}."
        return Remark(STALE, why)
    if replicas.ready is not None and replicas.ready < replicas.desired:
        return Remark(SCALING, f"{replicas.ready} of {replicas.desired} replicas are ready.")
    if replicas.updated is not None and replicas.updated < replicas.desired:
        return Remark(UPDATING, f"{replicas.updated} of {replicas.desired} replicas are updated.")
    return None
