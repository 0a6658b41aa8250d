"""A page of a foreign site cannot read the status, whatever name it has for this machine."""

from datetime import timedelta

import aiohttp
import msgspec
import pytest
from aiohttp import web
from msgspec.structs import replace

from reporter.model.status_document import StatusError
from reporter.server.static_files import page_routes
from tests.integration.server.served_pages import ALWAYS_OK, serving


async def show(_: web.Request) -> web.StreamResponse:
    return web.json_response({"schema": "v1"})


PAGES = replace(ALWAYS_OK, status_v1={"/status/v1": show}, page=page_routes(timedelta(minutes=1)))
READABLE = ("/", "/page/main.js", "/status", "/status/v1")


@pytest.mark.parametrize("path", READABLE)
async def test_a_name_that_others_chose_is_refused_with_what_to_do(path: str):
    async with serving(PAGES) as served, aiohttp.ClientSession() as session:
        port = served.health.port
        for host, expected in (
            (f"rebound.example.com:{port}", 403),
            (f"localhost:{port}", 200),
            (f"127.0.0.1:{port}", 200),
        ):
            url = f"http://{served.health}{path}"
            async with session.get(url, headers={"Host": host}) as response:
                body = await response.read()
                assert response.status == expected, host
            if expected == 403:
                refusal = msgspec.json.decode(body, type=StatusError)
                assert "http://localhost" in refusal.remedy


async def test_probes_and_metrics_are_read_under_any_name():
    async with serving(PAGES) as served, aiohttp.ClientSession() as session:
        paths = (
            (served.health, "/livez"),
            (served.health, "/readyz"),
            (served.metrics, "/metrics"),
        )
        for address, path in paths:
            headers = {"Host": "reporter.kaito-system.svc"}
            async with session.get(f"http://{address}{path}", headers=headers) as response:
                assert response.status == 200


@pytest.mark.parametrize("path", READABLE)
async def test_no_other_origin_may_read_a_response(path: str):
    origin = {"Origin": "http://foreign.example.com"}
    asked = {**origin, "Access-Control-Request-Method": "GET"}
    async with serving(PAGES) as served, aiohttp.ClientSession() as session:
        url = f"http://{served.health}{path}"
        for method, headers in (("GET", origin), ("OPTIONS", asked)):
            async with session.request(method, url, headers=headers) as response:
                granted = [name for name in response.headers if name.startswith("Access-Control")]
                assert granted == []
                assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
