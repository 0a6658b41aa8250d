"""Queries over real sockets: what is sent, and what is no complete answer."""

import os
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from reporter.hub.query_client import QueryClient, QueryCredentials, QueryFailed, decode
from reporter.model.fleet_status import QueryResult
from tests.support.fleet.series import NOON, SourceSeries
from tests.support.ports import free_port
from tests.support.settings import settings
from tests.support.stubs.certificates import a_certificate, a_context
from tests.support.stubs.metrics_engine import body, running_engine, success


LIMIT = timedelta(seconds=30)


@asynccontextmanager
async def client_of(url: str, *flags: str, **how):
    client = QueryClient(url, QueryCredentials(settings(*flags)), **how)
    try:
        yield client
    finally:
        await client.close()


async def failure(url: str, *flags: str, limit: timedelta = LIMIT, **how) -> QueryFailed:
    async with client_of(url, *flags, **how) as client:
        with pytest.raises(QueryFailed) as found:
            decode(await client.ask("up", time_limit=limit), limit=5)
    return found.value


async def test_a_query_is_posted_with_time_and_limit():
    async with running_engine() as engine:
        engine.sources = lambda: [SourceSeries()]
        async with client_of(engine.url) as client:
            answer = decode(await client.ask("up", time_limit=LIMIT, at=NOON + 0.5, limit=7))
    assert answer.time == NOON
    assert len(answer.series) == 12
    ((form, headers),) = engine.requests
    assert form == {"query": "up", "timeout": "30", "time": f"{NOON + 0.5:.3f}", "limit": "7"}
    assert "Authorization" not in headers


async def test_token_and_headers_are_read_again_for_each_query(tmp_path):
    token, headers = tmp_path / "token", tmp_path / "headers.yaml"
    token.write_text("one\n")
    headers.write_text("X-Scope-OrgID: fleet\n")
    flags = (f"--hub-token-file={token}", f"--hub-headers-file={headers}")
    async with running_engine() as engine, client_of(engine.url, *flags) as client:
        await client.ask("up", time_limit=LIMIT)
        token.write_text("two\n")
        headers.write_text("X-Scope-OrgID: 7\n")
        await client.ask("up", time_limit=LIMIT)
    sent = [(h["Authorization"], h["X-Scope-OrgID"]) for _, h in engine.requests]
    assert sent == [("Bearer one", "fleet"), ("Bearer two", "7")]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"token": ""}, "token holds no token"),
        ({"headers": "- a\n"}, "headers must have lines such as X-Scope-OrgID: tenant"),
        ({"headers": "Bad Name: a\n"}, "headers must have lines such as"),
        ({"headers": "Host: other\n"}, "headers must have lines such as"),
        ({"headers": '"A": "a\\r\\nB: b"\n'}, "headers must have lines such as"),
        ({"headers": "A: ["}, "headers is no YAML"),
        ({"ca": "no certificate"}, "ca holds no certificates"),
        ({"token": "t", "headers": "authorization: Basic eA==\n"}, "both give Authorization"),
    ],
)
async def test_files_that_cannot_be_used_are_named_and_nothing_is_sent(tmp_path, files, why):
    names = {"token": "hub-token-file", "headers": "hub-headers-file", "ca": "hub-ca-file"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    async with running_engine() as engine:
        flags = [f"--{names[name]}={tmp_path / name}" for name in files]
        err = await failure(engine.url, *flags)
    assert err.result is QueryResult.REFUSED
    assert why in str(err)
    assert not engine.requests


async def test_headers_are_read_from_a_regular_file_alone(tmp_path):
    path = tmp_path / "headers"
    path.write_text("X-Scope-OrgID: fleet\n")
    async with (
        running_engine() as engine,
        client_of(engine.url, f"--hub-headers-file={path}") as client,
    ):
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(QueryFailed, match="it is not a regular file"):
            await client.ask("up", time_limit=LIMIT)
    assert not engine.requests


async def test_the_certificate_of_the_engine_is_checked(tmp_path):
    mine, other = a_certificate(tmp_path, "mine"), a_certificate(tmp_path, "other")
    async with running_engine(a_context(*mine)) as engine:
        async with client_of(engine.url, f"--hub-ca-file={mine[0]}") as client:
            assert decode(await client.ask("up", time_limit=LIMIT)).series == []
        err = await failure(engine.url, f"--hub-ca-file={other[0]}")
    assert err.result is QueryResult.UNREACHABLE
    assert len(engine.requests) == 1


ERROR = {"status": "error", "errorType": "timeout", "error": "query timed out"}
SAMPLES = list(SourceSeries().clusters())[:3]


@pytest.mark.parametrize(
    ("reply", "result", "why"),
    [
        (body(ERROR, 503), QueryResult.THROTTLED, "timeout: query timed out"),
        (body(ERROR, 422), QueryResult.REFUSED, "timeout: query timed out"),
        (body(ERROR), QueryResult.FAILED, "timeout: query timed out"),
        (body("<html><title>Bad Gateway</title></html>", 502), QueryResult.FAILED, "Bad Gateway"),
        (body("<html><title>Log in</title></html>"), QueryResult.UNREADABLE, "Log in"),
        (body("", 302, Location="/login"), QueryResult.REFUSED, "HTTP 302"),
        (body({}, 401), QueryResult.REFUSED, "HTTP 401"),
        (body({"status": "success"}), QueryResult.FAILED, "error"),
        (body(success(SAMPLES, warnings=["store is down"])), QueryResult.PARTIAL, "store is down"),
        (body(success(SAMPLES, isPartial=True)), QueryResult.PARTIAL, "a part of its storage"),
        (body(success(SAMPLES * 2)), QueryResult.TRUNCATED, "5 series or more"),
        (
            body({**success([]), "data": {"resultType": "scalar"}}),
            QueryResult.UNREADABLE,
            "scalar",
        ),
        (body("[" * 100_000), QueryResult.UNREADABLE, "not the answer of a query API"),
    ],
)
async def test_what_is_not_complete_is_no_answer(reply, result, why):
    async with running_engine() as engine:
        engine.replies["up"] = reply
        err = await failure(engine.url)
    assert err.result is result
    assert why in str(err)


async def test_a_redirect_is_not_followed_with_the_token(tmp_path):
    (tmp_path / "token").write_text("secret")
    async with running_engine() as engine:
        engine.replies["up"] = body("", 307, Location=engine.url + "/api/v1/query")
        err = await failure(engine.url, f"--hub-token-file={tmp_path / 'token'}")
    assert err.result is QueryResult.REFUSED
    assert len(engine.requests) == 1


async def test_retry_after_is_read():
    async with running_engine() as engine:
        engine.replies["up"] = body({}, 429, **{"Retry-After": "7"})
        err = await failure(engine.url)
    assert (err.result, err.retry_after) == (QueryResult.THROTTLED, 7.0)


async def test_an_answer_that_is_too_large_is_not_read_to_its_end():
    async with running_engine() as engine:
        engine.replies["up"] = body(success(SAMPLES * 100))
        err = await failure(engine.url, max_bytes=10_000)
    assert err.result is QueryResult.TOO_LARGE
    assert "more than 10000 bytes" in str(err)


async def test_no_answer_in_time():
    async with running_engine() as engine:
        engine.replies["up"] = lambda: 60.0
        err = await failure(engine.url, limit=timedelta(seconds=0.2))
    assert err.result is QueryResult.UNREACHABLE
    assert "no answer in time" in str(err)


async def test_nobody_listens():
    err = await failure(f"http://127.0.0.1:{free_port()}")
    assert err.result is QueryResult.UNREACHABLE
