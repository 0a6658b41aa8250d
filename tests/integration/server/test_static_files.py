"""The files of the status page and their headers."""

import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from msgspec.structs import replace

from reporter.server import static_files
from reporter.server.static_files import StaticFile, page_routes
from tests.integration.server.served_pages import ALWAYS_OK, ServedPages, free, serving


FOLDER = Path(static_files.__file__).parent / "page"
ROUTES = page_routes(timedelta(seconds=90))
PAGES = replace(ALWAYS_OK, page=ROUTES)


@pytest_asyncio.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with (
        serving(PAGES) as served,
        aiohttp.ClientSession(base_url=f"http://{served.health}") as session,
    ):
        yield session


@pytest.mark.parametrize("path", ROUTES)
async def test_each_file_has_its_type_its_policy_and_a_tag(
    client: aiohttp.ClientSession, path: str
):
    async with client.get(path) as response:
        headers = response.headers
        body = await response.read()
    assert response.status == 200
    assert body
    suffix = Path(path).suffix or ".html"
    assert headers["Content-Type"] == static_files.CONTENT_TYPES[suffix]
    policy = headers["Content-Security-Policy"].split("; ")
    for directive in (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ):
        assert directive in policy
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-cache"
    assert headers["Server"] == "productionstack-status-reporter"
    async with client.head(path) as head:
        assert (head.status, await head.read()) == (200, b"")
        assert head.headers["ETag"] == headers["ETag"]
        assert head.headers["Content-Length"] == str(len(body))


async def test_an_unchanged_file_is_not_sent_again(client: aiohttp.ClientSession):
    async with client.get("/") as response:
        tag = response.headers["ETag"]
    for known, status in ((tag, 304), (f'"old", {tag}', 304), ("*", 304), ('"old"', 200)):
        async with client.get("/", headers={"If-None-Match": known}) as response:
            assert response.status == status
            assert response.headers["ETag"] == tag
            assert response.headers["Cache-Control"] == "no-cache"
            assert "Content-Security-Policy" in response.headers
            assert bool(await response.read()) == (status == 200)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
async def test_the_page_is_read_only(client: aiohttp.ClientSession, method: str):
    for path in ("/", "/page/main.js"):
        async with client.request(method, path) as response:
            assert response.status == 405
            assert set(response.headers["Allow"].split(",")) == {"GET", "HEAD"}


@pytest.mark.parametrize(
    "path",
    [
        "/page/",
        "/page/index.html",
        "/page/nothing.js",
        "/page/../status_v1.py",
        "/page/%2e%2e/status_v1.py",
        "/page/..%2fstatus_v1.py",
        "/page//etc/passwd",
    ],
)
async def test_nothing_else_is_there(client: aiohttp.ClientSession, path: str):
    async with client.get(path) as response:
        assert response.status == 404
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Type"].startswith("text/plain")


async def test_the_page_is_where_the_status_is_and_nowhere_else():
    alone = free()
    async with serving(PAGES, alone) as served:
        assert (await served.get(alone, "/"))[0] == 200
        assert (await served.get(served.health, "/"))[0] == 404
        assert (await served.get(served.metrics, "/"))[0] == 404
        assert (await served.get(served.health, "/page/main.js"))[0] == 404


async def test_json_with_texts_of_others_is_not_taken_for_html():
    async with serving(PAGES) as served, aiohttp.ClientSession() as session:
        for path in ("/status", "/readyz"):
            async with session.get(f"http://{served.health}{path}") as response:
                assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert isinstance(served, ServedPages)


async def test_the_settings_of_the_page_name_the_time_after_which_it_is_stale(
    client: aiohttp.ClientSession,
):
    async with client.get("/page/settings.json") as response:
        assert await response.json() == {"staleAfterSeconds": 90}


async def test_while_nothing_changes_the_page_does_not_take_a_short_resync_for_staleness():
    """It reads the time of the last pass only when a request that waits has ended."""
    pages = replace(ALWAYS_OK, page=page_routes(timedelta(seconds=3)))
    async with serving(pages) as served:
        _, _, text = await served.get(served.health, "/page/settings.json")
    assert json.loads(text) == {"staleAfterSeconds": 60}


def test_a_tag_changes_with_the_content():
    one, two = (StaticFile.of("a.js", body) for body in (b"1", b"2"))
    assert one.etag != two.etag
    assert one.etag == StaticFile.of("b.js", b"1").etag


def sources() -> list[Path]:
    return sorted(path for path in FOLDER.rglob("*") if path.is_file())


def test_every_file_is_served_and_every_import_and_link_leads_somewhere():
    served = {f"/page/{path.relative_to(FOLDER)}" for path in sources()} - {"/page/index.html"}
    assert served | {"/", "/page/settings.json"} == set(ROUTES)
    for path in sources():
        text = path.read_text("utf-8")
        for found in re.findall(r'from "(\.[^"]+)"', text):
            assert (path.parent / found).resolve() in sources(), f"{path.name}: {found}"
    index = (FOLDER / "index.html").read_text("utf-8")
    links = re.findall(r'(?:src|href)="([^"#]+)"', index)
    assert {f"/{link}" for link in links} - set(ROUTES) == {"/status", "/status/v1"}


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_file_has_what_the_policy_forbids_or_makes_html_of_texts(path: Path):
    text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//[a-z]+\.", text), "another host"
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function"
    assert not re.search(forbidden, text)
    if path.suffix == ".html":
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
        assert not re.search(r"<script(?![^>]*\ssrc=)", text)
