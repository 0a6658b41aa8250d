"""
Asks the probes about subjects: one inquiry a pass, in which what all questions share is found once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from reporter.model.entries import Catalogue, CatalogueEntry
from reporter.model.enums import Layer, Reason
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS, InferenceSet
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Clear, Paused, Unknown, Verdict
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import check_served
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import is_never_decoded


NO_KEYS: frozenset[FindingKey] = frozenset()


@dataclass(frozen=True, slots=True)
class PreparedProbe:
    """
    A judged reason with its probe. *blind*: why its kinds cannot be seen now, empty if they can.

    *unserved*: which of the CRDs it demands is missing: objects kept from before may tell of trouble,
    but not that all is well. *unwatched*: the same by kind of those that sources add, without which it judges all the same.
    """

    entry: CatalogueEntry
    probe: Probe
    why_unknown: str
    why_unserved: str
    unwatched: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """
    *standing*: the keys that have a state, by subject and reason; each gets a verdict.
    """

    snapshot: Snapshot
    flags: Mapping[str, str]
    prepared_probes: Mapping[Layer, tuple[PreparedProbe, ...]]
    tracked_keys: Mapping[tuple[Subject, Reason], frozenset[FindingKey]]

    def run(self, subjects: Iterable[Subject]) -> list[Verdict]:
        return [verdict for subject in subjects for verdict in self._run_subject(subject)]

    def _run_subject(self, subject: Subject) -> Iterable[Verdict]:
        paused, odd = _is_paused(self.snapshot, subject), _why_undecodable(self.snapshot, subject)
        for asked in self.prepared_probes[subject.layer]:
            reason = asked.entry.reason
            keys = self.tracked_keys.get((subject, reason), NO_KEYS)
            if paused and asked.probe.spec.pauses_at_zero_replicas:
                yield from map(Paused, keys | {FindingKey(subject, reason)})
            elif asked.why_unknown or odd:
                why = asked.why_unknown or odd
                yield from (Unknown(key, why) for key in keys | {FindingKey(subject, reason)})
            else:
                yield from self._run_probe(asked, subject, keys)

    def _run_probe(
        self, asked: PreparedProbe, subject: Subject, keys: frozenset[FindingKey]
    ) -> Iterable[Verdict]:
        entry = asked.entry
        question = ProbeRequest(
            entry.reason, subject, entry.parameters, self.flags, asked.unwatched
        )
        verdicts = list(asked.probe.evaluate(self.snapshot, question))
        if not keys and not asked.why_unserved:
            return verdicts
        left = keys - {verdict.key for verdict in verdicts}
        answers = [*verdicts, *map(Clear, left)]
        if not asked.why_unserved:
            return answers
        return [Unknown(a.key, asked.why_unserved) if isinstance(a, Clear) else a for a in answers]


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
    What one pass asks, and of what.
    """
    standing: defaultdict[tuple[Subject, Reason], set[FindingKey]] = defaultdict(set)
    for key in (*gate.finding_states, *gate.unknown_states):
        standing[key.subject, key.reason].add(key)
    asked = {
        layer: tuple(
            _prepare_probe(
                each, catalogue.required_crds(each.reason), probes[each.probe], snapshot, now=now
            )
            for each in catalogue.evaluated_entries(layer)
        )
        for layer in Layer
    }
    return ProbeRun(
        snapshot, flags, asked, {pair: frozenset(keys) for pair, keys in standing.items()}
    )


def _prepare_probe(
    entry: CatalogueEntry,
    demands: frozenset[str],
    probe: Probe,
    snapshot: Snapshot,
    *,
    now: datetime,
) -> PreparedProbe:
    demanded = [kind for kind in probe.spec.required_kinds if kind.group_resource in demands]
    missing = check_served(snapshot, *demanded)
    whys = (snapshot.why_unknown(kind, now=now) for kind in probe.spec.required_kinds)
    more = (
        kind
        for kinds in probe.spec.kinds_by_source.values()
        for kind in kinds
        if snapshot.has_synced(kind)
    )
    unwatched = {kind.resource: snapshot.why_unknown(kind, now=now) for kind in more}
    return PreparedProbe(
        entry,
        probe,
        next((why for why in whys if why), ""),
        missing.why if missing is not None else "",
        {resource: why for resource, why in unwatched.items() if why},
    )


def _is_paused(snapshot: Snapshot, subject: Subject) -> bool:
    """
    Whether an InferenceSet is scaled to zero.
    """
    if (
        subject.layer is not Layer.MODELDEPLOYMENT
        or INFERENCE_SETS.resource not in snapshot.tables
    ):
        return False
    found = snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)
    return found is not None and found.desired_replicas == 0


def _why_undecodable(snapshot: Snapshot, subject: Subject) -> str:
    """
    That nothing is known of an InferenceSet but that it is there.
    """
    if not snapshot.undecodable or not is_never_decoded(snapshot, subject):
        return ""
    return f"{INFERENCE_SETS.kind} {subject.namespace}/{subject.name} could not be decoded"
