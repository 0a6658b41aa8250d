"""Watches: the events they deliver, the version they begin at, and their ends."""

import asyncio

import pytest

from tests.conformance.api import MERGE, WATCH_TIMEOUT, Json, names


END = {"k8s.io/initial-events-end": "true"}


async def test_a_watch_from_a_version_sends_what_came_after_it(api):
    await api.config_map("before")
    start = (await api.get(api.with_path("configmaps"))).version
    await api.config_map("c1", a="1")
    await api.patch(api.with_path("configmaps", "c1"), {"data": {"x": "y"}})
    async with api.watch(
        f"{api.with_path('configmaps')}?resourceVersion={start}&labelSelector=a"
    ) as stream:
        first = [await stream.frame(), await stream.frame()]
        await api.delete(api.with_path("configmaps", "c1"))
        last = await stream.frame()
    assert names([*first, last]) == [("ADDED", "c1"), ("MODIFIED", "c1"), ("DELETED", "c1")]
    assert first[1]["object"]["data"] == {"x": "y"}
    assert first[0]["object"]["kind"] == "ConfigMap"
    assert int(last["object"]["metadata"]["resourceVersion"]) > int(
        first[1]["object"]["metadata"]["resourceVersion"]
    )


@pytest.mark.parametrize("query", ["", "resourceVersion=0"])
async def test_a_watch_from_nowhere_sends_first_what_is_there(api, query):
    await api.config_map("c1", a="1")
    await api.until(
        api.with_path("configmaps") + "?labelSelector=a&resourceVersion=0",
        lambda a: a.names == ["c1"],
    )
    async with api.watch(f"{api.with_path('configmaps')}?labelSelector=a&{query}") as stream:
        there = await stream.frame()
        await api.config_map("c2", a="1")
        then = await stream.frame()
    assert names([there, then]) == [("ADDED", "c1"), ("ADDED", "c2")]


async def test_initial_events_end_with_a_marked_bookmark(api):
    await api.config_map("c1", a="1")
    query = "labelSelector=a&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watch(f"{api.with_path('configmaps')}?{query}") as stream:
        frames = [await stream.frame(), await stream.frame()]
        await api.config_map("c2", a="1")
        then = await stream.frame()
    assert names(frames) == [("ADDED", "c1")]
    mark = frames[1]
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == END
    assert int(mark["object"]["metadata"]["resourceVersion"]) >= int(
        frames[0]["object"]["metadata"]["resourceVersion"]
    )
    assert names([then]) == [("ADDED", "c2")]


@pytest.mark.parametrize(
    ("path", "empty"),
    [
        ("/api/v1/pods", {"spec": {"containers": None}, "status": {}}),
        ("/apis/coordination.k8s.io/v1/leases", {"spec": {}}),
        ("/api/v1/namespaces", {"spec": {}, "status": {}}),
        ("/api/v1/configmaps", {}),
        (
            "/apis/apps/v1/deployments",
            {
                "spec": {
                    "replicas": 0,
                    "selector": None,
                    "template": {"metadata": {}, "spec": {"containers": None}},
                    "strategy": {},
                },
                "status": {},
            },
        ),
        (
            "/api/v1/events",
            {
                "involvedObject": {}, "source": {}, "firstTimestamp": None, "lastTimestamp": None,
                "eventTime": None, "reportingComponent": "", "reportingInstance": "",
            },
        ),
    ],
)  # fmt: skip
async def test_a_bookmark_is_an_empty_object_of_its_kind(api, path, empty):
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watch(f"{path}?{query}&labelSelector=never=there") as stream:
        assert stream.status == 200
        frame = await stream.frame()
    assert frame["type"] == "BOOKMARK"
    given = {"kind", "apiVersion", "metadata"}
    rest = {key: value for key, value in frame["object"].items() if key not in given}
    assert rest == empty


async def test_without_bookmarks_none_comes(api):
    await api.config_map("c1", a="1")
    query = (
        "labelSelector=a&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
    )
    frames: list[Json] = []
    async with asyncio.timeout(WATCH_TIMEOUT):
        while not frames:  # a loaded server may have sent nothing within the second
            async with api.watch(f"{api.with_path('configmaps')}?{query}") as stream:
                frames = await stream.remaining_frames()
    assert [frame["type"] for frame in frames] == ["ADDED"]


