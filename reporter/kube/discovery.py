"""Discover the served resources, by aggregated discovery or, without it, group by group."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct, field

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.backoff import Backoff, is_no_response, least_pause_after, pause_after
from reporter.kube.client import ApiResponse, RestClient
from reporter.kube.decoding import decode_response
from reporter.kube.errors import KubeError, NotFound, Throttled, Unreachable, Unserved
from reporter.kube.watch_context import WatchContext
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


logger = logging.getLogger(__name__)


class PresenceStore(Protocol):
    """
    The receiver of each result of discovery, or of None and why it failed.

    *has_unconfirmed_loss*: a resource is missing, which a second result must confirm.
    """

    def record_discovery(
        self, answer: DiscoveryResult | None, why: str = "", *, now: datetime
    ) -> None:
        """
        Take the result of one run, at *now*.

        *answer*: None if discovery failed, for the reason *why*; then the presence of all resources
        is unknown.
        """

    @property
    def has_unconfirmed_loss(self) -> bool:
        """
        True while a resource is missing from the last result, and no second one has confirmed that.

        The next run then comes after loss_confirmation_interval, which is shorter than the regular
        one.
        """


class DiscoveryLoop:
    """
    Runs discovery, and records its results in the store.

    *resources*: the resources (``resource.group``) whose presence is tracked.
    """

    def __init__(
        self, context: WatchContext, presences: PresenceStore, resources: Iterable[str]
    ) -> None:
        self._context = context
        self._presences = presences
        self._groups = _groups_of(resources)
        self._last: CachedDiscovery | None = None
        self._failure: KubeError | None = None
        self._backoff = Backoff(context.timing.backoff)
        self._refresh_requested = asyncio.Event()
        self._answered = asyncio.Event()

    def set_resources(self, resources: Iterable[str]) -> None:
        """
        Track the presence of these resources alone. Discovery runs soon if one of them is new.
        """
        before, self._groups = self._groups, _groups_of(resources)
        if self._groups - before:
            # The last answer has nothing about the new groups, so its ETag is of no use.
            self._last = None
            self.request_refresh()

    def request_refresh(self) -> None:
        """Run discovery soon, as a resource may have appeared or disappeared."""
        self._refresh_requested.set()

    async def wait_for_answer(self) -> None:
        """Wait until discovery has run once more, with or without success."""
        await self._answered.wait()

    def is_unserved(self, kind: ResourceKind) -> bool:
        """
        Return whether the server serves this kind in none of the versions that we can read.

        False while that is not known: before the first answer, and if discovery of its group failed.
        """
        if self._last is None or kind.group not in self._groups:
            return False
        last = self._last.discovery
        readable = kind.readable_versions(last.served_versions.get(kind.group_resource, ()))
        return kind.group not in last.failed_groups and not readable

    def why_misdeclared(self, kind: ResourceKind) -> str:
        """
        Return why a kind cannot be read as a catalogue declares it; empty if it can, for all that is known.
        """
        if self._last is None or kind.group not in self._groups:
            return ""
        namespaced = self._last.discovery.namespaced.get(kind.group_resource)
        return kind.why_misdeclared(namespaced=namespaced)

    def is_group_failing(self, kind: ResourceKind) -> bool:
        """Return whether the server answered that it cannot discover the kind's API group."""
        return self._last is not None and kind.group in self._last.discovery.failed_groups

    async def run(self) -> None:
        """Run discovery until cancelled. Failures are recorded and tried again, and never raised."""
        while True:
            self._refresh_requested.clear()
            await self._discover()
            self._answered.set()
            self._answered = asyncio.Event()
            await self._wait_for_next()

    async def _discover(self) -> None:
        before, failure = self._failure, None
        now = self._context.clock.now
        groups = self._groups
        try:
            with self._context.recovery.attempt(self):
                found = await discover(self._context.api, groups, previous=self._last)
        except KubeError as err:
            failure = err
            at = asyncio.get_running_loop().time()
            self._backoff = self._backoff.with_failure(now=at, no_response=is_no_response(err))
            self._presences.record_discovery(None, str(err), now=now())
        else:
            self._backoff = Backoff(self._context.timing.backoff)
            # Groups that were added during the request are missing from its answer.
            if groups >= self._groups:
                self._last = found
                self._presences.record_discovery(found.discovery, now=now())
        self._failure = failure
        if failure is not None and before is None:
            logger.warning("discovery fails, so the served resources are unknown: %s", failure)
        elif failure is None and before is not None:
            logger.info("discovery works again")

    async def _wait_for_next(self) -> None:
        """
        Pause until the next run; a request shortens that, but not below min_discovery_interval.
        """
        spacing = self._context.timing.min_discovery_interval
        left = max(self._interval() - spacing, timedelta(0))
        await asyncio.sleep(spacing.total_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout(left.total_seconds()):
                await self._refresh_requested.wait()

    def _interval(self) -> timedelta:
        timing, random = self._context.timing, self._context.random
        if self._failure is not None:
            return self._pause_after(self._failure)
        regular = (
            timing.loss_confirmation_interval
            if self._presences.has_unconfirmed_loss
            else timing.discovery_interval
        )
        return timing.jittered(regular, random)

    def _pause_after(self, failure: KubeError) -> timedelta:
        """
        Return the pause after a failure, which stays short while the server is in trouble.

        Discovery costs it little, and its first answer ends the pauses of all watches.
        """
        random, cap = self._context.random.random(), self._context.timing.backoff.no_response_cap
        pause = pause_after(self._backoff, failure, random)
        if not isinstance(failure, Throttled | Unreachable):
            return pause
        return min(pause, max(cap, least_pause_after(self._backoff, failure, random)))


def _groups_of(resources: Iterable[str]) -> frozenset[str]:
    return frozenset(each.partition(".")[2] for each in resources)


# --------------------------------------------------------------------
# Get CustomResourceDefinitions by name, with their schemas, for callers that check expressions by them.


_JSON = msgspec.json.Decoder(Any)


async def get_crds(api: RestClient, names: Iterable[str]) -> list[Any]:
    """
    Return the CRDs with these names, such as ``inferencesets.kaito.sh``, as decoded JSON.

    Those that do not exist are left out. Raises KubeError.
    """
    found = []
    for name in sorted(names):
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        operation = f"get the CRD {name}"
        try:
            answer = await api.call("GET", path, operation=operation)
        except NotFound:
            continue
        found.append(decode_response(_JSON, answer.body, operation))
    return found
