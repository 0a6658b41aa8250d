"""The API server's answers to our Events; the same tests run against a real one."""

import json
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from msgspec.structs import replace

from devcluster.server import DevCluster
from reporter import PROGRAM_NAME
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.errors import Conflict, Invalid, NotFound
from reporter.kube.event_format import LABEL_PREFIX, encode_event, event_name
from reporter.kube.event_record import EventRecord
from reporter.kube.events import EVENTS_PATH, EventClient
from reporter.model.enums import EventType, Layer, Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject


MINUTE = timedelta(minutes=1)
LONG_CRD = ("a" * 60 + ".") * 4 + "b" * 9


@pytest_asyncio.fixture
async def api(tmp_path: Path) -> AsyncIterator[RestClient]:
    async with DevCluster() as server:
        api = await connect(str(server.write_kubeconfig(tmp_path / "kubeconfig")), environ={})
        yield api
        await api.close()


@pytest.fixture
def event_client(api: RestClient) -> EventClient:
    return EventClient(api, "reporter-0")


@pytest.fixture
def record() -> EventRecord:
    """A record of a subject that no other test uses."""
    now = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251
    return EventRecord(
        key=FindingKey(
            Subject(Layer.MODELDEPLOYMENT, "shop", f"phi-{secrets.token_hex(4)}"),
            Reason("inferencesetEPPNotReady"),
        ),
        type=EventType.WARNING,
        involved_object=InvolvedObject(
            "v1", "Namespace", "shop", "5f0b3ad2-1c9c-4a55-8f0e-0d4c4f6a2f11"
        ),
        episode_start=now,
        message="0/1 replicas ready",
        content_digest="d1",
        count=1,
        first_timestamp=now,
        last_timestamp=now,
    )


def later(record: EventRecord, message: str = "still") -> EventRecord:
    return record.rewrite(message, "d2", now=record.last_timestamp + MINUTE)


async def stored(api: RestClient, record: EventRecord) -> dict[str, Any]:
    answer = await api.call("GET", f"{EVENTS_PATH}/{event_name(record)}")
    event: dict[str, Any] = json.loads(answer.body)
    return event


async def create_raw(api: RestClient, event: dict[str, Any]) -> None:
    await api.call("POST", EVENTS_PATH, body=event)


async def test_what_was_created_is_read_back_and_listed(
    event_client: EventClient, record: EventRecord
):
    await event_client.create(record)
    assert await event_client.read(record) == record
    assert record in await event_client.list()


async def test_a_second_create_conflicts_and_changes_nothing(
    event_client: EventClient, record: EventRecord
):
    await event_client.create(record)
    with pytest.raises(Conflict):
        await event_client.create(replace(record, message="other"))
    assert await event_client.read(record) == record


async def test_a_patch_writes_the_new_message_and_keeps_the_first_time(
    api: RestClient, event_client: EventClient, record: EventRecord
):
    await event_client.create(record)
    before = await stored(api, record)
    await EventClient(api, "reporter-1").patch(later(record))
    after = await stored(api, record)
    assert await event_client.read(record) == later(record)
    assert after["eventTime"] == before["eventTime"]
    assert after["firstTimestamp"] == before["firstTimestamp"]
    assert after["count"] == after["series"]["count"] == 2
    assert after["series"]["lastObservedTime"][:19] == after["lastTimestamp"][:19]
    assert after["reportingInstance"] == "reporter-1"


async def test_a_patch_of_an_event_that_expired_finds_nothing(
    event_client: EventClient, record: EventRecord
):
    with pytest.raises(NotFound):
        await event_client.patch(later(record))
    assert await event_client.read(record) is None


async def test_an_event_that_expired_is_created_anew_with_its_count(
    event_client: EventClient, record: EventRecord
):
    await event_client.create(later(record))
    assert await event_client.read(record) == later(record)


@pytest.mark.parametrize(
    "message", ["x" * 1024, "é" * 512, ""], ids=["ascii", "two bytes each", "empty"]
)
async def test_messages_of_1024_bytes_are_accepted(
    event_client: EventClient, record: EventRecord, message: str
):
    await event_client.create(replace(record, message=message))
    await event_client.patch(later(record, message))
    assert await event_client.read(record) == later(record, message)


async def test_a_message_of_1025_bytes_is_refused_as_our_fault(
    event_client: EventClient, record: EventRecord
):
    with pytest.raises(Invalid):
        await event_client.create(replace(record, message="x" * 1025))


async def test_a_crd_with_the_longest_name_has_an_event(
    event_client: EventClient, record: EventRecord
):
    crd = InvolvedObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", LONG_CRD)
    missing = replace(
        record, involved_object=crd, key=msgspec.structs.replace(record.key, item=LONG_CRD)
    )
    assert len(LONG_CRD) == 253
    await event_client.create(missing)
    assert await event_client.read(missing) == missing


async def test_an_announcement_within_a_second_keeps_its_fraction(
    event_client: EventClient, record: EventRecord
):
    precise = replace(record, first_timestamp=record.first_timestamp + timedelta(microseconds=120))
    await event_client.create(precise)
    assert await event_client.read(precise) == precise


async def test_events_of_another_writer_with_our_source_are_passed_over(
    api: RestClient,
    event_client: EventClient,
    record: EventRecord,
    caplog: pytest.LogCaptureFixture,
):
    event = encode_event(record, instance="manager")
    name = f"go.{secrets.token_hex(8)}"
    await create_raw(api, {**event, "metadata": {"namespace": "kube-system", "name": name}})
    await event_client.create(record)
    caplog.set_level("INFO")
    found = await event_client.list()
    assert record in found
    assert sum(each.key == record.key for each in found) == 1
    assert "that cannot be continued" in caplog.text


async def test_a_damaged_event_under_our_name_is_mended_by_the_next_patch(
    api: RestClient, event_client: EventClient, record: EventRecord
):
    event = encode_event(record, instance="reporter-0")
    del event["metadata"]["annotations"]
    await create_raw(api, event)
    assert record not in await event_client.list()
    found = await event_client.read(record)
    assert found == replace(record, content_digest="")
    await event_client.patch(later(found))
    assert await event_client.read(record) == later(record)


@pytest.mark.parametrize(
    "selector",
    [
        ("fieldSelector", f"source={PROGRAM_NAME},reason=inferencesetEPPNotReady"),
        ("fieldSelector", f"reportingComponent={PROGRAM_NAME},involvedObject.name=shop"),
        ("labelSelector", f"{LABEL_PREFIX}namespace=shop,{LABEL_PREFIX}layer=modeldeployment"),
        ("labelSelector", f"app.kubernetes.io/managed-by={PROGRAM_NAME}"),
    ],
    ids=lambda selector: selector[1],
)
async def test_people_find_our_events_by_selector(
    api: RestClient, event_client: EventClient, record: EventRecord, selector: tuple[str, str]
):
    await event_client.create(record)
    answer = await api.call("GET", EVENTS_PATH, query=[selector])
    names = [event["metadata"]["name"] for event in json.loads(answer.body)["items"]]
    assert event_name(record) in names


async def test_a_list_goes_over_all_pages(
    api: RestClient, event_client: EventClient, record: EventRecord
):
    others = [
        replace(record, key=msgspec.structs.replace(record.key, item=f"crd-{number}"))
        for number in range(501)
    ]
    for other in others:
        await event_client.create(other)
    assert {each.key for each in others} <= {each.key for each in await event_client.list()}
