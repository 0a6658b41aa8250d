"""
Encode an EventRecord as a core/v1 Event, and decode it. Pure: no call, no clock.

What must be read back exactly is in annotations; labels are for people's selectors. All readers of
Events understand what we write: eventTime and the older timestamps, and from the second write on
the series as well. All of them agree, which core/v1 does not check.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

from reporter.kube.objects.event_names import (
    LABEL_PREFIX,
    event_name,
    label_value,
    subject_hash,
)
from reporter.kube.wire.decoding import decode_json
from reporter.kube.wire.times import format_micro_time, format_time, parse_time
from reporter.model.enums import EventType, Layer, Reason
from reporter.model.event_record import EventRecord
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject


COMPONENT = "productionstack-status-reporter"
EVENT_NAMESPACE = "kube-system"
ACTION = "Evaluate"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
SUBJECT_ANNOTATION = LABEL_PREFIX + "subject"
EPISODE_LABEL = LABEL_PREFIX + "episode"
DIGEST_ANNOTATION = LABEL_PREFIX + "told"
MAX_INSTANCE_BYTES = 128

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ForeignEvent:
    """
    An Event that cannot be continued: not ours, of another version, or damaged.
    """

    name: str
    why: str


def encode_event(record: EventRecord, *, instance: str) -> Json:
    """
    Encode the whole Event for its creation. *instance* is the name of our pod.
    """
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "namespace": EVENT_NAMESPACE,
            "name": event_name(record),
            "labels": _labels(record),
            "annotations": _annotations(record),
        },
        "involvedObject": _involved_object(record.involved_object),
        "eventTime": format_micro_time(record.first_timestamp),
        "firstTimestamp": format_time(record.first_timestamp),
        "type": record.type.value,
        "reason": record.key.reason,
        "action": ACTION,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        **_mutable_fields(record, instance=instance),
    }


def encode_event_patch(record: EventRecord, *, instance: str) -> Json:
    """
    Encode the JSON merge patch for a repeated write; it leaves out what the first write fixed.
    """
    fields = {"series": None, **_mutable_fields(record, instance=instance)}
    return {"metadata": {"annotations": _annotations(record)}, **fields}


def decode_event(raw: bytes | msgspec.Raw) -> EventRecord | ForeignEvent:
    """
    Decode an Event of this source.

    The Go reporter writes Events with the same source, but without our annotations.
    """
    name = ""
    try:
        event = decode_json(_EVENT_DECODER, raw)
        name = event.metadata.name
        record = _to_record(event)
    except (msgspec.DecodeError, ValueError, OverflowError, OSError) as err:
        return ForeignEvent(name, why=str(err))
    if event_name(record) != name:
        return ForeignEvent(name, why="its name does not match its subject, reason and episode")
    return record


def _mutable_fields(record: EventRecord, *, instance: str) -> Json:
    """
    Encode the fields that change with every write.

    The instance is one of them: after a failover another pod writes.
    """
    fields: Json = {
        "message": record.message,
        "count": record.count,
        "lastTimestamp": format_time(record.last_timestamp),
        "reportingInstance": _truncate_instance(instance) or COMPONENT,
    }
    if record.count > 1:
        observed = format_micro_time(record.last_timestamp)
        fields["series"] = {"count": record.count, "lastObservedTime": observed}
    return fields


def _involved_object(involved: InvolvedObject) -> dict[str, str]:
    """
    Encode the reference without a namespace.

    The API server accepts an Event in kube-system only for an object that has no namespace or is in
    kube-system, and ``kubectl describe namespace`` finds it by this reference.
    """
    reference = {
        "apiVersion": involved.api_version,
        "kind": involved.kind,
        "name": involved.name,
    }
    return {**reference, "uid": involved.uid} if involved.uid else reference


def _labels(record: EventRecord) -> dict[str, str]:
    subject = record.key.subject
    values = {
        "layer": subject.layer.value,
        "reason": record.key.reason,
        "namespace": subject.namespace,
        "inferenceset": subject.name,
        "subject": subject_hash(subject),
        "episode": str(int(record.episode_start.timestamp())),
    }
    ours = {LABEL_PREFIX + name: label_value(value) for name, value in values.items() if value}
    return {MANAGED_BY_LABEL: COMPONENT, **ours}


def _annotations(record: EventRecord) -> dict[str, str]:
    subject = record.key.subject
    written = _SubjectAnnotation(
        layer=subject.layer.value,
        namespace=subject.namespace,
        name=subject.name,
        reason=record.key.reason,
        item=record.key.item,
    )
    return {
        SUBJECT_ANNOTATION: json.dumps(msgspec.to_builtins(written), sort_keys=True),
        DIGEST_ANNOTATION: record.content_digest,
    }


def _truncate_instance(instance: str) -> str:
    return instance.encode()[:MAX_INSTANCE_BYTES].decode(errors="ignore")


class _SubjectAnnotation(msgspec.Struct, frozen=True):
    """
    The annotation that names the subject and the reason of an Event.
    """

    layer: str
    namespace: str
    name: str
    reason: str
    item: str


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


class _CoreEvent(msgspec.Struct, rename="camel"):
    metadata: _EventMeta
    involved_object: _InvolvedObject
    source: _EventSource | None = None
    event_time: str | None = None
    last_timestamp: str | None = None
    type: str | None = None
    message: str | None = None
    count: int | None = None


_EVENT_DECODER = msgspec.json.Decoder(_CoreEvent)
_SUBJECT_DECODER = msgspec.json.Decoder(_SubjectAnnotation)


def _to_record(event: _CoreEvent) -> EventRecord:
    """
    Raises ValueError with the reason for an Event that is not ours.
    """
    if event.source is None or event.source.component != COMPONENT:
        raise ValueError("another component wrote it")
    annotations = event.metadata.annotations or {}
    episode = datetime.fromtimestamp(
        int(_require(event.metadata.labels or {}, EPISODE_LABEL)), UTC
    )
    first = parse_time(event.event_time) or episode
    return EventRecord(
        key=_parse_key(_require(annotations, SUBJECT_ANNOTATION)),
        type=EventType(event.type or ""),
        involved_object=InvolvedObject(
            api_version=event.involved_object.api_version,
            kind=event.involved_object.kind,
            name=event.involved_object.name,
            uid=event.involved_object.uid,
        ),
        episode_start=episode,
        message=event.message or "",
        content_digest=_require(annotations, DIGEST_ANNOTATION),
        count=max(event.count or 1, 1),
        first_timestamp=first,
        last_timestamp=parse_time(event.last_timestamp) or first.replace(microsecond=0),
    )


def _parse_key(text: str) -> FindingKey:
    written = decode_json(_SUBJECT_DECODER, text.encode())
    subject = Subject(Layer(written.layer), written.namespace, written.name)
    return FindingKey(subject, Reason(written.reason), written.item)


def _require(values: dict[str, str | None], name: str) -> str:
    value = values.get(name)
    if value is None:
        raise ValueError(f"{name} is missing")
    return value
