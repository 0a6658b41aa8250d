"""
One HTTP request for a resource, and how its body is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from aiohttp import web

from reporter.embedded import encoding, statuses, table
from reporter.embedded.kinds import Kind
from reporter.embedded.objects import Objects
from reporter.embedded.routes import Route
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Stored


@dataclass(frozen=True, slots=True)
class Call:
    request: web.Request
    route: Route
    kind: Kind
    objects: Objects

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query

    @property
    def dry_run(self) -> bool:
        return self.query.get("dryRun") == "All"

    @property
    def as_table(self) -> bool:
        return table.wanted(self.request.headers.get("Accept", ""))

    @property
    def include(self) -> str:
        return self.query.get("includeObject", "Metadata")

    def stored(self) -> Stored:
        """
        The object that the path names; a 404 if it is not there.
        """
        return self.objects.get(self.kind, self.namespace, self.route.name)

    @property
    def namespace(self) -> str:
        return self.route.namespace if self.kind.namespaced else ""

    def shown(self, stored: Stored) -> bytes:
        if self.as_table:
            return table.row(self.kind, stored, self.include, self.objects.now())
        return encoding.whole(self.kind, stored)

    async def body(self) -> Json:
        """
        The object sent; 415 if it is not said to be JSON, 400 if it is none.
        """
        if self.request.content_type not in {"application/json", "application/octet-stream"}:
            raise statuses.unsupported_body()
        data = await self.request.read()
        try:
            value = msgspec.json.decode(data)
        except msgspec.DecodeError as err:
            text = f"the object provided is unrecognized (must be of type {self.kind.kind}): "
            raise statuses.bad_request(
                f"{text}couldn't get version/kind; json parse error: {err}"
            ) from err
        if not isinstance(value, dict):
            raise statuses.bad_request("json: cannot unmarshal into Go value of type struct")
        return value


def reply(data: bytes, code: int = 200) -> web.Response:
    return web.Response(body=data, status=code, content_type="application/json")


def reply_json(value: Json, code: int = 200) -> web.Response:
    return reply(msgspec.json.encode(value), code)
