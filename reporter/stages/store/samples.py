"""
The scrape histories of all pods: written by the scraper, read by passes through a snapshot.
"""

from collections.abc import Mapping
from typing import TypeAlias

from reporter.model.enums import Reason
from reporter.model.kinds.core.pods import Pod
from reporter.model.metrics.samples import (
    ContainerRun,
    FailedScrape,
    ScrapedMetrics,
    ScrapeHistory,
    add_scrape_failure,
)
from reporter.model.metrics.scrapes import Scrape
from reporter.stages.snapshot.cow_map import CowMap, FrozenMap


HistoryKey: TypeAlias = tuple[str, str, Reason]
"""
Namespace and name of the pod, and the reason whose probe reads it.
"""


class SampleStore:
    """
    One history for each pod and each scrape that selects it.

    *scrapes*: by the reason whose probe asks for them.
    """

    def __init__(self, scrapes: Mapping[Reason, Scrape]) -> None:
        self._scrapes = scrapes
        self._histories: CowMap[HistoryKey, ScrapeHistory] = CowMap()
        self._gists: dict[HistoryKey, object] = {}

    def record_scrape(
        self, pod: Pod, reason: Reason, scrape: ScrapedMetrics, *, now: Pod | None
    ) -> bool:
        """
        Add a scrape and return whether the gist of the history changed.

        A scrape of an earlier run counts no more: *now* is the pod as it is, None if it is gone.
        """
        if not self._is_current(pod, reason, now):
            return False
        history = self._scrapes[reason].keep(self._history_of(pod, reason), scrape)
        return self._set_history(pod, reason, history)

    def record_scrape_failure(
        self, pod: Pod, reason: Reason, failure: FailedScrape, *, now: Pod | None
    ) -> bool:
        if not self._is_current(pod, reason, now):
            return False
        history = add_scrape_failure(self._history_of(pod, reason), failure)
        return self._set_history(pod, reason, history)

    def _is_current(self, pod: Pod, reason: Reason, now: Pod | None) -> bool:
        """
        Return whether the pod has not restarted since, and this reason's scrape still selects it.
        """
        return (
            now is not None
            and self.is_selected(now, reason)
            and ContainerRun.of_pod(now) == ContainerRun.of_pod(pod)
        )

    def is_selected(self, pod: Pod, reason: Reason) -> bool:
        return self._scrapes[reason].pods.matches(pod)

    def forget_if_outdated(self, pod: Pod) -> None:
        """
        Forget the histories of earlier runs, and of scrapes that no longer select this pod.
        """
        if not self._gists:
            return
        for reason in self._scrapes:
            history = self._histories.get(_history_key(pod, reason))
            if history is not None and (
                history.run != ContainerRun.of_pod(pod) or not self.is_selected(pod, reason)
            ):
                self._forget(_history_key(pod, reason))

    def forget(self, namespace: str, name: str) -> None:
        for reason in self._scrapes:
            self._forget((namespace, name, reason))

    def snapshot(self) -> FrozenMap[HistoryKey, ScrapeHistory]:
        return self._histories.freeze()

    def _forget(self, key: HistoryKey) -> None:
        if key in self._gists:
            self._histories.pop(key)
            del self._gists[key]

    def _history_of(self, pod: Pod, reason: Reason) -> ScrapeHistory:
        found = self._histories.get(_history_key(pod, reason))
        return found or ScrapeHistory(ContainerRun.of_pod(pod))

    def _set_history(self, pod: Pod, reason: Reason, history: ScrapeHistory) -> bool:
        key, gist = _history_key(pod, reason), self._scrapes[reason].gist(history)
        changed = key not in self._gists or self._gists[key] != gist
        self._histories[key], self._gists[key] = history, gist
        return changed


def _history_key(pod: Pod, reason: Reason) -> HistoryKey:
    return (pod.metadata.namespace, pod.metadata.name, reason)
