"""The roll-up of one InferenceSet."""

from msgspec.structs import replace

from reporter.kinds.core import PODS
from reporter.kinds.gateway_api import HTTP_ROUTES
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.observations import Watching
from reporter.model.states import Actionability, State
from reporter.model.status_document import PAUSED_CODE, UNROUTED_CODE, Replicas
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.probes.jobs import find_answer_time
from reporter.resources.routes import find_routes
from reporter.rollup import subject_states
from reporter.rollup.availability import PathFinder, gateways_of
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.findings import SubjectFindings
from reporter.rollup.records import (
    InferenceSetFacts,
    InferenceSetRecord,
    ReplicaProgress,
    SubjectState,
    Unavailability,
)
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.touched import Touched
from reporter.snapshot.lookups import why_undecodable
from reporter.snapshot.subjects import why_undecodable_subject


NOT_EVALUATED_YET = "It has not been evaluated yet."


NOT_COUNTED_CODE, NOT_COUNTED = "NotCounted", "No replica is known to serve."
DELETED_CODE, DELETED = "Deleting", "It is being deleted."
PAUSED = "It is scaled to zero."
UNROUTED = "No HTTPRoute leads to it, so it cannot be reached through the Gateway."


class SetRollUp:
    """Rolls up the InferenceSets of one fold, and the other subjects with a name."""

    def __init__(
        self, given: RollUpInput, rules: RollUpRules, blockers: BlockerFinder, touched: Touched
    ) -> None:
        self._given, self._blockers, self._touched = given, blockers, touched
        self._rules, self._paths = rules, PathFinder(given, rules, blockers)
        routes = given.snapshot.tables.get(HTTP_ROUTES.table)
        self._reads_routes = (
            routes is not None
            and isinstance(routes.watch_state, Watching)
            and rules.evaluates_routes
        )
        why_uncounted = _why_uncounted(given, WORKSPACES, PODS)
        unlisted = given.evaluation.known_subjects.unknown_layers
        self._why_unlisted = unlisted.get(Layer.MODELDEPLOYMENT, "") or why_uncounted
        self._is_unread = bool(_why_uncounted(given, INFERENCE_SETS))
        self._is_uncounted = bool(why_uncounted)

    def update(
        self,
        before: InferenceSetRecord | None,
        subject: Subject,
        found: SubjectFindings,
        progress: ReplicaProgress,
    ) -> InferenceSetRecord:
        """Return the record of an InferenceSet; *before* itself if nothing has changed."""
        facts = self._find_facts(subject, found, progress)
        if before is not None and before.facts == facts and self._stays(before, subject):
            return before
        is_evaluated = subject in self._given.evaluated or (
            before is not None and before.is_evaluated
        )
        subject_state = subject_states.make_subject_state(
            before.subject_state if before is not None else None,
            subject,
            found,
            self._facts_of(subject, progress, is_evaluated=is_evaluated),
            self._blockers,
            now=self._given.now,
        )
        unavailability = self._why_unavailable(subject_state, facts, found)
        is_known = unavailability is None or unavailability.is_known
        after = InferenceSetRecord(
            subject_state=subject_state,
            facts=facts,
            available=unavailability is None if is_known else None,
            unavailability=unavailability,
            is_evaluated=is_evaluated,
        )
        return before if before is not None and after == before else after

    def _find_facts(
        self, subject: Subject, found: SubjectFindings, progress: ReplicaProgress
    ) -> InferenceSetFacts:
        gateways = gateways_of(self._given.snapshot, subject)
        return InferenceSetFacts(
            progress=progress,
            replicas=self._known_replicas(subject, progress),
            unreachable=self._why_unreachable(subject),
            gateways=gateways,
            path=self._paths.find(subject, gateways),
            answered_at=find_answer_time(self._given.snapshot, subject, now=self._given.now),
            not_judged=tuple(key.reason for key in found.unread),
        )

    def _stays(self, before: InferenceSetRecord, subject: Subject) -> bool:
        """Return whether the record cannot have changed, if its facts have not."""
        return (
            subject not in self._touched.changed
            and before.is_evaluated
            # What was Unknown may be known again although nothing of the subject has changed.
            and before.subject_state.state is not State.UNKNOWN
            and not self._why_unlisted
            and not (subject.kind and self._given.evaluation.known_subjects.unknown)
            and not self._given.snapshot.undecodable
        )

    def _facts_of(
        self, subject: Subject, progress: ReplicaProgress, *, is_evaluated: bool
    ) -> subject_states.Facts:
        if subject in self._touched.terminating:
            return subject_states.Facts(is_terminating=True)
        return subject_states.Facts(
            unknown=self._why_unknown(subject, progress, is_evaluated=is_evaluated),
            progress=describe_progress(progress),
        )

    def _why_unknown(
        self, subject: Subject, progress: ReplicaProgress, *, is_evaluated: bool
    ) -> subject_states.StateReason | None:
        if subject.kind:
            return self._why_other_unknown(subject, is_evaluated=is_evaluated)
        ref = ObjectRef(INFERENCE_SETS.group_resource, subject.namespace, subject.name)
        if self._why_unlisted:
            return subject_states.StateReason(subject_states.NOT_LISTED, self._why_unlisted)
        if ref in self._given.snapshot.undecodable:
            name = (subject.namespace, subject.name)
            return subject_states.StateReason(
                subject_states.UNDECODABLE, why_undecodable(INFERENCE_SETS, name)
            )
        if progress.replicas is None or not is_evaluated:
            return subject_states.StateReason(subject_states.NOT_EVALUATED, NOT_EVALUATED_YET)
        return subject_states.explain_unread_events(self._given.evaluation)

    def _why_other_unknown(
        self, subject: Subject, *, is_evaluated: bool
    ) -> subject_states.StateReason | None:
        """Return why the state of a subject without replicas of KAITO is not known."""
        why = self._given.evaluation.known_subjects.why_not_all_known(subject)
        if why:
            return subject_states.StateReason(subject_states.NOT_LISTED, why)
        why = why_undecodable_subject(self._given.snapshot, subject)
        if why:
            return subject_states.StateReason(subject_states.UNDECODABLE, why)
        if not is_evaluated:
            return subject_states.StateReason(subject_states.NOT_EVALUATED, NOT_EVALUATED_YET)
        return subject_states.explain_unread_events(self._given.evaluation)

    def _why_unreachable(self, subject: Subject) -> str:
        """
        Return why no request reaches an InferenceSet, as none leads through the Gateway; empty if one may.

        That is known while routes are read and a reason is about them.
        """
        if subject.kind or not self._reads_routes or find_routes(self._given.snapshot, subject):
            return ""
        return UNROUTED

    def _known_replicas(self, subject: Subject, progress: ReplicaProgress) -> Replicas | None:
        """Return the replicas without the numbers of objects that cannot be read now."""
        replicas = progress.replicas
        ref = ObjectRef(INFERENCE_SETS.group_resource, subject.namespace, subject.name)
        if self._is_unread or ref in self._given.snapshot.undecodable:
            return None
        if replicas is None or not self._is_uncounted:
            return replicas
        return replace(replicas, ready=None, updated=None)

    # ------------------------------------------------------------ why it is not available

    def _why_unavailable(
        self, subject_state: SubjectState, facts: InferenceSetFacts, found: SubjectFindings
    ) -> Unavailability | None:
        """Return why a subject is not available, or why that is not known; None if it is."""
        path, state = facts.path, subject_state.state
        is_out = path is not None and path.is_known
        intended = None if state is State.UNKNOWN else _why_intended(facts)
        if intended is not None:
            return intended
        if path is not None and is_out and not self._is_check(path):
            return path
        blocked = self._blocked(subject_state)
        if not facts.progress.has_replicas:
            return path if state is State.CURRENT else replace(blocked, is_known=False)
        if state is State.UNKNOWN or facts.replicas is None:
            return path if is_out else replace(blocked, is_known=False)
        own = self._why_not_served(facts, facts.replicas, blocked)
        if own is not None or is_out:
            return own or path
        if facts.replicas.ready is None or found.unknown or self._given.evaluation.unread_events:
            return replace(self._first_unknown(found) or blocked, is_known=False)
        return path

    def _why_not_served(
        self, facts: InferenceSetFacts, replicas: Replicas, blocked: Unavailability
    ) -> Unavailability | None:
        """Return why no replica is reached, as far as the InferenceSet itself tells; None if one is."""
        if replicas.ready == 0:
            return blocked
        if facts.unreachable:
            return _without_finding(UNROUTED_CODE, facts.unreachable, Actionability.USER)
        return None

    def _is_check(self, cause: Unavailability) -> bool:
        """Return whether it is a check that failed: what is known to be out says more."""
        return cause.key is not None and self._rules.entry(cause.key).orthogonal

    def _first_unknown(self, found: SubjectFindings) -> Unavailability | None:
        if not found.unknown:
            return None
        return Unavailability.of(self._blockers.find(found.unknown[0]), is_known=False)

    def _blocked(self, subject_state: SubjectState) -> Unavailability:
        """Return what blocks a subject as the cause; one that is being deleted has no blocker."""
        if subject_state.blocker is not None:
            return Unavailability.of(subject_state.blocker, is_known=True)
        if subject_state.state is State.TERMINATING:
            return _without_finding(DELETED_CODE, DELETED, Actionability.TRANSIENT)
        why = self._given.evaluation.unread_events or self._why_unlisted or NOT_COUNTED
        return _without_finding(NOT_COUNTED_CODE, why, Actionability.TRANSIENT)


