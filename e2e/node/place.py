"""The names and addresses that one of several nodes on a machine has for itself."""

import contextlib
import fcntl
from collections.abc import Iterator
from dataclasses import dataclass

from e2e.controlplane import pins, until


MOST = 9
"""Nodes at a time on a machine."""

FREE_WITHIN = 3600.0
"""Seconds until the tests of another node have ended."""


@dataclass(frozen=True)
class Place:
    """
    A number of the node. Its addresses are of a network that clusters rarely have: another one may run on
    this machine.
    """

    number: int

    @property
    def name(self) -> str:
        """The name of the Node."""
        return f"real-node-{self.number}"

    @property
    def link(self) -> str:
        """The machine's end of the link to the node."""
        return f"pstack-node{self.number}"

    @property
    def machine_address(self) -> str:
        return f"10.213.{100 + self.number}.1"

    @property
    def address(self) -> str:
        return f"10.213.{100 + self.number}.2"

    @property
    def pods(self) -> str:
        return f"10.213.{self.number}.0/24"


@contextlib.contextmanager
def claimed() -> Iterator[Place]:
    """Provide a place that no other process has. It is free again when this one ends in whatever way."""
    with contextlib.ExitStack() as stack:
        yield until(lambda: _free(stack), within=FREE_WITHIN, what="there is room for a node")


def _free(stack: contextlib.ExitStack) -> Place | None:
    folder = pins.cache_folder().parents[1] / "node-places"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, MOST + 1):
        file = (folder / f"{number}.lock").open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        stack.enter_context(file)
        return Place(number)
    return None
