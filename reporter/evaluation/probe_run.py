"""Run the probes of a pass. What all subjects share is prepared once per pass."""

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from traceback import walk_tb
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue, CatalogueEntry
from reporter.evaluation.clear_subjects import ClearSubject, SubjectReads
from reporter.evaluation.clocks import TrackedFindings
from reporter.kinds.kaito import INFERENCE_SETS, InferenceSet
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Active, Clear, ObjectRef, Paused, Unknown, Verdict
from reporter.probes.probe import Probe, ProbeRequest
from reporter.resources.check_result import check_served
from reporter.snapshot.lookups import CheckedSnapshot, Gap, UndecodableIndex, check_lookups
from reporter.snapshot.noted_reads import ReadNotes
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import why_undecodable_subject


# --------------------------------------------------------------------
# Keep the notes of verdicts: advice to the operator that is no trouble.


def update_notes(
    before: Mapping[FindingKey, tuple[str, ...]], verdicts: Iterable[Verdict]
) -> Mapping[FindingKey, tuple[str, ...]]:
    """
    Return the notes after some verdicts; *before* itself if none has changed.

    Active and Clear replace the notes of their key. Unknown keeps them.
    """
    # Most verdicts have no notes, and replace none.
    found = {
        verdict.key: verdict.notes
        for verdict in verdicts
        if isinstance(verdict, (Active, Clear)) and (verdict.notes or verdict.key in before)
    }
    if not found:
        return before
    return {key: notes for key, notes in {**before, **found}.items() if notes}


# --------------------------------------------------------------------
# Find the subjects that are not ready, whose Ready Event would not be true.


def unsettled_subjects(
    tracked: TrackedFindings, catalogue: Catalogue, probes: Mapping[str, Probe]
) -> frozenset[Subject]:
    """
    Return the subjects with a ranked reason that has not settled or is Unknown.

    A metrics page that cannot be read shows no trouble, unless trouble was seen before. So Unknown for
    its sake does not keep a model whose objects are all ready from being announced as such. Where more
    pages will show the state, they are waited for.
    """
    ranked = [each for each in catalogue.entries.values() if not each.orthogonal]
    reading = {e.reason for e in ranked if e.probe and probes[e.probe].spec.scrape is not None}
    reasons = {each.reason for each in ranked}
    return frozenset(key.subject for key in tracked.finding_states if key.reason in reasons).union(
        key.subject
        for key, unknown in tracked.unknown_states.items()
        if key.reason in reasons and (unknown.is_brief or key.reason not in reading)
    )


# --------------------------------------------------------------------
# The result of a probe that raises an exception, which is a fault of the program.
#
# One odd object must cost its reason, and not what all other probes find.


FaultFunc: TypeAlias = Callable[[ProbeRequest, Exception], None]
"""Called with each exception of a probe; the exception that it raises ends the pass."""


def raise_fault(_: ProbeRequest, err: Exception) -> None:
    """
    Raise the exception of a probe, which ends the pass; in stories and tests it is not Unknown.
    """
    raise err


def describe_fault(err: Exception) -> str:
    """Return the type and the place of an exception; its text may quote what an object holds."""
    *_, (frame, line) = walk_tb(err.__traceback__)
    place = f"{frame.f_code.co_filename.rpartition('/')[2]}:{line}"
    return f"its probe failed with {type(err).__name__} at {place}, a fault of the reporter"


SUBJECTS_AT_ONCE = 25
"""Subjects whose probes run without a pause: some five milliseconds."""

NO_KEYS: frozenset[FindingKey] = frozenset()
NO_WHYS: Mapping[str, str] = {}


class PreparedProbe(Struct, frozen=True):
    """
    A catalogue entry with its probe, and what all its calls in one pass share.

    *why_unknown*: why a kind that the probe requires cannot be read now; empty if all can.
    *why_unserved*: which required CRD is missing. Objects read earlier may still prove trouble, but
    they cannot prove that all is well.
    *is_unchecked*: the probe needs pages that ``--scrape`` leaves out, or objects that
    ``--sources`` does, so it is not called.
    *unwatched*: why a kind that adds detail cannot be read, by resource; the probe runs without it.
    *unlisted*: why such a kind, or an optional one, was never listed, by ``resource.group``.
    *snapshot*: what the probe reads; it notes gaps if there may be any.
    """

    entry: CatalogueEntry
    probe: Probe
    why_unknown: str
    why_unserved: str
    unwatched: Mapping[str, str]
    snapshot: Snapshot
    is_unchecked: bool = False
    unlisted: Mapping[str, str] = NO_WHYS


