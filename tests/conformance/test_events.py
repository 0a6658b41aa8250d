"""The rules of validation for Events, and the answers to invalid ones."""

import copy
import secrets

import pytest

from tests.conformance.api import MERGE, STRATEGIC


EVENTS = "/api/v1/namespaces/kube-system/events"
EVENT = {
    "involvedObject": {"kind": "Namespace", "apiVersion": "v1", "name": "default"},
    "reason": "R",
    "message": "m",
    "type": "Warning",
    "eventTime": "2026-11-21T08:00:00.123456Z",
    "action": "A",
    "reportingComponent": "rep",
    "reportingInstance": "pod",
    "count": 1,
    "firstTimestamp": "2026-11-21T08:00:00Z",
    "lastTimestamp": "2026-11-21T08:00:00Z",
    "source": {"component": "rep"},
}
OTHER_NAMESPACE = "involvedObject.namespace: Invalid value: {}: does not match event.namespace"
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
TOO_LONG = '{}: Invalid value: "": can have at most {} characters'
UNREADABLE = 'Event in version "v1" cannot be handled as a Event: '
NOT_MICRO = (
    'parsing time "{}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "{}" as ".000000"'
)


def event(name=None, **fields):
    made = copy.deepcopy(EVENT)
    made["metadata"] = {"name": name or f"e-{secrets.token_hex(6)}"}
    for key, value in fields.items():
        made[key] = value
    return {key: value for key, value in made.items() if value is not None}


ABOUT_POD = {"kind": "Pod", "name": "p", "namespace": "default"}
ACCEPTED = {
    "as we write it": {},
    "1024 bytes": {"message": "x" * 1024},
    "512 two-byte characters": {"message": "é" * 512},
    "an offset": {"eventTime": "2026-11-21T10:00:00.123000+02:00"},
    "any type": {"type": "Foo"},
    "control characters": {"message": "a\x00b\x1b"},
    "no message": {"message": None},
    "a fraction in firstTimestamp": {"firstTimestamp": "2026-11-21T08:00:00.5Z"},
    "an unknown field": {"bogus": 1},
    "an object elsewhere": {"involvedObject": ABOUT_POD},
    "a qualified reporter": {"reportingComponent": "example.test/rep"},
    "128 bytes of reason": {"reason": "y" * 128},
    "a series of one": {"series": {"count": 1}},
}


@pytest.mark.parametrize("fields", ACCEPTED.values(), ids=ACCEPTED)
async def test_a_valid_event_is_accepted(api, fields):
    answer = await api.create(EVENTS, event(**fields))
    assert answer.status == 201


def refused(fields, *texts):
    return fields, texts


INVALID = {
    "no eventTime": refused({"eventTime": None}, OTHER_NAMESPACE.format('""')),
    "no eventTime, object elsewhere": refused(
        {"eventTime": None, "involvedObject": ABOUT_POD}, OTHER_NAMESPACE.format('"default"')
    ),
    "1025 bytes": refused({"message": "x" * 1025}, TOO_LONG.format("message", 1024)),
    "513 two-byte characters": refused({"message": "é" * 513}, TOO_LONG.format("message", 1024)),
    "no action": refused({"action": None}, "action: Required value"),
    "no reason": refused({"reason": ""}, "reason: Required value"),
    "no instance": refused({"reportingInstance": None}, "reportingInstance: Required value"),
    "no reporter": refused(
        {"reportingComponent": None},
        "reportingComponent: Required value",
        'reportingComponent: Invalid value: "": name part must be non-empty',
        f'reportingComponent: Invalid value: "": {NAME_PART}',
    ),
    "a bad reporter": refused(
        {"reportingComponent": "a b"}, f'reportingComponent: Invalid value: "a b": {NAME_PART}'
    ),
    "a long reporter": refused(
        {"reportingComponent": "x" * 64},
        f'reportingComponent: Invalid value: "{"x" * 64}": name part must be no more than 63 bytes',
    ),
    "all too long": refused(
        {"action": "x" * 129, "reportingInstance": "x" * 129, "reason": "x" * 129},
        TOO_LONG.format("reportingInstance", 128),
        TOO_LONG.format("action", 128),
        TOO_LONG.format("reason", 128),
    ),
}


