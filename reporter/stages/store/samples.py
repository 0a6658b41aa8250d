"""
The windows of all pods, kept by whoever scrapes them and read by passes through a view.
"""

from collections.abc import Callable
from datetime import timedelta

from reporter.model.kinds.core.pods import Pod
from reporter.model.samples import ContainerRun, FailedScrape, ScrapedMetrics, ScrapeHistory
from reporter.stages.resources.downloads import add_scrape, add_scrape_failure
from reporter.stages.snapshot.cow_map import CowMap, FrozenMap


PodName = tuple[str, str]
"""
Namespace and name.
"""


def _whole_history(window: ScrapeHistory) -> object:
    return window


class SampleStore:
    """
    *keep*: how far back a window reaches.

    *gist*: what of a window matters; a scrape that leaves that as it was needs no judging.
    """

    def __init__(
        self,
        keep: timedelta = timedelta(minutes=1),
        gist: Callable[[ScrapeHistory], object] = _whole_history,
    ) -> None:
        self._retention, self._gist = keep, gist
        self._histories: CowMap[PodName, ScrapeHistory] = CowMap()
        self._gists: dict[PodName, object] = {}

    def record_scrape(self, pod: Pod, scrape: ScrapedMetrics) -> bool:
        """
        Whether this changes anything that matters.
        """
        return self._set_history(
            pod, add_scrape(self._history_of(pod), scrape, retention=self._retention)
        )

    def record_scrape_failure(self, pod: Pod, unread: FailedScrape) -> bool:
        return self._set_history(pod, add_scrape_failure(self._history_of(pod), unread))

    def forget_if_outdated(self, pod: Pod) -> None:
        """
        Forget what is not of this life, and of a pod that has loaded its model.
        """
        window = self._histories.get(_pod_name(pod))
        if window is not None and (pod.is_ready or window.run != ContainerRun.of_pod(pod)):
            self.forget(_pod_name(pod))

    def forget(self, name: PodName) -> None:
        if name in self._gists:
            self._histories.pop(name)
            del self._gists[name]

    def snapshot(self) -> FrozenMap[PodName, ScrapeHistory]:
        return self._histories.freeze()

    def _history_of(self, pod: Pod) -> ScrapeHistory:
        return self._histories.get(_pod_name(pod)) or ScrapeHistory(ContainerRun.of_pod(pod))

    def _set_history(self, pod: Pod, window: ScrapeHistory) -> bool:
        name, gist = _pod_name(pod), self._gist(window)
        changed = name not in self._gists or self._gists[name] != gist
        self._histories[name], self._gists[name] = window, gist
        return changed


def _pod_name(pod: Pod) -> PodName:
    return (pod.metadata.namespace, pod.metadata.name)
