"""
Which resources are served: one aggregated answer, or several of servers that have none.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TypeVar

import msgspec

from reporter.kube.client.client import ApiResponse, RestClient
from reporter.kube.wire.decoding import decode_json
from reporter.kube.wire.errors import KubeError, NotFound, Unreachable, Unserved
from reporter.model.observations import DiscoveryResult


DISCOVERY_PATH = "/apis"
_AS_GROUP_LIST = "as=APIGroupDiscoveryList"
AGGREGATED_ACCEPT = (
    f"application/json;g=apidiscovery.k8s.io;v=v2;{_AS_GROUP_LIST},"
    f"application/json;g=apidiscovery.k8s.io;v=v2beta1;{_AS_GROUP_LIST},"
    "application/json"
)
DISCOVERY_TIMEOUT = timedelta(seconds=20)


ResponseT = TypeVar("ResponseT")


class _GroupMeta(msgspec.Struct):
    name: str = ""


class _APIResource(msgspec.Struct):
    resource: str = ""
    name: str = ""


class _APIVersion(msgspec.Struct):
    version: str
    freshness: str | None = ""
    resources: list[_APIResource] | None = None


class _APIGroup(msgspec.Struct):
    metadata: _GroupMeta = msgspec.field(default_factory=_GroupMeta)
    name: str = ""
    versions: list[_APIVersion] | None = None


class _APIGroupList(msgspec.Struct):
    """
    APIGroupDiscoveryList has *items*, the plain APIGroupList has *groups*.
    """

    kind: str
    items: list[_APIGroup] | None = None
    groups: list[_APIGroup] | None = None


class _APIResourceList(msgspec.Struct):
    """
    APIResourceList: subresources are entries of their own, with a slash.
    """

    kind: str
    resources: list[_APIResource] | None = None


@dataclass(frozen=True, slots=True)
class CachedDiscovery:
    """
    What was found, and the ETag by which the server knows whether anything has changed.
    """

    discovery: DiscoveryResult
    etag: str = ""


async def discover(
    api: RestClient, groups: frozenset[str], *, previous: CachedDiscovery | None
) -> CachedDiscovery:
    """
    Only of *groups*. *before* is the last answer. Raises KubeError if there is none at all.
    """
    known = {"If-None-Match": previous.etag} if previous is not None and previous.etag else {}
    doing = "discover API groups"
    answer = await api.call(
        "GET",
        DISCOVERY_PATH,
        accept=AGGREGATED_ACCEPT,
        headers=known,
        timeout=DISCOVERY_TIMEOUT,
        operation=doing,
    )
    if answer.status == HTTPStatus.NOT_MODIFIED and previous is not None:
        return previous
    listed = _decode_response(answer, _APIGroupList, doing)
    if listed.kind == "APIGroupDiscoveryList":
        etag = answer.headers.get("ETag", "")
        return CachedDiscovery(parse_aggregated(listed.items or (), groups), etag)
    return CachedDiscovery(await _discover_unaggregated(api, listed.groups or (), groups))


def parse_aggregated(listed: Iterable[_APIGroup], groups: frozenset[str]) -> DiscoveryResult:
    """
    A version whose resources the server could not ask for makes its whole group stale.
    """
    served: dict[str, tuple[str, ...]] = {}
    stale = set()
    for group in listed:
        if group.metadata.name not in groups:
            continue
        for version in group.versions or ():
            if version.freshness == "Stale":
                stale.add(group.metadata.name)
            names = (each.resource for each in version.resources or ())
            _add_version(served, names, group.metadata.name, version.version)
    return DiscoveryResult(served, frozenset(stale))


async def _discover_unaggregated(
    api: RestClient, listed: Iterable[_APIGroup], groups: frozenset[str]
) -> DiscoveryResult:
    served: dict[str, tuple[str, ...]] = {}
    stale = set()
    for group in listed:
        if group.name not in groups:
            continue
        for version in group.versions or ():
            try:
                names = await _list_resource_names(
                    api, f"{DISCOVERY_PATH}/{group.name}/{version.version}"
                )
            except KubeError:
                stale.add(group.name)
            else:
                _add_version(served, names, group.name, version.version)
    return DiscoveryResult(served, frozenset(stale))


async def _list_resource_names(api: RestClient, path: str) -> tuple[str, ...]:
    doing = f"discover {path}"
    try:
        answer = await api.call("GET", path, timeout=DISCOVERY_TIMEOUT, operation=doing)
    except (NotFound, Unserved):
        return ()
    resources = _decode_response(answer, _APIResourceList, doing).resources or ()
    return tuple(each.name for each in resources if "/" not in each.name)


def _add_version(
    served: dict[str, tuple[str, ...]], names: Iterable[str], group: str, version: str
) -> None:
    for name in names:
        resource = f"{name}.{group}"
        served[resource] = (*served.get(resource, ()), version)


def _decode_response(answer: ApiResponse, shape: type[ResponseT], doing: str) -> ResponseT:
    try:
        return decode_json(msgspec.json.Decoder(shape), answer.body)
    except msgspec.DecodeError as err:
        raise Unreachable(
            doing, status=answer.status, message=str(err), may_have_applied=True
        ) from err