async def test_initial_events_need_a_version_match(api):
    answer = await api.get(api.with_path("configmaps") + "?watch=1&sendInitialEvents=true")
    assert answer.status == 422
    assert answer.message == (
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    )


async def test_a_watch_ends_cleanly_at_its_timeout(api):
    loop = asyncio.get_running_loop()
    start = loop.time()
    async with api.watch(
        f"{api.with_path('configmaps')}?labelSelector=never&timeoutSeconds=1"
    ) as stream:
        frames = await stream.remaining_frames()
    assert frames == []
    assert loop.time() - start >= 0.9


async def test_a_version_that_is_too_old_is_an_error_event_in_a_200(api):
    start = (await api.get(api.with_path("events"))).version
    about = {"kind": "Pod", "name": "p", "namespace": api.namespace}
    for name in ("e1", "e2"):
        await api.create(
            api.with_path("events"), {"metadata": {"name": name}, "involvedObject": about}
        )
    await api.compact_history()
    async with api.watch(
        f"{api.with_path('events')}?resourceVersion={start}&timeoutSeconds=60"
    ) as stream:
        frames = await stream.remaining_frames()
    assert stream.status == 200
    assert [frame["type"] for frame in frames] == ["ERROR"]
    status = frames[0]["object"]
    assert (status["code"], status["reason"], status["kind"]) == (410, "Expired", "Status")
    assert status["message"] == "The resourceVersion for the provided watch is too old."


async def test_a_version_from_the_future_is_waited_for(api):
    query = "resourceVersion=99999999&timeoutSeconds=1"
    async with api.watch(f"{api.with_path('configmaps')}?{query}") as stream:
        assert (stream.status, await stream.remaining_frames()) == (200, [])


async def test_an_object_comes_into_view_and_leaves_it_by_its_labels(api):
    await api.config_map("c1", a="1")
    start = (await api.get(api.with_path("configmaps"))).version
    async with api.watch(
        f"{api.with_path('configmaps')}?resourceVersion={start}&labelSelector=b=2"
    ) as stream:
        await api.patch(api.with_path("configmaps", "c1"), {"metadata": {"labels": {"b": "2"}}})
        into = await stream.frame()
        await api.patch(api.with_path("configmaps", "c1"), {"metadata": {"labels": {"b": None}}})
        out = await stream.frame()
        await api.delete(api.with_path("configmaps", "c1"))
        await api.config_map("c2", b="2")
        other = await stream.frame()
    assert names([into, out, other]) == [("ADDED", "c1"), ("DELETED", "c1"), ("ADDED", "c2")]
    assert out["object"]["metadata"]["labels"] == {"a": "1", "b": "2"}
    assert int(out["object"]["metadata"]["resourceVersion"]) > int(
        into["object"]["metadata"]["resourceVersion"]
    )


async def test_one_object_is_watched_by_its_name(api):
    await api.config_map("c1")
    start = (await api.get(api.with_path("configmaps"))).version
    query = f"resourceVersion={start}&fieldSelector=metadata.name=c2"
    async with api.watch(f"{api.with_path('configmaps')}?{query}") as stream:
        await api.patch(api.with_path("configmaps", "c1"), {"data": {"x": "y"}})
        await api.config_map("c2")
        frame = await stream.frame()
    assert names([frame]) == [("ADDED", "c2")]


async def test_a_write_that_changes_nothing_causes_no_watch_event(api):
    created = await api.config_map("c1", a="1")
    path = api.with_path("configmaps", "c1")
    same = await api.request(
        "PATCH", path, {"metadata": {"labels": {"a": "1"}}}, **{"Content-Type": MERGE}
    )
    assert same.version == created.version
    query = f"resourceVersion={created.version}&labelSelector=a"
    async with api.watch(f"{api.with_path('configmaps')}?{query}") as stream:
        await api.config_map("c2", a="1")
        frame = await stream.frame()
    assert names([frame]) == [("ADDED", "c2")]


async def test_a_watch_of_a_namespace_that_is_not_there_is_quiet(api):
    async with api.watch("/api/v1/namespaces/never-there/pods?timeoutSeconds=1") as stream:
        assert (stream.status, await stream.remaining_frames()) == (200, [])
