"""
The roll-up as the fold keeps it: records of each subject, without the texts that are only rendered.

All are frozen; what did not change remains the same object from pass to pass.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from msgspec import Struct, field

from reporter.evaluation.evaluation import Evaluation
from reporter.kinds.core import Pod
from reporter.kinds.kaito import InferenceSet, Workspace
from reporter.kinds.objects import NamespacedName
from reporter.model import status_document
from reporter.model.enums import Layer, Reason
from reporter.model.silences import Silence
from reporter.model.states import COUNTED_STATES, Actionability, Pattern, SinceFrom, State
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import ObjectRef, Trouble


class RollUpCause(Struct, frozen=True, kw_only=True, gc=False):
    """
    A cause for which a subject is not as it should be.

    *key*: the cause's finding; None if no reason is to blame. *why*: a text of its own, where no trouble
    has one. *held*: it may still be a normal start or change. *troubles*: what its text is rendered from,
    so that another text is another cause.
    """

    code: str
    layer: Layer
    actionability: Actionability
    key: FindingKey | None = None
    object: ObjectRef | None = None
    why: str = ""
    held: bool = False
    troubles: tuple[Trouble, ...] = ()

    @property
    def reason(self) -> str:
        """The reason of the cause; empty if no reason is to blame, or before an evaluation."""
        return self.key.reason if self.key is not None else ""


class Blocker(RollUpCause, frozen=True, kw_only=True, gc=False):
    """
    The cause that keeps a subject from being Current.

    *via*: the subject's own reason and those between it and the cause, if the cause is upstream.
    *window*: how long it may take. *deadline*: when time alone makes it stalled; None if it is, or has to
    outlive a hold first. *silence*: for whose sake the cause is not announced.
    """

    since: datetime
    since_from: SinceFrom
    window: timedelta
    stalled: bool = False
    pattern: Pattern | None = None
    via: tuple[Reason, ...] = ()
    deadline: datetime | None = None
    silence: Silence | None = None

    @property
    def is_pointer(self) -> bool:
        """True if the cause is upstream: the subject only suffers from what another one has."""
        return bool(self.via)


class Unavailability(RollUpCause, frozen=True, kw_only=True, gc=False):
    """
    The cause for which a subject is not available, or for which that is not known.

    *is_known*: False if it only may be unavailable.
    """

    is_known: bool = True

    @classmethod
    def of(cls, blocker: Blocker, *, is_known: bool) -> "Unavailability":
        """Return the cause that blocks the subject as that of its unavailability."""
        return cls(
            code=blocker.code,
            layer=blocker.layer,
            actionability=blocker.actionability,
            key=blocker.key,
            object=blocker.object,
            why=blocker.why,
            held=blocker.held,
            troubles=blocker.troubles,
            is_known=is_known,
        )


class SuppressedFinding(Struct, frozen=True, kw_only=True, gc=False):
    """
    A finding that only follows from the reasons *by*, with the troubles that its text is rendered from.
    """

    key: FindingKey
    by: tuple[Reason, ...]
    troubles: tuple[Trouble, ...]
    held: bool = False


class SubjectState(Struct, frozen=True, kw_only=True, gc=False):
    """
    The state of one subject.

    *since*: when this process saw the state begin. *last_known*: the state before an Unknown one.
    *suppressed*: findings of its own, the most important first, whatever blocks it.
    """

    state: State
    since: datetime
    last_known: State | None = None
    blocker: Blocker | None = None
    suppressed: tuple[SuppressedFinding, ...] = ()


class CountedObjects(Struct, frozen=True, eq=False, gc=False):
    """The objects that the progress of an InferenceSet is counted from; compared by identity."""

    inference_set: InferenceSet | None = None
    workspaces: tuple[Workspace, ...] | None = None
    pods: tuple[Pod, ...] | None = None


class ReplicaProgress(Struct, frozen=True, kw_only=True, gc=False):
    """
    The progress of an InferenceSet.

    *has_replicas*: False for a subject of another kind, of which nobody counts replicas.
    """

    replicas: status_document.Replicas | None = None
    observed_generation: int | None = None
    generation: int | None = None
    is_stale: bool = False
    has_replicas: bool = True

    @property
    def is_paused(self) -> bool:
        """True if no replicas are desired (spec.replicas 0); False while that is not known."""
        return self.replicas is not None and self.replicas.desired == 0


class InferenceSetFacts(Struct, frozen=True, kw_only=True, gc=False):
    """
    All that is shown of an InferenceSet beside its state; compared as a whole, so none gets stale.

    *replicas*: those of *progress*, as far as their objects can be read now. *unreachable*: why no
    request reaches it although nothing else may be wrong; empty if a request may. *gateways*: those
    that its routes name. *path*: the cause on the path of its requests; None if nothing is known to hinder
    them. *answered_at*: when a check last got an answer of it through its Gateway, if that still counts.
    *not_judged*: ranked reasons that need metrics pages of which none is known.
    """

    progress: ReplicaProgress = ReplicaProgress()
    replicas: status_document.Replicas | None = None
    unreachable: str = ""
    gateways: tuple[NamespacedName, ...] = ()
    path: Unavailability | None = None
    answered_at: datetime | None = None
    not_judged: tuple[Reason, ...] = ()


class InferenceSetRecord(Struct, frozen=True, kw_only=True, gc=False):
    """
    One InferenceSet, or another subject with a name.

    *unavailability*: why it is not available, or why that is not known; None if it is.
    *is_evaluated*: False for a new one that the pass has not reached yet.
    """

    subject_state: SubjectState
    facts: InferenceSetFacts = InferenceSetFacts()
    available: bool | None = None
    unavailability: Unavailability | None = None
    is_evaluated: bool = True

    @property
    def is_paused(self) -> bool:
        """True if it is not available because it is scaled to zero on purpose."""
        return self.available is False and self.facts.progress.is_paused

    @property
    def why_unreachable(self) -> str:
        """The reason for which it is not available; empty if it may be, or nothing is known."""
        return self.facts.unreachable if self.available is False else ""


class GroupKey(Struct, frozen=True, order=True, gc=False):
    """
    The properties that blockers of a namespace share; the least in this order is the most important.
    """

    milder_than_failed: int
    is_settling: bool
    is_silenced: bool
    is_pointer: bool
    layer: int
    rank: int
    reason: str
    code: str


NO_COUNTS: Mapping[State, int] = MappingProxyType(dict.fromkeys(COUNTED_STATES, 0))


class Totals(Struct, frozen=True, kw_only=True, gc=False):
    """
    Sums over the InferenceSets of a namespace.

    *available*, *maybe_available*, *unavailable*: how many are available, of how many that is not
    known, and how many are not; the last without those that are being deleted or scaled to zero
    (*paused*). *…_unreported*: of how many the replicas desired, updated or ready are not known.
    """

    by_state: Mapping[State, int] = NO_COUNTS
    available: int = 0
    maybe_available: int = 0
    unavailable: int = 0
    paused: int = 0
    desired: int = 0
    updated: int = 0
    ready: int = 0
    desired_unreported: int = 0
    updated_unreported: int = 0
    ready_unreported: int = 0

    @property
    def replicas(self) -> status_document.Replicas | None:
        """The sums over the InferenceSets; None where one of them does not report."""
        if self.desired_unreported:
            return None
        return status_document.Replicas(
            desired=self.desired,
            updated=None if self.updated_unreported else self.updated,
            ready=None if self.ready_unreported else self.ready,
        )


def counts_as_known(counts: Mapping[State, int], *, has_all: bool) -> Mapping[State, int]:
    """
    Return the counts, without zeros unless *has_all*: subjects that are not listed may be in that state.
    """
    return counts if has_all else {state: number for state, number in counts.items() if number}


Group = Mapping[str, Blocker]
"""Blockers by name of the subject; "" is the harness."""

NO_SETS: Mapping[str, InferenceSetRecord] = MappingProxyType({})
NO_OBJECTS: Mapping[str, CountedObjects] = MappingProxyType({})
NO_GROUPS: Mapping[GroupKey, Group] = MappingProxyType({})


class NamespaceRecord(Struct, frozen=True, kw_only=True):
    """
    One workload namespace.

    *subject_state*: the worst of its harness and sets. *counted*: the objects that the replicas of each
    InferenceSet were counted from; not published. *groups*: what blocks its subjects, by what they share.
    *next_deadline*: when time alone changes the record of a subject in it. *unlisted*: why it may have
    further sets, in any state; empty if all are known. *has_all_sets*: its InferenceSets can be listed.
    *is_bare*: the namespace itself is no subject; *harness* is a stand-in that is Current.
    *revision*: that of the roll-up with the last change of what is published.
    """

    subject_state: SubjectState
    harness: SubjectState
    sets: Mapping[str, InferenceSetRecord] = NO_SETS
    counted: Mapping[str, CountedObjects] = NO_OBJECTS
    totals: Totals = Totals()
    groups: Mapping[GroupKey, Group] = NO_GROUPS
    next_deadline: datetime | None = None
    package: status_document.Package | None = None
    is_evaluated: bool = True
    unlisted: str = ""
    has_all_sets: bool = True
    is_bare: bool = False
    revision: int = 0

    @property
    def replicas(self) -> status_document.Replicas | None:
        """The sums over its InferenceSets; None while these cannot be listed, or one does not report."""
        return self.totals.replicas if self.has_all_sets else None

    @property
    def counts(self) -> Mapping[State, int]:
        """The number of InferenceSets by state; a 0 is left out while some may not be listed."""
        return counts_as_known(self.totals.by_state, has_all=not self.unlisted)

    @property
    def available(self) -> bool | None:
        """True if one of its InferenceSets is available, False if none is, None if that is not known."""
        if self.totals.available:
            return True
        unknown = (
            self.totals.maybe_available
            or self.unlisted
            or self.subject_state.state is State.UNKNOWN
        )
        return None if unknown else False


class ClusterRecord(Struct, frozen=True, kw_only=True):
    """
    The control plane, and the layers whose subjects are not all known.

    *uid*: of the namespace kube-system, which stands for the cluster's; empty if it is not known.
    """

    subject_state: SubjectState
    uid: str = ""
    components: tuple[status_document.ComponentStatus, ...] = ()
    unlisted: tuple[status_document.UnlistedLayer, ...] = ()

    def has_all(self, layer: Layer) -> bool:
        """Return whether all subjects of a layer are known, so that a count of 0 is certain."""
        return all(each.layer is not layer for each in self.unlisted)


class RollUp(Struct, frozen=True):
    """
    The roll-up after one pass; of *evaluation*, from which texts are rendered.

    *cluster*: None before the first pass. *terminating*: subjects that are being deleted.
    *episodes*: since when each key is announced. *packages*: those that status objects name, by
    namespace. *revision*: changes with the content. *page_age*: seconds that a metrics page may be
    old where pages are read less often than the interval says. *stalls_known_at*: when each
    subject that was stalled before this process began counts as stalled again, although its time
    may have been counted from the first pass; None before that pass. *missing_rights*: permissions
    that are needed and not granted.
    """

    evaluation: Evaluation = field(default_factory=Evaluation)
    cluster: ClusterRecord | None = None
    namespaces: Mapping[str, NamespaceRecord] = field(default_factory=dict)
    terminating: frozenset[Subject] = frozenset()
    episodes: Mapping[FindingKey, datetime] = field(default_factory=dict)
    packages: Mapping[str, status_document.Package] = field(default_factory=dict)
    revision: int = 0
    page_age: int | None = None
    stalls_known_at: datetime | None = None
    missing_rights: tuple[str, ...] = ()

    @property
    def knows_stalls(self) -> bool:
        """
        True once no subject counts as not stalled only because this process began a short time ago.
        """
        known_at, now = self.stalls_known_at, self.evaluated_at
        return known_at is not None and now is not None and now >= known_at

    @property
    def evaluated_at(self) -> datetime | None:
        """The time of the pass that this shows; None before the first one."""
        return self.evaluation.evaluated_at

    def count_sets(self) -> Mapping[State, int]:
        """Return the number of InferenceSets by state; a 0 is left out while some may not be listed."""
        counts = dict(NO_COUNTS)
        for each in self.namespaces.values():
            for state, number in each.totals.by_state.items():
                counts[state] += number
        return counts_as_known(counts, has_all=self._has_all(Layer.MODELDEPLOYMENT))

    def count_namespaces(self) -> Mapping[State, int]:
        """
        Return the number of workload namespaces by state; a 0 is left out while some may not be listed.
        """
        counts = dict(NO_COUNTS)
        for each in self.namespaces.values():
            counts[each.subject_state.state] += 1
        return counts_as_known(counts, has_all=self._has_all(Layer.MODELHARNESS))

    def find_unobserved(self) -> status_document.Unobserved:
        """
        Return what is not known below the control plane; before the first pass, that nothing is listed.
        """
        return status_document.Unobserved(
            namespaces=self.count_namespaces().get(State.UNKNOWN, 0),
            inference_sets=self.count_sets().get(State.UNKNOWN, 0),
            unlisted=self.cluster is None or bool(self.cluster.unlisted),
            missing_rights=self.missing_rights,
        )

    def _has_all(self, layer: Layer) -> bool:
        return self.cluster is not None and self.cluster.has_all(layer)
