"""The handling of a request: faults, authentication, authorization, then the operation."""

from collections import deque
from dataclasses import dataclass

import msgspec
from aiohttp import web

from devcluster.http import authorization, reading, writing
from devcluster.http.authorization import Authorizer
from devcluster.http.faults.injection import inject_faults
from devcluster.http.faults.rules import FaultInjector
from devcluster.http.pod_proxy import forward_to_pod, parse_proxy_path
from devcluster.http.resource_path import ResourcePath, parse_resource_path
from devcluster.http.resource_request import ResourceRequest, reply_json
from devcluster.http.responses import discovery
from devcluster.schema.api_errors import (
    ApiError,
    Json,
    PathNotFound,
    bad_request,
    method_not_allowed,
    no_such_resource,
    not_acceptable,
    not_found,
)
from devcluster.schema.builtin_kinds import NAMESPACE
from devcluster.schema.kinds import ServedKind
from devcluster.storage.registry_store import RegistryStore


MAX_RECORDED_REQUESTS = 10_000
_READS = {"get": reading.get, "list": reading.list_objects}
_WRITES = {
    "create": writing.create,
    "update": writing.update,
    "patch": writing.patch,
    "delete": writing.delete,
    "deletecollection": writing.delete_collection,
}


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A received request, for tests that count requests or wait for one."""

    method: str
    path: str
    """The path with its query."""


class ApiServer:
    def __init__(self, objects: RegistryStore, *, bookmark_seconds: float) -> None:
        self.objects = objects
        self.access = Authorizer()
        self.faults = FaultInjector()
        self.stale: set[str] = set()
        self.requests: deque[RequestRecord] = deque(maxlen=MAX_RECORDED_REQUESTS)
        self._bookmark_seconds = bookmark_seconds

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(RequestRecord(request.method, request.path_qs))
        fault_response = await inject_faults(self.faults, request)
        if fault_response is not None:
            return fault_response
        try:
            return await self._answer(request)
        except PathNotFound:
            return web.Response(text="404 page not found\n", status=404)
        except ApiError as err:
            return web.json_response(
                err.status, status=err.code, headers=err.headers, dumps=_encode_json
            )

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        user = self.access.authenticate(request.headers.get("Authorization", ""))
        proxied = parse_proxy_path(request.method, request.path)
        if proxied is not None:
            self.access.authorize(user, proxied.route)
            return await forward_to_pod(request, proxied, self.objects)
        route = parse_resource_path(request.method, request.path, request.query)
        if route is None:
            return self._serve_non_resource(request)
        self.access.authorize(user, route)
        if "dryRun" in request.query:
            raise bad_request("this server does not support dryRun")
        kind = self.objects.registry.resolve(route.group, route.version, route.resource)
        if kind.resource == "selfsubjectaccessreviews" and route.verb == "create":
            body = await ResourceRequest(request, route, kind, self.objects).read_body()
            return reply_json(authorization.review_access(self.access, user, body), 201)
        if kind.resource == "selfsubjectrulesreviews" and route.verb == "create":
            body = await ResourceRequest(request, route, kind, self.objects).read_body()
            kinds = self.objects.registry
            return reply_json(authorization.review_rules(self.access, kinds, user, body), 201)
        _check_supported(route, kind)
        return await self._dispatch(ResourceRequest(request, route, kind, self.objects))

    async def _dispatch(self, call: ResourceRequest) -> web.StreamResponse:
        if call.route.verb == "watch":
            return await reading.watch(call, self._bookmark_seconds)
        if call.route.verb in _READS:
            return _READS[call.route.verb](call)
        return await _WRITES[call.route.verb](call)

    def _serve_non_resource(self, request: web.Request) -> web.Response:
        """Serve a path that is not of a resource: discovery, version or health."""
        match request.path.strip("/").split("/"):
            case ["healthz" | "livez" | "readyz", *_]:
                return web.Response(text="ok")
            case ["version"]:
                return reply_json(discovery.SERVER_VERSION)
            case ["api" | "apis" as root]:
                return self._serve_discovery_root(request, core=root == "api")
            case _:
                raise PathNotFound

    def _serve_discovery_root(self, request: web.Request, *, core: bool) -> web.Response:
        registry = self.objects.registry
        if not discovery.accepts_aggregated(request.headers.get("Accept", "")):
            raise not_acceptable()
        body = discovery.aggregated_discovery(registry, self.stale, core=core)
        headers = {"ETag": discovery.etag(body), "Vary": "Accept", "Cache-Control": "public"}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        return web.Response(
            body=body, headers={**headers, "Content-Type": discovery.AGGREGATED_MEDIA_TYPE}
        )


def _check_supported(route: ResourcePath, kind: ServedKind) -> None:
    """Refuse a place, a subresource or a verb that the resource does not have."""
    lacks_namespace = kind.namespaced and not route.namespace
    if lacks_namespace and route.name:
        raise no_such_resource()
    if route.namespace and not kind.namespaced and kind != NAMESPACE:
        raise no_such_resource()
    if route.subresource and route.subresource not in kind.subresources:
        raise not_found(kind, route.name) if kind.is_custom else no_such_resource()
    needs_name = route.verb in {"get", "update", "patch", "delete"}
    has_right_path = route.verb == "watch" or bool(route.name) is needs_name
    is_unscoped_write = lacks_namespace and route.verb not in {"list", "watch"}
    lacks_subresource_verb = route.subresource and route.verb in {"delete", "watch"}
    if (
        route.verb not in kind.verbs
        or is_unscoped_write
        or lacks_subresource_verb
        or not has_right_path
    ):
        raise method_not_allowed()


def _encode_json(value: Json) -> str:
    return msgspec.json.encode(value).decode()
