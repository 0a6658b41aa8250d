"""The kubeconfig that the suite is given."""

import base64
import json
from pathlib import Path

import pytest

from e2e.controlplane import Json
from e2e.suite import kubeconfig


def written(folder: Path, *, user: Json, cluster: Json | None = None) -> Path:
    (folder / "ca.crt").write_text("authority")
    server = {"server": "https://api.example:6443", "certificate-authority": "ca.crt"}
    path = folder / "kubeconfig"
    content = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": server if cluster is None else cluster}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(json.dumps(content))
    return path


def test_token_and_files_beside_it_are_taken(tmp_path: Path) -> None:
    client = kubeconfig.client(written(tmp_path, user={"token": "t"}))
    assert (client.host, client.port, client.token) == ("api.example", 6443, "t")
    assert client.ca_file.read_text() == "authority"
    assert client.certificate is None


def test_client_certificate_is_taken_as_kind_writes_it(tmp_path: Path) -> None:
    data = {
        f"client-{each}-data": base64.b64encode(each.encode()).decode()
        for each in ("certificate", "key")
    }
    client = kubeconfig.client(written(tmp_path, user=data))
    assert client.token == ""
    assert [each.read_text() for each in client.certificate] == ["certificate", "key"]


def test_what_it_cannot_use_is_reported(tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError, match="neither a token nor a client certificate"):
        kubeconfig.client(written(tmp_path, user={"exec": {"command": "login"}}))
    with pytest.raises(pytest.UsageError, match="no certificate-authority"):
        kubeconfig.client(
            written(tmp_path, user={"token": "t"}, cluster={"server": "https://a:1"})
        )
    with pytest.raises(pytest.UsageError, match="must be https"):
        kubeconfig.client(written(tmp_path, user={"token": "t"}, cluster={"server": "http://a:1"}))
