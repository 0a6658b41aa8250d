"""Discover the served resources, by aggregated discovery or, without it, group by group."""

from collections.abc import Iterable
from datetime import timedelta
from http import HTTPStatus
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from reporter.kube.client import ApiResponse, RestClient
from reporter.kube.decoding import decode_response
from reporter.kube.errors import KubeError, NotFound, Unserved
from reporter.model.observations import DiscoveryResult


DISCOVERY_PATH = "/apis"
_AS_GROUP_LIST = "as=APIGroupDiscoveryList"
AGGREGATED_ACCEPT = (
    f"application/json;g=apidiscovery.k8s.io;v=v2;{_AS_GROUP_LIST},"
    f"application/json;g=apidiscovery.k8s.io;v=v2beta1;{_AS_GROUP_LIST},"
    "application/json"
)
DISCOVERY_TIMEOUT = timedelta(seconds=20)
SCOPES = {"Namespaced": True, "Cluster": False}
"""A ResourceScope (apidiscovery.k8s.io/v2), and whether such a resource has namespaces."""


ResponseT = TypeVar("ResponseT")


class _GroupMeta(msgspec.Struct):
    name: str = ""


class _APIResource(msgspec.Struct):
    """
    APIResourceDiscovery, with *resource* and *scope*, or APIResource, with *name* and *namespaced*.
    """

    resource: str = ""
    name: str = ""
    scope: str = ""
    namespaced: bool | None = None

    @property
    def has_namespaces(self) -> bool | None:
        return SCOPES.get(self.scope, self.namespaced)


class _APIVersion(msgspec.Struct):
    version: str
    freshness: str | None = ""
    resources: list[_APIResource] | None = None


class _APIGroup(msgspec.Struct):
    metadata: _GroupMeta = msgspec.field(default_factory=_GroupMeta)
    name: str = ""
    versions: list[_APIVersion] | None = None


class _APIGroupList(msgspec.Struct):
    """APIGroupDiscoveryList, which has *items*, or APIGroupList, which has *groups*."""

    kind: str
    items: list[_APIGroup] | None = None
    groups: list[_APIGroup] | None = None


class _APIResourceList(msgspec.Struct):
    """APIResourceList; the names of subresources contain a slash."""

    kind: str
    resources: list[_APIResource] | None = None


class CachedDiscovery(Struct, frozen=True):
    """A result, and its ETag, by which the server tells whether anything has changed."""

    discovery: DiscoveryResult
    etag: str = ""


async def discover(
    api: RestClient, groups: frozenset[str], *, previous: CachedDiscovery | None
) -> CachedDiscovery:
    """
    Discover the resources of these groups. *previous*: the last result, for its ETag.

    Raises KubeError if the list of groups cannot be read; a group that cannot be read is in
    *failed_groups* of the result.
    """
    headers = {"If-None-Match": previous.etag} if previous is not None and previous.etag else {}
    operation = "discover API groups"
    response = await api.call(
        "GET",
        DISCOVERY_PATH,
        accept=AGGREGATED_ACCEPT,
        headers=headers,
        timeout=DISCOVERY_TIMEOUT,
        operation=operation,
    )
    if response.status == HTTPStatus.NOT_MODIFIED and previous is not None:
        return previous
    listed = _decode_response(response, _APIGroupList, operation)
    if listed.kind == "APIGroupDiscoveryList":
        etag = response.headers.get("ETag", "")
        return CachedDiscovery(parse_aggregated(listed.items or (), groups), etag)
    return CachedDiscovery(await _discover_unaggregated(api, listed.groups or (), groups))


def parse_aggregated(listed: Iterable[_APIGroup], groups: frozenset[str]) -> DiscoveryResult:
    """
    Collect the resources of these groups; a Stale version puts its whole group in *failed_groups*.

    Stale means that the server behind an aggregated API did not answer.
    """
    served = _Served()
    for group in listed:
        if group.metadata.name not in groups:
            continue
        for version in group.versions or ():
            if version.freshness == "Stale":
                served.failed_groups.add(group.metadata.name)
            for each in version.resources or ():
                served.add(group.metadata.name, version.version, each.resource, each)
    return served.result()


async def _discover_unaggregated(
    api: RestClient, listed: Iterable[_APIGroup], groups: frozenset[str]
) -> DiscoveryResult:
    served = _Served()
    for group in listed:
        if group.name not in groups:
            continue
        for version in group.versions or ():
            try:
                resources = await _list_resources(
                    api, f"{DISCOVERY_PATH}/{group.name}/{version.version}"
                )
            except KubeError:
                served.failed_groups.add(group.name)
            else:
                for each in resources:
                    served.add(group.name, version.version, each.name, each)
    return served.result()


async def _list_resources(api: RestClient, path: str) -> tuple[_APIResource, ...]:
    operation = f"discover {path}"
    try:
        response = await api.call("GET", path, timeout=DISCOVERY_TIMEOUT, operation=operation)
    except (NotFound, Unserved):
        return ()
    resources = _decode_response(response, _APIResourceList, operation).resources or ()
    return tuple(each for each in resources if "/" not in each.name)


class _Served(Struct):
    """The resources of an answer, as they are read."""

    versions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    namespaced: dict[str, bool] = field(default_factory=dict)
    failed_groups: set[str] = field(default_factory=set)

    def add(self, group: str, version: str, name: str, found: _APIResource) -> None:
        resource = f"{name}.{group}"
        self.versions[resource] = (*self.versions.get(resource, ()), version)
        if found.has_namespaces is not None:
            self.namespaced[resource] = found.has_namespaces

    def result(self) -> DiscoveryResult:
        return DiscoveryResult(self.versions, frozenset(self.failed_groups), self.namespaced)


def _decode_response(response: ApiResponse, shape: type[ResponseT], operation: str) -> ResponseT:
    return decode_response(msgspec.json.Decoder(shape), response.body, operation)
