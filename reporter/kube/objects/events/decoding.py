"""
Decode a core/v1 Event of this program as an EventRecord. Pure: no call, no clock.

Admission may remove labels and annotations or change the source. The name still identifies the
subject, the reason and the episode, so an Event counts as ours if its name matches.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

import msgspec

from reporter import PROGRAM_NAME
from reporter.kube.objects.events.format import (
    DIGEST_ANNOTATION,
    EPISODE_LABEL,
    OWNER_LABEL,
    SUBJECT_ANNOTATION,
    SubjectAnnotation,
)
from reporter.kube.objects.events.names import episode_hash, event_name
from reporter.kube.wire.decoding import decode_json
from reporter.model.enums import EventType, Layer, Owner, Reason
from reporter.model.records.announced import ANNOUNCED_ANNOTATION, decode_announced
from reporter.model.records.event_record import EventRecord, PossibleKeys, StrippedEvent, no_keys
from reporter.model.subjects import FindingKey, Subject
from reporter.model.text.times import parse_time
from reporter.model.verdicts import InvolvedObject


OTHER_NAME = "its name does not match its subject, reason and episode"


@dataclass(frozen=True, slots=True)
class ForeignEvent:
    """An Event that cannot be continued: not ours, of another version, or damaged."""

    name: str
    why: str
    has_our_source: bool = True


def decode_event(
    raw: bytes | msgspec.Raw,
    possible_keys: PossibleKeys = no_keys,
    possible_episodes: Collection[datetime] = (),
) -> EventRecord | ForeignEvent:
    """
    Decode an Event. *possible_keys* is asked for an Event that does not say what it is about.

    *possible_episodes*: when the episode of one that does not say it may have begun.

    The Go reporter writes Events with the same source, but under other names.
    """
    name, has_our_source = "", True
    try:
        event = decode_json(_EVENT_DECODER, raw)
        name = event.metadata.name
        has_our_source = event.source is not None and event.source.component == PROGRAM_NAME
        return _to_record(event, possible_keys, possible_episodes)
    except (msgspec.DecodeError, ValueError, OverflowError, OSError) as err:
        return ForeignEvent(name, str(err), has_our_source)


class _EventMeta(msgspec.Struct):
    name: str = ""
    labels: dict[str, str | None] | None = None
    annotations: dict[str, str | None] | None = None


class _EventSource(msgspec.Struct):
    component: str | None = None


class _InvolvedObject(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    namespace: str = ""


class _CoreEvent(msgspec.Struct, rename="camel"):
    metadata: _EventMeta
    involved_object: _InvolvedObject
    source: _EventSource | None = None
    reason: str | None = None
    event_time: str | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    type: str | None = None
    message: str | None = None
    count: int | None = None


_EVENT_DECODER = msgspec.json.Decoder(_CoreEvent)
_OWNERS = {each.value: each for each in Owner}
_SUBJECT_DECODER = msgspec.json.Decoder(SubjectAnnotation)


def _to_record(
    event: _CoreEvent, possible_keys: PossibleKeys, possible_episodes: Collection[datetime]
) -> EventRecord:
    """Raises ValueError with the reason for an Event that is not ours."""
    key, episode = _identify(event, possible_keys, possible_episodes)
    first = parse_time(event.event_time) or episode
    record = EventRecord(
        key=key,
        type=EventType(event.type or ""),
        involved_object=InvolvedObject(
            api_version=event.involved_object.api_version,
            kind=event.involved_object.kind,
            name=event.involved_object.name,
            uid=event.involved_object.uid,
            namespace=event.involved_object.namespace,
        ),
        episode_start=episode,
        message=event.message or "",
        content_digest=(event.metadata.annotations or {}).get(DIGEST_ANNOTATION) or "",
        count=max(event.count or 1, 1),
        first_timestamp=first,
        last_timestamp=parse_time(event.last_timestamp) or first.replace(microsecond=0),
        owner=_OWNERS.get((event.metadata.labels or {}).get(OWNER_LABEL) or ""),
        announced=decode_announced(event.metadata.annotations, ANNOUNCED_ANNOTATION),
    )
    if event_name(record) != event.metadata.name:
        raise ValueError(OTHER_NAME)
    return record


def _identify(
    event: _CoreEvent, possible_keys: PossibleKeys, possible_episodes: Collection[datetime]
) -> tuple[FindingKey, datetime]:
    """Return the key and the episode that give this Event its name."""
    identity = event.metadata.name.rpartition(".")[2]
    episodes = set(_possible_episodes(event))
    if event.type == EventType.NORMAL:
        episodes.update(possible_episodes)
    why = OTHER_NAME
    annotations = event.metadata.annotations or {}
    try:
        keys = [_parse_key(annotations.get(SUBJECT_ANNOTATION))]
    except (msgspec.DecodeError, ValueError) as err:
        keys, why = [], str(err)
    stripped = StrippedEvent(
        Reason(event.reason or ""), event.involved_object.name, event.message or ""
    )
    for key in chain(keys, possible_keys(stripped)):
        for episode in episodes:
            if episode_hash(key, episode) == identity:
                return key, episode
    raise ValueError(why)


def _possible_episodes(event: _CoreEvent) -> Iterator[datetime]:
    """
    Return the seconds at which the episode may have begun.

    An Event that expired and was created anew is younger than its episode, which then is in the
    label alone.
    """
    label = (event.metadata.labels or {}).get(EPISODE_LABEL) or ""
    if label.isascii() and label.isdigit():
        with suppress(ValueError, OverflowError, OSError):
            yield datetime.fromtimestamp(int(label), UTC)
    for text in (event.event_time, event.first_timestamp):
        moment = parse_time(text)
        if moment is not None:
            yield moment.replace(microsecond=0)


def _parse_key(text: str | None) -> FindingKey:
    if text is None:
        raise ValueError(f"{SUBJECT_ANNOTATION} is missing")
    written = decode_json(_SUBJECT_DECODER, text.encode())
    subject = Subject(Layer(written.layer), written.namespace, written.name)
    return FindingKey(subject, Reason(written.reason), written.item)
