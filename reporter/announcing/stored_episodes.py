"""Continue episodes from their HealthEvents, where the Events are gone."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from reporter.evaluation.clocks import READ_BACK_WINDOW
from reporter.kinds.health_events import HealthEvent, Phase, subject_of
from reporter.kube.announced import ANNOUNCED_ANNOTATION, decode_announced
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType, Reason
from reporter.model.subjects import FindingKey


def stored_episodes(objects: Iterable[HealthEvent], *, now: datetime) -> Iterator[EventRecord]:
    """
    Yield the Event of each episode that an Active object keeps.

    When it was last written is not known: as long ago as an Event may be that is read back. So a Ready
    that is there ends it, and otherwise its heartbeat is due.
    """
    for found in objects:
        announced = decode_announced(found.metadata.annotations, ANNOUNCED_ANNOTATION)
        involved = announced.involved_object if announced is not None else None
        if found.phase is not Phase.ACTIVE or found.is_deleting or involved is None:
            continue
        spec, status = found.spec, found.status or {}
        begun = datetime.fromtimestamp(spec.episode, UTC)
        last = max(begun, (now - READ_BACK_WINDOW).replace(microsecond=0))
        yield EventRecord(
            key=FindingKey(subject_of(spec), Reason(spec.check_name), spec.item),
            type=EventType.WARNING,
            involved_object=involved,
            episode_start=begun,
            message=str(status.get("message") or spec.message),
            content_digest=str(status.get("contentDigest") or spec.content_digest),
            count=1,
            first_timestamp=begun,
            last_timestamp=last,
            owner=spec.owner,
            announced=announced,
        )


def with_stored(
    records: Iterable[EventRecord], stored: Iterable[EventRecord]
) -> tuple[EventRecord, ...]:
    """
    Return the Events that were read back, and those of stored episodes that have none any more.
    """
    read = tuple(records)
    newest: dict[FindingKey, datetime] = {}
    for each in read:
        newest[each.key] = max(each.episode_start, newest.get(each.key, each.episode_start))
    missing = {
        each.key: each
        for each in stored
        if each.key not in newest or newest[each.key] < each.episode_start
    }
    return (*read, *missing.values())
