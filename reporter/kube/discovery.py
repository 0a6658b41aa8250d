"""
Which resources are served: one aggregated answer, or several of servers that have none.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TypeVar

import msgspec

from reporter.kube.client import Answer, Api
from reporter.kube.decoding import decoded
from reporter.kube.errors import KubeError, NotFound, Unreachable, Unserved
from reporter.model.observations import Discovery


PATH = "/apis"
_LIST = "as=APIGroupDiscoveryList"
AGGREGATED = (
    f"application/json;g=apidiscovery.k8s.io;v=v2;{_LIST},"
    f"application/json;g=apidiscovery.k8s.io;v=v2beta1;{_LIST},"
    "application/json"
)
TIMEOUT = timedelta(seconds=20)


Shape = TypeVar("Shape")


class _Named(msgspec.Struct):
    name: str = ""


class _Resource(msgspec.Struct):
    resource: str = ""
    name: str = ""


class _Version(msgspec.Struct):
    version: str
    freshness: str | None = ""
    resources: list[_Resource] | None = None


class _Group(msgspec.Struct):
    metadata: _Named = msgspec.field(default_factory=_Named)
    name: str = ""
    versions: list[_Version] | None = None


class _Groups(msgspec.Struct):
    """
    APIGroupDiscoveryList has *items*, the plain APIGroupList has *groups*.
    """

    kind: str
    items: list[_Group] | None = None
    groups: list[_Group] | None = None


class _Resources(msgspec.Struct):
    """
    APIResourceList: subresources are entries of their own, with a slash.
    """

    kind: str
    resources: list[_Resource] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """
    What was found, and the ETag by which the server knows whether anything has changed.
    """

    discovery: Discovery
    etag: str = ""


async def discover(api: Api, groups: frozenset[str], *, before: Found | None) -> Found:
    """
    Only of *groups*. *before* is the last answer. Raises KubeError if there is none at all.
    """
    known = {"If-None-Match": before.etag} if before is not None and before.etag else {}
    doing = "discover API groups"
    answer = await api.call(
        "GET", PATH, accept=AGGREGATED, headers=known, timeout=TIMEOUT, doing=doing
    )
    if answer.status == HTTPStatus.NOT_MODIFIED and before is not None:
        return before
    listed = _decode(answer, _Groups, doing)
    if listed.kind == "APIGroupDiscoveryList":
        etag = answer.headers.get("ETag", "")
        return Found(of_groups(listed.items or (), groups), etag)
    return Found(await _one_by_one(api, listed.groups or (), groups))


def of_groups(listed: Iterable[_Group], groups: frozenset[str]) -> Discovery:
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
            _add(served, names, group.metadata.name, version.version)
    return Discovery(served, frozenset(stale))


async def _one_by_one(api: Api, listed: Iterable[_Group], groups: frozenset[str]) -> Discovery:
    served: dict[str, tuple[str, ...]] = {}
    stale = set()
    for group in listed:
        if group.name not in groups:
            continue
        for version in group.versions or ():
            try:
                names = await _names(api, f"{PATH}/{group.name}/{version.version}")
            except KubeError:
                stale.add(group.name)
            else:
                _add(served, names, group.name, version.version)
    return Discovery(served, frozenset(stale))


async def _names(api: Api, path: str) -> tuple[str, ...]:
    doing = f"discover {path}"
    try:
        answer = await api.call("GET", path, timeout=TIMEOUT, doing=doing)
    except (NotFound, Unserved):
        return ()
    resources = _decode(answer, _Resources, doing).resources or ()
    return tuple(each.name for each in resources if "/" not in each.name)


def _add(
    served: dict[str, tuple[str, ...]], names: Iterable[str], group: str, version: str
) -> None:
    for name in names:
        resource = f"{name}.{group}"
        served[resource] = (*served.get(resource, ()), version)


def _decode(answer: Answer, shape: type[Shape], doing: str) -> Shape:
    try:
        return decoded(msgspec.json.Decoder(shape), answer.body)
    except msgspec.DecodeError as err:
        raise Unreachable(doing, status=answer.status, message=str(err), arrived=True) from err
