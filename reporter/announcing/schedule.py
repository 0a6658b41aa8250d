"""
Decide when the Event of a key is written.

Writes are the first announcement, a change of cause, primary or suffixes, the heartbeat, and Ready.
Nothing is written for a key that is clear, settling, Unknown, suppressed, outranked or silenced: its
heartbeat waits until the key is announceable again.
"""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct, field

from reporter.announcing.announcement_state import Episode
from reporter.announcing.compose import EventComposer
from reporter.announcing.eligibility import announceable_keys, due_ready_keys, is_announceable
from reporter.evaluation.clocks import FindingState
from reporter.evaluation.rank import Ranking
from reporter.kube.event_record import EventRecord
from reporter.model.enums import TroubleKind
from reporter.model.subjects import FindingKey


_READY_RANK = -1
_UNRANKED = 10_000
"""The places of Ready Events and of orthogonal reasons in the order of writes."""


class PendingWrite(Struct, frozen=True):
    """
    A write that is due from *due_at* on.

    *is_repeat*: a heartbeat, whose content was announced already.
    """

    key: FindingKey
    due_at: datetime
    rank: int
    is_repeat: bool = False

    @property
    def sort_key(self) -> tuple[float, int, int, bool, FindingKey]:
        """
        The order of writes: new content first, by layer and rank, then heartbeats, the oldest first.

        Heartbeats come last and by age: if more are due than may be written, new content would never
        get its turn, nor would the heartbeats of low rank. Of one rank, the Event for many
        InferenceSets comes before those for one.
        """
        since = self.due_at.timestamp() if self.is_repeat else 0.0
        subject = self.key.subject
        return (since, subject.layer.order, self.rank, not subject.is_unnamed, self.key)


class CachedWrite(NamedTuple):
    """The next write of a running episode, with the values it was decided from."""

    episode: Episode
    finding_state: FindingState | None
    ranking: Ranking | None
    write: PendingWrite

    def is_current(
        self, episode: Episode, finding_state: FindingState | None, ranking: Ranking | None
    ) -> bool:
        """Return whether the write stands: it was decided from these very objects."""
        # By identity, which is quick: unchanged values remain the same objects from pass to pass.
        return (
            self.episode is episode
            and self.finding_state is finding_state
            and self.ranking is ranking
        )


