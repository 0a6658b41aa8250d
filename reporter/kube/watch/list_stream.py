"""
Decode the objects of a list while its body arrives. Pure.

A list of 40,000 pods has 300 MB, of which no more than a few megabytes are in memory at a time.
"""

from reporter.kube.watch.watch_events import (
    ListPage,
    UndecodableObject,
    decode_items,
    decode_list_page,
)
from reporter.kube.wire.error_mapping import RequestInfo
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind


BATCH_BYTES = 2**20
"""Bytes that are decoded in one step of some milliseconds."""

_ITEMS_PREFIX = b'"items":['


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
        self._head, self._buffer, self._separator = b"", bytearray(), b""
        self._objects: list[ApiObject] = []
        self._undecodable: list[UndecodableObject] = []

    def copy_empty(self) -> "ListStreamDecoder":
        """Return a new decoder for another response to the same request."""
        return ListStreamDecoder(self._kind, self.request, self._batch)

    @property
    def has_input(self) -> bool:
        return bool(self._head or self._buffer)

    def feed(self, chunk: bytes) -> None:
        self._buffer += chunk
        if len(self._buffer) < self._decode_at:
            return
        if not self._head:
            self._read_head()
        # Doubled after each failure, so that a body that cannot be split costs linear time.
        self._decode_at = self._batch if self._decode_complete_items() else 2 * len(self._buffer)

    def finish(self) -> ListPage:
        """Decode the rest. Raises Unreachable for a body that is not a complete list."""
        last = decode_list_page(self._head + self._buffer, self._kind, self.request)
        return ListPage(
            last.resource_version,
            last.continue_token,
            (*self._objects, *last.objects),
            (*self._undecodable, *last.undecodable),
        )

    def _read_head(self) -> None:
        begin = self._buffer.find(_ITEMS_PREFIX) + len(_ITEMS_PREFIX)
        if begin < len(_ITEMS_PREFIX) or not self._buffer.startswith(b"{", begin):
            return
        self._head = bytes(self._buffer[:begin])
        del self._buffer[:begin]
        self._separator = b"}," + self._buffer[: self._buffer.find(b"{", 1) + 1]

    def _decode_complete_items(self) -> bool:
        """Decode all complete objects but the last, and return whether that was possible."""
        end = self._buffer.rfind(self._separator) + 1 if self._separator else 0
        items = decode_items(b"[" + bytes(self._buffer[:end]) + b"]", self._kind) if end else None
        if items is None:
            return False
        objects, undecodable = items
        self._objects += objects
        self._undecodable += undecodable
        del self._buffer[: end + 1]
        return True
