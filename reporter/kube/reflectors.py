"""The reflectors of a set of kinds that may change, run as one task."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NoReturn

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.reflector import Reflector


class Reflectors:
    """
    Runs one reflector for each kind that is set.

    *make*: returns a reflector of a kind. Kinds are listed in the order in which they are set.
    """

    def __init__(self, make: Callable[[ResourceKind], Reflector]) -> None:
        self._make = make
        self._by_kind: Mapping[ResourceKind, Reflector] = {}
        self._tasks: dict[ResourceKind, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    @property
    def by_kind(self) -> Mapping[ResourceKind, Reflector]:
        return self._by_kind

    def prepare_kinds(self, kinds: Iterable[ResourceKind]) -> Callable[[], None]:
        """
        Return a function that watches these kinds alone.

        Undelivered events of a watch that ends are dropped.
        """
        before = self._by_kind
        return partial(self._set, {kind: before.get(kind) or self._make(kind) for kind in kinds})

    def _set(self, after: Mapping[ResourceKind, Reflector]) -> None:
        before, self._by_kind = self._by_kind, after
        for kind in before.keys() - after.keys():
            task = self._tasks.pop(kind, None)
            if task is not None:
                # It is suspended now, so it takes no further step but to end.
                task.cancel()
        self._start()

    async def run(self) -> NoReturn:
        """Run the reflectors until cancelled, also those of kinds that are set later."""
        try:
            async with asyncio.TaskGroup() as self._group:
                self._start()
                while True:
                    await asyncio.Future()
        finally:
            self._group = None

    def _start(self) -> None:
        if self._group is None:
            return
        for kind, reflector in self._by_kind.items():
            if kind not in self._tasks:
                name = f"reflector {kind.watch_name}"
                self._tasks[kind] = self._group.create_task(reflector.run(), name=name)
