"""An HTTP request for a resource, with its kind and its body."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from aiohttp import web

from devcluster.http.resource_path import ResourcePath
from devcluster.http.responses import objects, table
from devcluster.schema import api_errors
from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import ServedKind
from devcluster.storage.registry_store import RegistryStore
from devcluster.storage.storage import StoredObject


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    request: web.Request
    route: ResourcePath
    kind: ServedKind
    objects: RegistryStore

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query

    @property
    def wants_table(self) -> bool:
        return table.accepts_table(self.request.headers.get("Accept", ""))

    @property
    def include_object(self) -> str:
        return self.query.get("includeObject", "Metadata")

    def get_object(self) -> StoredObject:
        """Return the object that the path names. Raise a 404 if it does not exist."""
        return self.objects.get(self.kind, self.namespace, self.route.name)

    @property
    def namespace(self) -> str:
        return self.route.namespace if self.kind.namespaced else ""

    def encode(self, stored: StoredObject) -> bytes:
        if self.wants_table:
            return table.encode_table_row(
                self.kind, stored, self.include_object, self.objects.now()
            )
        return objects.encode_object(self.kind, stored)

    async def read_body(self) -> Json:
        """
        Return the object in the body. Raise a 415 if its type is not JSON, a 400 if it cannot be decoded.
        """
        if self.request.content_type not in {"application/json", "application/octet-stream"}:
            raise api_errors.unsupported_body()
        data = await self.request.read()
        try:
            value = msgspec.json.decode(data)
        except msgspec.DecodeError as err:
            text = f"the object provided is unrecognized (must be of type {self.kind.kind}): "
            raise api_errors.bad_request(
                f"{text}couldn't get version/kind; json parse error: {err}"
            ) from err
        if not isinstance(value, dict):
            raise api_errors.bad_request("json: cannot unmarshal into Go value of type struct")
        return value


def reply(data: bytes, code: int = 200) -> web.Response:
    return web.Response(body=data, status=code, content_type="application/json")


def reply_json(value: Json, code: int = 200) -> web.Response:
    return reply(msgspec.json.encode(value), code)
