"""Build names and label values of Events: readable where possible, unique always."""

import hashlib
import json
import re
from datetime import datetime

from reporter.model.records.event_record import EventRecord
from reporter.model.subjects import FindingKey, Subject


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
    Return the name of the HealthEvent of an episode: that of its Event, or one for each node.
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
    """Return the name of the second object of an episode, beside which lists show it."""
    readable, _, identity = name.rpartition(".")
    return _readable_name(readable, f"{identity}-recovered")


def episode_hash(key: FindingKey, episode_start: datetime) -> str:
    """Return the end of the name, which identifies subject, reason and episode."""
    subject, second = key.subject, str(int(episode_start.timestamp()))
    return short_hash(subject.layer, subject.namespace, subject.name, key.reason, key.item, second)


def subject_hash(subject: Subject) -> str:
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
