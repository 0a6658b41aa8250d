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
from reporter.model.enums import TroubleKind
from reporter.model.event_record import EventRecord
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from reporter.stages.announcing.episodes import (
    AnnouncementState,
    Episode,
    announceable_keys,
    due_ready_keys,
    is_announceable,
)
from reporter.stages.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.stages.evaluation.clocks import CauseClock, FindingState
from reporter.stages.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.stages.evaluation.rank import Ranking


_READY_RANK, _UNRANKED = -1, 10_000
"""
Ranks of a Ready, and of what has none.
"""


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """
    A key with something to be written from *at* on. *again*: it was told already as it is.
    """

    key: FindingKey
    due_at: datetime
    rank: int
    is_repeat: bool = False

    @property
    def sort_key(self) -> tuple[float, int, int, FindingKey]:
        """
        News first, causes of higher rank first among them; then repetitions, oldest first.

        If more is to be repeated than may be written, nothing else would ever get its turn.
        """
        since = self.due_at.timestamp() if self.is_repeat else 0.0
        return (since, self.key.subject.layer.order, self.rank, self.key)


class CachedWrite(NamedTuple):
    """
    When something told is due again, and what that was decided from.
    """

    episode: Episode
    finding_state: FindingState | None
    ranking: Ranking | None
    write: PendingWrite

    def is_current(
        self, episode: Episode, record: FindingState | None, standing: Ranking | None
    ) -> bool:
        return (
            self.episode is episode and self.finding_state is record and self.ranking is standing
        )