class UnlistedCauses(Struct, frozen=True):
    """The cause *objects* of a tracked finding whose kinds were never listed, and why one was not."""

    why: str
    objects: frozenset[ObjectRef]

    def leave_open(self, verdict: Verdict) -> Verdict:
        """Return a verdict about the finding that does not end the trouble of these objects."""
        if isinstance(verdict, Clear):
            return Unknown(verdict.key, self.why)
        if not isinstance(verdict, Active) or (verdict.why_partial and not verdict.open_objects):
            return verdict
        return replace(
            verdict,
            why_partial=verdict.why_partial or self.why,
            open_objects=verdict.open_objects | self.objects,
        )


class ProbeRun(Struct, frozen=True):
    """
    The probes of one pass.

    *tracked_keys*: the keys that are not clear, by subject and reason. Each of them gets a verdict,
    so that a key that its probe no longer reports becomes Clear.
    *now*: the time of the pass.
    *unknown*: why the subjects of a rule are not all known, by their placeholder.
    *prepared_probes*: by layer and kind of the subject.
    *on_fault*: called with the exceptions of probes, whose keys are Unknown then.
    *notes*: what the probes read; None if that is not noted. *clear*: the subjects that they would find
    clear again. *unlisted*: the causes of tracked keys that have not ended although the probe finds nothing.
    """

    snapshot: Snapshot
    flags: Mapping[str, str]
    prepared_probes: Mapping[tuple[Layer, str], tuple[PreparedProbe, ...]]
    tracked_keys: Mapping[tuple[Subject, Reason], frozenset[FindingKey]]
    now: datetime
    unknown: Mapping[Subject, str] = field(default_factory=dict)
    on_fault: FaultFunc = raise_fault
    notes: ReadNotes | None = None
    clear: Mapping[Subject, ClearSubject] = field(default_factory=dict)
    unlisted: Mapping[FindingKey, UnlistedCauses] = field(default_factory=dict)

    def run(self, subjects: Iterable[Subject]) -> list[Verdict]:
        """
        Return the verdicts of every reason about each of the subjects.

        A subject that is scaled to zero on purpose is Paused where the probe allows it. An exception of
        a probe makes its keys Unknown and goes to *on_fault*.
        """
        return [verdict for subject in subjects for verdict in self._run_subject(subject)]

    def run_unknown(
        self, subjects: Iterable[Subject]
    ) -> Generator[None, None, tuple[list[Verdict], Mapping[Subject, ClearSubject]]]:
        """
        Return the verdicts as `run` does, without those of probes that would find a subject clear again.

        Returns also the subjects that are known to be clear now. Yields where other tasks may run.
        """
        verdicts: list[Verdict] = []
        clear: dict[Subject, ClearSubject] = {}
        for number, subject in enumerate(subjects):
            if number and not number % SUBJECTS_AT_ONCE:
                yield
            known = self.clear.get(subject)
            reads = SubjectReads(self.notes) if self.notes is not None and not known else None
            found = self._run_subject(subject, reads, known.repeated if known else None)
            verdicts += found
            if known is None and reads is not None:
                known = reads.when_clear()
            elif self.notes is not None:
                self.notes.take()  # of probes that run each time
            if known is not None and all(map(_is_clear, found)):
                clear[subject] = known
        return verdicts, clear

    @property
    def unchanged(self) -> frozenset[Subject]:
        """The subjects of which no probe runs."""
        return frozenset(subject for subject, each in self.clear.items() if not each.repeated)

    def evaluable_reasons(self, subjects: Iterable[Subject]) -> frozenset[Reason]:
        """Return the reasons of the subjects' layers whose required kinds can be read."""
        return frozenset(
            reason
            for about in {(subject.layer, subject.kind) for subject in subjects}
            for reason in self._evaluable(about)
        )

    def reasons_without_subject(
        self, subjects: Collection[Subject], evaluated: Collection[Reason]
    ) -> frozenset[Reason]:
        """
        Return the reasons that could be evaluated, and were not as they have none of the *subjects*.

        They count as evaluated: a subject that comes later was seen to begin.
        """
        found: set[Reason] = set()
        for layer, kind in self.prepared_probes:
            left = self._evaluable((layer, kind)).difference(evaluated)
            if left and not any(each.layer is layer and each.kind == kind for each in subjects):
                found |= left
        return frozenset(found)

    def _evaluable(self, about: tuple[Layer, str]) -> frozenset[Reason]:
        return frozenset(
            prepared.entry.reason
            for prepared in self.prepared_probes.get(about, ())
            if not prepared.why_unknown and not prepared.why_unserved
        )

    def _run_subject(
        self,
        subject: Subject,
        reads: SubjectReads | None = None,
        only: Collection[Reason] | None = None,
    ) -> list[Verdict]:
        # A list, as a generator costs a part of what a probe of a healthy subject does.
        verdicts: list[Verdict] = []
        if only is not None and not only:
            return verdicts
        paused = _is_paused(self.snapshot, subject)
        subject_unknown = self._why_subject_unknown(subject)
        if reads is not None:
            reads.add()
        for prepared in self.prepared_probes.get((subject.layer, subject.kind), ()):
            reason = prepared.entry.reason
            if only is not None and reason not in only:
                continue
            keys = self.tracked_keys.get((subject, reason), NO_KEYS)
            why = prepared.why_unknown or subject_unknown
            if paused and prepared.probe.spec.pauses_at_zero_replicas:
                verdicts += map(Paused, keys | {FindingKey(subject, reason)})
            elif prepared.is_unchecked:
                verdicts += map(Clear, keys | {FindingKey(subject, reason)})
            elif why:
                verdicts += [Unknown(key, why) for key in keys | {FindingKey(subject, reason)}]
            else:
                verdicts += self._run_probe(prepared, subject, keys)
            if reads is not None:
                reads.add(reason)
        return verdicts

    def _why_subject_unknown(self, subject: Subject) -> str:
        why = self.unknown.get(subject) if self.unknown else None
        return why or why_undecodable_subject(self.snapshot, subject)

    def _run_probe(
        self, prepared: PreparedProbe, subject: Subject, keys: frozenset[FindingKey]
    ) -> Iterable[Verdict]:
        entry, why = prepared.entry, prepared.why_unserved
        request = ProbeRequest(
            entry.reason,
            subject,
            entry.parameters,
            self.flags,
            self.now,
            prepared.unwatched,
            self.notes,
        )
        try:
            verdicts = run_probe(prepared.probe, prepared.snapshot, request, keys)
        except Exception as err:  # noqa: BLE001  on_fault logs or raises it
            self.on_fault(request, err)
            if isinstance(prepared.snapshot, CheckedSnapshot):
                prepared.snapshot.take_gaps()
            why_failed = describe_fault(err)
            return [Unknown(key, why_failed) for key in keys | {request.key()}]
        if why:
            verdicts = [Unknown(v.key, why) if isinstance(v, Clear) else v for v in verdicts]
        unlisted = self.unlisted
        if unlisted.keys().isdisjoint(keys):
            return verdicts
        return [unlisted[v.key].leave_open(v) if v.key in unlisted else v for v in verdicts]


