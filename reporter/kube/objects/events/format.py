"""
Encode an EventRecord as a core/v1 Event. Pure: no call, no clock.

Annotations hold what must be read back exactly; labels are for selectors. Old and new readers of
Events understand the result: it has eventTime and the older timestamps, and from the second write
on the series as well. Core/v1 does not check that these agree.
"""

import dataclasses
import json

import msgspec

from reporter import PROGRAM_NAME
from reporter.kube.objects.events.names import (
    LABEL_PREFIX,
    event_name,
    label_value,
    subject_hash,
)
from reporter.kube.wire.decoding import Json
from reporter.model.kinds.productionstack.health_events import MANAGED_BY_LABEL
from reporter.model.records.announced import ANNOUNCED_ANNOTATION, encode_announced
from reporter.model.records.event_record import EventRecord
from reporter.model.subjects import Subject
from reporter.model.text.times import format_micro_time, format_time
from reporter.model.verdicts import InvolvedObject


EVENT_NAMESPACE = "kube-system"
ACTION = "Evaluate"
SUBJECT_ANNOTATION = LABEL_PREFIX + "subject"
EPISODE_LABEL = LABEL_PREFIX + "episode"
OWNER_LABEL = LABEL_PREFIX + "owner"
DIGEST_ANNOTATION = LABEL_PREFIX + "told"
MAX_INSTANCE_BYTES = 128


def encode_event(record: EventRecord, *, instance: str) -> Json:
    """Encode the whole Event for its creation. *instance* is the name of our pod."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "namespace": event_namespace(record),
            "name": event_name(record),
            "labels": event_labels(record),
            "annotations": _annotations(record),
        },
        "involvedObject": _involved_object(record.involved_object),
        "eventTime": format_micro_time(record.first_timestamp),
        "firstTimestamp": format_time(record.first_timestamp),
        "type": record.type.value,
        "reason": record.key.reason,
        "action": ACTION,
        "source": {"component": PROGRAM_NAME},
        "reportingComponent": PROGRAM_NAME,
        **_mutable_fields(record, instance=instance),
    }


def encode_event_patch(record: EventRecord, *, instance: str) -> Json:
    """
    Encode the JSON merge patch for a repeated write; it leaves out what the first write fixed.

    An Event beside an object repeats its involvedObject: an object that was created anew has
    another uid.
    """
    fields = {"series": None, **_mutable_fields(record, instance=instance)}
    if record.involved_object.namespace:
        fields["involvedObject"] = _involved_object(record.involved_object)
    return {"metadata": {"annotations": _annotations(record)}, **fields}


def _mutable_fields(record: EventRecord, *, instance: str) -> Json:
    """
    Encode the fields that change with every write.

    The instance is one of them: after a failover another pod writes.
    """
    fields: Json = {
        "message": record.message,
        "count": record.count,
        "lastTimestamp": format_time(record.last_timestamp),
        "reportingInstance": _truncate_instance(instance) or PROGRAM_NAME,
    }
    if record.count > 1:
        observed = format_micro_time(record.last_timestamp)
        fields["series"] = {"count": record.count, "lastObservedTime": observed}
    return fields


def event_namespace(record: EventRecord) -> str:
    """Return the namespace of the Event: that of its object, as the API server demands it."""
    return record.involved_object.namespace or EVENT_NAMESPACE


def _involved_object(involved: InvolvedObject) -> dict[str, str]:
    """
    Encode the reference; of a cluster-scoped object without a namespace.

    The API server accepts an Event in kube-system only for an object that has no namespace or is in
    kube-system, and ``kubectl describe namespace`` finds it by this reference.
    """
    reference = {
        "apiVersion": involved.api_version,
        "kind": involved.kind,
        "name": involved.name,
    }
    optional = {"uid": involved.uid, "namespace": involved.namespace}
    return {**reference, **{name: value for name, value in optional.items() if value}}


def event_labels(record: EventRecord) -> dict[str, str]:
    """Return the labels of the objects of an episode: its Event, and its HealthEvents."""
    subject = record.key.subject
    values = {
        "layer": subject.layer.value,
        "reason": record.key.reason,
        "owner": record.owner or "",
        "namespace": subject.namespace,
        **_name_labels(subject),
        "subject": subject_hash(subject),
        "episode": str(int(record.episode_start.timestamp())),
    }
    ours = {LABEL_PREFIX + name: label_value(value) for name, value in values.items() if value}
    return {MANAGED_BY_LABEL: PROGRAM_NAME, **ours}


def _name_labels(subject: Subject) -> dict[str, str]:
    """Return the name of an InferenceSet, or kind and name of another object that is a subject."""
    if not subject.kind:
        return {"inferenceset": subject.name}
    return {"kind": subject.kind, "name": subject.object_name}


def episode_annotations(record: EventRecord) -> dict[str, str]:
    """Return the annotations of a HealthEvent, by which another process continues the episode."""
    if record.announced is None:
        return {}
    involved = msgspec.structs.replace(
        record.announced, involved=dataclasses.astuple(record.involved_object)
    )
    return {ANNOUNCED_ANNOTATION: encode_announced(involved)}


def _annotations(record: EventRecord) -> dict[str, str]:
    subject = record.key.subject
    written = SubjectAnnotation(
        layer=subject.layer.value,
        namespace=subject.namespace,
        name=subject.name,
        reason=record.key.reason,
        item=record.key.item,
    )
    annotations = {
        SUBJECT_ANNOTATION: json.dumps(msgspec.to_builtins(written), sort_keys=True),
        DIGEST_ANNOTATION: record.content_digest,
    }
    if record.announced is not None:
        annotations[ANNOUNCED_ANNOTATION] = encode_announced(record.announced)
    return annotations


def _truncate_instance(instance: str) -> str:
    return instance.encode()[:MAX_INSTANCE_BYTES].decode(errors="ignore")


class SubjectAnnotation(msgspec.Struct, frozen=True):
    """The annotation that names the subject and the reason of an Event."""

    layer: str
    namespace: str
    name: str
    reason: str
    item: str
