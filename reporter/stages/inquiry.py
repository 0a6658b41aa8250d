"""
Asks the probes about subjects: one inquiry a pass, in which what all questions share is found once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from reporter.model.entries import Catalogue, Entry
from reporter.model.kaito_objects import InferenceSet
from reporter.model.kinds import INFERENCE_SETS
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Clear, Paused, Unknown, Verdict
from reporter.model.words import Layer, Reason
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.records import Gate
from reporter.stages.ruling import unserved
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import is_never_read


NOBODY: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """
    A judged reason with its probe. *blind*: why its kinds cannot be seen now, empty if they can.

    *unserved*: which of the CRDs it demands is missing: objects kept from before may tell of trouble,
    but not that all is well. *unwatched*: the same by kind of those that sources add, without which it judges all the same.
    """

    entry: Entry
    probe: Probe
    blind: str
    unserved: str
    unwatched: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """
    *standing*: the keys that have a state, by subject and reason; each gets a verdict.
    """

    snapshot: Snapshot
    flags: Mapping[str, str]
    asked: Mapping[Layer, tuple[Asked, ...]]
    standing: Mapping[tuple[Subject, Reason], frozenset[Key]]

    def verdicts(self, subjects: Iterable[Subject]) -> list[Verdict]:
        return [verdict for subject in subjects for verdict in self._of(subject)]

    def _of(self, subject: Subject) -> Iterable[Verdict]:
        paused, odd = _is_paused(self.snapshot, subject), _odd(self.snapshot, subject)
        for asked in self.asked[subject.layer]:
            reason = asked.entry.reason
            keys = self.standing.get((subject, reason), NOBODY)
            if paused and asked.probe.spec.pauses:
                yield from map(Paused, keys | {Key(subject, reason)})
            elif asked.blind or odd:
                why = asked.blind or odd
                yield from (Unknown(key, why) for key in keys | {Key(subject, reason)})
            else:
                yield from self._answers(asked, subject, keys)

    def _answers(self, asked: Asked, subject: Subject, keys: frozenset[Key]) -> Iterable[Verdict]:
        entry = asked.entry
        question = Question(entry.reason, subject, entry.parameters, self.flags, asked.unwatched)
        verdicts = list(asked.probe.judge(self.snapshot, question))
        if not keys and not asked.unserved:
            return verdicts
        left = keys - {verdict.key for verdict in verdicts}
        answers = [*verdicts, *map(Clear, left)]
        if not asked.unserved:
            return answers
        return [Unknown(a.key, asked.unserved) if isinstance(a, Clear) else a for a in answers]


def inquiry(
    snapshot: Snapshot,
    gate: Gate,
    catalogue: Catalogue,
    probes: Mapping[str, Probe],
    *,
    flags: Mapping[str, str],
    now: datetime,
) -> Inquiry:
    """
    What one pass asks, and of what.
    """
    standing: defaultdict[tuple[Subject, Reason], set[Key]] = defaultdict(set)
    for key in (*gate.records, *gate.unseen):
        standing[key.subject, key.reason].add(key)
    asked = {
        layer: tuple(
            _asked(each, catalogue.demands(each.reason), probes[each.probe], snapshot, now=now)
            for each in catalogue.of(layer)
        )
        for layer in Layer
    }
    return Inquiry(
        snapshot, flags, asked, {pair: frozenset(keys) for pair, keys in standing.items()}
    )


def _asked(
    entry: Entry, demands: frozenset[str], probe: Probe, snapshot: Snapshot, *, now: datetime
) -> Asked:
    demanded = [kind for kind in probe.spec.requires if kind.qualified in demands]
    missing = unserved(snapshot, *demanded)
    whys = (snapshot.blind(kind, now=now) for kind in probe.spec.requires)
    more = (kind for kinds in probe.spec.sources.values() for kind in kinds if snapshot.sees(kind))
    unwatched = {kind.resource: snapshot.blind(kind, now=now) for kind in more}
    return Asked(
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
    return found is not None and found.desired == 0


def _odd(snapshot: Snapshot, subject: Subject) -> str:
    """
    That nothing is known of an InferenceSet but that it is there.
    """
    if not snapshot.spoilt or not is_never_read(snapshot, subject):
        return ""
    return f"{INFERENCE_SETS.kind} {subject.namespace}/{subject.name} could not be decoded"
