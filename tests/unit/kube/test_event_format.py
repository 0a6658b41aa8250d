"""Events as they are written and read back."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reporter import PROGRAM_NAME
from reporter.kinds.health_events import MANAGED_BY_LABEL
from reporter.kube.decoding import Json
from reporter.kube.event_format import (
    DIGEST_ANNOTATION,
    EPISODE_LABEL,
    LABEL_PREFIX,
    SUBJECT_ANNOTATION,
    ForeignEvent,
    decode_event,
    encode_event,
    encode_event_patch,
)
from reporter.kube.event_record import EventRecord, StrippedEvent
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from tests.unit.kube.event_records import (
    LABEL_VALUE,
    NOON,
    RELEASE,
    SECOND,
    SUBDOMAIN,
    a_record,
)


def written(record: EventRecord, instance: str = "reporter-0") -> Json:
    return encode_event(record, instance=instance)


def merged(target: Json, patch: Json) -> Json:
    """RFC 7386, as the API server applies it."""
    kept = {k: v for k, v in target.items() if patch.get(k, v) is not None}
    for name, value in patch.items():
        if isinstance(value, dict):
            kept[name] = merged(target.get(name) or {}, value)
        elif value is not None:
            kept[name] = value
    return kept


def read_back(event: Json) -> EventRecord | ForeignEvent:
    return decode_event(json.dumps(event).encode())


names = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=63)
moments = st.datetimes(
    min_value=NOON.replace(tzinfo=None, year=2020),
    max_value=NOON.replace(tzinfo=None, year=2100),
    timezones=st.just(UTC),
)
records = st.builds(
    lambda layer, namespace, name, item, involved, first, later: replace(
        a_record(
            key=FindingKey(
                Subject(layer, namespace, name), Reason("inferencesetRouteNotReady"), item
            ),
            involved=replace(RELEASE, name=involved),
            first=first,
        ),
        count=1 + later,
        last_timestamp=first.replace(microsecond=0) + later * SECOND,
    ),
    st.sampled_from(Layer),
    names,
    st.text(max_size=300),
    st.text(max_size=300),
    st.text(max_size=300),
    moments,
    st.integers(0, 1000),
)


@given(records)
def test_what_was_written_is_read_back_exactly(record: EventRecord):
    assert read_back(written(record)) == record


@given(records, st.text(max_size=100))
def test_a_patched_event_is_read_back_with_the_content_of_the_patch(
    record: EventRecord, message: str
):
    again = record.rewrite(message, "d2", now=record.last_timestamp + 60 * SECOND)
    event = merged(written(record), encode_event_patch(again, instance="reporter-1"))
    assert read_back(event) == again
    assert event["eventTime"] == written(record)["eventTime"]


@given(records)
def test_every_name_is_a_subdomain_and_every_label_fits(record: EventRecord):
    metadata = written(record)["metadata"]
    assert SUBDOMAIN.fullmatch(metadata["name"])
    assert len(metadata["name"]) <= 253
    assert all(LABEL_VALUE.fullmatch(value) for value in metadata["labels"].values())


def test_a_first_write_has_no_series_and_all_its_times_agree():
    event = written(a_record())
    assert "series" not in event
    assert event["count"] == 1
    assert event["eventTime"] == "2026-01-01T12:00:00.000250Z"
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2026-01-01T12:00:00Z"


def test_a_second_write_has_a_series_that_agrees_with_the_count():
    patch = encode_event_patch(
        a_record().rewrite("1/2", "d2", now=NOON + SECOND), instance="reporter-1"
    )
    assert patch == {
        "metadata": {"annotations": patch["metadata"]["annotations"]},
        "message": "1/2",
        "count": 2,
        "lastTimestamp": "2026-01-01T12:00:01Z",
        "reportingInstance": "reporter-1",
        "series": {"count": 2, "lastObservedTime": "2026-01-01T12:00:01.000250Z"},
    }
    assert patch["metadata"]["annotations"][DIGEST_ANNOTATION] == "d2"


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(NOON.replace(microsecond=0), id="a whole second"),
        pytest.param(
            NOON.replace(microsecond=0).astimezone(timezone(timedelta(hours=9))), id="elsewhere"
        ),
    ],
)
def test_event_time_always_has_six_digits_in_utc(moment: datetime):
    assert written(a_record(first=moment))["eventTime"] == "2026-01-01T12:00:00.000000Z"


def test_the_event_fits_kube_system_because_its_object_has_no_namespace():
    event = written(a_record())
    assert event["metadata"]["namespace"] == "kube-system"
    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "name": "kaito-system",
        "uid": "u-1",
    }
    assert event["source"] == {"component": PROGRAM_NAME}
    assert event["reportingComponent"] == PROGRAM_NAME


def test_an_object_that_was_never_seen_has_no_uid():
    event = written(a_record(involved=replace(RELEASE, uid="")))
    assert "uid" not in event["involvedObject"]


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        ("reporter-0", "reporter-0"),
        ("é" * 100, "é" * 64),
        ("xé" * 50, "xé" * 42 + "x"),
        ("", PROGRAM_NAME),
    ],
    ids=["short", "cut", "cut between characters", "unknown"],
)
def test_the_reporting_instance_is_never_empty_and_at_most_128_bytes(instance: str, expected: str):
    assert written(a_record(), instance)["reportingInstance"] == expected
    assert len(written(a_record(), instance)["reportingInstance"].encode()) <= 128


def test_labels_name_what_people_select_by():
    key = FindingKey(
        Subject(Layer.MODELDEPLOYMENT, "shop", "phi-4"), Reason("inferencesetEPPNotReady")
    )
    labels = written(a_record(key=key))["metadata"]["labels"]
    assert labels.pop(LABEL_PREFIX + "subject")
    assert labels == {
        MANAGED_BY_LABEL: PROGRAM_NAME,
        LABEL_PREFIX + "layer": "modeldeployment",
        LABEL_PREFIX + "reason": "inferencesetEPPNotReady",
        LABEL_PREFIX + "namespace": "shop",
        LABEL_PREFIX + "inferenceset": "phi-4",
        EPISODE_LABEL: str(int(NOON.timestamp())),
    }


def without(event: Json, *path: str) -> Json:
    *parents, last = path
    place = event
    for name in parents:
        place = place[name]
    del place[last]
    return event


def changed(event: Json, value: object, *path: str) -> Json:
    *parents, last = path
    place = event
    for name in parents:
        place = place[name]
    place[last] = value
    return event


def test_an_event_without_labels_annotations_and_source_is_recognised_by_its_name():
    record, event = a_record(), written(a_record())
    for path in (("metadata", "labels"), ("metadata", "annotations"), ("source",)):
        event = without(event, *path)
    asked: list[StrippedEvent] = []

    def possible(stripped: StrippedEvent) -> list[FindingKey]:
        asked.append(stripped)
        return [FindingKey(CLUSTER_SUBJECT, record.key.reason), record.key]

    found = decode_event(json.dumps(event).encode(), possible)
    assert found == replace(record, content_digest="")
    assert asked == [StrippedEvent(record.key.reason, record.involved_object.name, record.message)]
    assert isinstance(read_back(event), ForeignEvent)


@pytest.mark.parametrize("label", ["soon", "9" * 30, "-1", "", None])
def test_an_event_whose_episode_was_changed_is_recognised_by_its_name(label: str | None):
    event = changed(written(a_record()), label, "metadata", "labels", EPISODE_LABEL)
    assert read_back(event) == a_record()


def test_an_event_that_names_its_subject_is_compared_with_nothing_else():
    unused = iter([a_record().key])
    assert decode_event(json.dumps(written(a_record())).encode(), lambda _: unused) == a_record()
    assert list(unused), "thousands of InferenceSets take long"


def test_an_event_whose_source_was_changed_is_recognised_by_its_name():
    event = changed(written(a_record()), "relay", "source", "component")
    assert read_back(event) == a_record()


@pytest.mark.parametrize(
    ("event", "why"),
    [
        pytest.param(
            without(written(a_record()), "metadata", "annotations"),
            "subject is missing",
            id="of the Go reporter, without annotations",
        ),
        pytest.param(
            without(written(a_record()), "metadata", "annotations", SUBJECT_ANNOTATION),
            "subject is missing",
            id="without its subject",
        ),
        pytest.param(
            changed(
                written(a_record()),
                '{"layer": "gpu"}',
                "metadata",
                "annotations",
                SUBJECT_ANNOTATION,
            ),
            "namespace",
            id="of a version with another subject",
        ),
        pytest.param(
            changed(written(a_record()), "copy", "metadata", "name"),
            "name",
            id="under another name",
        ),
        pytest.param(
            changed(written(a_record()), "other", "involvedObject", "name"),
            "name",
            id="about another object",
        ),
        pytest.param(changed(written(a_record()), "Error", "type"), "Error", id="of another type"),
        pytest.param(
            changed(written(a_record()), "many", "count"), "int", id="with a wrong count"
        ),
        pytest.param({}, "metadata", id="empty"),
    ],
)
def test_events_that_cannot_be_continued_are_foreign_with_the_reason(event: Json, why: str):
    found = read_back(event)
    assert isinstance(found, ForeignEvent)
    assert why in found.why
    assert found.why


def test_null_times_and_count_of_an_event_that_others_touched_are_tolerated():
    event = {**written(a_record()), "count": None, "lastTimestamp": None, "message": None}
    found = read_back(event)
    assert isinstance(found, EventRecord)
    assert (found.count, found.message) == (1, "")
    assert found.last_timestamp == NOON.replace(microsecond=0)
