"""Requests to the API server: what is sent, what answers mean, and which proxy is used."""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from aiohttp import web

from reporter.kube.connect import connect
from reporter.kube.errors import KubeError, Refused, Throttled, Unreachable, Unserved
from reporter.settings.errors import ConfigurationError
from tests.integration.kube.credentials_fixture import ALWAYS, a_plugin, printing
from tests.support.ports import refusing_port
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    a_status_response,
    abort_connection,
    an_html_response,
    connected,
    never_answer,
    serving,
)


SHORT = timedelta(milliseconds=200)


async def test_a_request_is_ours_and_its_answer_raw(tmp_path):
    async def handler(request):
        return a_json_response(b'{"a": 1}', X_Thing="y")

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        answer = await api.call("GET", "/api/v1/pods", query=[("continue", "a+b/c==&d e")])
    sent = server.requests[0]
    assert (answer.status, answer.body, answer.headers["x-thing"]) == (200, b'{"a": 1}', "y")
    assert sent.query["continue"] == "a+b/c==&d e"
    assert sent.headers["User-Agent"].startswith("productionstack-status-reporter/")
    assert sent.headers["Accept-Encoding"] == "identity"
    assert sent.headers["Authorization"] == "Bearer t0k3n"


@pytest.mark.parametrize(
    ("method", "content_type"),
    [
        ("POST", "application/json"),
        ("PUT", "application/json"),
        ("PATCH", "application/merge-patch+json"),
    ],
)
async def test_a_body_is_encoded_once_under_its_content_type(tmp_path, method, content_type):
    body = {"metadata": {"labels": {"ü": '"1"', "gone": None}}, "count": 3, "list": [True, 0.5]}

    async def handler(request):
        return a_json_response(b"{}")

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        await api.call(method, "/api/v1/events", body=body, content_type=content_type)
    sent = server.requests[0]
    raw = await sent.read()
    assert raw == (
        rb'{"metadata": {"labels": {"\u00fc": "\"1\"", "gone": null}},'
        rb' "count": 3, "list": [true, 0.5]}'
    )
    assert sent.headers["Content-Type"] == content_type
    assert sent.headers["Content-Length"] == str(len(raw))


async def test_an_empty_body_is_sent_and_no_body_is_none(tmp_path):
    async def handler(request):
        return a_json_response(b"{}")

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        await api.call("POST", "/api/v1/events", body={})
        await api.call("DELETE", "/api/v1/events/a")
        await api.call("GET", "/api/v1/events")
    assert [await request.read() for request in server.requests] == [b"{}", b"", b""]


async def test_a_request_that_is_sent_again_has_the_same_body(tmp_path):
    async def handler(request):
        if len(server.requests) == 1:
            a_plugin(tmp_path, printing(token="new"))
            return a_status_response(401, "Unauthorized", "Unauthorized")
        return a_json_response(b"{}")

    async with serving(handler) as server:
        user = a_plugin(tmp_path, printing(token="old"))
        async with connected(
            a_kubeconfig(tmp_path, server.url, user=user), refresh_policy=ALWAYS
        ) as api:
            await api.call("POST", "/api/v1/events", body={"count": 1})
    assert [await request.read() for request in server.requests] == [b'{"count": 1}'] * 2


async def test_not_modified_is_an_answer(tmp_path):
    async def handler(request):
        return web.Response(status=304)

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        answer = await api.call("GET", "/apis", headers={"If-None-Match": '"x"'})
    assert answer.status == 304
    assert server.requests[0].headers["If-None-Match"] == '"x"'


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (an_html_response, Unreachable),
        (lambda: an_html_response(status=200), Unreachable),
        (lambda: a_status_response(403, "Forbidden"), Refused),
        (lambda: a_json_response(b"404 page not found\n", status=404), Unserved),
        (lambda: a_json_response(b"", status=429, Retry_After="3"), Throttled),
    ],
    ids=["page", "page as success", "forbidden", "not served", "throttled"],
)
async def test_an_answer_that_is_no_success_is_an_error(tmp_path, answer, expected):
    async def handler(request):
        return answer()

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        with pytest.raises(expected, match=r"^list pods: "):
            await api.call("GET", "/api/v1/pods", operation="list pods")
        with pytest.raises(expected, match=r"^watch pods: "):
            async with api.open_watch(
                "/api/v1/pods", (), idle_timeout=SHORT, operation="watch pods"
            ):
                pass


async def test_a_server_that_is_not_there_has_not_got_the_request(tmp_path):
    with refusing_port() as port:
        async with connected(a_kubeconfig(tmp_path, f"http://127.0.0.1:{port}")) as api:
            with pytest.raises(Unreachable) as caught:
                await api.call("POST", "/api/v1/namespaces/a/events", body={})
    assert caught.value.may_have_applied is False


