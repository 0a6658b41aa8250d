"""
When an Event is due, and what it says at the moment it is sent.

Written are: the first announcement, a change of cause, primary or suffixes, a heartbeat, the Ready.
Nothing is written for what is clear, settling, Unknown, suppressed or outranked; it waits.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from reporter.model.entries import Catalogue
from reporter.model.events import EventRecord
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Involved
from reporter.model.words import Kind
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.rank import Standing
from reporter.stages.records import Record, Watch
from reporter.stages.voice import Episode, Voice, may_speak, readies, speakers
from reporter.stages.wording import Speech, Told, message


_FIRST, _LAST = -1, 10_000
"""
Ranks of a Ready, and of what has none.
"""


@dataclass(frozen=True, slots=True)
class Due:
    """
    A key with something to be written from *at* on. *again*: it was told already as it is.
    """

    key: Key
    at: datetime
    rank: int
    again: bool = False

    @property
    def order(self) -> tuple[float, int, int, Key]:
        """
        News first, causes of higher rank first among them; then repetitions, oldest first.

        If more is to be repeated than may be written, nothing else would ever get its turn.
        """
        since = self.at.timestamp() if self.again else 0.0
        return (since, self.key.subject.layer.order, self.rank, self.key)


class Decided(NamedTuple):
    """
    When something told is due again, and what that was decided from.
    """

    episode: Episode
    record: Record | None
    standing: Standing | None
    due: Due

    def stands(self, episode: Episode, record: Record | None, standing: Standing | None) -> bool:
        return self.episode is episode and self.record is record and self.standing is standing


@dataclass(frozen=True, slots=True)
class Stage:
    """
    All that speaking is decided from, at one moment.

    *home*: the involvedObject of a subject's Ready. *decided*: what need not be thought over again;
    whoever makes one Stage after another hands it on.
    """

    voice: Voice
    judged: Judgement
    catalogue: Catalogue
    terms: Terms
    home: Callable[[Subject], Involved]
    decided: dict[Key, Decided] = field(default_factory=dict)

    def due(self, *, now: datetime) -> list[Due]:
        """
        What is to be written: now, in the order of importance, then later, in none.
        """
        dues = [Due(key, now, _FIRST) for key in self._readies(now)]
        dues += [self._due(key, now=now) for key in speakers(self.voice, self.judged, self.terms)]
        for key in self.decided.keys() - self.voice.episodes.keys():
            del self.decided[key]
        later = [due for due in dues if due.at > now]
        return sorted((due for due in dues if due.at <= now), key=lambda due: due.order) + later

    def due_again(self, key: Key, *, now: datetime) -> Due | None:
        """
        The same of one key, of which something was written since.
        """
        if self.catalogue[key.reason].ready:
            return Due(key, now, _FIRST) if self._is_ready(key, now) else None
        spoken = may_speak(key, self.voice, self.judged, self.terms)
        return self._due(key, now=now) if spoken else None

    def compose(self, key: Key, *, now: datetime) -> EventRecord | None:
        """
        The Event to send at this moment; None if nothing is due any more.
        """
        if self.catalogue[key.reason].ready:
            return self._ready(key, now=now) if self._is_ready(key, now) else None
        if not may_speak(key, self.voice, self.judged, self.terms):
            return None
        if self._due(key, now=now).at > now:
            return None
        speech = self._speech(key)
        text, told = message(speech), speech.digest
        episode = self.voice.episodes.get(key)
        if episode is None:
            return self._first(key, text, told, now=now)
        if episode.uncertain:
            return replace(episode.record, message=text, told=told, last=now)
        return episode.record.again(text, told, now=now)

    def _readies(self, now: datetime) -> list[Key]:
        return readies(self.voice, self.judged, self.catalogue, now=now)

    def _is_ready(self, key: Key, now: datetime) -> bool:
        only = (key.subject,)
        return key in readies(self.voice, self.judged, self.catalogue, now=now, only=only)

    def _due(self, key: Key, *, now: datetime) -> Due:
        episode = self.voice.episodes.get(key)
        if episode is None or episode.uncertain:
            return Due(key, now, self._rank(key))
        record = self.judged.gate.records.get(key)
        standing = self.judged.standings.get(key.subject)
        known = self.decided.pop(key, None)
        if known is None or not known.stands(episode, record, standing) or self._roots(standing):
            known = Decided(episode, record, standing, self._again(key, episode, self._rank(key)))
        if record is not None and not self._roots(standing) and not _starts(record):
            self.decided[key] = known
        return known.due

    def _rank(self, key: Key) -> int:
        rank = self.catalogue[key.reason].rank
        return _LAST if rank is None else rank

    def _roots(self, standing: Standing | None) -> bool:
        """
        Whether others are silent because of this subject, which its Event tells.
        """
        of = self.judged.silence.of
        every = (*standing.ranked, *standing.orthogonal) if of and standing is not None else ()
        return any(key in of for key in every)

    def _again(self, key: Key, episode: Episode, rank: int) -> Due:
        """
        When to write of what was written of already. Does not depend on the time, but for starts.
        """
        heartbeat = episode.record.last + self._interval(episode.record)
        if not episode.silent and (self._is_mending(key) or self._is_told(key, episode)):
            return Due(key, heartbeat, rank, again=True)
        if episode.rewritten is None:
            return Due(key, episode.record.last, rank)
        return Due(key, min(heartbeat, episode.rewritten + self.terms.rewrite), rank)

    def _is_told(self, key: Key, episode: Episode) -> bool:
        return episode.record.told == self._speech(key).digest

    def _is_mending(self, key: Key) -> bool:
        """
        Whether all of it may be a normal start by now, which is no new cause to tell.
        """
        holds, grace = self.catalogue[key.reason].holds, self.terms.patience.grace
        hold = holds.of(Kind.STARTING, grace=grace)
        told = self._told(key)
        return bool(told) and all(
            t.trouble.kind is Kind.STARTING and t.lasted < hold for t in told
        )

    def _interval(self, record: EventRecord) -> timedelta:
        """
        The heartbeat, ±10 %, so that many do not come together; the same for the same write.
        """
        seed = sha256(f"{record.key} {record.episode} {record.count}".encode()).digest()
        return self.terms.heartbeat * (0.9 + 0.2 * seed[0] / 255)

    def _first(self, key: Key, text: str, told: str, *, now: datetime) -> EventRecord:
        return EventRecord(
            key=key,
            type=self.catalogue[key.reason].type,
            involved=self._involved(key),
            episode=now.replace(microsecond=0),
            message=text,
            told=told,
            count=1,
            first=now,
            last=now,
        )

    def _involved(self, key: Key) -> Involved:
        record = self.judged.gate.records.get(key)
        return record.involved if record is not None else self.home(key.subject)

    def _ready(self, key: Key, *, now: datetime) -> EventRecord:
        sent = self.voice.episodes.get(key)
        if sent is not None:
            return replace(sent.record, last=now)
        entry = self.catalogue[key.reason]
        names = {
            member.name
            for group, each in self.voice.groups.items()
            if group.subject == key.subject
            for member in each.ever
        }
        speech = Speech(entry, key.subject, group=tuple(sorted(names)))
        return self._first(key, message(speech), speech.digest, now=now)

    def _speech(self, key: Key) -> Speech:
        entry = self.catalogue[key.reason]
        group = self.voice.groups.get(key)
        if group is not None:
            members = sorted(group.members)
            heard = ((member.name, self._told(Key(member, key.reason))) for member in members)
            example, told = next((each for each in heard if each[1]), ("", ()))
            names = tuple(member.name for member in members)
            return Speech(entry, key.subject, told[:1], group=names, example=example)
        standing = self.judged.candidates(key.subject)
        silenced = self._silenced(key, standing)
        return Speech(
            entry,
            key.subject,
            self._told(key),
            also=standing.also(key),
            silenced=tuple(sorted({k.reason for k in silenced})),
            namespaces=len({k.subject.namespace for k in silenced if k.subject.namespace}),
        )

    def _told(self, key: Key) -> tuple[Told, ...]:
        record = self.judged.record(key)
        spoken = record.spoken if record is not None else ()
        return tuple(Told(w.trouble, self._lasted(key, w)) for w in spoken)

    def _lasted(self, key: Key, watch: Watch) -> timedelta:
        """
        What is through may have begun to recover, so its present kind need not have lasted.
        """
        holds, grace = self.catalogue[key.reason].holds, self.terms.patience.grace
        lasted = watch.in_kind()
        return lasted if lasted >= holds.of(watch.trouble.kind, grace=grace) else timedelta(0)

    def _silenced(self, key: Key, standing: Standing) -> list[Key]:
        """
        What is silent because of this key, or of what this key speaks for.
        """
        spoken_for = {key}
        if key in standing.primary:
            spoken_for |= {k for k in standing.ranked if k not in standing.primary}
        silence, records = self.judged.silence, self.judged.gate.records
        silent = {k for each in spoken_for for k in silence.of.get(each, ())}
        return [k for k in silent if k in records and records[k].spoken]


def _starts(record: Record) -> bool:
    """
    Whether time alone may change what it tells.
    """
    return any(trouble.kind is Kind.STARTING for trouble in record.troubles)
