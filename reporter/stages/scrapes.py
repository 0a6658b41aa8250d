"""
The windows of all pods, kept by whoever scrapes them and read by passes through a view.
"""

from collections.abc import Callable
from datetime import timedelta

from reporter.model.objects import Pod
from reporter.model.samples import Life, Scrape, Unread, Window
from reporter.stages.sharded import Frozen, Sharded
from reporter.stages.windows import missed, taken


PodName = tuple[str, str]
"""
Namespace and name.
"""


def _everything(window: Window) -> object:
    return window


class Scrapes:
    """
    *keep*: how far back a window reaches.

    *gist*: what of a window matters; a scrape that leaves that as it was needs no judging.
    """

    def __init__(
        self,
        keep: timedelta = timedelta(minutes=1),
        gist: Callable[[Window], object] = _everything,
    ) -> None:
        self._keep, self._gist = keep, gist
        self._windows: Sharded[PodName, Window] = Sharded()
        self._gists: dict[PodName, object] = {}

    def sampled(self, pod: Pod, scrape: Scrape) -> bool:
        """
        Whether this changes anything that matters.
        """
        return self._put(pod, taken(self._window(pod), scrape, keep=self._keep))

    def unread(self, pod: Pod, unread: Unread) -> bool:
        return self._put(pod, missed(self._window(pod), unread))

    def follow(self, pod: Pod) -> None:
        """
        Forget what is not of this life, and of a pod that has loaded its model.
        """
        window = self._windows.get(_name(pod))
        if window is not None and (pod.ready or window.life != Life.of(pod)):
            self.forget(_name(pod))

    def forget(self, name: PodName) -> None:
        if name in self._gists:
            self._windows.pop(name)
            del self._gists[name]

    def view(self) -> Frozen[PodName, Window]:
        return self._windows.freeze()

    def _window(self, pod: Pod) -> Window:
        return self._windows.get(_name(pod)) or Window(Life.of(pod))

    def _put(self, pod: Pod, window: Window) -> bool:
        name, gist = _name(pod), self._gist(window)
        changed = name not in self._gists or self._gists[name] != gist
        self._windows[name], self._gists[name] = window, gist
        return changed


def _name(pod: Pod) -> PodName:
    return (pod.metadata.namespace, pod.metadata.name)