async def test_a_server_that_hangs_may_have_got_the_request(tmp_path):
    async with (
        serving(never_answer) as server,
        connected(a_kubeconfig(tmp_path, server.url)) as api,
    ):
        with pytest.raises(Unreachable, match="timed out") as caught:
            await api.call("POST", "/api/v1/namespaces/a/events", body={}, timeout=SHORT)
    assert caught.value.may_have_applied is True


async def test_a_server_that_hangs_up_may_have_got_the_request(tmp_path):
    async def handler(request):
        abort_connection(request)
        return web.Response()

    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        with pytest.raises(Unreachable) as caught:
            await api.call("POST", "/api/v1/namespaces/a/events", body={})
    assert caught.value.may_have_applied is True


class OffsetRecorder:
    """A clock at the loop's zero, which records what it is corrected by."""

    def __init__(self):
        self.offset = 0.0
        self.seconds = asyncio.get_running_loop().time
        self.bounds = []

    def correct(self, bounds):
        self.bounds.append(bounds)


async def corrections(tmp_path, respond, *, times=3, **how):
    """
    Return by how many corrections the clock has learnt the year of the answers, and which year.
    """

    async def handler(request):
        return respond()

    async with serving(handler) as server:
        clock = OffsetRecorder()
        async with connected(a_kubeconfig(tmp_path, server.url), clock=clock) as api:
            for _ in range(times):
                with suppress(KubeError):
                    await api.call("GET", "/version", **how)
        now = clock.seconds()
    return [datetime.fromtimestamp(now + each.earliest, UTC).year for each in clock.bounds]


OLD = "Fri, 01 May 2026 12:00:00 GMT"


async def test_the_date_of_each_response_of_the_api_server_counts(tmp_path):
    unable = partial(a_json_response, b"", status=503, Date=OLD)
    assert (await corrections(tmp_path, unable))[1:] == [2026, 2026]
    unchanged = partial(web.Response, status=304, headers={"Date": OLD})
    assert (await corrections(tmp_path, unchanged))[1:] == [2026, 2026]


async def test_neither_a_pod_nor_a_proxy_sets_the_clock(tmp_path):
    page = partial(a_json_response, b"a 1\n", Date=OLD)
    assert await corrections(tmp_path, page, from_pod=True) == []
    proxy = partial(a_json_response, b"<html></html>", 502, Date=OLD, Content_Type="text/html")
    assert await corrections(tmp_path, proxy) == []
    undated = partial(a_json_response, b"{}", Date="yesterday")
    assert await corrections(tmp_path, undated) == []


async def test_a_pod_that_answers_401_does_not_renew_the_credentials(tmp_path):
    async def handler(request):
        return a_status_response(401, "Unauthorized", "Unauthorized")

    async with serving(handler) as server:
        user = a_plugin(tmp_path, f"echo x >> {tmp_path}/runs; {printing(token='old')}")
        async with connected(
            a_kubeconfig(tmp_path, server.url, user=user), refresh_policy=ALWAYS
        ) as api:
            with pytest.raises(Refused):
                await api.call("GET", "/api/v1/namespaces/a/pods/b:80/proxy/", from_pod=True)
            assert (tmp_path / "runs").read_text() == "x\n"
            with pytest.raises(Refused):
                await api.call("GET", "/version")
            assert (tmp_path / "runs").read_text() == "x\nx\n"


async def test_a_proxy_of_the_kubeconfig_is_used(tmp_path):
    async def handler(request):
        return a_json_response({"host": request.host})

    async with serving(handler) as proxy:
        kubeconfig = a_kubeconfig(tmp_path, "http://api.example", **{"proxy-url": proxy.url})
        async with connected(kubeconfig) as api:
            answer = await api.call("GET", "/version")
    assert json.loads(answer.body) == {"host": "api.example"}


async def test_a_proxy_of_the_environment_is_used_unless_excluded(tmp_path):
    async def handler(request):
        return a_json_response({"host": request.host})

    async with serving(handler) as proxy:
        kubeconfig = a_kubeconfig(tmp_path, "http://api.invalid")
        environ = {"HTTP_PROXY": proxy.url}
        async with connected(kubeconfig, environ=environ) as api:
            assert (await api.call("GET", "/version")).status == 200
        async with connected(kubeconfig, environ=environ | {"NO_PROXY": ".invalid"}) as api:
            with pytest.raises(Unreachable) as caught:
                await api.call("GET", "/version")
    assert caught.value.may_have_applied is False
    assert len(proxy.requests) == 1


async def test_without_any_cluster_the_error_names_what_to_set(tmp_path):
    with pytest.raises(ConfigurationError, match="kubeconfig"):
        await connect(str(tmp_path / "nothing"), environ={})


async def test_a_kubeconfig_that_names_a_missing_certificate_is_refused_with_its_path(tmp_path):
    kubeconfig = a_kubeconfig(tmp_path, "https://api", **{"certificate-authority": "ca.crt"})
    with pytest.raises(ConfigurationError, match=r"ca\.crt"):
        await connect(kubeconfig, environ={})
