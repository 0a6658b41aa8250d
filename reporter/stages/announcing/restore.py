"""
Continue the episodes of a predecessor from its Events, after a restart or a change of leader.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from reporter.model.catalogue.entries import Catalogue
from reporter.model.enums import EventType, Layer
from reporter.model.records.event_record import EventRecord
from reporter.model.subjects import Subject
from reporter.stages.announcing.announcement_state import AnnouncementState, Episode
from reporter.stages.announcing.grouping import EventGroup
from reporter.stages.evaluation.catalogue_change import stays_evaluated
from reporter.stages.evaluation.clocks import READ_BACK_WINDOW
from reporter.stages.evaluation.evaluation import EvaluationSettings


def restore_episodes(
    state: AnnouncementState,
    records: Iterable[EventRecord],
    catalogue: Catalogue,
    settings: EvaluationSettings,
    *,
    now: datetime,
    since: datetime,
) -> AnnouncementState:
    """
    Return the state with the episodes that the Events read back prove to be running.

    Nothing is written for the restart itself. A finding that is clear by now gets its Ready once it
    has been clear for the settle.

    *since*: when this process began to evaluate. Trouble that it saw settle is not restored
    (``episodes.apply_evaluation``), and what was clear since then may be Ready at once.
    """
    known = [record for record in records if record.key.reason in catalogue.entries]
    last_ready = _last_ready_by_subject(known)
    stays = stays_evaluated(catalogue, settings)
    episodes, ready_owed, groups = dict(state.episodes), dict(state.ready_owed), dict(state.groups)
    # Oldest first, so that of several Events of one key the latest episode remains.
    for record in sorted(known, key=lambda each: (each.last_timestamp, each.episode_start)):
        key = record.key
        if not _is_running(record, last_ready.get(key.subject), now=now):
            continue
        if not stays(key):
            continue  # nobody sees it end, so it expires without a Ready
        episodes[key] = Episode(record, restored_since=since)
        if key.subject.layer is Layer.MODELDEPLOYMENT and key.subject.is_unnamed:
            # The message names three members only, so the others are not known.
            groups[key] = EventGroup(restored=True)
        if not catalogue[key.reason].orthogonal:
            ready_owed[key.subject] = since + settings.delays.settle
    return replace(state, episodes=episodes, ready_owed=ready_owed, groups=groups)


def _last_ready_by_subject(records: Iterable[EventRecord]) -> Mapping[Subject, datetime]:
    last: dict[Subject, datetime] = {}
    for record in records:
        if record.type is EventType.NORMAL:
            subject = record.key.subject
            last[subject] = max(record.last_timestamp, last.get(subject, record.last_timestamp))
    return last


def _is_running(record: EventRecord, ready_at: datetime | None, *, now: datetime) -> bool:
    if record.type is not EventType.WARNING or now - record.last_timestamp > READ_BACK_WINDOW:
        return False
    # Timestamps are whole seconds: an episode that began in the second of a Ready came after it.
    return ready_at is None or ready_at < record.last_timestamp or ready_at <= record.episode_start
