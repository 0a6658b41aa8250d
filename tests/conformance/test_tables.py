"""Tables: the columns that kubectl prints."""

import pytest

from tests.conformance.api import TABLE
from tests.conformance.test_deployment_writes import DEPLOYMENT
from tests.conformance.test_events import event


KUBECTL = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"


async def table(api, path):
    answer = await api.get(path, Accept=KUBECTL)
    assert answer.status == 200
    assert (answer.json["kind"], answer.json["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    return answer.json


def columns(found, *, wide=False):
    return [c["name"] for c in found["columnDefinitions"] if wide or c["priority"] == 0]


def row(found, index=0):
    names = [column["name"] for column in found["columnDefinitions"]]
    return dict(zip(names, found["rows"][index]["cells"], strict=True))


async def test_events_have_kubectls_columns(api):
    about = {"kind": "CustomResourceDefinition", "name": "x.y", "namespace": api.namespace}
    made = event("e1", involvedObject=about, message=" said \n", count=3)
    await api.create(api.with_path("events"), made)
    found = await table(api, api.with_path("events"))
    assert columns(found) == ["Last Seen", "Type", "Reason", "Object", "Message"]
    assert columns(found, wide=True) == [
        "Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen",
        "Count", "Name",
    ]  # fmt: skip
    cells = row(found)
    assert cells["Type"] == "Warning"
    assert cells["Reason"] == "R"
    assert cells["Object"] == "customresourcedefinition/x.y"
    assert cells["Message"] == "said"
    assert cells["Source"] == "rep, pod"
    assert cells["Count"] == 3
    assert cells["Name"] == "e1"


@pytest.mark.parametrize(
    ("fields", "last", "first", "count"),
    [
        ({"firstTimestamp": None, "lastTimestamp": None, "eventTime": None}, "<unknown>", "<unknown>", 1),
        ({"firstTimestamp": "2010-01-01T00:00:00Z", "lastTimestamp": None}, "y", "y", 1),
        (
            {"lastTimestamp": "2010-01-01T00:00:00Z",
             "series": {"count": 7, "lastObservedTime": "2010-01-01T00:00:00.000000Z"}},
            "y", "", 7,
        ),
    ],
    ids=["no time at all", "first alone", "a series"],
)  # fmt: skip
async def test_ages_of_events_come_from_the_times_that_are_there(api, fields, last, first, count):
    about = {"kind": "Pod", "name": "p", "namespace": api.namespace}
    await api.create(
        api.with_path("events"), event("e1", involvedObject=about, count=None, **fields)
    )
    cells = row(await table(api, api.with_path("events")))
    assert last in cells["Last Seen"]
    assert first in cells["First Seen"]
    assert cells["Count"] == count


async def test_deployments_have_kubectls_columns(api):
    await api.create(api.with_path("deployments", group="apps/v1"), DEPLOYMENT)
    found = await table(api, api.with_path("deployments", group="apps/v1"))
    assert columns(found) == ["Name", "Ready", "Up-to-date", "Available", "Age"]
    assert columns(found, wide=True)[5:] == ["Containers", "Images", "Selector"]
    cells = row(found)
    assert cells.pop("Age").endswith("s")
    assert cells == {
        "Name": "d1", "Ready": "0/0", "Up-to-date": 0, "Available": 0,
        "Containers": "c", "Images": "i", "Selector": "app=d1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/namespaces", ["Name", "Status", "Age"]),
        ("/api/v1/pods", ["Name", "Ready", "Status", "Restarts", "Age"]),
        ("/apis/coordination.k8s.io/v1/leases", ["Name", "Holder", "Age"]),
        ("/api/v1/serviceaccounts", ["Name", "Age"]),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ["Name", "Created At"]),
    ],
)
async def test_other_kinds_have_theirs(api, path, expected):
    assert columns(await table(api, path)) == expected


async def test_rows_carry_the_metadata_nothing_or_the_whole_object(api):
    await api.config_map("c1", a="b")
    path = api.with_path("configmaps") + "?labelSelector=a"
    plain = (await table(api, path))["rows"][0]["object"]
    none = (await table(api, f"{path}&includeObject=None"))["rows"][0]["object"]
    whole = (await table(api, f"{path}&includeObject=Object"))["rows"][0]["object"]
    assert (plain["kind"], plain["metadata"]["name"]) == ("PartialObjectMetadata", "c1")
    assert plain["apiVersion"] == "meta.k8s.io/v1"
    assert none is None
    assert (whole["kind"], whole["apiVersion"]) == ("ConfigMap", "v1")


async def test_one_object_is_a_table_of_one_row(api):
    await api.config_map("c1", a="b")
    found = await table(api, api.with_path("configmaps", "c1"))
    assert [line["cells"][0] for line in found["rows"]] == ["c1"]


async def test_pages_are_tables_too(api):
    for name in ("c1", "c2"):
        await api.config_map(name, a="b")
    found = await table(api, api.with_path("configmaps") + "?labelSelector=a&limit=1")
    assert len(found["rows"]) == 1
    assert found["metadata"]["continue"]


async def test_a_watch_sends_tables_of_one_row(api):
    await api.config_map("c1", a="b")
    async with api.watch(
        api.with_path("configmaps") + "?labelSelector=a", Accept=KUBECTL
    ) as stream:
        frame = await stream.frame()
    assert frame["type"] == "ADDED"
    assert frame["object"]["kind"] == "Table"
    assert frame["object"]["rows"][0]["cells"][0] == "c1"


async def test_what_is_not_there_is_a_status_and_no_table(api):
    answer = await api.get(api.with_path("configmaps", "nope"), Accept=KUBECTL)
    assert (answer.status, answer.json["kind"]) == (404, "Status")
