"""
The proxy to pods, as far as reading a page of theirs needs it.

Unlike the real server this one also reaches loopback, where all pods of a test are.
"""

import re
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from reporter.embedded.http.resource_path import ResourcePath
from reporter.embedded.schema.api_errors import ApiError, bad_request
from reporter.embedded.storage.registry_store import RegistryStore


_PATH = re.compile(
    r"/api/v1/namespaces/(?P<namespace>[^/]+)/pods/(?P<name>[^/:]+)(?::(?P<port>\d+))?"
    r"/proxy(?P<path>/.*)?"
)
PROXY_TIMEOUT = aiohttp.ClientTimeout(total=10)
FORWARDED_HEADERS = frozenset({"Content-Type", "Location"})
"""
Headers of the pod's answer.
"""


@dataclass(frozen=True, slots=True)
class PodProxyRequest:
    """
    *route* as authorization sees it; *port* and *path* of the pod.
    """

    route: ResourcePath
    port: int
    path: str


def parse_proxy_path(method: str, path: str) -> PodProxyRequest | None:
    """
    None if this is no path of the proxy.
    """
    found = _PATH.fullmatch(path)
    if found is None or method != "GET":
        return None
    route = ResourcePath("get", "", "v1", "pods", found["namespace"], found["name"], "proxy")
    return PodProxyRequest(route, int(found["port"] or 80), found["path"] or "/")


async def forward_to_pod(
    request: web.Request, asked: PodProxyRequest, objects: RegistryStore
) -> web.Response:
    kind = objects.registry.by_group_resource("pods")
    pod = objects.get(kind, asked.route.namespace, asked.route.name).mutable_copy()
    address = pod.get("status", {}).get("podIP", "")
    if not address:
        raise bad_request(f'pod "{asked.route.name}" has no address')
    host = f"[{address}]" if ":" in address else address
    url = f"http://{host}:{asked.port}{asked.path}"
    headers = {"Accept": request.headers.get("Accept", "*/*")}
    try:
        async with (
            aiohttp.ClientSession(timeout=PROXY_TIMEOUT, auto_decompress=False) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            body = await response.read()
    except (aiohttp.ClientError, TimeoutError) as err:
        text = f"error trying to reach service: {err}"
        raise ApiError(503, "ServiceUnavailable", text, {}) from err
    kept = {name: value for name, value in response.headers.items() if name in FORWARDED_HEADERS}
    return web.Response(status=response.status, body=body, headers=kept)
