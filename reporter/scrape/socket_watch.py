"""Watch the sockets of all pages that are open: the event loop has one reader for all of them."""

import asyncio
from collections.abc import Callable
from selectors import DefaultSelector


class SocketWatch:
    """
    Calls back when sockets can be read or written.

    To add a reader or a writer to the event loop, and to remove it, takes several times as long.
    """

    def __init__(self) -> None:
        self._selector: DefaultSelector | None = None
        self._watched: set[int] = set()

    def watch(self, file: int, events: int, on_ready: Callable[[], None]) -> None:
        """Call back whenever one of these *events* of `selectors` holds, and not for others any more."""
        if self._selector is None:
            selector = DefaultSelector()
            asyncio.get_running_loop().add_reader(selector, self._call_back)
            self._selector = selector
        if file in self._watched:
            self._selector.modify(file, events, on_ready)
        else:
            self._selector.register(file, events, on_ready)
            self._watched.add(file)

    def forget(self, file: int) -> None:
        """Watch a file no more; nothing if it is not watched."""
        if self._selector is None or file not in self._watched:
            return
        self._watched.remove(file)
        self._selector.unregister(file)
        if not self._watched:
            asyncio.get_running_loop().remove_reader(self._selector)
            self._selector.close()
            self._selector = None

    def _call_back(self) -> None:
        if self._selector is not None:
            for key, _ in self._selector.select(0):
                key.data()
