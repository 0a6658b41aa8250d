"""Credentials of the kubeconfig and of the pod, as a server receives them."""

import base64
import os
import ssl

import pytest

from reporter.kube.connect import connect
from reporter.kube.errors import Refused, Unreachable
from reporter.settings.errors import ConfigurationError
from tests.integration.kube.credentials_fixture import (
    ALWAYS,
    SELDOM,
    a_plugin,
    only,
    printing,
    who,
)
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    connected,
    serving,
)
from tests.support.stubs.certificates import a_certificate, a_context


async def test_a_token_file_is_read_again(tmp_path):
    token = tmp_path / "token"
    token.write_text("one\n")
    _, handler = only("one", "two")
    async with serving(handler) as server:
        kubeconfig = a_kubeconfig(tmp_path, server.url, user={"tokenFile": "token"})
        async with connected(kubeconfig, refresh_policy=ALWAYS) as api:
            assert await who(api) == "one"
            token.write_text("two\n")
            assert await who(api) == "two"


@pytest.mark.parametrize("content", [None, b"", b"\n", b"half\x00", b"two lines\n"])
async def test_the_last_token_stays_while_its_file_is_not_usable(tmp_path, content):
    token = tmp_path / "token"
    token.write_text("one")
    _, handler = only("one")
    async with serving(handler) as server:
        kubeconfig = a_kubeconfig(tmp_path, server.url, user={"tokenFile": "token"})
        async with connected(kubeconfig, refresh_policy=ALWAYS) as api:
            token.unlink() if content is None else token.write_bytes(content)
            assert await who(api) == "one"


async def test_after_a_401_the_token_is_read_at_once_and_the_request_sent_again(tmp_path):
    token = tmp_path / "token"
    token.write_text("one")
    known, handler = only("one")
    async with serving(handler) as server:
        kubeconfig = a_kubeconfig(tmp_path, server.url, user={"tokenFile": "token"})
        async with connected(kubeconfig, refresh_policy=SELDOM) as api:
            assert await who(api) == "one"
            token.write_text("two")
            known[:] = ["two"]
            assert await who(api) == "two"
            known[:] = ["three"]
            with pytest.raises(Refused, match="HTTP 401: Unauthorized"):
                await who(api)
    assert len(server.requests) == 4


async def test_a_kubeconfig_that_was_written_anew_is_read_after_a_401(tmp_path):
    known, handler = only("one")
    async with (
        serving(handler) as server,
        connected(
            a_kubeconfig(tmp_path, server.url, user={"token": "one"}), refresh_policy=SELDOM
        ) as api,
    ):
        a_kubeconfig(tmp_path, server.url, user={"token": "two"})
        known[:] = ["two"]
        assert await who(api) == "two"


def an_account(folder, url, cert, token):
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text(token)
    (folder / "ca.crt").write_bytes(cert.read_bytes())
    host, _, port = url.removeprefix("https://").partition(":")
    return {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}


async def test_a_pod_uses_its_own_account_and_follows_a_new_authority(tmp_path):
    old, new = a_certificate(tmp_path, "old"), a_certificate(tmp_path, "new")
    _, handler = only("one", "two")
    account = tmp_path / "account"
    async with serving(handler, ssl_context=a_context(*new)) as server:
        environ = an_account(account, server.url, old[0], "one\n")
        async with connected(
            None, environ=environ, service_account_dir=account, refresh_policy=ALWAYS
        ) as api:
            with pytest.raises(Unreachable, match=r"(?i)certificate"):
                await who(api)
            an_account(account, server.url, new[0], "two\n")
            assert await who(api) == "two"
            (account / "ca.crt").write_text("half-written")
            assert await who(api) == "two"


async def test_an_error_keeps_no_buffers_of_the_handshake_that_failed(tmp_path):
    old, new = a_certificate(tmp_path, "old"), a_certificate(tmp_path, "new")
    _, handler = only("one")
    account = tmp_path / "account"
    async with serving(handler, ssl_context=a_context(*new)) as server:
        environ = an_account(account, server.url, old[0], "one\n")
        async with connected(None, environ=environ, service_account_dir=account) as api:
            with pytest.raises(Unreachable) as failed:
                await who(api)
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)