def _why_intended(facts: InferenceSetFacts) -> Unavailability | None:
    """
    Return why no request is meant to come: it is scaled to zero, or no route was ever made for it.

    What is out on the path of others hinders none. A route of its own that is gone is trouble of its own.
    """
    replicas, path = facts.replicas, facts.path
    if not facts.progress.has_replicas or replicas is None:
        return None
    if not replicas.desired:
        return _without_finding(PAUSED_CODE, PAUSED, Actionability.USER)
    is_own = path is not None and path.layer is Layer.MODELDEPLOYMENT
    if facts.unreachable and replicas.ready and not is_own:
        return _without_finding(UNROUTED_CODE, facts.unreachable, Actionability.USER)
    return None


def _without_finding(code: str, why: str, acts: Actionability) -> Unavailability:
    return Unavailability(code=code, layer=Layer.MODELDEPLOYMENT, actionability=acts, why=why)


def _why_uncounted(given: RollUpInput, *kinds: ResourceKind) -> str:
    """Return why the objects of these kinds cannot be counted now; empty if they can."""
    watched = (kind for kind in kinds if kind.resource in given.snapshot.tables)
    whys = (given.snapshot.why_unknown(kind, now=given.now) for kind in watched)
    return next((why for why in whys if why), "")


def describe_progress(progress: ReplicaProgress) -> subject_states.StateReason | None:
    """
    Return what of an InferenceSet is not as desired yet (generation, replicas); None if everything is.
    """
    replicas = progress.replicas
    if replicas is None:
        return None
    if progress.is_stale:
        why = f"KAITO has acted on generation {progress.observed_generation} of {progress.generation}."
        return subject_states.StateReason(subject_states.STALE, why)
    if replicas.ready is not None and replicas.ready < replicas.desired:
        return subject_states.StateReason(
            subject_states.SCALING, f"{replicas.ready} of {replicas.desired} replicas are ready."
        )
    if replicas.updated is not None and replicas.updated < replicas.desired:
        return subject_states.StateReason(
            subject_states.UPDATING,
            f"{replicas.updated} of {replicas.desired} replicas are updated.",
        )
    return None
