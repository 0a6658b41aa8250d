"""
Every request, in the order in which the real server treats it: trouble, who, may they, what.
"""

from collections import deque
from dataclasses import dataclass

import msgspec
from aiohttp import web

from reporter.embedded import access, discovery, reading, writing
from reporter.embedded.access import Access
from reporter.embedded.builtin import NAMESPACE
from reporter.embedded.call import Call, reply_json
from reporter.embedded.faults import Faults
from reporter.embedded.kinds import Kind
from reporter.embedded.objects import Objects
from reporter.embedded.pod_proxy import forward, forwarding
from reporter.embedded.routes import Route, route
from reporter.embedded.statuses import (
    ApiError,
    Json,
    PageNotFound,
    method_not_allowed,
    no_such_resource,
    not_found,
)
from reporter.embedded.troubling import troubled


REMEMBERED_REQUESTS = 10_000
_READS = {"get": reading.get, "list": reading.list_}
_WRITES = {
    "create": writing.create,
    "update": writing.update,
    "patch": writing.patch,
    "delete": writing.delete,
    "deletecollection": writing.delete_collection,
}


@dataclass(frozen=True, slots=True)
class Request:
    """
    A request that came, for tests that count or wait for one.
    """

    method: str
    path: str
    """
    With its query.
    """


class Api:
    def __init__(self, objects: Objects, *, bookmark_seconds: float) -> None:
        self.objects = objects
        self.access = Access()
        self.faults = Faults()
        self.stale: set[str] = set()
        self.requests: deque[Request] = deque(maxlen=REMEMBERED_REQUESTS)
        self._bookmark_seconds = bookmark_seconds

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(Request(request.method, request.path_qs))
        instead = await troubled(self.faults, request)
        if instead is not None:
            return instead
        try:
            return await self._answer(request)
        except PageNotFound:
            return web.Response(text="404 page not found\n", status=404)
        except ApiError as err:
            return web.json_response(
                err.status, status=err.code, headers=err.headers, dumps=_dumps
            )

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        user = self.access.user(request.headers.get("Authorization", ""))
        through = forwarding(request.method, request.path)
        if through is not None:
            self.access.check(user, through.route)
            return await forward(request, through, self.objects)
        asked = route(request.method, request.path, request.query)
        if asked is None:
            return self._other(request)
        self.access.check(user, asked)
        kind = self.objects.registry.resolve(asked.group, asked.version, asked.resource)
        if kind.resource == "selfsubjectaccessreviews" and asked.verb == "create":
            body = await Call(request, asked, kind, self.objects).body()
            return reply_json(access.review(self.access, user, body), 201)
        _must_be_possible(asked, kind)
        return await self._do(Call(request, asked, kind, self.objects))

    async def _do(self, call: Call) -> web.StreamResponse:
        if call.route.verb == "watch":
            return await reading.watch(call, self._bookmark_seconds)
        if call.route.verb in _READS:
            return _READS[call.route.verb](call)
        return await _WRITES[call.route.verb](call)

    def _other(self, request: web.Request) -> web.Response:
        """
        Paths that are not of a resource: discovery, version and health.
        """
        match request.path.strip("/").split("/"):
            case ["healthz" | "livez" | "readyz", *_]:
                return web.Response(text="ok")
            case ["version"]:
                return reply_json(discovery.VERSION)
            case ["api" | "apis" as root]:
                return self._roots(request, core=root == "api")
            case ["apis", group]:
                return reply_json(discovery.group(self.objects.registry, group))
            case ["apis", group, version]:
                return self._resources(group, version)
            case ["api", version]:
                return self._resources("", version)
            case _:
                raise PageNotFound

    def _resources(self, group: str, version: str) -> web.Response:
        registry = self.objects.registry
        return reply_json(discovery.resource_list(registry, self.stale, group, version))

    def _roots(self, request: web.Request, *, core: bool) -> web.Response:
        registry = self.objects.registry
        if not discovery.wants_aggregated(request.headers.get("Accept", "")):
            return reply_json(discovery.api_versions() if core else discovery.group_list(registry))
        body = discovery.aggregated(registry, self.stale, core=core)
        headers = {"ETag": discovery.etag(body), "Vary": "Accept", "Cache-Control": "public"}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, headers={**headers, "Content-Type": discovery.AGGREGATED})


def _must_be_possible(asked: Route, kind: Kind) -> None:
    """
    Refuse what the resource has not: a place, a subresource, a verb.
    """
    misplaced = kind.namespaced and not asked.namespace
    if misplaced and asked.name:
        raise no_such_resource()
    if asked.namespace and not kind.namespaced and kind != NAMESPACE:
        raise no_such_resource()
    if asked.subresource and asked.subresource not in kind.subresources:
        raise not_found(kind, asked.name) if kind.custom else no_such_resource()
    of_one = asked.verb in {"get", "update", "patch", "delete"}
    fits = asked.verb == "watch" or bool(asked.name) is of_one
    everywhere = misplaced and asked.verb not in {"list", "watch"}
    wrong_sub = asked.subresource and asked.verb in {"delete", "watch"}
    if asked.verb not in kind.verbs or everywhere or wrong_sub or not fits:
        raise method_not_allowed()


def _dumps(value: Json) -> str:
    return msgspec.json.encode(value).decode()
