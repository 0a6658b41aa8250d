"""
The complete objects of one kind at one version.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from reporter.kube.client.client import RestClient
from reporter.kube.watch.list_stream import ListStreamDecoder
from reporter.kube.watch.watch_events import ListPage, UndecodableObject
from reporter.kube.wire.error_mapping import RequestInfo
from reporter.kube.wire.errors import Expired, Unreachable
from reporter.kube.wire.paths import Query, collection_path, name_field_selector
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind


PAGE_SIZE = 500
MAX_PAGED_ATTEMPTS = 3
"""
How often a list whose continue token expires under way is started over.
"""


@dataclass(frozen=True, slots=True)
class ListResult:
    """
    All objects as of *version*, and the names of those that could not be decoded.
    """

    resource_version: str
    objects: tuple[ApiObject, ...]
    undecodable: tuple[UndecodableObject, ...] = ()


async def list_all(
    api: RestClient, kind: ResourceKind, version: str, *, page_timeout: timedelta
) -> ListResult:
    """
    *within* is the time for one answer.

    The API server takes a whole list out of its cache, but pages of what has not changed for some
    minutes out of etcd, at four times the cost. A list that breaks off may be too long to be sent
    within the time that the server gives a request, so it is read in pages then.
    """
    asked = RequestInfo(f"list {kind.group_resource}", "GET", collection_path(kind, version))
    query, whole = _list_query(kind), ListStreamDecoder(kind, asked)
    try:
        return await _read_pages(api, whole, query, page_timeout)
    except Unreachable:
        if not whole.has_input:
            raise
    query = [*query, ("limit", str(PAGE_SIZE))]
    for _ in range(MAX_PAGED_ATTEMPTS - 1):
        with suppress(Expired):
            return await _read_pages(api, whole.copy_empty(), query, page_timeout)
    return await _read_pages(api, whole.copy_empty(), query, page_timeout)


async def _read_pages(
    api: RestClient, first: ListStreamDecoder, query: Query, within: timedelta
) -> ListResult:
    pages = [await _read_page(api, first, query, within)]
    while pages[-1].continue_token:
        more = [*query, ("continue", pages[-1].continue_token)]
        pages.append(await _read_page(api, first.copy_empty(), more, within))
    return ListResult(
        resource_version=pages[0].resource_version,
        objects=tuple(each for page in pages for each in page.objects),
        undecodable=tuple(each for page in pages for each in page.undecodable),
    )


async def _read_page(
    api: RestClient, arriving: ListStreamDecoder, query: Query, within: timedelta
) -> ListPage:
    asked = arriving.request
    async with api.stream_body(
        asked.path, query, time_limit=within, operation=asked.operation
    ) as pieces:
        async for piece in pieces:
            arriving.feed(piece)
    return arriving.finish()


def _list_query(kind: ResourceKind) -> Query:
    query = [("labelSelector", kind.label_selector), ("fieldSelector", name_field_selector(kind))]
    return [(name, value) for name, value in query if value]
