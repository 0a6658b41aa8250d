"""Find the metrics pages to read: those of pods that a scrape selects, in workload namespaces."""

from collections.abc import Callable, Collection, Iterator

from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.scrape.scrapes import MetricsPage, PodSelector, Scrape
from reporter.snapshot.loading import has_page, is_loading, is_serving
from reporter.snapshot.snapshot import Snapshot, loading_pods_key
from reporter.snapshot.subjects import is_workload_namespace


LOADING = PodSelector(
    lambda pod: has_page(pod) and is_loading(pod), loading_pods_key, only_loading=True
)
"""Model pods that run and are not Ready yet."""

READY = PodSelector(lambda pod: has_page(pod) and is_serving(pod))
"""Model pods that are Ready."""

SCAN_BATCH = 500
"""Pods examined between two pauses, about a millisecond of work."""


class TargetFinder:
    """Finds the pages of all scrapes in the newest snapshot."""

    def __init__(self, scrapes: Collection[Scrape], snapshot: Callable[[], Snapshot]) -> None:
        self._scrapes, self._snapshot = tuple(scrapes), snapshot
        self._last: Snapshot | None = None

    def find_if_changed(self) -> Iterator[tuple[MetricsPage, str] | None] | None:
        """
        Iterate over the pages and the uids of their pods; None if nothing changed since last time.

        The iterator yields None where a caller with other work should let that run.
        """
        before, self._last = self._last, self._snapshot()
        if before is not None and (not self._scrapes or _has_same_pods(before, self._last)):
            return None
        return find_scrape_targets(self._last, self._scrapes)


def find_scrape_targets(
    snapshot: Snapshot, scrapes: Collection[Scrape]
) -> Iterator[tuple[MetricsPage, str] | None]:
    """
    Iterate over the pages and the uids of their pods. Scrapes of the same pages cost one scan.

    The iterator yields None after each SCAN_BATCH of pods that it scans, where other work may run.
    """
    for selector, port in dict.fromkeys((each.pods, each.port) for each in scrapes):
        for pod in _selected_pods(snapshot, selector):
            if pod is None:
                yield None
            elif pod.status.pod_ip:
                meta = pod.metadata
                yield MetricsPage(meta.namespace, meta.name, port), meta.uid


def _selected_pods(snapshot: Snapshot, selector: PodSelector) -> Iterator[Pod | None]:
    namespaces = {
        each.metadata.name
        for each in snapshot.all(NAMESPACES)
        if is_workload_namespace(snapshot, each)
    }
    if selector.index_key is not None:
        for namespace in sorted(namespaces):
            yield from snapshot.by_index(PODS, Pod, selector.index_key(namespace))
        return
    for number, pod in enumerate(snapshot.all(PODS), start=1):
        if pod.metadata.namespace in namespaces and isinstance(pod, Pod) and selector.matches(pod):
            yield pod
        if not number % SCAN_BATCH:
            yield None


def _has_same_pods(one: Snapshot, other: Snapshot) -> bool:
    return all(
        one.tables[kind.resource].objects.is_same(other.tables[kind.resource].objects)
        for kind in (PODS, NAMESPACES)
    )