def _is_clear(verdict: Verdict) -> bool:
    return isinstance(verdict, Clear) and not verdict.notes


def run_probe(
    probe: Probe,
    snapshot: Snapshot,
    request: ProbeRequest,
    keys: frozenset[FindingKey] = NO_KEYS,
) -> Sequence[Verdict]:
    """
    Return the verdicts of a probe, and Clear for *keys* without one; Unknown where a gap decides.

    Where the reason as a whole is Unknown, so is every item without a verdict.
    """
    found, gaps = probe.evaluate(snapshot, request), set[Gap]()
    if isinstance(snapshot, CheckedSnapshot):
        found = _with_gaps_so_far(found, snapshot, gaps)
    verdicts = list(found)
    if keys:
        whole = request.key()
        unknown = next((v for v in verdicts if isinstance(v, Unknown) and v.key == whole), None)
        verdicts += [
            Unknown(key, unknown.why, unknown.is_brief)
            if unknown is not None
            else _with_gaps(Clear(key), gaps)
            for key in keys - {verdict.key for verdict in verdicts}
        ]
    return verdicts


def _with_gaps_so_far(
    verdicts: Iterable[Verdict], snapshot: CheckedSnapshot, gaps: set[Gap]
) -> Iterator[Verdict]:
    """
    Yield each verdict with the gaps noted until then: it cannot rest on what is looked up later.

    At the end *gaps* are all of them.
    """
    for verdict in verdicts:
        gaps |= snapshot.take_gaps()
        yield _with_gaps(verdict, gaps)
    gaps |= snapshot.take_gaps()


def _with_gaps(verdict: Verdict, gaps: Collection[Gap]) -> Verdict:
    """
    Return Unknown for a verdict that rests on an incomplete result.

    A probe that names the only gap itself has left out what the gap leaves open.
    """
    if gaps and isinstance(verdict, Clear):
        return Unknown(verdict.key, min(gaps).why)
    if isinstance(verdict, Active):
        deciding = {gap.why for gap in gaps if not gap.is_detail} - {verdict.why_partial}
        return Unknown(verdict.key, min(deciding)) if deciding else verdict
    return verdict


