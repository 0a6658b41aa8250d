"""
The objects of a list, taken out of its text as that comes in. Pure.

A list of 40,000 pods is 300 MB; no more than a megabyte of it has to be there at a time.
"""

from reporter.kube.changes import Page, Spoilt, read_items, read_page
from reporter.kube.translation import Asked
from reporter.model.kinds import ResourceKind
from reporter.model.objects import ApiObject


BATCH = 2**20
"""
Bytes that are decoded in one go: some milliseconds.
"""

_ITEMS = b'"items":['


class Arriving:
    """
    Feed it all pieces of one answer to *asked*, then *end* gives the page.

    Objects are divided where all of them begin alike. Inside of one the same bytes may stand as well;
    what is cut off there is no JSON, and then more of it is waited for.
    """

    def __init__(self, kind: ResourceKind, asked: Asked, batch: int = BATCH) -> None:
        self.asked = asked
        self._kind, self._batch, self._enough = kind, batch, batch
        self._head, self._rest, self._between = b"", bytearray(), b""
        self._objects: list[ApiObject] = []
        self._spoilt: list[Spoilt] = []

    def another(self) -> "Arriving":
        """
        For one more answer about the same.
        """
        return Arriving(self._kind, self.asked, self._batch)

    @property
    def begun(self) -> bool:
        return bool(self._head or self._rest)

    def feed(self, piece: bytes) -> None:
        self._rest += piece
        if len(self._rest) < self._enough:
            return
        if not self._head:
            self._begin()
        # Twice as much each time, or a text that can be cut nowhere would be tried without an end.
        self._enough = self._batch if self._take() else 2 * len(self._rest)

    def end(self) -> Page:
        """
        Raises Unreachable for what is no list, or only the beginning of one.
        """
        last = read_page(self._head + self._rest, self._kind, self.asked)
        return Page(
            last.version,
            last.token,
            (*self._objects, *last.objects),
            (*self._spoilt, *last.spoilt),
        )

    def _begin(self) -> None:
        begin = self._rest.find(_ITEMS) + len(_ITEMS)
        if begin < len(_ITEMS) or not self._rest.startswith(b"{", begin):
            return
        self._head = bytes(self._rest[:begin])
        del self._rest[:begin]
        self._between = b"}," + self._rest[: self._rest.find(b"{", 1) + 1]

    def _take(self) -> bool:
        """
        All but the last object that is there.
        """
        end = self._rest.rfind(self._between) + 1 if self._between else 0
        items = read_items(b"[" + bytes(self._rest[:end]) + b"]", self._kind) if end else None
        if items is None:
            return False
        objects, spoilt = items
        self._objects += objects
        self._spoilt += spoilt
        del self._rest[: end + 1]
        return True
