"""
An EventRecord as a core/v1 Event, and back. Pure: no call, no clock.

What must be read back exactly stands in annotations; labels are for people's selectors.
The shape is the one that every reader of Events understands: eventTime *and* the older fields,
and from the second write on also the series, all saying the same (core/v1 checks none of it).
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

from reporter.kube.decoding import decoded
from reporter.kube.event_names import (
    LABEL_PREFIX,
    event_name,
    label_value,
    subject_hash,
)
from reporter.kube.wire_time import micro_time, second_time, wire_time
from reporter.model.events import EventRecord
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Involved
from reporter.model.words import EventType, Layer, Reason


COMPONENT = "productionstack-status-reporter"
NAMESPACE = "kube-system"
ACTION = "Evaluate"
MANAGED_BY = "app.kubernetes.io/managed-by"
SUBJECT = LABEL_PREFIX + "subject"
EPISODE = LABEL_PREFIX + "episode"
TOLD = LABEL_PREFIX + "told"
MAX_INSTANCE_BYTES = 128

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Foreign:
    """
    An Event that is not to be continued: not ours, of another version, or damaged.
    """

    name: str
    why: str


def encode_event(record: EventRecord, *, instance: str) -> Json:
    """
    The whole Event, as it is created. *instance* is the pod's name.
    """
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "namespace": NAMESPACE,
            "name": event_name(record),
            "labels": _labels(record),
            "annotations": _annotations(record),
        },
        "involvedObject": _involved_object(record.involved),
        "eventTime": micro_time(record.first),
        "firstTimestamp": second_time(record.first),
        "type": record.type.value,
        "reason": record.key.reason,
        "action": ACTION,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        **_said(record, instance=instance),
    }


def encode_patch(record: EventRecord, *, instance: str) -> Json:
    """
    The merge patch for an Event that is said again: what the first write fixed is left alone.
    """
    said = {"series": None, **_said(record, instance=instance)}
    return {"metadata": {"annotations": _annotations(record)}, **said}


def decode_event(raw: bytes | msgspec.Raw) -> EventRecord | Foreign:
    """
    An Event as it was read; the Go reporter writes under the same source, without our annotations.
    """
    name = ""
    try:
        event = decoded(_EVENTS, raw)
        name = event.metadata.name
        record = _record(event)
    except (msgspec.DecodeError, ValueError, OverflowError, OSError) as err:
        return Foreign(name, why=str(err))
    if event_name(record) != name:
        return Foreign(name, why="its name is not the one we give")
    return record


def _said(record: EventRecord, *, instance: str) -> Json:
    """
    What each write tells anew. The instance too: after a failover it is another pod that speaks.
    """
    told: Json = {
        "message": record.message,
        "count": record.count,
        "lastTimestamp": second_time(record.last),
        "reportingInstance": _cut(instance) or COMPONENT,
    }
    if record.count > 1:
        observed = micro_time(record.last)
        told["series"] = {"count": record.count, "lastObservedTime": observed}
    return told


def _involved_object(involved: Involved) -> dict[str, str]:
    """
    Without a namespace: only then kube-system may hold it, and kubectl describe finds it.
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
        "episode": str(int(record.episode.timestamp())),
    }
    ours = {LABEL_PREFIX + name: label_value(value) for name, value in values.items() if value}
    return {MANAGED_BY: COMPONENT, **ours}


def _annotations(record: EventRecord) -> dict[str, str]:
    subject = record.key.subject
    written = _Subject(
        layer=subject.layer.value,
        namespace=subject.namespace,
        name=subject.name,
        reason=record.key.reason,
        item=record.key.item,
    )
    return {
        SUBJECT: json.dumps(msgspec.to_builtins(written), sort_keys=True),
        TOLD: record.told,
    }


def _cut(instance: str) -> str:
    return instance.encode()[:MAX_INSTANCE_BYTES].decode(errors="ignore")


class _Subject(msgspec.Struct, frozen=True):
    """
    The annotation that says what an Event is about.
    """

    layer: str
    namespace: str
    name: str
    reason: str
    item: str


class _Metadata(msgspec.Struct):
    name: str = ""
    labels: dict[str, str | None] | None = None
    annotations: dict[str, str | None] | None = None


class _Source(msgspec.Struct):
    component: str | None = None


class _InvolvedObject(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class _Event(msgspec.Struct, rename="camel"):
    metadata: _Metadata
    involved_object: _InvolvedObject
    source: _Source | None = None
    event_time: str | None = None
    last_timestamp: str | None = None
    type: str | None = None
    message: str | None = None
    count: int | None = None


_EVENTS = msgspec.json.Decoder(_Event)
_SUBJECTS = msgspec.json.Decoder(_Subject)


def _record(event: _Event) -> EventRecord:
    """
    Raises ValueError, with why, for what is not one of ours.
    """
    if event.source is None or event.source.component != COMPONENT:
        raise ValueError("another component wrote it")
    annotations = event.metadata.annotations or {}
    episode = datetime.fromtimestamp(int(_text(event.metadata.labels or {}, EPISODE)), UTC)
    first = wire_time(event.event_time) or episode
    return EventRecord(
        key=_key(_text(annotations, SUBJECT)),
        type=EventType(event.type or ""),
        involved=Involved(
            api_version=event.involved_object.api_version,
            kind=event.involved_object.kind,
            name=event.involved_object.name,
            uid=event.involved_object.uid,
        ),
        episode=episode,
        message=event.message or "",
        told=_text(annotations, TOLD),
        count=max(event.count or 1, 1),
        first=first,
        last=wire_time(event.last_timestamp) or first.replace(microsecond=0),
    )


def _key(text: str) -> Key:
    written = decoded(_SUBJECTS, text.encode())
    subject = Subject(Layer(written.layer), written.namespace, written.name)
    return Key(subject, Reason(written.reason), written.item)


def _text(values: dict[str, str | None], name: str) -> str:
    value = values.get(name)
    if value is None:
        raise ValueError(f"{name} is missing")
    return value
