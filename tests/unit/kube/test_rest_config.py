import base64

import pytest
import yaml

from reporter.kube.rest_config import load_in_cluster_config, load_kubeconfig
from reporter.settings.errors import ConfigurationError


def a_kubeconfig(folder, user=None, **cluster):
    content = {
        "clusters": [{"name": "c", "cluster": {"server": "https://api:6443/", **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (folder / "config").write_text(yaml.safe_dump(content))
    return str(folder / "config")


def an_account(folder):
    (folder / "token").write_text("t\n")
    (folder / "ca.crt").write_text("pem")
    return folder


async def test_a_cluster_has_the_fields_that_a_connection_needs(tmp_path):
    (tmp_path / "ca.crt").touch()
    cluster = {
        "certificate-authority": "ca.crt",
        "tls-server-name": "api.example",
        "insecure-skip-tls-verify": True,
        "proxy-url": "http://proxy:3128",
    }
    config = await load_kubeconfig(a_kubeconfig(tmp_path, **cluster), {})
    assert config.host == "https://api:6443"
    assert config.authority_file == str(tmp_path / "ca.crt")
    assert (config.server_name, config.skips_verification) == ("api.example", True)
    assert config.proxy == "http://proxy:3128"
    assert config.authorization == ""


@pytest.mark.parametrize(
    ("user", "authorization"),
    [
        ({"token": "t "}, "Bearer t"),
        (
            {"username": "u", "password": "p"},
            f"Basic {base64.b64encode(b'u:p').decode()}",
        ),
        ({"username": "u", "password": "p", "token": "t"}, "Bearer t"),
        ({"username": "u"}, ""),
    ],
)
async def test_the_credentials_of_a_user(tmp_path, user, authorization):
    config = await load_kubeconfig(a_kubeconfig(tmp_path, user), {})
    assert config.authorization == authorization


async def test_a_certificate_that_is_not_there_is_named(tmp_path):
    path = a_kubeconfig(tmp_path, {"client-certificate": "tls.crt", "client-key": "tls.key"})
    with pytest.raises(ConfigurationError, match=f"{tmp_path}/tls.crt: there is no such file"):
        await load_kubeconfig(path, {})


async def test_over_plain_http_no_certificate_need_be_there(tmp_path):
    path = a_kubeconfig(tmp_path, {"client-certificate": "tls.crt"}, server="http://api")
    assert (await load_kubeconfig(path, {})).tls_files == (None, None, None)


@pytest.mark.parametrize(
    ("name", "host"),
    [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")],
)
async def test_the_api_server_of_a_pod(tmp_path, name, host):
    environ = {"KUBERNETES_SERVICE_HOST": name, "KUBERNETES_SERVICE_PORT": "443"}
    config = await load_in_cluster_config(environ, folder=an_account(tmp_path))
    assert (config.host, config.authorization) == (host, "Bearer t")
    assert config.token_file == tmp_path / "token"


async def test_a_pod_without_the_port_of_the_api_server_is_refused(tmp_path):
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    with pytest.raises(ConfigurationError, match="KUBERNETES_SERVICE_PORT is not set"):
        await load_in_cluster_config(environ, folder=an_account(tmp_path))
