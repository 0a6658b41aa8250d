"""
The scrape histories of all pods: written by the scraper, read by passes through a snapshot.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias

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


HistoryKey: TypeAlias = tuple[str, str, str]
"""
Namespace and name of the pod, and the name of the history.
"""


class SampleStore:
    """
    One history for each pod and each scrape that selects it.

    *scrapes*: by the name of their history: a reason, or what the probes of several reasons share.
    """

    def __init__(self, scrapes: Mapping[str, Scrape]) -> None:
        self._scrapes = scrapes
        self._histories: CowMap[HistoryKey, ScrapeHistory] = CowMap()
        self._gists: dict[HistoryKey, object] = {}
        self._last_read_at: datetime | None = None

    def record_scrape(
        self, pod: Pod, history_name: str, scrape: ScrapedMetrics, *, now: Pod | None
    ) -> bool:
        """
        Add a scrape and return whether the gist of the history changed.

        A scrape of an earlier run counts no more: *now* is the pod as it is, None if it is gone.
        """
        if not self._is_current(pod, history_name, now):
            return False
        self._last_read_at = scrape.scraped_at
        history = self._scrapes[history_name].keep(self._history_of(pod, history_name), scrape)
        return self._set_history(pod, history_name, history)

    def record_scrape_failure(
        self, pod: Pod, history_name: str, failure: FailedScrape, *, now: Pod | None
    ) -> bool:
        if not self._is_current(pod, history_name, now):
            return False
        history = add_scrape_failure(
            self._history_of(pod, history_name), failure, last_read_at=self._last_read_at
        )
        return self._set_history(pod, history_name, history)

    def _is_current(self, pod: Pod, history_name: str, now: Pod | None) -> bool:
        """
        Return whether the pod has not restarted since, and the scrape still selects it.
        """
        return (
            now is not None
            and self.is_selected(now, history_name)
            and ContainerRun.of_pod(pod).is_of(now)
        )

    def is_selected(self, pod: Pod, history_name: str) -> bool:
        return self._scrapes[history_name].pods.matches(pod)

    def forget_if_outdated(self, pod: Pod) -> None:
        """
        Forget the histories of earlier runs, and of scrapes that no longer select this pod.
        """
        if not self._gists:
            return
        for history_name in self._scrapes:
            history = self._histories.get(_history_key(pod, history_name))
            if history is not None and (
                not history.run.is_of(pod) or not self.is_selected(pod, history_name)
            ):
                self._forget(_history_key(pod, history_name))

    def forget(self, namespace: str, name: str) -> None:
        for history_name in self._scrapes:
            self._forget((namespace, name, history_name))

    def snapshot(self) -> FrozenMap[HistoryKey, ScrapeHistory]:
        return self._histories.freeze()

    def _forget(self, key: HistoryKey) -> None:
        if key in self._gists:
            self._histories.pop(key)
            del self._gists[key]

    def _history_of(self, pod: Pod, history_name: str) -> ScrapeHistory:
        found = self._histories.get(_history_key(pod, history_name))
        return found or ScrapeHistory(ContainerRun.of_pod(pod))

    def _set_history(self, pod: Pod, history_name: str, history: ScrapeHistory) -> bool:
        key, gist = _history_key(pod, history_name), self._scrapes[history_name].gist(history)
        changed = key not in self._gists or self._gists[key] != gist
        self._histories[key], self._gists[key] = history, gist
        return changed


def _history_key(pod: Pod, history_name: str) -> HistoryKey:
    return (pod.metadata.namespace, pod.metadata.name, history_name)