@pytest.mark.parametrize(("fields", "texts"), INVALID.values(), ids=INVALID)
async def test_an_event_that_breaks_a_rule_is_invalid(api, fields, texts):
    answer = await api.create(EVENTS, event("e1", **fields))
    details_text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    assert (answer.status, answer.json["reason"]) == (422, "Invalid")
    assert answer.message == f'Event "e1" is invalid: {details_text}'
    details = answer.json["details"]
    assert (details["name"], details["kind"]) == ("e1", "Event")
    assert [f"{c['field']}: {c['message']}" for c in details["causes"]] == list(texts)


UNREADABLES = {
    "eventTime in seconds": (
        {"eventTime": "2026-11-21T08:00:00Z"}, NOT_MICRO.format("2026-11-21T08:00:00Z", "Z")
    ),
    "eventTime in milliseconds": (
        {"eventTime": "2026-11-21T08:00:00.123Z"},
        NOT_MICRO.format("2026-11-21T08:00:00.123Z", ".123Z"),
    ),
    "series in seconds": (
        {"series": {"count": 2, "lastObservedTime": "2026-11-21T08:00:00Z"}},
        NOT_MICRO.format("2026-11-21T08:00:00Z", "Z"),
    ),
    "firstTimestamp is no time": (
        {"firstTimestamp": "nope"},
        'parsing time "nope" as "2006-01-02T15:04:05Z07:00": cannot parse "nope" as "2006"',
    ),
    "count is a string": (
        {"count": "1"}, "json: cannot unmarshal string into Go struct field Event.count of type int32"
    ),
    "message is a number": (
        {"message": 1}, "json: cannot unmarshal number into Go struct field Event.message of type string"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "text"), UNREADABLES.values(), ids=UNREADABLES)
async def test_an_event_of_no_shape_cannot_be_read(api, fields, text):
    answer = await api.create(EVENTS, event(**fields))
    assert (answer.status, answer.json["reason"]) == (400, "BadRequest")
    assert answer.message == UNREADABLE + text


async def test_times_are_kept_in_utc_and_seconds_or_microseconds(api):
    made = event(
        eventTime="2026-11-21T10:00:00.123000+02:00", firstTimestamp="2026-11-21T08:00:00.9Z"
    )
    answer = await api.create(EVENTS, made)
    assert answer.json["eventTime"] == "2026-11-21T08:00:00.123000Z"
    assert answer.json["firstTimestamp"] == "2026-11-21T08:00:00Z"


async def test_an_event_of_the_old_kind_has_nulls_and_empty_strings(api):
    made = {"metadata": {"name": "e1"}, "involvedObject": {"namespace": api.namespace}}
    answer = await api.create(api.with_path("events"), made)
    assert answer.status == 201
    rest = {k: v for k, v in answer.json.items() if k not in {"kind", "apiVersion", "metadata"}}
    assert rest == {
        "involvedObject": {"namespace": api.namespace},
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    }


async def test_events_of_a_cluster_scoped_object_are_in_default_and_kube_system_only(api):
    default = await api.create("/api/v1/namespaces/default/events", event())
    elsewhere = await api.create(api.with_path("events"), event("e1"))
    assert default.status == 201
    assert elsewhere.status == 422
    assert elsewhere.message == f'Event "e1" is invalid: {OTHER_NAMESPACE.format(chr(34) * 2)}'


