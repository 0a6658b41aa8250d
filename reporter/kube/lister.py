"""
List all objects of one kind, as a whole or in pages, or one of them.

A list of 40,000 pods has 300 MB, of which no more than a few megabytes are in memory at a time: its
objects are decoded while its body arrives.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta
from functools import partial
from typing import TypeAlias

import msgspec
from msgspec import Struct

from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.decoding import decode_response
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import Expired, Unreachable
from reporter.kube.paths import Query, collection_path, name_field_selector
from reporter.kube.watch_events import ListPage, UndecodableObject, decode_items, decode_list_page


BATCH_BYTES = 2**16
"""
Bytes that are decoded in one step of a millisecond. A larger buffer is new memory of the system each time:
in steps of a megabyte a list takes some 40 % more processor time with the allocator of the image.
"""

_ITEMS_PREFIX = b'"items":['
_COMMA, _END_OF_ARRAY = b",]"


class ListStreamDecoder:
    """
    Decodes one response to *request*: `feed` takes its chunks, `finish` returns the page.

    The list is split at the bytes with which every item starts. If an item contains them too, the
    part before is not valid JSON; then decoding fails and more input is awaited.
    """

    def __init__(
        self, kind: ResourceKind, request: RequestInfo, batch_bytes: int = BATCH_BYTES
    ) -> None:
        self.request = request
        self._kind, self._batch, self._decode_at = kind, batch_bytes, batch_bytes
        self._head, self._separator = b"", b""
        self._arrived: list[bytes | bytearray] = []
        self._size = 0
        self._objects: list[ApiObject] = []
        self._undecodable: list[UndecodableObject] = []

    def copy_empty(self) -> "ListStreamDecoder":
        """Return a new decoder for another response to the same request."""
        return ListStreamDecoder(self._kind, self.request, self._batch)

    @property
    def has_input(self) -> bool:
        """
        True once a part of the body has arrived.

        A failure then broke off a response that was under way, so the list is tried again in pages.
        """
        return bool(self._arrived)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the body and decode the items that are complete, batch by batch."""
        self._arrived.append(chunk)
        self._size += len(chunk)
        if self._size < self._decode_at:
            return
        text = bytearray().join(self._arrived)
        if not self._head:
            self._take_head(text)
        is_decoded = self._decode_complete_items(text)
        self._arrived, self._size = [text], len(text)
        # Doubled after each failure, so that a body that cannot be split costs linear time.
        self._decode_at = self._batch if is_decoded else 2 * self._size

    def finish(self) -> ListPage:
        """Decode the rest. Raises Unreachable for a body that is not a complete list."""
        body = b"".join((self._head, *self._arrived))
        last = decode_list_page(body, self._kind, self.request)
        return ListPage(
            last.resource_version,
            last.continue_token,
            (*self._objects, *last.objects),
            (*self._undecodable, *last.undecodable),
        )

    def _take_head(self, text: bytearray) -> None:
        """Move what is before the array of items out of the text."""
        begin = text.find(_ITEMS_PREFIX) + len(_ITEMS_PREFIX)
        if begin < len(_ITEMS_PREFIX) or not text.startswith(b"{", begin):
            return
        self._head = bytes(text[: begin - 1])
        del text[: begin - 1]
        self._separator = bytes(b"}," + text[1 : text.find(b"{", 2) + 1])

    def _decode_complete_items(self, text: bytearray) -> bool:
        """Decode all complete objects but the last, leave that one, and return whether it was possible."""
        comma = text.rfind(self._separator) + 1 if self._separator else 0
        if not comma:
            return False
        text[comma] = _END_OF_ARRAY
        with memoryview(text) as view, view[: comma + 1] as array:
            items = decode_items(array, self._kind)
        if items is None:
            text[comma] = _COMMA
            return False
        objects, undecodable = items
        self._objects += objects
        self._undecodable += undecodable
        text[: comma + 1] = b"["
        return True


class _PageMeta(Struct, rename={"token": "continue"}):
    token: str | None = ""


class _RawPage(Struct):
    metadata: _PageMeta
    items: tuple[msgspec.Raw, ...] | None


_RAW_PAGE_DECODER = msgspec.json.Decoder(_RawPage)

PAGE_SIZE = 500
MAX_PAGED_ATTEMPTS = 3
"""Attempts to read a list in pages when its continue token expires before the last page."""


_StreamFunc: TypeAlias = Callable[[Query], AbstractAsyncContextManager[AsyncIterator[bytes]]]


class ListResult(Struct, frozen=True):
    """All objects at one resourceVersion, and those that could not be decoded."""

    resource_version: str
    objects: tuple[ApiObject, ...]
    undecodable: tuple[UndecodableObject, ...] = ()


class SingleResult(Struct, frozen=True):
    """One object at a resourceVersion of its kind; None if there is no such object."""

    resource_version: str
    found: ApiObject | UndecodableObject | None


