"""A client for the current context of a kubeconfig, with a token or a client certificate."""

import base64
import secrets
import tempfile
import urllib.parse
from functools import cache
from pathlib import Path

import pytest
import yaml

from e2e.controlplane import Client, Json


def client(path: Path) -> Client:
    """
    Build a client. Raise pytest.UsageError if the kubeconfig lacks something or is not supported.
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
    certificate, key = (_file(path, user, f"client-{name}") for name in ("certificate", "key"))
    token = user.get("token", "")
    if not token and not (certificate and key):
        raise pytest.UsageError(
            f"{path}: neither a token nor a client certificate, but {sorted(user)};"
            " kubectl create token makes a token of a ServiceAccount that has the tests' permissions"
        )
    pair = (certificate, key) if certificate and key else None
    host, port = server.hostname or "", server.port or 443
    return Client(port, token, authority, host=host, certificate=pair)


def _named(config: Json, kind: str, name: str) -> Json:
    for entry in config.get(kind) or ():
        if entry["name"] == name:
            return entry
    raise pytest.UsageError(f"the kubeconfig has no {name!r} among its {kind}")


def _file(path: Path, entry: Json, key: str) -> Path | None:
    """Return the file of a field, which is a path relative to the kubeconfig, or data."""
    if f"{key}-data" in entry:
        content = base64.b64decode(entry[f"{key}-data"])
        file = Path(_folder().name) / f"{key}-{secrets.token_hex(8)}"
        file.touch(mode=0o600)
        file.write_bytes(content)
        return file
    return path.parent / entry[key] if key in entry else None


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """Make a folder that is deleted at the end of the process: no key stays behind."""
    return tempfile.TemporaryDirectory(prefix="e2e-credentials-")
