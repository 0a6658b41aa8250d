"""--as and --request-timeout do to every request what they do in kubectl."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from tests.integration.status.asking import ask
from tests.support.stubs.api_servers import a_kubeconfig, a_status_response, serving


async def refuse(request: web.BaseRequest) -> web.StreamResponse:
    return a_status_response(403, "Forbidden", "users is forbidden: cannot impersonate")


async def hang(request: web.BaseRequest) -> web.StreamResponse:
    await asyncio.Event().wait()
    return web.Response()


@pytest.mark.parametrize("command", [["status"], ["explain", "team-a"]], ids=" ".join)
async def test_every_request_acts_as_the_user_that_is_named(tmp_path: Path, command):
    async with serving(refuse) as api:
        kubeconfig = a_kubeconfig(tmp_path, api.url)
        ended = await ask(*command, "--as=jane", "--from=reporter", KUBECONFIG=kubeconfig)
        assert ended.code == 1
        assert "cannot impersonate" in ended.err
        named = {each.headers.get("Impersonate-User") for each in api.requests}
        assert named == {"jane"}
        api.requests.clear()
        await ask(*command, "--from=reporter", KUBECONFIG=kubeconfig)
    assert {each.headers.get("Impersonate-User") for each in api.requests} == {None}


@pytest.mark.parametrize("text", ["1s", "1"])
async def test_a_request_is_given_up_after_its_time(tmp_path: Path, text: str):
    """Without the flag this ends after 10 s; the test has no clock, and the hang no end."""
    async with serving(hang) as api:
        kubeconfig = a_kubeconfig(tmp_path, api.url)
        words = ("status", "--from=reporter", f"--request-timeout={text}")
        ended = await ask(*words, KUBECONFIG=kubeconfig)
    assert (ended.code, ended.out) == (1, "")
    assert "the API server cannot be asked: list pods" in ended.err


async def test_a_reporter_at_a_url_is_given_up_too(tmp_path: Path):
    async with serving(hang) as reporter:
        ended = await ask("status", f"--from={reporter.url}", "--request-timeout=1s")
    assert (ended.code, ended.out) == (1, "")
    assert "no answer in time" in ended.err
