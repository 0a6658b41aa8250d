"""Read and write one text of a ConfigMap, with the rights of the user."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from reporter.kube.client import MERGE_PATCH, RestClient
from reporter.kube.decoding import decode_response
from reporter.kube.errors import NotFound


MANAGED_BY = "app.kubernetes.io/managed-by"


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    labels: Mapping[str, str] | None = None


class _ConfigMap(msgspec.Struct):
    metadata: _Meta
    data: Mapping[str, str] | None = None


_DECODER = msgspec.json.Decoder(_ConfigMap)


class ConfigMapText(Struct, frozen=True):
    """
    The text of a key, as it was read; empty if it is not there.

    *resource_version*: empty if there is no such ConfigMap. *managed_by*: the tool that renders it.
    """

    namespace: str
    name: str
    key: str
    text: str = ""
    resource_version: str = ""
    managed_by: str = ""

    def __str__(self) -> str:
        return f"ConfigMap {self.namespace}/{self.name}"


async def read_text(api: RestClient, namespace: str, name: str, key: str) -> ConfigMapText:
    """Read a key of a ConfigMap, which need not exist. Raises KubeError."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    operation = f"read ConfigMap {namespace}/{name}"
    try:
        answer = await api.call("GET", path, operation=operation)
    except NotFound:
        return ConfigMapText(namespace, name, key)
    found = decode_response(_DECODER, answer.body, operation)
    return ConfigMapText(
        namespace,
        name,
        key,
        (found.data or {}).get(key, ""),
        found.metadata.resource_version,
        (found.metadata.labels or {}).get(MANAGED_BY, ""),
    )


async def write_text(api: RestClient, found: ConfigMapText, text: str) -> None:
    """
    Write the key that was read; make the ConfigMap if there was none.

    Raises Conflict if somebody else has changed or made it since, and other KubeErrors.
    """
    collection = f"/api/v1/namespaces/{found.namespace}/configmaps"
    if not found.resource_version:
        metadata = {"name": found.name, "namespace": found.namespace}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        content = {**body, "data": {found.key: text}}
        await api.call("POST", collection, body=content, operation=f"create {found}")
        return
    await api.call(
        "PATCH",
        f"{collection}/{found.name}",
        body={
            "metadata": {"resourceVersion": found.resource_version},
            "data": {found.key: text},
        },
        content_type=MERGE_PATCH,
        operation=f"change {found}",
    )
