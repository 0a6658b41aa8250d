"""The scrape histories of all pods: written by the scraper, read by passes through a snapshot."""

from collections.abc import Mapping
from datetime import datetime

from reporter.kinds.core import Pod
from reporter.scrape import samples
from reporter.scrape.scrapes import HistoryKey, Scrape, ScrapeFingerprints, history_key
from reporter.snapshot.cow_map import CowMap, FrozenMap


class SampleStore:
    """
    One history for each pod and each scrape that selects it.

    *scrapes*: by the name of their history: a reason, or what the probes of several reasons share.
    """

    def __init__(self, scrapes: Mapping[str, Scrape]) -> None:
        self._scrapes = scrapes
        self._histories: CowMap[HistoryKey, samples.ScrapeHistory] = CowMap()
        self._fingerprints: CowMap[HistoryKey, ScrapeFingerprints] = CowMap()
        self._last_read_at: datetime | None = None

    def set_scrapes(self, scrapes: Mapping[str, Scrape]) -> None:
        """Keep the histories of scrapes that stay the same object, and forget the others."""
        changed = {name for name, each in self._scrapes.items() if scrapes.get(name) is not each}
        for key in tuple(self._histories.keys()):
            if key[2] in changed:
                self._forget(key)
        self._scrapes = scrapes

    def compact(self) -> None:
        """Free the room of the pods that are gone; see `CowMap.compact`."""
        self._histories.compact()
        self._fingerprints.compact()

    def record_scrape(
        self, pod: Pod, history_name: str, scrape: samples.ScrapedMetrics, *, now: Pod | None
    ) -> bool:
        """
        Add a scrape and return whether a fingerprint of the history changed, or it has none.

        A scrape of an earlier run counts no more: *now* is the pod as it is, None if it is gone.
        """
        if not self._is_current(pod, history_name, now):
            return False
        self._last_read_at = scrape.scraped_at
        history = self._scrapes[history_name].keep(self._history_of(pod, history_name), scrape)
        return self._set_history(pod, history_name, history)

    def record_scrape_failure(
        self, pod: Pod, history_name: str, failure: samples.FailedScrape, *, now: Pod | None
    ) -> bool:
        """
        Add a failed attempt and return whether a fingerprint of the history changed, or it has none.

        A failure in an earlier run counts no more: *now* is the pod as it is, None if it is gone.
        """
        if not self._is_current(pod, history_name, now):
            return False
        history = samples.add_scrape_failure(
            self._history_of(pod, history_name), failure, last_read_at=self._last_read_at
        )
        return self._set_history(pod, history_name, history)

    def _is_current(self, pod: Pod, history_name: str, now: Pod | None) -> bool:
        """Return whether the pod has not restarted since, and the scrape still selects it."""
        return (
            now is not None
            and history_name in self._scrapes
            and self.is_selected(now, history_name)
            and (pod is now or samples.ContainerRun.of_pod(pod).is_of(now))
        )

    def is_selected(self, pod: Pod, history_name: str) -> bool:
        """Return whether the scrape of this history reads such a pod."""
        return self._scrapes[history_name].pods.matches(pod)

    def forget_if_outdated(self, pod: Pod) -> None:
        """Forget the histories of earlier runs, and of scrapes that no longer select this pod."""
        for history_name in self._scrapes:
            kept = self._histories.get(history_key(pod, history_name))
            if kept is not None and (
                not kept.run.is_of(pod) or not self.is_selected(pod, history_name)
            ):
                self._forget(history_key(pod, history_name))

    def forget(self, namespace: str, name: str) -> None:
        """Forget every history of a pod, by its namespace and name; for a pod that is gone."""
        for history_name in self._scrapes:
            self._forget((namespace, name, history_name))

    def _forget(self, key: HistoryKey) -> None:
        self._histories.pop(key)
        self._fingerprints.pop(key)

    def histories(self) -> FrozenMap[HistoryKey, samples.ScrapeHistory]:
        """Return an immutable view of all histories; the same one until the next write."""
        return self._histories.freeze()

    def fingerprints(self) -> FrozenMap[HistoryKey, ScrapeFingerprints]:
        """Return an immutable view of the fingerprints of all histories that have some."""
        return self._fingerprints.freeze()

    def _history_of(self, pod: Pod, history_name: str) -> samples.ScrapeHistory:
        found = self._histories.get(history_key(pod, history_name))
        return found or samples.ScrapeHistory(samples.ContainerRun.of_pod(pod))

    def _set_history(self, pod: Pod, history_name: str, history: samples.ScrapeHistory) -> bool:
        key, funcs = history_key(pod, history_name), self._scrapes[history_name].fingerprints
        self._histories[key] = history
        if not funcs:
            return True
        fingerprints = ScrapeFingerprints(history.run, {each: each(history) for each in funcs})
        if fingerprints == self._fingerprints.get(key):
            return False
        self._fingerprints[key] = fingerprints
        return True
