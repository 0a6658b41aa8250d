"""
Decide which findings may be announced now, and which Ready Events are true.

A finding is announceable while its trouble exists, outlived its hold, is known, is not suppressed, is
the primary of its subject (or orthogonal, or ``--emission=all``), no silence is about it and no group
stands for it. A silence holds back no Ready Event.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from reporter.announcing.announcement_state import AnnouncementState
from reporter.announcing.grouping import (
    EventGroup,
    group_key,
    member_key,
    possible_members_by_group,
)
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.model.subjects import FindingKey, Subject


def announceable_keys(
    state: AnnouncementState, evaluation: Evaluation, settings: EvaluationSettings
) -> Iterable[FindingKey]:
    """Yield the keys whose Event may be written now, if a write is due."""
    for ranking in evaluation.rankings.values():
        for key in ranking.keys_to_announce(settings.emission):
            finding = evaluation.tracked.finding_states[key]
            # The rule of `is_member_announceable`, written out: that would look each key up in its
            # ranking, of which an outage makes ten thousand.
            if (
                finding.announceable
                and not finding.why_unknown
                and evaluation.silence_of(key) is None
                and not _is_in_group(key, state)
            ):
                yield key
    for key, group in state.groups.items():
        if _is_group_announceable(key, group, evaluation, settings):
            yield key


def is_announceable(
    key: FindingKey,
    state: AnnouncementState,
    evaluation: Evaluation,
    settings: EvaluationSettings,
) -> bool:
    """Return whether this key is one of the ``announceable_keys``."""
    if key in state.groups:
        return _is_group_announceable(key, state.groups[key], evaluation, settings)
    return is_member_announceable(key, evaluation, settings) and not _is_in_group(key, state)


def _is_group_announceable(
    key: FindingKey, group: EventGroup, evaluation: Evaluation, settings: EvaluationSettings
) -> bool:
    return any(
        is_member_announceable(member_key(key, member), evaluation, settings)
        for member in group.members
    )


def is_member_announceable(
    key: FindingKey, evaluation: Evaluation, settings: EvaluationSettings
) -> bool:
    """
    Return whether a finding may be announced, by itself or as a member of a group.

    `announceable_keys` has the same rule.
    """
    finding = evaluation.tracked.finding_states.get(key)
    if finding is None or finding.why_unknown or not finding.announceable:
        return False
    if evaluation.silence_of(key) is not None:
        return False
    return key in evaluation.ranking_of(key.subject).keys_to_announce(settings.emission)


def _is_in_group(key: FindingKey, state: AnnouncementState) -> bool:
    """
    Return whether a group Event reports the same trouble, so that the key's own Event is not written.
    """
    group = state.groups.get(group_key(key))
    return group is not None and bool(group.members)


def is_muted(key: FindingKey, state: AnnouncementState, evaluation: Evaluation) -> bool:
    """
    Return whether a key, or a member of its group, is suppressed or silenced, or another one is primary.
    """
    group = state.groups.get(key, EventGroup())
    keys = [member_key(key, member) for member in group.members] or [key]
    return any(
        k in evaluation.suppressions.suppressed_by
        or evaluation.silence_of(k) is not None
        or _has_other_primary(k, evaluation)
        for k in keys
    )


def _has_other_primary(key: FindingKey, evaluation: Evaluation) -> bool:
    """
    Return whether another finding of the subject is the primary one, of higher rank or lower.

    Unlike `Ranking.is_outranked` this is also true of a finding of higher rank that is Unknown, and of
    one that is no longer ranked: when either is announced again, that is no mere heartbeat.
    """
    ranking = evaluation.ranking_of(key.subject)
    return bool(ranking.primary) and key not in (*ranking.primary, *ranking.orthogonal)


def due_ready_keys(
    state: AnnouncementState,
    evaluation: Evaluation,
    catalogue: Catalogue,
    *,
    now: datetime,
    only: Iterable[Subject] | None = None,
) -> list[FindingKey]:
    """
    Return the keys of the Ready Events that are owed and true.

    A Ready is true when no ranked reason of the subject is open, held, settling or Unknown, and the subject
    is seen and not scaled to zero. For a group that holds for every member.

    *only*: consider these subjects; None means all.
    """
    if not state.ready_owed:
        return []
    open_subjects = _subjects_with_open_episode(state, catalogue)
    groups = ready_groups(state, catalogue)
    possible_members = possible_members_by_group(
        state.groups.values(), evaluation.subjects, without=_merely_paused(state, evaluation)
    )
    return [
        FindingKey(subject, catalogue.ready_entry(subject.layer, subject.kind).reason)
        for subject in (state.ready_owed if only is None else only)
        if subject in state.ready_owed
        and state.ready_owed[subject].due_at <= now
        and subject not in open_subjects
        and catalogue.ready_entry(subject.layer, subject.kind).enabled
        and not evaluation.known_subjects.is_unseen(subject)
        and evaluation.not_ready.isdisjoint(
            _represented_subjects(subject, groups.get(subject, ()), possible_members)
        )
    ]


def _merely_paused(state: AnnouncementState, evaluation: Evaluation) -> frozenset[Subject]:
    """
    Return the subjects at zero replicas without any trouble, for which no restored group waits.

    Most have been at zero all along, and may stay there for days. Those that are known as members of
    a group are waited for all the same.
    """
    if not evaluation.paused or not any(group.restored for group in state.groups.values()):
        return frozenset()
    tracked = evaluation.tracked
    return evaluation.paused.difference(
        key.subject for key in (*tracked.finding_states, *tracked.unknown_states)
    )


def _subjects_with_open_episode(
    state: AnnouncementState, catalogue: Catalogue
) -> frozenset[Subject]:
    """Return the subjects with an episode that gates Ready; those of orthogonal reasons do not."""
    entries = ((key.subject, catalogue[key.reason]) for key in state.episodes)
    return frozenset(
        subject for subject, entry in entries if not entry.orthogonal and not entry.is_ready_reason
    )


def ready_groups(
    state: AnnouncementState, catalogue: Catalogue
) -> Mapping[Subject, list[EventGroup]]:
    """Return the groups whose recovery each subject's Ready Event announces."""
    groups: defaultdict[Subject, list[EventGroup]] = defaultdict(list)
    for key, group in state.groups.items():
        if not catalogue[key.reason].orthogonal:
            groups[key.subject].append(group)
    return groups


def _represented_subjects(
    subject: Subject,
    groups: Sequence[EventGroup],
    possible_members: Mapping[Subject, set[Subject]],
) -> frozenset[Subject]:
    """Return the subjects that must all be ready for this subject's Ready Event."""
    represented = frozenset({subject}).union(*(group.ready_members for group in groups))
    if any(group.restored for group in groups):
        return represented.union(possible_members.get(subject, ()))
    return represented
