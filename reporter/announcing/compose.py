"""Compose the Event of a key from the present evaluation, at the moment it is sent."""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reporter.announcing.announcement_state import AnnouncementState
from reporter.announcing.eligibility import ready_groups
from reporter.announcing.event_evidence import find_errors, find_existed
from reporter.announcing.grouping import EventGroup, member_key
from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.clocks import ZERO, CauseClock
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.rank import Ranking
from reporter.kube.announced import (
    MAX_TROUBLES,
    Announced,
    AnnouncedFinding,
    AnnouncedTrouble,
    OtherFinding,
)
from reporter.kube.event_record import EventRecord
from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.model.subjects import FindingKey, Subject
from reporter.model.times import EARLIEST_TIME
from reporter.model.verdicts import InvolvedObject, Trouble
from reporter.snapshot.snapshot import Snapshot


MAX_FOREIGN_BYTES = 256
"""The most of a foreign text that is kept for the process that reads an Event back."""


class EventComposer(Struct, frozen=True):
    """
    Everything that the content of an Event depends on, at one moment.

    *involved_for*: returns the involvedObject of a subject's Ready Event. *snapshot*: what was observed.
    """

    announcement_state: AnnouncementState
    evaluation: Evaluation
    catalogue: Catalogue
    settings: EvaluationSettings
    involved_for: Callable[[Subject], InvolvedObject]
    snapshot: Snapshot | None = None

    def finding_event(self, key: FindingKey, *, now: datetime) -> EventRecord:
        """
        Return the Event of an announceable key: the first one of its episode, or its next version.
        """
        message_input = self.message_input(key)
        message, digest = render_message(message_input), message_input.content_digest
        episode = self.announcement_state.episodes.get(key)
        announced = self._announced(key, message_input)
        if episode is None:
            return replace(self._new_event(key, message, digest, now=now), announced=announced)
        if episode.uncertain:
            # The same write once more: whether the last one arrived is not known, so the count stays.
            return replace(
                episode.event,
                message=message,
                content_digest=digest,
                last_timestamp=now,
                announced=announced,
            )
        return replace(episode.event.rewrite(message, digest, now=now), announced=announced)

    def ready_event(self, key: FindingKey, *, now: datetime) -> EventRecord:
        """
        Return the Ready Event of a subject, named by the second of the last write about its trouble.
        """
        sent = self.announcement_state.episodes.get(key)
        if sent is not None:
            return replace(sent.event, last_timestamp=now)
        groups = ready_groups(self.announcement_state, self.catalogue).get(key.subject, ())
        names = {member.object_name for group in groups for member in group.ready_members}
        message_input = MessageInput(
            self.catalogue[key.reason], key.subject, grouped_names=tuple(sorted(names))
        )
        made = self._new_event(
            key, render_message(message_input), message_input.content_digest, now=now
        )
        owed = self.announcement_state.ready_owed[key.subject]
        return replace(made, episode_start=owed.announced_at)

    def _new_event(
        self, key: FindingKey, message: str, digest: str, *, now: datetime
    ) -> EventRecord:
        entry = self.catalogue[key.reason]
        return EventRecord(
            key=key,
            type=entry.type,
            involved_object=self._involved_object(key),
            episode_start=now.replace(microsecond=0),
            message=message,
            content_digest=digest,
            count=1,
            first_timestamp=now,
            last_timestamp=now,
            owner=None if entry.is_ready_reason else entry.owner,
        )

    def _involved_object(self, key: FindingKey) -> InvolvedObject:
        state = self.evaluation.tracked.finding_states.get(key)
        return state.involved_object if state is not None else self.involved_for(key.subject)

    def _announced(self, key: FindingKey, message_input: MessageInput) -> Announced:
        """Return what the process that reads the Event back must know of it."""
        is_group = key in self.announcement_state.groups
        ranked = () if is_group else self.evaluation.ranking_of(key.subject).ranked[:MAX_TROUBLES]
        others = [
            OtherFinding(
                reason=each.reason, item=each.item, **msgspec.structs.asdict(self._finding(each))
            )
            for each in ranked
            if each != key
        ]
        finding = self._finding(key)
        announced = Announced(
            finding,
            tuple(each for each in others if each.troubles),
            message_input.suppressed_reasons,
        )
        if self.snapshot is None:
            return announced
        troubles = self._all_troubles(key)
        return msgspec.structs.replace(
            announced,
            existed=find_existed(self.snapshot, key.subject, troubles),
            errors=find_errors(self.snapshot, troubles),
        )

    def _all_troubles(self, key: FindingKey) -> list[Trouble]:
        """
        Return the troubles of a key, and of the others of its subject; those of a group's members.
        """
        group = self.announcement_state.groups.get(key)
        keys = (
            [member_key(key, each) for each in group.members]
            if group is not None
            else [key, *self.evaluation.ranking_of(key.subject).ranked[:MAX_TROUBLES]]
        )
        states = self.evaluation.tracked.finding_states
        found = [states[each].announceable for each in keys if each in states]
        return [clock.trouble for clocks in found for clock in clocks]

    def _finding(self, key: FindingKey) -> AnnouncedFinding:
        state = self.evaluation.finding_state_of(key)
        clocks = state.announceable if state is not None else ()
        return AnnouncedFinding(
            tuple(map(self._announced_trouble, clocks[:MAX_TROUBLES])),
            more=max(len(clocks) - MAX_TROUBLES, 0),
            out_since=self._out_since(key),
            unknown_since=state.unknown_since if state is not None else None,
        )

    def _announced_trouble(self, clock: CauseClock) -> AnnouncedTrouble:
        text = truncate_bytes(sanitize(clock.trouble.foreign_text), MAX_FOREIGN_BYTES)
        evaluated_at = self.evaluation.evaluated_at
        return AnnouncedTrouble.of(
            replace(clock.trouble, foreign_text=text),
            began=evaluated_at - clock.time_in_kind if evaluated_at is not None else None,
            seen=clock.cause_seen_at,
        )

    def _out_since(self, key: FindingKey) -> datetime | None:
        outage = self.evaluation.suppressions.outages.get(key)
        is_known = outage is not None and outage.is_out and outage.began_at > EARLIEST_TIME
        return outage.began_at if outage is not None and is_known else None

    def message_input(self, key: FindingKey) -> MessageInput:
        """
        Return what the message of a key is rendered from: its group if it has one, else its finding.
        """
        group = self.announcement_state.groups.get(key)
        if group is not None:
            return self._group_message_input(key, group)
        ranking = self.evaluation.ranking_of(key.subject)
        suppressed = self._suppressed_keys(key, ranking)
        return MessageInput(
            self.catalogue[key.reason],
            key.subject,
            self.reported_troubles(key),
            other_reasons=ranking.other_reasons(key),
            suppressed_reasons=tuple(sorted({k.reason for k in suppressed})),
            suppressed_namespaces=len(
                {k.subject.namespace for k in suppressed if k.subject.namespace}
            ),
        )

    def _group_message_input(self, key: FindingKey, group: EventGroup) -> MessageInput:
        """
        Return the input for a group: one trouble of its first announceable member as an example.

        Members whose trouble is absent, but has not settled, are not named, nor are silenced ones.
        """
        states = self.evaluation.tracked.finding_states
        members = [
            member
            for member in sorted(group.members)
            if (state := states.get(member_key(key, member)))
            and state.troubles
            and self.evaluation.silence_of(member_key(key, member)) is None
        ]
        names = tuple(member.object_name for member in members)
        by_member = (
            (member.name, self.reported_troubles(member_key(key, member))) for member in members
        )
        example, troubles = next((each for each in by_member if each[1]), ("", ()))
        return MessageInput(
            self.catalogue[key.reason],
            key.subject,
            troubles[:1],
            grouped_names=names,
            example=example,
        )

    def reported_troubles(self, key: FindingKey) -> tuple[ReportedTrouble, ...]:
        """Return the troubles of a key that exist now and outlived their hold."""
        state = self.evaluation.finding_state_of(key)
        clocks = state.announceable if state is not None else ()
        return tuple(
            ReportedTrouble(
                c.trouble, self._reported_duration(key, c), c.stopped, self._not_before(key, c)
            )
            for c in clocks
        )

    def _not_before(self, key: FindingKey, clock: CauseClock) -> datetime | None:
        """
        Return when a cause that took the place of another one has served its hold.

        While trouble heals, it passes through causes of a moment: no pod, once the remedy was followed.
        What is out from now on is worse, and no such cause.
        """
        if clock.cause_since is None or clock.cause_since == clock.out_since:
            return None
        delays, holds = self.settings.delays, self.catalogue[key.reason].holds
        hold = holds.for_kind(clock.trouble.kind, grace=delays.grace)
        return clock.cause_since + min(hold, delays.settle)

    def _reported_duration(self, key: FindingKey, clock: CauseClock) -> timedelta:
        """
        Return how long the trouble lasted in its present kind; zero within the hold of that kind.

        Trouble that outlived the hold of one kind may have changed to another one since, such as from
        lost to starting, and then it is too early to say "no progress".
        """
        holds, grace = self.catalogue[key.reason].holds, self.settings.delays.grace
        lasted = clock.time_in_kind
        return lasted if lasted >= holds.for_trouble(clock.trouble, grace=grace) else ZERO

    def _suppressed_keys(self, key: FindingKey, ranking: Ranking) -> list[FindingKey]:
        """
        Return the announceable keys that this key suppresses.

        The primary key also names what the findings it outranks suppress, as these are not announced.
        """
        roots = {key}
        if key in ranking.primary:
            roots |= {k for k in ranking.ranked if k not in ranking.primary}
        suppresses = self.evaluation.suppressions.suppresses
        states = self.evaluation.tracked.finding_states
        suppressed = {k for root in roots for k in suppresses.get(root, ())}
        return [k for k in suppressed if k in states and states[k].announceable]