def a_context_for(server_cert, client_cert):
    """A server that demands this client's certificate."""
    context = a_context(*server_cert)
    context.load_verify_locations(client_cert[0])
    context.verify_mode = ssl.CERT_REQUIRED
    return context


async def name_of_certificate(request):
    peer = request.get_extra_info("peercert")
    return a_json_response({"as": dict(pair[0] for pair in peer["subject"])["commonName"]})


def as_data(path):
    return base64.b64encode(path.read_bytes()).decode()


@pytest.mark.parametrize("in_memory", [True, False])
async def test_a_private_key_of_the_kubeconfig_is_in_no_file(tmp_path, monkeypatch, in_memory):
    """Without memfd_create, as on other systems, it is in a file only for a moment."""
    folder = tmp_path / "tmp"
    if in_memory:
        assert hasattr(os, "memfd_create")
    else:
        folder.mkdir()
        monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    server_cert, mine = a_certificate(tmp_path, "server"), a_certificate(tmp_path, "mine")
    context = a_context_for(server_cert, mine)
    async with serving(name_of_certificate, ssl_context=context) as server:
        user = {"client-certificate-data": as_data(mine[0]), "client-key-data": as_data(mine[1])}
        authority = {"certificate-authority-data": as_data(server_cert[0])}
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        async with connected(a_kubeconfig(tmp_path, server.url, user=user, **authority)) as api:
            assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
            assert not folder.exists() or list(folder.iterdir()) == []
            assert await who(api) == "mine"


async def test_data_of_a_kubeconfig_takes_precedence_of_files(tmp_path):
    server_cert, mine = a_certificate(tmp_path, "server"), a_certificate(tmp_path, "mine")
    context = a_context_for(server_cert, mine)
    async with serving(name_of_certificate, ssl_context=context) as server:
        user = {
            "client-certificate": "/nowhere",
            "client-certificate-data": as_data(mine[0]),
            "client-key": str(mine[1]),
        }
        authority = {
            "certificate-authority": "/nowhere",
            "certificate-authority-data": as_data(server_cert[0]),
        }
        async with connected(a_kubeconfig(tmp_path, server.url, user=user, **authority)) as api:
            assert await who(api) == "mine"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ("abc", "client-key-data is not base64"),
        (7, "client-key-data is not base64"),
        ("YWJj", "certificates of the kubeconfig"),
    ],
)
async def test_data_that_is_no_key_is_refused_without_quoting_it(tmp_path, data, complaint):
    mine = a_certificate(tmp_path, "mine")
    user = {"client-certificate-data": as_data(mine[0]), "client-key-data": data}
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        await connect(a_kubeconfig(tmp_path, "https://api", user=user), environ={})
    assert "YWJj" not in str(caught.value)


async def test_a_plugin_may_give_a_client_certificate(tmp_path):
    server_cert, mine = a_certificate(tmp_path, "server"), a_certificate(tmp_path, "mine")
    context = a_context_for(server_cert, mine)
    async with serving(name_of_certificate, ssl_context=context) as server:
        certificate = {
            "clientCertificateData": mine[0].read_text(),
            "clientKeyData": mine[1].read_text(),
        }
        user = a_plugin(tmp_path, printing(**certificate))
        kubeconfig = a_kubeconfig(
            tmp_path, server.url, user=user, **{"certificate-authority": "server.crt"}
        )
        async with connected(kubeconfig, environ={"PATH": "/usr/bin:/bin"}) as api:
            assert await who(api) == "mine"


async def test_a_pod_without_an_account_is_refused_with_what_may_be_wrong(tmp_path):
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(ConfigurationError, match="automountServiceAccountToken"):
        await connect(None, environ=environ, service_account_dir=tmp_path)


async def test_an_anonymous_user_of_an_https_server_sends_no_credentials(tmp_path):
    cert = a_certificate(tmp_path, "it")

    async def handler(request):
        return a_json_response({"as": request.headers.get("Authorization", "nobody")})

    async with serving(handler, ssl_context=a_context(*cert)) as server:
        kubeconfig = a_kubeconfig(
            tmp_path, server.url, user={}, **{"certificate-authority": "it.crt"}
        )
        async with connected(kubeconfig) as api:
            assert await who(api) == "nobody"
