"""
The proxy subresource of pods, for GET only.

Unlike the real server it also connects to loopback addresses, as the pods of tests listen there.
"""

import re
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from devcluster.http.resource_path import ResourcePath
from devcluster.schema.api_errors import ApiError, bad_request
from devcluster.storage.registry_store import RegistryStore


_PATH = re.compile(
    r"/api/v1/namespaces/(?P<namespace>[^/]+)/pods/(?P<name>[^/:]+)(?::(?P<port>\d+))?"
    r"/proxy(?P<path>/.*)?"
)
PASSED_HEADERS = frozenset({"Accept", "If-None-Match"})
"""Headers of the request that are passed on."""

PROXY_TIMEOUT = aiohttp.ClientTimeout(total=60)
FORWARDED_HEADERS = frozenset({"Content-Type", "Location", "ETag", "Retry-After"})
"""Headers of the pod's response that are passed on."""


@dataclass(frozen=True, slots=True)
class PodProxyRequest:
    """A request for a page of a pod; authorization sees *route*."""

    route: ResourcePath
    port: int
    path: str


def parse_proxy_path(method: str, path: str) -> PodProxyRequest | None:
    """Parse a path of the proxy; None if it is another path."""
    found = _PATH.fullmatch(path)
    if found is None or method != "GET":
        return None
    route = ResourcePath("get", "", "v1", "pods", found["namespace"], found["name"], "proxy")
    return PodProxyRequest(route, int(found["port"] or 80), found["path"] or "/")


async def forward_to_pod(
    request: web.Request, proxied: PodProxyRequest, objects: RegistryStore
) -> web.Response:
    kind = objects.registry.by_group_resource("pods")
    pod = objects.get(kind, proxied.route.namespace, proxied.route.name).mutable_copy()
    address = pod.get("status", {}).get("podIP", "")
    if not address:
        raise bad_request(f'pod "{proxied.route.name}" has no address')
    host = f"[{address}]" if ":" in address else address
    url = f"http://{host}:{proxied.port}{proxied.path}"
    request_headers = {
        name: value for name, value in request.headers.items() if name in PASSED_HEADERS
    }
    try:
        async with (
            aiohttp.ClientSession(timeout=PROXY_TIMEOUT, auto_decompress=False) as session,
            session.get(
                url, params=request.query, headers=request_headers, allow_redirects=False
            ) as response,
        ):
            body = await response.read()
    except (aiohttp.ClientError, TimeoutError) as err:
        text = f"error trying to reach service: {err}"
        raise ApiError(503, "ServiceUnavailable", text, {}) from err
    headers = {
        name: value for name, value in response.headers.items() if name in FORWARDED_HEADERS
    }
    return web.Response(status=response.status, body=body, headers=headers)
