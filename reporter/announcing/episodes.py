"""
Continue and end episodes after each pass, and after a change of the catalogue.

An episode begins with its first write (announcement_state.py) or when its Event is read back
(restore.py). The state holds keys, not texts: a message is rendered, and its truth checked, when
it is sent.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from reporter.announcing.announcement_state import AnnouncementState, Episode
from reporter.announcing.eligibility import due_ready_keys, is_announceable, is_muted
from reporter.announcing.grouping import EventGroup, possible_members_by_group, update_groups
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.catalogue_change import stays_evaluated
from reporter.evaluation.clocks import FindingState
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.model.enums import EventType
from reporter.model.subjects import FindingKey, Subject


def apply_evaluation(
    state: AnnouncementState,
    evaluation: Evaluation,
    catalogue: Catalogue,
    settings: EvaluationSettings,
    *,
    now: datetime,
) -> AnnouncementState:
    """Return the state after a pass: end settled episodes, mark muted ones, form groups."""
    # A restored group has no known members, so it lasts only as long as its episode.
    before = {k: g for k, g in state.groups.items() if not g.restored or k in state.episodes}
    groups = update_groups(before, evaluation, catalogue, settings, individual=state.episodes)
    groups = _with_ready_members({**_emptied_groups(state), **groups}, evaluation, state)
    after = replace(state, groups=groups)
    settle = settings.delays.settle
    # The episode of a Ready, whose last write got no answer, lasts while that Ready is true.
    ready = frozenset(due_ready_keys(after, evaluation, catalogue, now=now))
    # A deleted subject ends its episode without a Ready: nothing recovered.
    known, group_subjects = evaluation.known_subjects, {key.subject for key in groups}

    def may_exist(subject: Subject) -> bool:
        return known.may_include(subject) or subject in group_subjects

    running = {k: _restart_settle(k, e, evaluation, now=now) for k, e in state.episodes.items()}
    episodes = {
        key: each if each.muted else _mark_muted(key, each, after, evaluation, settings)
        for key, each in running.items()
        if key in ready
        or (
            may_exist(key.subject)
            and _is_running(key, each, evaluation, after, now=now, settle=settle)
        )
    }
    ready_owed = {each: since for each, since in state.ready_owed.items() if may_exist(each)}
    return replace(after, episodes=episodes, ready_owed=ready_owed)


def next_episode_deadline(
    state: AnnouncementState, *, settle: timedelta, now: datetime
) -> datetime | None:
    """
    Return when time alone next ends a restored episode or makes an owed Ready due; None without one.
    """
    deadlines = [owed.due_at for owed in state.ready_owed.values()]
    deadlines += [
        episode.restored_since + settle
        for episode in state.episodes.values()
        if episode.restored_since is not None
    ]
    return min((deadline for deadline in deadlines if deadline > now), default=None)


def _mark_muted(
    key: FindingKey,
    episode: Episode,
    state: AnnouncementState,
    evaluation: Evaluation,
    settings: EvaluationSettings,
) -> Episode:
    """
    Mark an outranked, suppressed or silenced episode, so that its next write is no heartbeat.

    A finding that merely settles is not muted: its Event is still right when the trouble returns.
    """
    muted = is_muted(key, state, evaluation) and not is_announceable(
        key, state, evaluation, settings
    )
    return replace(episode, muted=True) if muted else episode


def _emptied_groups(state: AnnouncementState) -> Mapping[FindingKey, EventGroup]:
    """Return the groups that still owe a Ready, whose text names their former members."""
    return {
        key: replace(group, members=frozenset())
        for key, group in state.groups.items()
        if key.subject in state.ready_owed
    }


def _with_ready_members(
    groups: Mapping[FindingKey, EventGroup], evaluation: Evaluation, state: AnnouncementState
) -> Mapping[FindingKey, EventGroup]:
    """
    Drop InferenceSets that the group's Ready may not name, and groups without anybody left.

    These are the deleted ones, and those that get a Ready of their own.
    """
    subjects = evaluation.subjects
    possible_members = possible_members_by_group(groups.values(), subjects)
    remaining: dict[FindingKey, EventGroup] = {
        key: replace(
            group, ready_members=(group.ready_members & subjects).difference(state.ready_owed)
        )
        for key, group in groups.items()
        if not group.restored
        or key.subject in possible_members
        or evaluation.known_subjects.is_unseen(key.subject)
    }
    return {
        key: group
        for key, group in remaining.items()
        if group.members or group.ready_members or group.restored
    }


def _is_running(
    key: FindingKey,
    episode: Episode,
    evaluation: Evaluation,
    state: AnnouncementState,
    *,
    now: datetime,
    settle: timedelta,
) -> bool:
    group = state.groups.get(key)
    if group is not None and (group.members or not group.restored):
        return bool(group.members)
    if group is not None and _has_unknown_member(key, evaluation):
        return True
    finding = evaluation.tracked.finding_states.get(key)
    if finding is not None:
        return not _has_settled_since_restore(episode, finding, settle=settle)
    if _is_unknown(key, evaluation) or evaluation.known_subjects.is_unseen(key.subject):
        return True
    if key.subject in evaluation.paused:
        return False  # what was not paused with it is seen again at other replicas
    # Clear in a new process, which did not see the trouble end: it must stay clear for the settle.
    return episode.restored_since is not None and episode.restored_since > now - settle


def _restart_settle(
    key: FindingKey, episode: Episode, evaluation: Evaluation, *, now: datetime
) -> Episode:
    """Let a restored episode that cannot be evaluated settle anew once it can."""
    is_unknown = _is_unknown(key, evaluation) or (
        key.subject.is_unnamed and _has_unknown_member(key, evaluation)
    )
    if episode.restored_since is None or not (is_unknown or episode.is_unknown):
        return episode
    return replace(episode, restored_since=now, is_unknown=is_unknown)


def _is_unknown(key: FindingKey, evaluation: Evaluation) -> bool:
    """
    Return whether a key cannot be evaluated: by itself, or as its reason cannot at all.

    A new process knows no items of a reason whose kind it cannot read.
    """
    whole = FindingKey(key.subject, key.reason)
    return not evaluation.tracked.unknown_states.keys().isdisjoint({key, whole})


def _has_unknown_member(key: FindingKey, evaluation: Evaluation) -> bool:
    """Return whether an InferenceSet that a restored group may stand for cannot be evaluated."""
    namespace = key.subject.namespace
    return any(
        (each.reason, each.subject.namespace) == (key.reason, namespace)
        and each.item in ("", key.item)
        for each in evaluation.tracked.unknown_states
    )


def _has_settled_since_restore(
    episode: Episode, finding: FindingState, *, settle: timedelta
) -> bool:
    """
    Return whether this process saw the trouble of a restored episode settle, so that this is new.

    The key must have become clear after the predecessor's last write. If it was clear before, the
    predecessor wrote about the present trouble already.
    """
    if episode.restored_since is None or finding.last_settled_at is None:
        return False
    return finding.last_settled_at >= episode.event.last_timestamp + settle


# --------------------------------------------------------------------
# Continue the episodes with another catalogue.


def keep_episodes(
    before: AnnouncementState, catalogue: Catalogue, settings: EvaluationSettings
) -> AnnouncementState:
    """
    Return the state without the episodes of reasons that go.

    Nobody sees these end, so their Events expire, as after a restart (``restore.restore_episodes``). They
    owe no Ready: a subject that has no other ranked episode did not recover.
    """
    stays = stays_evaluated(catalogue, settings)

    def is_kept(key: FindingKey, episode: Episode) -> bool:
        if episode.event.type is EventType.NORMAL:
            return key.reason in catalogue.entries
        return stays(key)

    episodes = {key: each for key, each in before.episodes.items() if is_kept(key, each)}
    dropped = {key.subject for key in before.episodes.keys() - episodes.keys()}
    owing = {
        key.subject
        for key, each in episodes.items()
        if each.event.type is EventType.WARNING and not catalogue[key.reason].orthogonal
    }
    return replace(
        before,
        episodes=episodes,
        ready_owed={
            subject: since
            for subject, since in before.ready_owed.items()
            if subject not in dropped or subject in owing
        },
        groups={key: each for key, each in before.groups.items() if stays(key)},
    )
