"""
The command status sends the token of the kubeconfig to a reporter that asks for one, and to no other.
"""

from pathlib import Path

import pytest
from aiohttp import web

from devcluster.server import DevCluster
from tests.integration.status.asking import add_reporter_pod, ask, ask_about, server
from tests.support.stubs.api_servers import a_json_response, a_kubeconfig, serving
from tests.support.stubs.certificates import a_certificate, a_context


__all__ = ["server"]

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="status"'}
MISSING = {"schema": "v1", "state": "NotFound", "error": "no such namespace", "remedy": "-"}
FORBIDDEN = {
    "schema": "v1",
    "error": "the user of this token may not get /status/v1",
    "remedy": "-",
}


def asked_for(request: web.BaseRequest) -> str:
    return request.headers.get("Authorization", "")


async def show_to_owner(request: web.BaseRequest) -> web.StreamResponse:
    """Answer that the namespace is not there, to the owner of the token alone."""
    if asked_for(request) != "Bearer t0k3n":
        return web.json_response({"error": "no token"}, status=401, headers=CHALLENGE)
    return a_json_response(MISSING, 404)


async def show_to_everyone(request: web.BaseRequest) -> web.StreamResponse:
    return a_json_response(MISSING, 404)


async def forbid(request: web.BaseRequest) -> web.StreamResponse:
    return a_json_response(FORBIDDEN, 403) if asked_for(request) else await show_to_owner(request)


async def test_the_token_is_sent_to_a_reporter_that_asks_for_it(tmp_path: Path):
    async with serving(show_to_owner) as reporter:
        kubeconfig = a_kubeconfig(tmp_path, "https://127.0.0.1:1")
        ended = await ask("status", "team-a", f"--from={reporter.url}", KUBECONFIG=kubeconfig)
    assert (ended.code, "not found: no such namespace" in ended.err) == (1, True)
    assert [asked_for(each) for each in reporter.requests] == ["", "Bearer t0k3n"]


async def test_over_https_a_reporter_is_verified_by_the_authorities_of_the_system(tmp_path: Path):
    certificate, key = a_certificate(tmp_path, "reporter")
    other, _ = a_certificate(tmp_path, "other")
    async with serving(show_to_everyone, ssl_context=a_context(certificate, key)) as reporter:
        question = ("status", "team-a", f"--from={reporter.url}")
        trusted = await ask(*question, SSL_CERT_FILE=str(certificate), SSL_CERT_DIR="/nonexistent")
        refused = await ask(*question, SSL_CERT_FILE=str(other), SSL_CERT_DIR="/nonexistent")
    assert "not found: no such namespace" in trusted.err
    assert (refused.code, "certificate verify failed" in refused.err) == (1, True)


async def test_kubeconfig_and_context_choose_the_token(tmp_path: Path):
    async with serving(show_to_owner) as reporter:
        kubeconfig = a_kubeconfig(tmp_path, "https://127.0.0.1:1")
        words = ("status", "team-a", f"--from={reporter.url}", f"--kubeconfig={kubeconfig}")
        ended = await ask(*words, "--context=x", HOME="/nonexistent")
        assert "not found: no such namespace" in ended.err
        ended = await ask(*words, "--context=other", HOME="/nonexistent")
    assert ended.code == 1
    assert "--context=other: the kubeconfig has no such context" in ended.err


async def test_a_reporter_that_does_not_ask_gets_none(tmp_path: Path):
    async with serving(show_to_everyone) as reporter:
        kubeconfig = a_kubeconfig(tmp_path, "https://127.0.0.1:1")
        await ask("status", "team-a", f"--from={reporter.url}", KUBECONFIG=kubeconfig)
    assert [asked_for(each) for each in reporter.requests] == [""]


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"token": "0ther"}, "refuses the token of the kubeconfig"),
        ({}, "the user of the kubeconfig has none"),
        (None, "asks for a token"),
    ],
)
async def test_what_is_wrong_with_the_token_is_named(tmp_path: Path, user, expected: str):
    async with serving(show_to_owner) as reporter:
        path = a_kubeconfig(tmp_path, "https://127.0.0.1:1", user=user or {"username": ""})
        kubeconfig = str(tmp_path / "nowhere") if user is None else path
        ended = await ask("status", "team-a", f"--from={reporter.url}", KUBECONFIG=kubeconfig)
    assert (ended.code, ended.out) == (1, "")
    assert expected in ended.err


async def test_a_refusal_names_what_the_user_may_not_get(tmp_path: Path):
    async with serving(forbid) as reporter:
        kubeconfig = a_kubeconfig(tmp_path, "https://127.0.0.1:1")
        ended = await ask("status", f"--from={reporter.url}", KUBECONFIG=kubeconfig)
    assert ended.code == 1
    assert "HTTP 403: the user of this token may not get /status/v1" in ended.err


async def test_no_token_is_sent_over_plain_http_through_a_network(tmp_path: Path):
    """
    0.0.0.0 leads to this machine too, but is no address of it, so it stands for one of a network.
    """
    async with serving(show_to_owner) as reporter:
        kubeconfig = a_kubeconfig(tmp_path, "https://127.0.0.1:1")
        url = f"http://0.0.0.0:{reporter.url.rpartition(':')[2]}"
        ended = await ask("status", "team-a", f"--from={url}", KUBECONFIG=kubeconfig)
    assert ended.code == 1
    assert "asks for a token, which is not sent over plain HTTP" in ended.err
    assert [asked_for(each) for each in reporter.requests] == [""]


async def test_a_pod_that_asks_for_a_token_is_no_way_and_the_cluster_is_read(
    server: DevCluster, tmp_path: Path
):
    """An API server takes the token off a request before its proxy passes it on."""
    async with serving(show_to_owner) as reporter:
        add_reporter_pod(server, f":{reporter.url.rpartition(':')[2]}")
        ended = await ask_about(server, tmp_path, "status", "--from=reporter")
        assert ended.code == 1
        assert "asks for a token, which the API server's proxy does not pass on" in ended.err
        assert "kubectl port-forward -n kaito-system reporter-0" in ended.err
        ended = await ask_about(server, tmp_path, "status")
    assert (ended.code, "team-a    Ready" in ended.out) == (0, True)
