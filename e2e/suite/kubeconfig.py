"""
A kubeconfig as a client of our own: the current context with a token or a client certificate.
"""

import base64
import tempfile
import urllib.parse
from pathlib import Path

import pytest
import yaml

from e2e.controlplane import Client, Json


def client(path: Path) -> Client:
    """
    Raises pytest.UsageError, which says what is missing.
    """
    config = yaml.safe_load(path.read_text())
    context = _named(config, "contexts", config.get("current-context", ""))["context"]
    cluster = _named(config, "clusters", context["cluster"])["cluster"]
    user = _named(config, "users", context["user"])["user"]
    server = urllib.parse.urlsplit(cluster["server"])
    if server.scheme != "https" or server.path.strip("/"):
        raise pytest.UsageError(f"{path}: the server must be https://HOST:PORT")
    authority = _file(path, cluster, "certificate-authority")
    if authority is None:
        raise pytest.UsageError(f"{path}: no certificate-authority of the server")
    certificate, key = (_file(path, user, f"client-{what}") for what in ("certificate", "key"))
    token = user.get("token", "")
    if not token and not (certificate and key):
        raise pytest.UsageError(
            f"{path}: neither a token nor a client certificate, but {sorted(user)};"
            " kubectl create token makes one of a ServiceAccount that may do what the tests do"
        )
    pair = (certificate, key) if certificate and key else None
    host, port = server.hostname or "", server.port or 443
    return Client(port, token, authority, host=host, certificate=pair)


def _named(config: Json, kind: str, name: str) -> Json:
    for each in config.get(kind) or ():
        if each["name"] == name:
            return each
    raise pytest.UsageError(f"the kubeconfig has no {name!r} among its {kind}")


def _file(path: Path, holder: Json, key: str) -> Path | None:
    """
    Given as a path, which is relative to the kubeconfig, or as data.
    """
    if f"{key}-data" in holder:
        content = base64.b64decode(holder[f"{key}-data"])
        with tempfile.NamedTemporaryFile(prefix=f"e2e-{key}-", delete=False) as file:
            file.write(content)
        return Path(file.name)
    return path.parent / holder[key] if key in holder else None
