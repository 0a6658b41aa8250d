"""
Nothing real is hidden, and what is said arrives: what must stand there once all faults are over.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from reporter.model.events import EventRecord
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Active, Trouble, Unknown
from reporter.model.words import EventType
from reporter.stages.wording import Speech, Told
from tests.shipped import CATALOGUE
from tests.simulation.apiserver import Write
from tests.simulation.arriving import Arriving
from tests.simulation.replica import Replica
from tests.simulation.rules import HEARTBEAT, covers, hold_of, is_out
from tests.simulation.truth import Truth, verdicts_of


@dataclass
class Rest:
    """
    *since*: from when on nothing was changed, and nothing failed. *active*: all that is wrong, by
    the probes on what the leader knows, as it alone remembers what was deleted before. *unknown*: of
    what kind is not served nobody can tell, so what was said of it before stays. *slack*: seconds
    beyond their holds for what delays words: rows that lift, retries, the least time between rewrites.
    """

    truth: Truth
    arriving: Arriving
    since: float
    active: dict[Key, tuple[Trouble, ...]] = field(default_factory=dict)
    unknown: frozenset[Key] = frozenset()
    slack: float = 240

    def holds(self) -> None:
        replicas = self.arriving.sending.replicas
        for replica in replicas:
            self.knows_the_truth(replica)
        (leader,) = [each for each in replicas if each.elector.holds()]
        verdicts = verdicts_of(leader.store.view(), now=self.truth.agenda.wall)
        self.active = {k: v.troubles for k, v in verdicts.items() if isinstance(v, Active)}
        self.unknown = frozenset(k for k, v in verdicts.items() if isinstance(v, Unknown))
        missed = (self.active.keys() ^ self.truth.active.keys()) - self.unknown
        assert not missed, f"{leader.name} judges otherwise of {sorted(map(str, missed))}"
        self.says_the_truth()

    def knows_the_truth(self, replica: Replica) -> None:
        view = replica.store.view()
        for kind, objects in self.truth.cluster.objects.items():
            if self.truth.cluster.serves(kind):
                known = {(o.metadata.namespace, o.metadata.name): o for o in view.all(kind)}
                assert known == objects, f"{replica.name} does not know the {kind.resource}"

    def says_the_truth(self) -> None:
        for subject in self.truth.subjects:
            if all(self.is_decided(key) for key in self.ranked(subject)):
                self.is_announced(subject)
                self.is_taken_back(subject)
        for key in self.active:
            if CATALOGUE[key.reason].orthogonal and self.is_decided(key):
                self.has_its_event(key, ())

    # ------------------------------------------------------------ what should be

    def ranked(self, subject: Subject) -> list[Key]:
        keys = [k for k in self.active if k.subject == subject]
        ranked = [k for k in keys if not CATALOGUE[k.reason].orthogonal]
        return sorted(ranked, key=lambda k: (CATALOGUE[k.reason].rank or 0, k))

    def is_decided(self, key: Key) -> bool:
        """
        Whether all of it outlived its hold, with time for what delays it.
        """
        now, entry = self.truth.agenda.now, CATALOGUE[key.reason]
        calm = now - self.since
        return all(calm > hold_of(entry, t) + self.slack for t in self.active[key])

    @property
    def is_all_decided(self) -> bool:
        return all(map(self.is_decided, self.active))

    def sources(self, key: Key) -> list[Key]:
        return [s for s, troubles in self.active.items() if is_out(troubles) and covers(s, key)]

    def roots(self, key: Key) -> frozenset[Key]:
        found: frozenset[Key] = frozenset()
        for source in self.sources(key):
            found |= self.roots(source) or {source}
        return found

    # ------------------------------------------------------------ the laws

    def is_announced(self, subject: Subject) -> None:
        loud = [key for key in self.ranked(subject) if not self.sources(key)]
        for key in loud:
            if key.reason == loud[0].reason:
                self.has_its_event(key, loud)

    def has_its_event(self, key: Key, loud: Iterable[Key]) -> None:
        if self.sources(key):
            return
        found = self.running(key)
        assert found is not None, f"{key} has no Event"
        now = self.truth.agenda.now
        silent_for = now - (self.truth.seconds_of(found.last) or 0.0)
        assert silent_for < HEARTBEAT * 1.1 + 90, f"{key} was not said for {silent_for:.0f} s"
        blind = any(not CATALOGUE[k.reason].orthogonal for k in self.unknown)
        if self.is_all_decided and not blind:
            wanted = self.digest(key, list(loud))
            assert found.told == wanted, f"{key} says something old: {found.message}"

    def running(self, key: Key) -> EventRecord | None:
        found = [e for e in self.arriving.events.list() if e.key == key]
        return max(found, key=lambda e: e.last, default=None)

    def digest(self, key: Key, loud: list[Key]) -> str:
        primary = {k for k in loud if k.reason == key.reason}
        spoken_for = {key} | ({k for k in loud if k not in primary} if key in primary else set())
        silenced = [k for k in self.active if self.roots(k) & spoken_for]
        return Speech(
            CATALOGUE[key.reason],
            key.subject,
            tuple(Told(t, timedelta(0)) for t in self.active[key]),
            also=tuple(sorted({k.reason for k in loud} - {key.reason})),
            silenced=tuple(sorted({k.reason for k in silenced})),
            namespaces=len({k.subject.namespace for k in silenced if k.subject.namespace}),
        ).digest

    def is_taken_back(self, subject: Subject) -> None:
        """
        What was announced and is over has its Ready, and what is not over has none.
        """
        said = [w for w in self.arriving.events.writes if self._counts(w, subject)]
        there = self.truth.subjects[subject]
        warned = max((w.at for w in said if w.record.type is EventType.WARNING), default=0.0)
        taken = max((w.at for w in said if w.record.type is EventType.NORMAL), default=0.0)
        blind = any(key.subject == subject for key in self.unknown)
        if blind or self.ranked(subject) or subject in self.truth.paused:
            return
        calm = self.truth.agenda.now - self.since
        forgotten = self.arriving.is_forgotten_of(subject, 0.0) or warned < there
        if warned > 0 and calm > 900 and not forgotten:
            assert taken >= warned, f"{subject} is well again, and nobody said so"

    def _counts(self, write: Write, subject: Subject) -> bool:
        key = write.record.key
        return key.subject == subject and not CATALOGUE[key.reason].orthogonal
