"""A small control plane that tests share, one after another: each leaves it as it has found it."""

import contextlib
from collections.abc import Iterator

from e2e.controlplane import ApiError, ControlPlane, contents, until
from e2e.controlplane.options import Options
from e2e.controlplane.waiting import WaitTimeout


CLEAN_WITHIN, READY_WITHIN = 30, 60
"""Seconds within which what was deleted is gone, and a control plane that stood still is ready."""


class SharedPlane:
    """
    It is started for the first user, and stands still between two: idle servers cost as much in four
    minutes as a start.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._plane: ControlPlane | None = None
        self._pause = contextlib.ExitStack()

    @contextlib.contextmanager
    def lent(self) -> Iterator[ControlPlane]:
        """
        Lend the control plane. What was added is deleted afterwards; what differs then is an error, and the
        next user gets a new control plane.
        """
        plane = self._resumed() or self._started()
        try:
            before = contents.read(plane.client)
            plane.forget_requests()
            yield plane
            _give_back(plane, before)
        except BaseException:
            self.end()
            raise
        for name in ("kube-apiserver", "etcd"):
            self._pause.enter_context(plane.paused(name))

    def end(self) -> None:
        self._pause.close()
        if self._plane is not None:
            self._plane.stop()
            self._plane = None

    def _resumed(self) -> ControlPlane | None:
        self._pause.close()
        plane = self._plane
        if plane is not None:
            until(lambda: _is_ready(plane), within=READY_WITHIN, what="the API server is ready")
        return plane

    def _started(self) -> ControlPlane:
        plane = ControlPlane(self._options)
        plane.start()
        self._plane = plane
        return plane


def _is_ready(plane: ControlPlane) -> bool:
    with contextlib.suppress(ApiError, OSError):
        return plane.client.raw("GET", "/readyz") == "ok"
    return False


def _give_back(plane: ControlPlane, before: contents.Contents) -> None:
    running = plane.other_processes()
    assert not running, f"still running: {', '.join(each.name for each in running)}"
    contents.remove_added(plane.client, before)

    def left() -> list[str]:
        return contents.differences(before, contents.read(plane.client))

    with contextlib.suppress(WaitTimeout):
        until(lambda: not left(), within=CLEAN_WITHIN, what="the control plane is as it was found")
    assert not (found := left()), "\n".join(found)
