"""The lines of a watch over a real connection: whole, cut off, idle and without an end."""

import asyncio
from datetime import timedelta

import pytest

from reporter.kube.errors import (
    Unreachable,
)
from tests.integration.kube.reflector_fixture import a_watch_response
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    connected,
    never_answer,
    serving,
)


SHORT = timedelta(milliseconds=200)


async def read_all(api, **how):
    async with api.open_watch(
        "/api/v1/pods", (), **({"idle_timeout": timedelta(seconds=5)} | how)
    ) as lines:
        read = [line async for line in lines]
    return read, lines.idle_timed_out


async def test_long_lines_of_a_watch_arrive_whole(tmp_path):
    long = b'"' + b"x" * 5_000_000 + b'"\n'
    async with (
        serving(a_watch_response(b"{}\n", long[:100], long[100:], then="close")) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        assert await read_all(api) == ([b"{}\n", long], False)


@pytest.mark.parametrize("end", ["cut", "close"])
async def test_a_line_that_is_cut_off_is_an_error(tmp_path, end):
    async with (
        serving(a_watch_response(b"{}\n", b'{"type": "ADD', then=end)) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        with pytest.raises(Unreachable):
            await read_all(api)


async def test_an_idle_watch_ends_without_an_error(tmp_path):
    async with (
        serving(a_watch_response(b"{}\n", then="hang")) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        assert await read_all(api, idle_timeout=SHORT) == ([b"{}\n"], True)


async def test_a_watch_that_the_server_forgets_to_end_is_ended(tmp_path):
    async with (
        serving(a_watch_response(b"{}\n", then="hang")) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        assert await read_all(api, max_duration=SHORT) == ([b"{}\n"], False)


async def test_a_watch_that_does_not_begin_is_an_error(tmp_path):
    async with (
        serving(never_answer) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        with pytest.raises(Unreachable, match="timed out"):
            await read_all(api, idle_timeout=SHORT)


async def test_many_watches_leave_connections_for_requests(tmp_path):
    async def handler(request):
        return await (
            a_watch_response(b"{}\n", then="hang")(request) if request.query else answer()
        )

    async def answer():
        return a_json_response(b"{}")

    async with (
        serving(handler) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
        asyncio.TaskGroup() as group,
    ):
        watches = [group.create_task(watch_for_ever(api)) for _ in range(40)]
        assert (await api.call("GET", "/version")).status == 200
        for watch in watches:
            watch.cancel()


async def watch_for_ever(api):
    async with api.open_watch("/a", [("watch", "1")], idle_timeout=timedelta(minutes=1)) as lines:
        async for _ in lines:
            pass
