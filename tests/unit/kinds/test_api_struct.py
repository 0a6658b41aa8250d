"""Values that many objects share are kept in memory once."""

from datetime import UTC, datetime

import msgspec
import pytest

from reporter.kinds.core import Pod
from reporter.kinds.objects import Condition


NOON = "2026-01-01T12:00:07Z"


def a_condition(time: str, reason: str = "QuotaExceeded") -> Condition:
    fields = {"type": "Ready", "status": "False", "reason": reason, "lastTransitionTime": time}
    return msgspec.json.decode(msgspec.json.encode(fields), type=Condition)


def test_equal_texts_and_times_are_one_object():
    one, other = a_condition(NOON), a_condition(NOON)
    assert one.reason is other.reason
    assert one.last_transition_time is other.last_transition_time


def test_times_are_shared_among_kinds():
    meta = {"name": "a", "creationTimestamp": NOON}
    pod = msgspec.convert({"metadata": meta, "status": {"startTime": NOON}}, Pod, strict=False)
    assert pod.metadata.creation_timestamp is pod.status.start_time


@pytest.mark.parametrize(
    "other",
    ["2026-01-01T13:00:07Z", "2026-01-02T12:00:07Z", "2026-01-01T12:00:07.5Z"],
)
def test_other_times_of_the_same_second_of_an_hour_stay_apart(other):
    times = [a_condition(each).last_transition_time for each in (NOON, other, NOON, other)]
    noon, different = datetime(2026, 1, 1, 12, 0, 7, tzinfo=UTC), datetime.fromisoformat(other)
    assert times == [noon, different, noon, different]
