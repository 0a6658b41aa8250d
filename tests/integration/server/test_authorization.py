"""
The status is shown to those whom the API server authorizes, and to nobody without its answer.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import aiohttp
import msgspec
import pytest
import pytest_asyncio
from aiohttp import web
from msgspec.structs import replace
from yarl import URL

from reporter.model.status_document import StatusError
from reporter.server import authorization
from reporter.server.authorization import (
    ALLOWED_TIME,
    MAX_CONCURRENT_REVIEWS,
    REFUSED_TIME,
    StatusAuthorizer,
)
from reporter.server.static_files import page_routes
from tests.integration.server.served_pages import ALWAYS_OK, ServedPages, serving
from tests.support.stubs import api_servers
from tests.support.stubs.api_servers import a_kubeconfig, a_status_response, connected
from tests.support.stubs.reviewing_api import ReviewingApi


NAMESPACE_PATHS = ("/status/v1/namespaces/{namespace}", "/status/v1/namespaces/{namespace}/{name}")
TENANT = ("/status/v1/namespaces/team-a", "/status/v1/namespaces/team-a/*")
ADMIN = ("/", "/page/*", "/status", "/status/*")
PROTECTED = ("/", "/page/main.js", "/status", "/status/v1", "/status/v1/namespaces/team-a")


async def show(request: web.Request) -> web.StreamResponse:
    return web.json_response({"schema": "v1", "served": dict(request.match_info)})


@dataclass
class Time:
    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Guarded:
    """
    The endpoints behind the check, the API server that answers it, and the clock of its cache.
    """

    served: ServedPages
    api: ReviewingApi
    time: Time
    session: aiohttp.ClientSession = field(repr=False)

    async def get(
        self, path: str, token: str = "", *, method: str = "GET", **headers: str
    ) -> tuple[int, dict, bytes]:
        given = {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}
        url = URL(f"http://{self.served.health}{path}", encoded=True)
        async with self.session.request(method, url, headers=given) as response:
            return response.status, dict(response.headers), await response.read()

    async def status(self, path: str, token: str = "") -> int:
        return (await self.get(path, token))[0]


def an_api() -> ReviewingApi:
    users = {
        "of-admin": {"username": "admin", "uid": "7", "groups": ["system:authenticated"]},
        "of-tenant": {
            "username": "system:serviceaccount:team-a:reader",
            "groups": ["team-a"],
            "extra": {"example.com/scope": ["one", "two"]},
        },
        "of-nobody": {"username": "nobody"},
    }
    return ReviewingApi(users, {"admin": ADMIN, "system:serviceaccount:team-a:reader": TENANT})


@asynccontextmanager
async def guarding(folder: Path, api: ReviewingApi) -> AsyncIterator[Guarded]:
    time = Time()
    async with (
        api_servers.serving(api.answer) as server,
        connected(a_kubeconfig(folder, server.url)) as client,
        aiohttp.ClientSession() as session,
    ):
        pages = replace(
            ALWAYS_OK,
            status_v1=dict.fromkeys(("/status/v1", *NAMESPACE_PATHS), show),
            page=page_routes(timedelta(minutes=1)),
            guard=StatusAuthorizer(client, time).guard,
        )
        async with serving(pages) as served:
            yield Guarded(served, api, time, session)


@pytest_asyncio.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarding(tmp_path, an_api()) as found:
        yield found


@pytest.mark.parametrize("path", PROTECTED)
async def test_everything_of_the_status_asks_for_a_token(guarded: Guarded, path: str):
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer "}):
        status, answered, body = await guarded.get(path, **headers)
        assert (status, answered["WWW-Authenticate"]) == (401, 'Bearer realm="status"')
        assert "kubectl create token" in msgspec.json.decode(body, type=StatusError).remedy
    assert guarded.api.asked == []
    assert await guarded.status(path, "of-admin") == 200


async def test_probes_and_metrics_ask_for_none(guarded: Guarded):
    for path in ("/livez", "/healthz", "/readyz"):
        assert await guarded.status(path) == 200
    url = f"http://{guarded.served.metrics}/metrics"
    async with guarded.session.get(url) as response:
        assert response.status == 200
    assert guarded.api.asked == []


async def test_a_token_of_nobody_is_answered_as_none(guarded: Guarded):
    assert await guarded.status("/status", "forged") == 401
    assert await guarded.status("/status", "x" * 20_000) == 400, "no header may be that long"
    assert [spec for _, spec in guarded.api.asked] == [{"token": "forged"}]


async def test_a_tenant_reads_its_own_namespace_and_no_text_of_others(guarded: Guarded):
    expected = {
        "/status/v1/namespaces/team-a": 200,
        "/status/v1/namespaces/team-a/qwen": 200,
        "/status/v1/namespaces/team-b": 403,
        "/status/v1/namespaces/team-a-b": 403,
        "/status/v1/namespaces/team-b/qwen": 403,
        "/status/v1": 403,
        "/status": 403,
        "/": 403,
    }
    assert {path: await guarded.status(path, "of-tenant") for path in expected} == expected


async def test_the_review_names_the_whole_user_and_the_path(guarded: Guarded):
    await guarded.get("/status/v1/namespaces/team-a", "of-tenant")
    assert guarded.api.asked[1] == (
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        {
            "user": "system:serviceaccount:team-a:reader",
            "uid": "",
            "groups": ["team-a"],
            "extra": {"example.com/scope": ["one", "two"]},
            "nonResourceAttributes": {"path": "/status/v1/namespaces/team-a", "verb": "get"},
        },
    )


@pytest.mark.parametrize(
    ("written", "reviewed"),
    [
        ("/status/v1/namespaces/te%61m-b", "/status/v1/namespaces/team-b"),
        (
            "/status/v1/namespaces/team-a%2F..%2Fteam-b",
            "/status/v1/namespaces/team-a%2F..%2Fteam-b",
        ),
        ("/status/v1/namespaces/team-a?wait=5", "/status/v1/namespaces/team-a"),
    ],
)
async def test_what_is_served_is_reviewed_however_it_is_written(
    guarded: Guarded, written: str, reviewed: str
):
    status, _, _ = await guarded.get(written, "of-tenant")
    assert guarded.api.asked[-1][1]["nonResourceAttributes"]["path"] == reviewed
    assert status == (200 if reviewed in TENANT else 403)


async def test_a_path_that_leads_elsewhere_is_not_served(guarded: Guarded):
    status, _, _ = await guarded.get("/status/v1/namespaces/team-a/../team-b", "of-tenant")
    assert status == 404


async def test_a_refusal_names_path_and_remedy_and_is_not_stored_by_caches(guarded: Guarded):
    status, headers, body = await guarded.get("/status/v1/namespaces/team-b", "of-tenant")
    refusal = msgspec.json.decode(body, type=StatusError)
    assert (status, headers["Cache-Control"]) == (403, "no-store")
    assert "/status/v1/namespaces/team-b" in refusal.error
    assert "nonResourceURLs" in refusal.remedy
    status, _, body = await guarded.get("/status", "of-nobody", method="HEAD")
    assert (status, body) == (403, b"")


# ---------------------------------------------------------------- how long an answer counts


async def test_answers_count_for_a_short_time(guarded: Guarded):
    for _ in range(3):
        assert await guarded.status("/status", "of-admin") == 200
    assert (guarded.api.count("tokenreviews"), guarded.api.count("subjectaccess")) == (1, 1)
    assert await guarded.status("/status/v1", "of-admin") == 200
    assert (guarded.api.count("tokenreviews"), guarded.api.count("subjectaccess")) == (1, 2)

    guarded.api.paths["admin"] = ()
    del guarded.api.users["of-admin"]
    guarded.time.seconds += ALLOWED_TIME.total_seconds() - 0.1
    assert await guarded.status("/status", "of-admin") == 200
    guarded.time.seconds += 0.1
    assert await guarded.status("/status", "of-admin") == 401


async def test_a_rule_that_was_added_counts_soon(guarded: Guarded):
    assert await guarded.status("/status", "of-nobody") == 403
    guarded.api.paths["nobody"] = ("/status",)
    assert await guarded.status("/status", "of-nobody") == 403
    guarded.time.seconds += REFUSED_TIME.total_seconds()
    assert await guarded.status("/status", "of-nobody") == 200


async def test_many_requests_at_once_cause_few_reviews(guarded: Guarded):
    async with asyncio.TaskGroup() as group:
        many = [
            group.create_task(guarded.status("/status", "of-admin"))
            for _ in range(4 * MAX_CONCURRENT_REVIEWS)
        ]
    assert {each.result() for each in many} == {200}
    reviews = (guarded.api.count("tokenreviews"), guarded.api.count("subjectaccess"))
    assert max(reviews) <= MAX_CONCURRENT_REVIEWS


async def test_users_do_not_share_answers(guarded: Guarded):
    assert await guarded.status("/status", "of-admin") == 200
    assert await guarded.status("/status", "of-tenant") == 403


# ---------------------------------------------------------------- without an answer


FAILURES = {
    "forbidden": a_status_response(403, "Forbidden", "cannot create tokenreviews"),
    "busy": a_status_response(429, "TooManyRequests"),
    "broken": a_status_response(500, "InternalError"),
    "no review": api_servers.a_json_response(b'{"status": "yes"}', 201),
    "nothing": api_servers.a_json_response(b"", 201),
    "a page": api_servers.an_html_response(200),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_without_an_answer_nothing_is_shown_and_nothing_kept(
    guarded: Guarded, failure: web.Response
):
    guarded.api.failure = failure
    status, headers, body = await guarded.get("/status", "of-admin")
    assert (status, headers["Retry-After"]) == (503, "5")
    assert "tokenreviews" in msgspec.json.decode(body, type=StatusError).remedy
    guarded.api.failure = None
    assert await guarded.status("/status", "of-admin") == 200
    guarded.api.failure = failure
    assert await guarded.status("/status/v1", "of-admin") == 503


async def test_an_api_server_that_hangs_shows_nothing(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(authorization, "REVIEW_TIMEOUT", timedelta(milliseconds=100))
    guarded.api.hangs = True
    assert await guarded.status("/status", "of-admin") == 503


async def test_an_api_server_that_is_away_shows_nothing(tmp_path: Path):
    async with serving() as free_ports:
        away = free_ports.health
    async with (
        connected(a_kubeconfig(tmp_path, f"http://{away}")) as client,
        serving(replace(ALWAYS_OK, guard=StatusAuthorizer(client, Time()).guard)) as served,
        aiohttp.ClientSession(headers={"Authorization": "Bearer of-admin"}) as session,
        session.get(f"http://{served.health}/status") as response,
    ):
        assert response.status == 503


async def test_why_nothing_is_shown_is_logged_once(
    guarded: Guarded, caplog: pytest.LogCaptureFixture
):
    guarded.api.failure = FAILURES["broken"]
    for _ in range(3):
        assert await guarded.status("/status", "of-admin") == 503
    logged = [each.getMessage() for each in caplog.records if "shown to nobody" in each.message]
    assert len(logged) == 1
    assert "of-admin" not in caplog.text