@pytest.mark.parametrize(
    ("name", "status", "text"),
    [
        ("", 422, 'Event "" is invalid: metadata.name: Required value: name or generateName is required'),
        ("a/b", 422, "Event \"a/b\" is invalid: metadata.name: Invalid value: \"a/b\": may not contain '/'"),
        ("E12", 201, ""),
    ],
)  # fmt: skip
async def test_the_name_of_an_event_can_be_anything_that_stands_in_a_path(api, name, status, text):
    made = {**event(involvedObject=ABOUT_POD), "metadata": {"name": name}}
    answer = await api.create(api.with_path("events"), made)
    assert answer.status == status
    assert not text or answer.message == text


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        ({"a": "b c"}, ['"b c": a valid label must be an empty string or consist of']),
        (
            {"a": "x" * 64, "-b": "1"},
            [f'"{"x" * 64}": must be no more than 63 bytes', f'"-b": {NAME_PART}'],
        ),
    ],
)
async def test_labels_have_their_own_rules(api, labels, texts):
    made = event(involvedObject=ABOUT_POD)
    made["metadata"]["labels"] = labels
    answer = await api.create(api.with_path("events"), made)
    assert answer.status == 422
    causes = answer.json["details"]["causes"]
    assert {cause["field"] for cause in causes} == {"metadata.labels"}
    for text in texts:
        assert any(cause["message"].startswith(f"Invalid value: {text}") for cause in causes)


async def test_the_same_name_again_is_409(api):
    made = event()
    await api.create(EVENTS, made)
    answer = await api.create(EVENTS, made)
    assert (answer.status, answer.json["reason"]) == (409, "AlreadyExists")
    assert answer.json["details"] == {"name": made["metadata"]["name"], "kind": "events"}


async def test_an_event_of_a_namespace_that_is_not_there_is_404(api):
    answer = await api.create("/api/v1/namespaces/never-there/events", event())
    assert (answer.status, answer.message) == (404, 'namespaces "never-there" not found')
    assert answer.json["details"] == {"name": "never-there", "kind": "namespaces"}


@pytest.mark.parametrize("form", [MERGE, STRATEGIC])
async def test_a_heartbeat_is_a_patch_that_keeps_event_time(api, form):
    made = event()
    await api.create(EVENTS, made)
    patch = {
        "count": 2,
        "lastTimestamp": "2026-11-21T08:10:00Z",
        "series": {"count": 2, "lastObservedTime": "2026-11-21T08:10:00.000000Z"},
        "message": "n",
    }
    answer = await api.patch(f"{EVENTS}/{made['metadata']['name']}", patch, form)
    assert answer.status == 200
    assert {key: answer.json[key] for key in patch} == patch
    assert answer.json["eventTime"] == made["eventTime"]
    assert "generation" not in answer.json["metadata"]


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"message": "x" * 1025}, TOO_LONG.format("message", 1024)),
        ({"eventTime": None}, OTHER_NAMESPACE.format('""')),
        ({"metadata": {"uid": "x"}}, 'metadata.uid: Invalid value: "x": field is immutable'),
    ],
)
async def test_the_result_of_a_patch_is_validated_like_a_new_object(api, patch, text):
    made = event()
    name = made["metadata"]["name"]
    await api.create(EVENTS, made)
    answer = await api.patch(f"{EVENTS}/{name}", patch)
    assert answer.status == 422
    assert answer.message == f'Event "{name}" is invalid: {text}'


async def test_a_patch_whose_result_cannot_be_read_is_422_on_the_patch(api):
    made = event()
    await api.create(EVENTS, made)
    answer = await api.patch(f"{EVENTS}/{made['metadata']['name']}", {"count": "x"})
    assert (answer.status, answer.json["reason"]) == (422, "Invalid")
    assert [cause["field"] for cause in answer.json["details"]["causes"]] == ["patch"]
    assert answer.message.startswith(' "" is invalid: patch: Invalid value: ')


async def test_a_patch_of_one_that_is_gone_is_404(api):
    answer = await api.patch(f"{EVENTS}/never-there", {"count": 2})
    assert (answer.status, answer.message) == (404, 'events "never-there" not found')
    assert answer.json["details"] == {"name": "never-there", "kind": "events"}