async def list_all(
    api: RestClient,
    kind: ResourceKind,
    version: str,
    *,
    page_timeout: timedelta,
    namespace: str = "",
    keeps_connection: bool = True,
) -> ListResult:
    """
    List all objects, or those of one *namespace*. *page_timeout*: for one response.

    *keeps_connection*: as `RestClient.stream_body` has it.

    The API server serves a whole list from its watch cache, but pages of a kind that has not changed
    for some minutes from etcd, at four times the cost. A list that breaks off may take longer than
    the server allows for a request, so only then it is read in pages.
    """
    path = collection_path(kind, version, namespace)
    request = RequestInfo(f"list {kind.group_resource}", "GET", path)
    query, decoder = _list_query(kind), ListStreamDecoder(kind, request)
    stream: _StreamFunc = partial(
        api.stream_body,
        path,
        time_limit=page_timeout,
        operation=request.operation,
        keeps_connection=keeps_connection,
    )
    try:
        return await _read_pages(stream, decoder, query)
    except Unreachable:
        if not decoder.has_input:
            raise
    query = [*query, ("limit", str(PAGE_SIZE))]
    for _ in range(MAX_PAGED_ATTEMPTS - 1):
        with suppress(Expired):
            return await _read_pages(stream, decoder.copy_empty(), query)
    return await _read_pages(stream, decoder.copy_empty(), query)


def list_raw(
    api: RestClient,
    kind: ResourceKind,
    version: str,
    *,
    page_timeout: timedelta,
    namespace: str = "",
) -> AsyncIterator[tuple[msgspec.Raw, ...]]:
    """
    Return the pages of a list, with each object as its JSON, so that no more than a page is in memory.

    If a page fails, the pages before it do not count either. Raises KubeError, such as Expired for a
    continue token that is too old.
    """
    path, operation = collection_path(kind, version, namespace), f"list {kind.group_resource}"
    query = _list_query(kind)
    return list_pages(api, path, query, page_timeout=page_timeout, operation=operation)


async def list_pages(
    api: RestClient, path: str, query: Query, *, page_timeout: timedelta, operation: str
) -> AsyncIterator[tuple[msgspec.Raw, ...]]:
    """Yield the pages of what is at *path*, with each object as its JSON. Raises KubeError."""
    token = ""
    while True:
        limits = [("limit", str(PAGE_SIZE)), *([("continue", token)] if token else [])]
        answer = await api.call(
            "GET", path, query=[*query, *limits], timeout=page_timeout, operation=operation
        )
        page = decode_response(_RAW_PAGE_DECODER, answer.body, operation, expected="a list")
        yield page.items or ()
        token = page.metadata.token or ""
        if not token:
            return


async def get_one(
    api: RestClient,
    kind: ResourceKind,
    version: str,
    name: str,
    *,
    timeout: timedelta,  # noqa: ASYNC109
) -> ListResult:
    """
    Get one cluster-scoped object, as a list of it: a user who may not list a kind may be allowed to get it.

    Raises KubeError, such as NotFound.
    """
    path = f"{collection_path(kind, version)}/{name}"
    request = RequestInfo(f"get {kind.group_resource}", "GET", path)
    answer = await api.call("GET", path, timeout=timeout, operation=request.operation)
    whole = b'{"metadata":{},"items":[%b]}' % answer.body
    page = decode_list_page(whole, kind, request)
    return ListResult(page.resource_version, page.objects, page.undecodable)


async def get_raw(
    api: RestClient,
    kind: ResourceKind,
    version: str,
    name: str,
    *,
    timeout: timedelta,  # noqa: ASYNC109
) -> AsyncIterator[tuple[msgspec.Raw, ...]]:
    """Yield the JSON of one cluster-scoped object, as the only page of a list. Raises KubeError."""
    path = f"{collection_path(kind, version)}/{name}"
    operation = f"get {kind.group_resource}"
    answer = await api.call("GET", path, timeout=timeout, operation=operation)
    yield (msgspec.Raw(answer.body),)


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


async def _read_pages(stream: _StreamFunc, first: ListStreamDecoder, query: Query) -> ListResult:
    pages = [await _read_page(stream, first, query)]
    while pages[-1].continue_token:
        more = [*query, ("continue", pages[-1].continue_token)]
        pages.append(await _read_page(stream, first.copy_empty(), more))
    return ListResult(
        resource_version=pages[0].resource_version,
        objects=tuple(each for page in pages for each in page.objects),
        undecodable=tuple(each for page in pages for each in page.undecodable),
    )


async def _read_page(stream: _StreamFunc, decoder: ListStreamDecoder, query: Query) -> ListPage:
    async with stream(query) as chunks:
        async for chunk in chunks:
            decoder.feed(chunk)
    return decoder.finish()


def _list_query(kind: ResourceKind) -> Query:
    query = [("labelSelector", kind.label_selector), ("fieldSelector", name_field_selector(kind))]
    return [(name, value) for name, value in query if value]
