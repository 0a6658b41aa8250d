"""List all objects of one kind, as a whole or in pages, or one of them."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from reporter.kube.client.client import RestClient
from reporter.kube.watch.list_stream import ListStreamDecoder
from reporter.kube.watch.watch_events import ListPage, UndecodableObject, decode_list_page
from reporter.kube.wire.error_mapping import RequestInfo
from reporter.kube.wire.errors import Expired, Unreachable
from reporter.kube.wire.paths import Query, collection_path, name_field_selector
from reporter.model.kinds.base.objects import ApiObject, NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind


PAGE_SIZE = 500
MAX_PAGED_ATTEMPTS = 3
"""Attempts to read a list in pages when its continue token expires before the last page."""


@dataclass(frozen=True, slots=True)
class ListResult:
    """All objects at one resourceVersion, and those that could not be decoded."""

    resource_version: str
    objects: tuple[ApiObject, ...]
    undecodable: tuple[UndecodableObject, ...] = ()


@dataclass(frozen=True, slots=True)
class SingleResult:
    """One object at a resourceVersion of its kind; None if there is no such object."""

    resource_version: str
    found: ApiObject | UndecodableObject | None


async def list_all(
    api: RestClient, kind: ResourceKind, version: str, *, page_timeout: timedelta
) -> ListResult:
    """
    List all objects. *page_timeout*: for one response.

    The API server serves a whole list from its watch cache, but pages of a kind that has not changed
    for some minutes from etcd, at four times the cost. A list that breaks off may take longer than
    the server allows for a request, so only then it is read in pages.
    """
    request = RequestInfo(f"list {kind.group_resource}", "GET", collection_path(kind, version))
    query, decoder = _list_query(kind), ListStreamDecoder(kind, request)
    try:
        return await _read_pages(api, decoder, query, page_timeout)
    except Unreachable:
        if not decoder.has_input:
            raise
    query = [*query, ("limit", str(PAGE_SIZE))]
    for _ in range(MAX_PAGED_ATTEMPTS - 1):
        with suppress(Expired):
            return await _read_pages(api, decoder.copy_empty(), query, page_timeout)
    return await _read_pages(api, decoder.copy_empty(), query, page_timeout)


async def list_one(
    api: RestClient,
    kind: ResourceKind,
    version: str,
    name: NamespacedName,
    *,
    timeout: timedelta,  # noqa: ASYNC109
) -> SingleResult:
    """
    List one object, as permission to list a kind does not include getting an object of it.

    Without a resourceVersion the answer is as new as etcd (API concepts, "Semantics for get and
    list"), and by this path and selector the server reads a single key (apiserver,
    pkg/registry/generic/registry/store.go).
    """
    path = collection_path(kind, version, name[0])
    request = RequestInfo(f"list {kind.group_resource}", "GET", path)
    fields = ",".join(filter(None, (f"metadata.name={name[1]}", kind.field_selector)))
    query = [("labelSelector", kind.label_selector), ("fieldSelector", fields)]
    answer = await api.call(
        "GET",
        path,
        query=[(key, value) for key, value in query if value],
        timeout=timeout,
        operation=request.operation,
    )
    page = decode_list_page(answer.body, kind, request)
    objects = {(o.metadata.namespace, o.metadata.name): o for o in page.objects}
    undecodable = {each.name: each for each in page.undecodable}
    return SingleResult(page.resource_version, objects.get(name) or undecodable.get(name))


async def _read_pages(
    api: RestClient, first: ListStreamDecoder, query: Query, page_timeout: timedelta
) -> ListResult:
    pages = [await _read_page(api, first, query, page_timeout)]
    while pages[-1].continue_token:
        more = [*query, ("continue", pages[-1].continue_token)]
        pages.append(await _read_page(api, first.copy_empty(), more, page_timeout))
    return ListResult(
        resource_version=pages[0].resource_version,
        objects=tuple(each for page in pages for each in page.objects),
        undecodable=tuple(each for page in pages for each in page.undecodable),
    )


async def _read_page(
    api: RestClient, decoder: ListStreamDecoder, query: Query, page_timeout: timedelta
) -> ListPage:
    request = decoder.request
    async with api.stream_body(
        request.path, query, time_limit=page_timeout, operation=request.operation
    ) as chunks:
        async for chunk in chunks:
            decoder.feed(chunk)
    return decoder.finish()


def _list_query(kind: ResourceKind) -> Query:
    query = [("labelSelector", kind.label_selector), ("fieldSelector", name_field_selector(kind))]
    return [(name, value) for name, value in query if value]