class PublishContext(EventComposer, frozen=True):
    """
    Everything that the decision to write, and what is written, depend on at one moment.

    *cache*: decisions that need not be made again. It is the one part that changes: `pending_writes` and
    `pending_write` add to it and take from it, and the caller hands it from one context to the next. With
    an empty one the decisions are the same.
    """

    cache: dict[FindingKey, CachedWrite] = field(default_factory=dict)

    def pending_writes(self, *, now: datetime) -> list[PendingWrite]:
        """Return the writes due now by importance, then the future ones unordered."""
        ready = due_ready_keys(self.announcement_state, self.evaluation, self.catalogue, now=now)
        writes = [PendingWrite(key, now, _READY_RANK) for key in ready]
        writes += [
            self._schedule_write(key, now=now)
            for key in announceable_keys(self.announcement_state, self.evaluation, self.settings)
        ]
        for key in self.cache.keys() - self.announcement_state.episodes.keys():
            del self.cache[key]
        due = sorted((each for each in writes if each.due_at <= now), key=lambda w: w.sort_key)
        return due + [each for each in writes if each.due_at > now]

    def pending_write(self, key: FindingKey, *, now: datetime) -> PendingWrite | None:
        """Return the next write of one key; None if nothing of it may be written."""
        entry = self.catalogue.entries.get(key.reason)
        if entry is None:
            return None  # the catalogue has changed since
        if entry.is_ready_reason:
            return PendingWrite(key, now, _READY_RANK) if self._is_ready_due(key, now) else None
        if not is_announceable(key, self.announcement_state, self.evaluation, self.settings):
            return None
        return self._schedule_write(key, now=now)

    def compose_event(self, key: FindingKey, *, now: datetime) -> EventRecord | None:
        """Return the Event to send at this moment; None if no write of the key is due any more."""
        write = self.pending_write(key, now=now)
        if write is None or write.due_at > now:
            return None
        if self.catalogue[key.reason].is_ready_reason:
            return self.ready_event(key, now=now)
        return self.finding_event(key, now=now)

    def _is_ready_due(self, key: FindingKey, now: datetime) -> bool:
        only = (key.subject,)
        return key in due_ready_keys(
            self.announcement_state, self.evaluation, self.catalogue, now=now, only=only
        )

    def _schedule_write(self, key: FindingKey, *, now: datetime) -> PendingWrite:
        episode = self.announcement_state.episodes.get(key)
        if episode is None or episode.uncertain:
            return PendingWrite(key, now, self._rank_of(key))
        state = self.evaluation.tracked.finding_states.get(key)
        ranking = self.evaluation.rankings.get(key.subject)
        # Taken out in any case; below it is put back unless time or another key may change it.
        cached = self.cache.pop(key, None)
        # The suffix of an Event that suppresses others changes with the state of these others.
        suppresses_others = self._suppresses_others(ranking)
        if cached is None or suppresses_others or not cached.is_current(episode, state, ranking):
            write = self._schedule_rewrite(key, episode, self._rank_of(key))
            cached = CachedWrite(episode, state, ranking, write)
        # A group has no state of its own, and a start turns into "no progress" by time alone.
        if state is not None and not suppresses_others and not _has_starting_trouble(state):
            self.cache[key] = cached
        return cached.write

    def _rank_of(self, key: FindingKey) -> int:
        rank = self.catalogue[key.reason].rank
        return _UNRANKED if rank is None else rank

    def _suppresses_others(self, ranking: Ranking | None) -> bool:
        suppresses = self.evaluation.suppressions.suppresses
        if not suppresses or ranking is None:
            return False
        return any(key in suppresses for key in (*ranking.ranked, *ranking.orthogonal))

    def _schedule_rewrite(self, key: FindingKey, episode: Episode, rank: int) -> PendingWrite:
        """
        Return the next write of a running episode: its heartbeat, or a rewrite of changed content.

        Apart from normal starts the result does not depend on the time, so that it can be cached. An
        unknown digest, which admission has removed, is no change: the heartbeat writes a new one.
        """
        event, message_input = episode.event, self.message_input(key)
        heartbeat = event.last_timestamp + self._heartbeat_interval(event)
        is_announced = event.content_digest in ("", message_input.content_digest)
        if not episode.muted and (is_announced or self._is_normal_start(key)):
            return PendingWrite(key, heartbeat, rank, is_repeat=True)
        # The first rewrite is not delayed, later ones keep the least interval.
        due_at = event.last_timestamp
        if episode.rewritten_at is not None:
            due_at = min(heartbeat, episode.rewritten_at + self.settings.rewrite_interval)
        holds = [] if is_announced else [each.not_before for each in message_input.troubles]
        return PendingWrite(key, max([due_at, *filter(None, holds)]), rank)

    def _is_normal_start(self, key: FindingKey) -> bool:
        """
        Return whether all troubles of the key are starts within their hold.

        A component that recovers passes through starting, which is no new cause to announce.
        """
        holds, grace = self.catalogue[key.reason].holds, self.settings.delays.grace
        troubles = self.reported_troubles(key)
        return bool(troubles) and all(
            each.trouble.kind is TroubleKind.STARTING
            and each.lasted < holds.for_trouble(each.trouble, grace=grace)
            for each in troubles
        )

    def _heartbeat_interval(self, event: EventRecord) -> timedelta:
        """
        Return the heartbeat with a jitter of ±10 %, so that Events written together spread.

        The jitter is derived from the write itself, so that it is the same at each computation.
        """
        seed = sha256(f"{event.key} {event.episode_start} {event.count}".encode()).digest()
        return self.settings.heartbeat * (0.9 + 0.2 * seed[0] / 255)


def _has_starting_trouble(state: FindingState) -> bool:
    return any(trouble.kind is TroubleKind.STARTING for trouble in state.troubles)
