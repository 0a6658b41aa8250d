"""The auth-provider oidc of a kubeconfig, whose token its identity provider renews."""

import asyncio
import base64
import json
from email.utils import parsedate_to_datetime

import pytest
from aiohttp import web

from reporter.kube.oidc import MAX_ANSWER_BYTES
from reporter.settings.errors import ConfigurationError
from tests.integration.kube.credentials_fixture import ALWAYS, DATE, only, who
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    a_status_response,
    connected,
    serving,
)
from tests.support.stubs.certificates import a_certificate, a_context


LONG_AGO, FAR_AWAY = 1_000_000_000, 4_000_000_000
ENDS_WITH_THE_SERVERS_CLOCK = int(parsedate_to_datetime(DATE).timestamp())


def a_token(expires: int) -> str:
    parts = ('{"alg": "none"}', json.dumps({"exp": expires}), "{}")
    return ".".join(base64.b64encode(each.encode()).decode() for each in parts)


def a_user(provider: str, **config: str):
    config = {"client-id": "us", "client-secret": "s", "idp-issuer-url": provider, **config}
    return {"auth-provider": {"name": "oidc", "config": config}}


async def test_a_token_that_has_not_expired_is_used_as_it_is(tmp_path):
    token = a_token(FAR_AWAY)
    _, handler = only(token)
    async with serving(handler) as server:
        user = a_user("http://127.0.0.1:1", **{"id-token": token})
        async with connected(a_kubeconfig(tmp_path, server.url, user=user)) as api:
            assert await who(api) == token


def renewing(*tokens):
    """Return a provider that gives these tokens in turn, and the requests for them."""
    asked, left = [], list(tokens)

    async def renew(request):
        if request.path == "/.well-known/openid-configuration":
            return a_json_response({"token_endpoint": f"{request.scheme}://{request.host}/token"})
        asked.append((request.headers["Authorization"], dict(await request.post())))
        return a_json_response({"id_token": left.pop(0), "refresh_token": "r2"})

    return asked, renew


async def test_a_token_that_is_refused_is_renewed_by_its_provider(tmp_path):
    _, handler = only("new")
    asked, renew = renewing("new")
    async with serving(handler) as server, serving(renew) as provider:
        user = a_user(provider.url, **{"id-token": a_token(LONG_AGO), "refresh-token": "r"})
        async with connected(a_kubeconfig(tmp_path, server.url, user=user)) as api:
            assert await who(api) == "new"
    basic = base64.b64encode(b"us:s").decode()
    body = {"grant_type": "refresh_token", "refresh_token": "r"}
    assert asked == [(f"Basic {basic}", body)]


async def test_a_token_is_renewed_before_it_ends(tmp_path):
    ending = a_token(ENDS_WITH_THE_SERVERS_CLOCK)
    _, handler = only(ending, "new")
    asked, renew = renewing("new")
    async with serving(handler) as server, serving(renew) as provider:
        user = a_user(provider.url, **{"id-token": ending, "refresh-token": "r"})
        kubeconfig = a_kubeconfig(tmp_path, server.url, user=user)
        async with connected(kubeconfig, refresh_policy=ALWAYS) as api:
            assert await who(api) == ending
            assert await who(api) == "new"
    assert len(asked) == 1


async def test_a_token_that_was_written_into_the_kubeconfig_is_used_before_one_is_asked_for(
    tmp_path,
):
    known, handler = only("one")
    asked, renew = renewing()
    async with serving(handler) as server, serving(renew) as provider:

        def write(token):
            user = a_user(provider.url, **{"id-token": token, "refresh-token": "r"})
            return a_kubeconfig(tmp_path, server.url, user=user)

        async with connected(write("one"), refresh_policy=ALWAYS) as api:
            assert await who(api) == "one"
            write("two")
            known[:] = ["two"]
            assert await who(api) == "two"
    assert asked == []


async def test_a_provider_that_refuses_is_named(tmp_path):
    async def refuse(request):
        return a_status_response(403, "Forbidden", "no")

    async with serving(refuse) as provider:
        user = a_user(provider.url, **{"refresh-token": "r"})
        with pytest.raises(ConfigurationError, match=f"no token from {provider.url}: 403"):
            async with connected(a_kubeconfig(tmp_path, provider.url, user=user)):
                pass


async def test_an_answer_that_arrives_in_parts_is_read_whole(tmp_path):
    _, handler = only("new")
    _, renew = renewing("new")

    async def in_parts(request):
        whole = await renew(request)
        answer = web.StreamResponse()
        await answer.prepare(request)
        for part in (whole.body[:10], whole.body[10:]):
            await answer.write(part)
            await asyncio.sleep(0.05)
        return answer

    async with serving(handler) as server, serving(in_parts) as provider:
        user = a_user(provider.url, **{"refresh-token": "r"})
        async with connected(a_kubeconfig(tmp_path, server.url, user=user)) as api:
            assert await who(api) == "new"


async def test_an_answer_without_end_is_refused(tmp_path):
    async def endless(request):
        return web.Response(body=b" " * (MAX_ANSWER_BYTES + 1))

    async with serving(endless) as provider:
        user = a_user(provider.url, **{"refresh-token": "r"})
        with pytest.raises(ConfigurationError, match="more than 1048576 bytes"):
            async with connected(a_kubeconfig(tmp_path, provider.url, user=user)):
                pass


async def test_what_a_renewal_lacks_is_named(tmp_path):
    kubeconfig = a_kubeconfig(tmp_path, "http://127.0.0.1:1", user=a_user(""))
    with pytest.raises(ConfigurationError, match="no idp-issuer-url, refresh-token"):
        async with connected(kubeconfig):
            pass


async def test_a_provider_is_verified_with_the_authority_that_the_kubeconfig_names(tmp_path):
    """Without one, with those of the system; a client secret is never sent to anybody else."""
    certificate, key = a_certificate(tmp_path, "provider")
    _, handler = only("new")
    asked, renew = renewing("new")
    tls = a_context(certificate, key)
    async with serving(handler) as server, serving(renew, ssl_context=tls) as provider:
        user = a_user(provider.url, **{"refresh-token": "r"})
        with pytest.raises(ConfigurationError, match="certificate verify failed"):
            async with connected(a_kubeconfig(tmp_path, server.url, user=user)):
                pass
        assert asked == []
        pem = base64.b64encode(certificate.read_bytes()).decode()
        user["auth-provider"]["config"]["idp-certificate-authority-data"] = pem
        async with connected(a_kubeconfig(tmp_path, server.url, user=user)) as api:
            assert await who(api) == "new"