@dataclass(frozen=True, slots=True)
class PublishContext:
    """
    All that speaking is decided from, at one moment.

    *home*: the involvedObject of a subject's Ready. *decided*: what need not be thought over again;
    whoever makes one Stage after another hands it on.
    """

    announcement_state: AnnouncementState
    evaluation: Evaluation
    catalogue: Catalogue
    settings: EvaluationSettings
    involved_for: Callable[[Subject], InvolvedObject]
    cache: dict[FindingKey, CachedWrite] = field(default_factory=dict)

    def pending_writes(self, *, now: datetime) -> list[PendingWrite]:
        """
        What is to be written: now, in the order of importance, then later, in none.
        """
        dues = [PendingWrite(key, now, _READY_RANK) for key in self._due_ready_keys(now)]
        dues += [
            self._schedule_write(key, now=now)
            for key in announceable_keys(self.announcement_state, self.evaluation, self.settings)
        ]
        for key in self.cache.keys() - self.announcement_state.episodes.keys():
            del self.cache[key]
        later = [due for due in dues if due.due_at > now]
        return (
            sorted((due for due in dues if due.due_at <= now), key=lambda due: due.sort_key)
            + later
        )

    def pending_write(self, key: FindingKey, *, now: datetime) -> PendingWrite | None:
        """
        The same of one key, of which something was written since.
        """
        if self.catalogue[key.reason].is_ready_reason:
            return PendingWrite(key, now, _READY_RANK) if self._is_ready_due(key, now) else None
        spoken = is_announceable(key, self.announcement_state, self.evaluation, self.settings)
        return self._schedule_write(key, now=now) if spoken else None

    def compose_event(self, key: FindingKey, *, now: datetime) -> EventRecord | None:
        """
        The Event to send at this moment; None if nothing is due any more.
        """
        if self.catalogue[key.reason].is_ready_reason:
            return self._ready_event(key, now=now) if self._is_ready_due(key, now) else None
        if not is_announceable(key, self.announcement_state, self.evaluation, self.settings):
            return None
        if self._schedule_write(key, now=now).due_at > now:
            return None
        speech = self._message_input(key)
        text, told = render_message(speech), speech.content_digest
        episode = self.announcement_state.episodes.get(key)
        if episode is None:
            return self._new_event(key, text, told, now=now)
        if episode.uncertain:
            return replace(episode.event, message=text, content_digest=told, last_timestamp=now)
        return episode.event.rewrite(text, told, now=now)

    def _due_ready_keys(self, now: datetime) -> list[FindingKey]:
        return due_ready_keys(self.announcement_state, self.evaluation, self.catalogue, now=now)

    def _is_ready_due(self, key: FindingKey, now: datetime) -> bool:
        only = (key.subject,)
        return key in due_ready_keys(
            self.announcement_state, self.evaluation, self.catalogue, now=now, only=only
        )

    def _schedule_write(self, key: FindingKey, *, now: datetime) -> PendingWrite:
        episode = self.announcement_state.episodes.get(key)
        if episode is None or episode.uncertain:
            return PendingWrite(key, now, self._rank_of(key))
        record = self.evaluation.gate.finding_states.get(key)
        standing = self.evaluation.rankings.get(key.subject)
        known = self.cache.pop(key, None)
        if (
            known is None
            or not known.is_current(episode, record, standing)
            or self._suppresses_others(standing)
        ):
            known = CachedWrite(
                episode, record, standing, self._schedule_rewrite(key, episode, self._rank_of(key))
            )
        if (
            record is not None
            and not self._suppresses_others(standing)
            and not _has_starting_trouble(record)
        ):
            self.cache[key] = known
        return known.write

    def _rank_of(self, key: FindingKey) -> int:
        rank = self.catalogue[key.reason].rank
        return _UNRANKED if rank is None else rank

    def _suppresses_others(self, standing: Ranking | None) -> bool:
        """
        Whether others are silent because of this subject, which its Event tells.
        """
        of = self.evaluation.suppressions.suppresses
        every = (*standing.ranked, *standing.orthogonal) if of and standing is not None else ()
        return any(key in of for key in every)

    def _schedule_rewrite(self, key: FindingKey, episode: Episode, rank: int) -> PendingWrite:
        """
        When to write of what was written of already. Does not depend on the time, but for starts.
        """
        heartbeat = episode.event.last_timestamp + self._heartbeat_interval(episode.event)
        if not episode.muted and (self._is_normal_start(key) or self._is_up_to_date(key, episode)):
            return PendingWrite(key, heartbeat, rank, is_repeat=True)
        if episode.rewritten_at is None:
            return PendingWrite(key, episode.event.last_timestamp, rank)
        return PendingWrite(
            key, min(heartbeat, episode.rewritten_at + self.settings.rewrite_interval), rank
        )

    def _is_up_to_date(self, key: FindingKey, episode: Episode) -> bool:
        return episode.event.content_digest == self._message_input(key).content_digest

    def _is_normal_start(self, key: FindingKey) -> bool:
        """
        Whether all of it may be a normal start by now, which is no new cause to tell.
        """
        holds, grace = self.catalogue[key.reason].holds, self.settings.delays.grace
        hold = holds.for_kind(TroubleKind.STARTING, grace=grace)
        told = self._reported_troubles(key)
        return bool(told) and all(
            t.trouble.kind is TroubleKind.STARTING and t.lasted < hold for t in told
        )

    def _heartbeat_interval(self, record: EventRecord) -> timedelta:
        """
        The heartbeat, ±10 %, so that many do not come together; the same for the same write.
        """
        seed = sha256(f"{record.key} {record.episode_start} {record.count}".encode()).digest()
        return self.settings.heartbeat * (0.9 + 0.2 * seed[0] / 255)

    def _new_event(self, key: FindingKey, text: str, told: str, *, now: datetime) -> EventRecord:
        return EventRecord(
            key=key,
            type=self.catalogue[key.reason].type,
            involved_object=self._involved_object(key),
            episode_start=now.replace(microsecond=0),
            message=text,
            content_digest=told,
            count=1,
            first_timestamp=now,
            last_timestamp=now,
        )

    def _involved_object(self, key: FindingKey) -> InvolvedObject:
        record = self.evaluation.gate.finding_states.get(key)
        return record.involved_object if record is not None else self.involved_for(key.subject)

    def _ready_event(self, key: FindingKey, *, now: datetime) -> EventRecord:
        sent = self.announcement_state.episodes.get(key)
        if sent is not None:
            return replace(sent.event, last_timestamp=now)
        entry = self.catalogue[key.reason]
        names = {
            member.name
            for group, each in self.announcement_state.groups.items()
            if group.subject == key.subject
            for member in each.ever_members
        }
        speech = MessageInput(entry, key.subject, grouped_names=tuple(sorted(names)))
        return self._new_event(key, render_message(speech), speech.content_digest, now=now)

    def _message_input(self, key: FindingKey) -> MessageInput:
        entry = self.catalogue[key.reason]
        group = self.announcement_state.groups.get(key)
        if group is not None:
            members = sorted(group.members)
            heard = (
                (member.name, self._reported_troubles(FindingKey(member, key.reason)))
                for member in members
            )
            example, told = next((each for each in heard if each[1]), ("", ()))
            names = tuple(member.name for member in members)
            return MessageInput(entry, key.subject, told[:1], grouped_names=names, example=example)
        standing = self.evaluation.ranking_of(key.subject)
        silenced = self._suppressed_keys(key, standing)
        return MessageInput(
            entry,
            key.subject,
            self._reported_troubles(key),
            other_reasons=standing.other_reasons(key),
            suppressed_reasons=tuple(sorted({k.reason for k in silenced})),
            suppressed_namespaces=len(
                {k.subject.namespace for k in silenced if k.subject.namespace}
            ),
        )

    def _reported_troubles(self, key: FindingKey) -> tuple[ReportedTrouble, ...]:
        record = self.evaluation.finding_state_of(key)
        spoken = record.announceable if record is not None else ()
        return tuple(ReportedTrouble(w.trouble, self._time_past_hold(key, w)) for w in spoken)

    def _time_past_hold(self, key: FindingKey, watch: CauseClock) -> timedelta:
        """
        What is through may have begun to recover, so its present kind need not have lasted.
        """
        holds, grace = self.catalogue[key.reason].holds, self.settings.delays.grace
        lasted = watch.time_in_kind()
        return (
            lasted if lasted >= holds.for_kind(watch.trouble.kind, grace=grace) else timedelta(0)
        )

    def _suppressed_keys(self, key: FindingKey, standing: Ranking) -> list[FindingKey]:
        """
        What is silent because of this key, or of what this key speaks for.
        """
        spoken_for = {key}
        if key in standing.primary:
            spoken_for |= {k for k in standing.ranked if k not in standing.primary}
        silence, records = self.evaluation.suppressions, self.evaluation.gate.finding_states
        silent = {k for each in spoken_for for k in silence.suppresses.get(each, ())}
        return [k for k in silent if k in records and records[k].announceable]


def _has_starting_trouble(record: FindingState) -> bool:
    """
    Whether time alone may change what it tells.
    """
    return any(trouble.kind is TroubleKind.STARTING for trouble in record.troubles)