def prepare_probe_run(
    snapshot: Snapshot,
    tracked: TrackedFindings,
    catalogue: Catalogue,
    probes: Mapping[str, Probe],
    *,
    flags: Mapping[str, str],
    now: datetime,
) -> ProbeRun:
    """Build the probe run of one pass, with everything that does not depend on the subject."""
    keys: defaultdict[tuple[Subject, Reason], set[FindingKey]] = defaultdict(set)
    for key in (*tracked.finding_states, *tracked.unknown_states):
        keys[key.subject, key.reason].add(key)
    given = _PassInput(snapshot, UndecodableIndex(snapshot.undecodable), flags, now)
    prepared = {
        about: tuple(
            _prepare_probe(
                entry,
                catalogue.required_crds(entry.reason),
                probes[entry.probe],
                given,
            )
            for entry in catalogue.evaluated_entries(*about)
        )
        for about in {(entry.layer, entry.subject_kind) for entry in catalogue.entries.values()}
    }
    tracked_keys = {pair: frozenset(found) for pair, found in keys.items()}
    unlisted = _find_unlisted(tracked, prepared.values())
    return ProbeRun(snapshot, flags, prepared, tracked_keys, now, unlisted=unlisted)


def _find_unlisted(
    tracked: TrackedFindings, prepared: Iterable[tuple[PreparedProbe, ...]]
) -> Mapping[FindingKey, UnlistedCauses]:
    """
    Return the causes of tracked findings that cannot be looked at: their kinds were never listed.

    A predecessor could list them. A probe runs without a kind that adds detail, and finds nothing.
    """
    whys = {
        each.entry.reason: each.unlisted for group in prepared for each in group if each.unlisted
    }
    if not whys:
        return {}
    found: dict[FindingKey, UnlistedCauses] = {}
    for key, state in tracked.finding_states.items():
        of_reason = whys.get(key.reason, NO_WHYS)
        refs = [each.object for each in state.clocks if each.object.resource in of_reason]
        if refs:
            found[key] = UnlistedCauses(of_reason[refs[0].resource], frozenset(refs))
    return found


class _PassInput(Struct, frozen=True):
    """The input that all probes of a pass share."""

    snapshot: Snapshot
    undecodable: UndecodableIndex
    flags: Mapping[str, str]
    now: datetime


def _prepare_probe(
    entry: CatalogueEntry, required_crds: frozenset[str], probe: Probe, given: _PassInput
) -> PreparedProbe:
    snapshot, now, spec = given.snapshot, given.now, probe.spec.bound(entry.parameters)
    if spec.why_source_off(given.flags):
        return PreparedProbe(entry, probe, "", "", {}, snapshot, is_unchecked=True)
    with_crd = [kind for kind in spec.required_kinds if kind.group_resource in required_crds]
    unserved = check_served(snapshot, *with_crd)
    whys = (snapshot.why_unknown(kind, now=now) for kind in spec.required_kinds)
    # A detail source whose kind never synced adds nothing.
    detail_kinds = [kind for kind in spec.detail_kinds if snapshot.has_synced(kind)]
    further = (k for k in (*spec.detail_kinds, *spec.optional_kinds) if k.table in snapshot.tables)
    unlisted = {kind.group_resource: snapshot.why_not_synced(kind) for kind in further}
    consulted = _why_unknown(snapshot, spec.consulted_kinds, now=now)
    return PreparedProbe(
        entry,
        probe,
        next((why for why in whys if why), ""),
        unserved.why if unserved is not None else "",
        _why_unknown(snapshot, detail_kinds, now=now),
        check_lookups(snapshot, spec, consulted, given.undecodable),
        is_unchecked=bool(spec.why_not_read(entry.parameters, given.flags)),
        unlisted={resource: why for resource, why in unlisted.items() if why},
    )


def _why_unknown(
    snapshot: Snapshot, kinds: Iterable[ResourceKind], *, now: datetime
) -> Mapping[str, str]:
    """Return why kinds cannot be read now, by resource, without those that can."""
    return {each.table: why for each in kinds if (why := snapshot.why_unknown(each, now=now))}


def _is_paused(snapshot: Snapshot, subject: Subject) -> bool:
    """
    Return whether the subject is an InferenceSet that is scaled to zero, for all that is known.
    """
    # With a catalogue that needs no InferenceSets, none are watched.
    if (
        subject.layer is not Layer.MODELDEPLOYMENT
        or INFERENCE_SETS.resource not in snapshot.tables
    ):
        return False
    inference_set = snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)
    if inference_set is None or inference_set.desired_replicas:
        return False
    # A newer version that cannot be decoded may want replicas.
    ref = ObjectRef(INFERENCE_SETS.group_resource, subject.namespace, subject.name)
    return ref not in snapshot.undecodable
