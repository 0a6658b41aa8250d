"""
The objects of a list, taken out of its text as that comes in. Pure.

A list of 40,000 pods is 300 MB; no more than a megabyte of it has to be there at a time.
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
"""
Bytes that are decoded in one go: some milliseconds.
"""

_ITEMS_PREFIX = b'"items":['


class ListStreamDecoder:
    """
    Feed it all pieces of one answer to *asked*, then *end* gives the page.

    Objects are divided where all of them begin alike. Inside of one the same bytes may stand as well;
    what is cut off there is no JSON, and then more of it is waited for.
    """

    def __init__(self, kind: ResourceKind, asked: RequestInfo, batch: int = BATCH_BYTES) -> None:
        self.request = asked
        self._kind, self._batch, self._decode_at = kind, batch, batch
        self._head, self._buffer, self._separator = b"", bytearray(), b""
        self._objects: list[ApiObject] = []
        self._undecodable: list[UndecodableObject] = []

    def copy_empty(self) -> "ListStreamDecoder":
        """
        For one more answer about the same.
        """
        return ListStreamDecoder(self._kind, self.request, self._batch)

    @property
    def has_input(self) -> bool:
        return bool(self._head or self._buffer)

    def feed(self, piece: bytes) -> None:
        self._buffer += piece
        if len(self._buffer) < self._decode_at:
            return
        if not self._head:
            self._read_head()
        # Twice as much each time, or a text that can be cut nowhere would be tried without an end.
        self._decode_at = self._batch if self._decode_complete_items() else 2 * len(self._buffer)

    def finish(self) -> ListPage:
        """
        Raises Unreachable for what is no list, or only the beginning of one.
        """
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
        """
        All but the last object that is there.
        """
        end = self._buffer.rfind(self._separator) + 1 if self._separator else 0
        items = decode_items(b"[" + bytes(self._buffer[:end]) + b"]", self._kind) if end else None
        if items is None:
            return False
        objects, spoilt = items
        self._objects += objects
        self._undecodable += spoilt
        del self._buffer[: end + 1]
        return True
