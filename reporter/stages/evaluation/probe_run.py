"""
Run the probes of a pass. What all subjects share is prepared once per pass.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from reporter.model.entries import Catalogue, CatalogueEntry
from reporter.model.enums import Layer, Reason
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Active, Clear, Paused, Unknown, Verdict
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import check_served
from reporter.stages.snapshot.lookups import CheckedSnapshot, Gap, check_lookups
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import why_undecodable_subject
from reporter.stages.snapshot.unknown_layers import placeholder


NO_KEYS: frozenset[FindingKey] = frozenset()


@dataclass(frozen=True, slots=True)
class PreparedProbe:
    """
    A catalogue entry with its probe, and what all its calls in one pass share.

    *why_unknown*: why a kind that the probe requires cannot be read now; empty if all can.
    *why_unserved*: which required CRD is missing. Objects read earlier may still prove trouble, but
    they cannot prove that all is well.
    *is_switched_off*: the probe needs pages that ``--scrape`` leaves out, so it is not called.
    *unwatched*: why a kind that adds detail cannot be read, by resource; the probe runs without it.
    *checked*: the snapshot with a note of what the probe could not be told; None if that is nothing.
    """

    entry: CatalogueEntry
    probe: Probe
    why_unknown: str
    why_unserved: str
    unwatched: Mapping[str, str]
    checked: CheckedSnapshot | None = None
    is_switched_off: bool = False


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """
    The probes of one pass.

    *tracked_keys*: the keys that are not clear, by subject and reason. Each of them gets a verdict,
    so that a key that its probe no longer reports becomes Clear.
    *unknown_layers*: why the subjects of a layer are not all known, for its placeholder.
    """

    snapshot: Snapshot
    flags: Mapping[str, str]
    prepared_probes: Mapping[Layer, tuple[PreparedProbe, ...]]
    tracked_keys: Mapping[tuple[Subject, Reason], frozenset[FindingKey]]
    unknown_layers: Mapping[Layer, str] = field(default_factory=dict)

    def run(self, subjects: Iterable[Subject]) -> list[Verdict]:
        return [verdict for subject in subjects for verdict in self._run_subject(subject)]

    def evaluable_reasons(self, subjects: Iterable[Subject]) -> frozenset[Reason]:
        """
        Return the reasons of the subjects' layers whose required kinds can be read.
        """
        return frozenset(
            prepared.entry.reason
            for layer in {subject.layer for subject in subjects}
            for prepared in self.prepared_probes[layer]
            if not prepared.why_unknown and not prepared.why_unserved
        )

    def _run_subject(self, subject: Subject) -> Iterable[Verdict]:
        paused = _is_paused(self.snapshot, subject)
        subject_unknown = self._why_subject_unknown(subject)
        for prepared in self.prepared_probes[subject.layer]:
            reason = prepared.entry.reason
            keys = self.tracked_keys.get((subject, reason), NO_KEYS)
            why = prepared.why_unknown or subject_unknown
            if paused and prepared.probe.spec.pauses_at_zero_replicas:
                yield from map(Paused, keys | {FindingKey(subject, reason)})
            elif why:
                yield from (Unknown(key, why) for key in keys | {FindingKey(subject, reason)})
            elif prepared.is_switched_off:
                yield from map(Clear, keys | {FindingKey(subject, reason)})
            else:
                yield from self._run_probe(prepared, subject, keys)

    def _why_subject_unknown(self, subject: Subject) -> str:
        if subject.layer in self.unknown_layers and subject == placeholder(subject.layer):
            return self.unknown_layers[subject.layer]
        return why_undecodable_subject(self.snapshot, subject)

    def _run_probe(
        self, prepared: PreparedProbe, subject: Subject, keys: frozenset[FindingKey]
    ) -> Iterable[Verdict]:
        entry, why = prepared.entry, prepared.why_unserved
        request = ProbeRequest(
            entry.reason, subject, entry.parameters, self.flags, prepared.unwatched
        )
        verdicts = list(prepared.probe.evaluate(prepared.checked or self.snapshot, request))
        gap = prepared.checked.take_gap() if prepared.checked is not None else None
        if not keys and not why and gap is None:
            return verdicts
        verdicts += map(Clear, keys - {verdict.key for verdict in verdicts})
        if gap is not None:
            verdicts = [_with_gap(verdict, gap) for verdict in verdicts]
        if not why:
            return verdicts
        return [Unknown(each.key, why) if isinstance(each, Clear) else each for each in verdicts]


def _with_gap(verdict: Verdict, gap: Gap) -> Verdict:
    """
    Return Unknown for a verdict on incomplete input.
    """
    if isinstance(verdict, Clear) or (isinstance(verdict, Active) and not gap.is_detail):
        return Unknown(verdict.key, gap.why)
    return verdict


def prepare_probe_run(
    snapshot: Snapshot,
    gate: Gate,
    catalogue: Catalogue,
    probes: Mapping[str, Probe],
    *,
    flags: Mapping[str, str],
    now: datetime,
) -> ProbeRun:
    """
    Build the probe run of one pass, with everything that does not depend on the subject.
    """
    tracked: defaultdict[tuple[Subject, Reason], set[FindingKey]] = defaultdict(set)
    for key in (*gate.finding_states, *gate.unknown_states):
        tracked[key.subject, key.reason].add(key)
    prepared = {
        layer: tuple(
            _prepare_probe(
                entry,
                catalogue.required_crds(entry.reason),
                probes[entry.probe],
                snapshot,
                flags=flags,
                now=now,
            )
            for entry in catalogue.evaluated_entries(layer)
        )
        for layer in Layer
    }
    return ProbeRun(
        snapshot, flags, prepared, {pair: frozenset(keys) for pair, keys in tracked.items()}
    )


def _prepare_probe(
    entry: CatalogueEntry,
    required_crds: frozenset[str],
    probe: Probe,
    snapshot: Snapshot,
    *,
    flags: Mapping[str, str],
    now: datetime,
) -> PreparedProbe:
    with_crd = [kind for kind in probe.spec.required_kinds if kind.group_resource in required_crds]
    unserved = check_served(snapshot, *with_crd)
    whys = (snapshot.why_unknown(kind, now=now) for kind in probe.spec.required_kinds)
    # A detail source whose kind never synced is not served or switched off: it adds nothing.
    detail_kinds = (
        kind
        for kinds in probe.spec.kinds_by_source.values()
        for kind in kinds
        if snapshot.has_synced(kind)
    )
    unwatched = {kind.resource: snapshot.why_unknown(kind, now=now) for kind in detail_kinds}
    consulted = {
        kind.resource: snapshot.why_unknown(kind, now=now) for kind in probe.spec.consulted_kinds
    }
    return PreparedProbe(
        entry,
        probe,
        next((why for why in whys if why), ""),
        unserved.why if unserved is not None else "",
        {resource: why for resource, why in unwatched.items() if why},
        check_lookups(
            snapshot, probe.spec, {resource: why for resource, why in consulted.items() if why}
        ),
        is_switched_off=bool(probe.spec.why_not_read(entry.parameters, flags)),
    )


def _is_paused(snapshot: Snapshot, subject: Subject) -> bool:
    """
    Return whether the subject is an InferenceSet that is scaled to zero.
    """
    # With a catalogue that needs no InferenceSets, none are watched.
    if (
        subject.layer is not Layer.MODELDEPLOYMENT
        or INFERENCE_SETS.resource not in snapshot.tables
    ):
        return False
    inference_set = snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)
    return inference_set is not None and inference_set.desired_replicas == 0
