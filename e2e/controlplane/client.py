"""A plain client for tests: JSON in, JSON out."""

import http.client
import json
import ssl
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from e2e.controlplane.connections import Connections
from e2e.controlplane.manifests import Json


MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
DISCOVERY_PAUSES = (0.2, 0.5, 1, 2, 4)
"""Seconds between attempts to read the resources of a group."""

STORAGE_PAUSES = (1, 1, 2, 4, 8)
"""Seconds between attempts while the storage of a kind is not ready."""

STORAGE_PENDING = {
    # A kind whose CRD was just made (apiserver, store.go, WaitUntilReady).
    http.client.TOO_MANY_REQUESTS: "is (re)initializing",
    # A kind whose CRD was just changed: its former storage waits for its last requests and takes no
    # others (apiserver, filters/waitgroup.go; apiextensions-apiserver, customresource_handler.go).
    http.client.SERVICE_UNAVAILABLE: "apiserver is shutting down",
}
"""
Refusals before anything is read or written, by status code: the same request passes a moment later.
"""


class ApiError(Exception):
    def __init__(self, status: int, doing: str, body: str) -> None:
        super().__init__(f"{doing}: HTTP {status}: {body[:1000]}")
        self.status = status
        self.body = body


@dataclass(frozen=True)
class Client:
    port: int
    token: str
    ca_file: Path
    timeout: float = 30
    host: str = "127.0.0.1"
    certificate: tuple[Path, Path] | None = None
    """
    The client certificate and its key, for a cluster that authenticates by them instead of by
    token.
    """
    _plurals: dict[str, dict[str, Json]] = field(default_factory=dict, compare=False)

    def get(self, path: str, **query: str) -> Json:
        found: Json = json.loads(self.raw("GET", _with(path, query)))
        return found

    def list(self, path: str, **query: str) -> list[Json]:
        items: list[Json] = self.get(path, **query)["items"]
        return items

    def create(self, path: str, body: Json) -> Json:
        return self._send("POST", path, body)

    def put(self, path: str, body: Json) -> Json:
        return self._send("PUT", path, body)

    def patch(self, path: str, body: Json, content_type: str = MERGE) -> Json:
        return self._send("PATCH", path, body, content_type)

    def delete(self, path: str) -> None:
        self.raw("DELETE", path)

    def exists(self, path: str) -> bool:
        try:
            self.raw("GET", path)
        except ApiError as err:
            if err.status == http.client.NOT_FOUND:
                return False
            raise
        return True

    def apply(self, manifest: Json) -> Json:
        """Create the object, or merge it into the existing one."""
        collection = self.collection(manifest)
        try:
            return self.create(collection, manifest)
        except ApiError as err:
            if err.status != http.client.CONFLICT:
                raise
        return self.patch(f"{collection}/{manifest['metadata']['name']}", manifest)

    def path(self, manifest: Json) -> str:
        return f"{self.collection(manifest)}/{manifest['metadata']['name']}"

    def collection(self, manifest: Json) -> str:
        version = manifest["apiVersion"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resource = self._resource(root, manifest["kind"])
        if not resource["namespaced"]:
            return f"{root}/{resource['name']}"
        namespace = manifest["metadata"].get("namespace", "default")
        return f"{root}/namespaces/{namespace}/{resource['name']}"

    def _resource(self, root: str, kind: str) -> Json:
        if kind not in self._plurals.get(root, {}):
            found = self._discover(root)["resources"]
            self._plurals[root] = {each["kind"]: each for each in found if "/" not in each["name"]}
        return self._plurals[root][kind]

    def _discover(self, root: str) -> Json:
        """
        Read the resources of a group and version, again where a loaded server does not know it yet.

        Discovery of a new CRD's group lags behind its condition Established: each server publishes it
        from a queue (apiextensions-apiserver, customresource_discovery_controller.go).
        """
        for pause in DISCOVERY_PAUSES:
            try:
                return self.get(root)
            except ApiError as error:
                if error.status != http.client.NOT_FOUND:
                    raise
            time.sleep(pause)
        return self.get(root)

    def _send(
        self, method: str, path: str, body: Json, content_type: str = "application/json"
    ) -> Json:
        answer: Json = json.loads(self.raw(method, path, json.dumps(body), content_type))
        return answer

    def raw(
        self,
        method: str,
        path: str,
        body: str | None = None,
        content_type: str | None = None,
        *,
        accept: str = "application/json",
    ) -> str:
        """
        Send a request. Raises ApiError for a status of 400 or more, OSError without a server.
        """
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if content_type:
            headers["Content-Type"] = content_type
        for pause in STORAGE_PAUSES:
            try:
                return self._exchange(method, path, body, headers)
            except ApiError as error:
                if not _is_storage_pending(error):
                    raise
            time.sleep(pause)
        return self._exchange(method, path, body, headers)

    def _exchange(
        self, method: str, path: str, body: str | None, headers: Mapping[str, str]
    ) -> str:
        with self._connections.one() as connection:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            text = response.read().decode()
        if response.status >= http.client.BAD_REQUEST:
            raise ApiError(response.status, f"{method} {path}", text)
        return text

    @cached_property
    def _connections(self) -> Connections:
        host, port, timeout, tls = self.host, self.port, self.timeout, self._tls
        return Connections(
            lambda: http.client.HTTPSConnection(host, port, timeout=timeout, context=tls)
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.ca_file))
        if self.certificate is not None:
            context.load_cert_chain(*self.certificate)
        return context


def _with(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urllib.parse.urlencode(query)}" if query else path


def _is_storage_pending(error: ApiError) -> bool:
    message = STORAGE_PENDING.get(error.status)
    return message is not None and message in error.body
