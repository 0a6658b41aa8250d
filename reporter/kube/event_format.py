"""
Names, encoding and decoding of EventRecords as core/v1 Events. Pure: no call, no clock.

Names are readable where possible, unique always. Annotations hold what must be read back exactly; labels
are for selectors. Old and new readers of Events understand the result: it has eventTime and the older
timestamps, and from the second write on the series as well. Core/v1 does not check that these agree.
Admission may remove labels and annotations or change the source. The name still identifies the subject,
the reason and the episode, so an Event counts as ours if its name matches.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from reporter import PROGRAM_NAME
from reporter.kinds.health_events import MANAGED_BY_LABEL
from reporter.kube.announced import ANNOUNCED_ANNOTATION, decode_announced, encode_announced
from reporter.kube.decoding import Json, decode_json
from reporter.kube.event_record import EventRecord, PossibleKeysFunc, StrippedEvent, no_keys
from reporter.model.enums import EventType, Layer, Owner, Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.times import format_micro_time, format_time, parse_time
from reporter.model.verdicts import InvolvedObject


LABEL_PREFIX = "reporter.productionstack.kaito.sh/"
MAX_NAME_LENGTH = 253  # of a DNS-1123 subdomain
MAX_LABEL_VALUE_LENGTH = 63
HASH_DIGITS = 16

_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def event_name(record: EventRecord) -> str:
    """
    Return a name that all writes of an episode share, so that repeating a write is harmless.

    The next episode has another name. The readable part is the name of the involved object, which
    is truncated because names of CRDs can be long.
    """
    identity = episode_hash(record.key, record.episode_start)
    return _readable_name(record.involved_object.name, identity)


def _readable_name(text: str, identity: str) -> str:
    readable = _to_subdomain(text)[: MAX_NAME_LENGTH - len(identity) - 1].rstrip("-.")
    return f"{readable}.{identity}" if readable else identity


def health_event_name(record: EventRecord, node: str) -> str:
    """
    Return the name of the HealthEvent of an episode: that of its Event, or with *node* one for that node.
    """
    if not node:
        return event_name(record)
    identity = short_hash(episode_hash(record.key, record.episode_start), node)
    return _readable_name(node, identity)


def node_event_name(record: EventRecord, node: str) -> str:
    """
    Return the name of the object of an episode on a node; "" without a node, as none is kept then.
    """
    return health_event_name(record, node) if node else ""


def recovery_name(name: str) -> str:
    """
    Return the name of the object that notes the end of an episode; lists show it beside the first one.
    """
    readable, _, identity = name.rpartition(".")
    return _readable_name(readable, f"{identity}-recovered")


def episode_hash(key: FindingKey, episode_start: datetime) -> str:
    """Return the hash of subject, reason, item and start in seconds, with which an Event's name ends."""
    subject, second = key.subject, str(int(episode_start.timestamp()))
    return short_hash(subject.layer, subject.namespace, subject.name, key.reason, key.item, second)


def subject_hash(subject: Subject) -> str:
    """Return the value of the label subject, the same for all reasons and episodes of a subject."""
    return short_hash(subject.layer, subject.namespace, subject.name)


def label_value(text: str) -> str:
    """
    Return *text* if it is a valid label value, else its valid characters and a hash of the text.
    """
    if len(text) <= MAX_LABEL_VALUE_LENGTH and _LABEL_VALUE.fullmatch(text):
        return text
    cleaned = re.sub(r"[^-A-Za-z0-9_.]", "-", text)[: MAX_LABEL_VALUE_LENGTH - HASH_DIGITS - 1]
    return f"{cleaned.strip('-_.')}-{short_hash(text)}".lstrip("-")


def short_hash(*parts: str) -> str:
    """Hash the parts as a JSON list, so that ("ab", "c") and ("a", "bc") differ."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:HASH_DIGITS]


def _to_subdomain(text: str) -> str:
    cleaned = re.sub(r"[^-a-z0-9.]", "-", text.lower())
    return ".".join(filter(None, (part.strip("-") for part in cleaned.split("."))))


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
        "reportingInstance": instance.encode()[:MAX_INSTANCE_BYTES].decode(errors="ignore")
        or PROGRAM_NAME,
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
    fields: dict[str, str] = msgspec.to_builtins(_InvolvedObject(*astuple(involved)))
    return fields


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
    """
    Return the annotations of a HealthEvent, by which another process continues the episode.

    Empty for a record without *announced*.
    """
    if record.announced is None:
        return {}
    involved = replace(record.announced, involved=astuple(record.involved_object))
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


class SubjectAnnotation(msgspec.Struct, frozen=True):
    """The content of the annotation by which an Event is read back: its subject and reason."""

    layer: str
    namespace: str
    name: str
    reason: str
    item: str


OTHER_NAME = "its name does not match its subject, reason and episode"


class ForeignEvent(Struct, frozen=True):
    """An Event that cannot be continued: not ours, of another version, or damaged."""

    name: str
    why: str
    has_our_source: bool = True


def decode_event(
    raw: bytes | msgspec.Raw,
    possible_keys: PossibleKeysFunc = no_keys,
    possible_episodes: Collection[datetime] = (),
) -> EventRecord | ForeignEvent:
    """
    Decode an Event; return a ForeignEvent for one that cannot be continued.

    Admission may have removed what an Event is about and when its episode began. The hash in its name
    then shows which it is of the keys that *possible_keys* returns and, for a Ready, also of
    *possible_episodes*.

    The Go reporter writes Events with the same source, but under other names, so they are foreign.
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


class _InvolvedObject(msgspec.Struct, rename="camel", omit_defaults=True):
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
    event: _CoreEvent, possible_keys: PossibleKeysFunc, possible_episodes: Collection[datetime]
) -> EventRecord:
    """Raises ValueError with the reason for an Event that is not ours."""
    key, episode = _identify(event, possible_keys, possible_episodes)
    first = parse_time(event.event_time) or episode
    record = EventRecord(
        key=key,
        type=EventType(event.type or ""),
        involved_object=InvolvedObject(*astuple(event.involved_object)),
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
    event: _CoreEvent, possible_keys: PossibleKeysFunc, possible_episodes: Collection[datetime]
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
