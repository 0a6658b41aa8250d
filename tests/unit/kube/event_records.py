"""Records of Events, as tests of their format and of their names need them."""

import re
from datetime import UTC, datetime, timedelta

from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType, Reason
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey
from reporter.model.verdicts import InvolvedObject


NOON = datetime(2026, 1, 1, 12, 0, 0, 250, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
BBR = FindingKey(CLUSTER_SUBJECT, Reason("clusterBBRNotReady"))
RELEASE = InvolvedObject("v1", "Namespace", "kaito-system", "u-1")
LONG_CRD = "a" * 60 + "." + "b" * 60 + "." + "c" * 60 + "." + "d" * 60 + "." + "e" * 9


def a_record(
    key: FindingKey = BBR,
    involved: InvolvedObject = RELEASE,
    first: datetime = NOON,
    message: str = "0/2",
) -> EventRecord:
    return EventRecord(
        key=key,
        type=EventType.WARNING,
        involved_object=involved,
        episode_start=first.replace(microsecond=0),
        message=message,
        content_digest="d1",
        count=1,
        first_timestamp=first,
        last_timestamp=first.replace(microsecond=0),
    )
