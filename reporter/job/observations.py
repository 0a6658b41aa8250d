"""Observations of the sidecar: the result file, and the container that writes it."""

from collections.abc import Collection
from typing import TypeAlias

from msgspec import Struct

from reporter.model.job_results import Container, SidecarPod


SIDECAR_CONTAINER = "status-reporter"
"""The usual name of the sidecar's own container."""


class NoFile(Struct, frozen=True):
    """There is no result file yet."""


class ValidResult(Struct, frozen=True):
    """A result file that is valid; *reason* and *message* are trimmed, cut and never empty."""

    is_success: bool
    reason: str
    message: str


class InvalidResult(Struct, frozen=True):
    """
    A file that cannot be read or is no result.

    *identity*: device, inode, size and time of change, which a rewritten file does not keep.
    """

    error: str
    identity: tuple[int, ...] = ()


FileObservation: TypeAlias = NoFile | ValidResult | InvalidResult


def find_adapter(
    pod: SidecarPod, *, adapter: str = "", own_names: Collection[str] = (SIDECAR_CONTAINER,)
) -> Container | None:
    """
    Return the status of the container that writes the result; None while there is none.

    Without a name it is the first that is not the sidecar itself. Init containers never are.
    """
    for each in pod.containers:
        if each.name == adapter if adapter else each.name not in own_names:
            return each
    return None
