"""
A probe's request for samples: which families, of which pods, at which port, and what to keep.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds.core import Pod
from reporter.model.enums import Reason, ScrapeScope
from reporter.scrape.engine_recorder import EngineRecorder
from reporter.scrape.samples import ContainerRun, ScrapedMetrics, ScrapeHistory, keep_latest


T = TypeVar("T")


class MetricsPage(NamedTuple):
    """The metrics page that a pod serves at one port."""

    namespace: str
    pod: str
    port: int


class PodSelector(Struct, frozen=True):
    """
    The pods of workload namespaces that a scrape reads.

    *index_key*: returns the key under which the selected pods of a namespace are indexed. Without
    it every pod is examined when pods have changed, at most every few seconds.
    *only_loading*: it selects no pod that is Ready.
    """

    matches: Callable[[Pod], bool]
    index_key: Callable[[str], str] | None = None
    only_loading: bool = False

    def is_within(self, scope: ScrapeScope) -> bool:
        """Return whether the pages of these pods are read with ``--scrape`` set to *scope*."""
        return scope is ScrapeScope.ALL or (scope is ScrapeScope.LOADING and self.only_loading)


FingerprintFunc: TypeAlias = Callable[[ScrapeHistory], object]
"""Returns the part of a history that a probe's verdict depends on."""


HistoryKey: TypeAlias = tuple[str, str, str]
"""Namespace and name of the pod, and the name of the history."""


def history_key(pod: Pod, history_name: str) -> HistoryKey:
    """Return the key of a pod's history."""
    return (pod.metadata.namespace, pod.metadata.name, history_name)


class ScrapeFingerprints(Struct, frozen=True):
    """
    The fingerprints of a history, and the run of the pod that it is of.

    They are made once a page, and another object replaces them only if one of them changes.
    """

    run: ContainerRun
    by_func: Mapping[FingerprintFunc, object]


class Scrape(Struct, frozen=True):
    """
    The samples that a probe reads from the metrics pages of pods.

    *families*: the names of samples, or what those of a histogram have before ``_count``.
    *prefixes*: prefixes of family names whose mere presence on the page is recorded.
    *keep*: adds a scrape to the history of a pod.
    *fingerprints*: of the probes that read the history. A scrape that leaves them as they were causes no
    evaluation; without any, each scrape causes one.
    *history*: the name of a history that several probes share; empty for one of its own.
    """

    families: tuple[str, ...]
    pods: PodSelector
    port: int
    prefixes: tuple[str, ...] = ()
    keep: Callable[[ScrapeHistory, ScrapedMetrics], ScrapeHistory] = keep_latest
    fingerprints: tuple[FingerprintFunc, ...] = ()
    history: str = ""

    def includes(self, pod: Pod, port: int) -> bool:
        """Return whether the page of this pod at this port is one that the scrape reads."""
        return self.port == port and self.pods.matches(pod)


ScrapeFunc: TypeAlias = Callable[[Any, Mapping[str, str]], Scrape | None]
"""
Builds the scrape of a catalogue entry from its parameters and the values of all flags by name; None if
nothing is to be read.
"""


# ---------------------------------------------------------------- pages that several probes read


def share_histories(scrapes: Mapping[Reason, Scrape]) -> dict[str, Scrape]:
    """
    Return the scrapes by the name of their history: the one that they share, or their reason.

    Raises ValueError for those of one history that differ in pods or port, or keep no numbers of engines.
    """
    by_history: dict[str, list[Scrape]] = {}
    for reason, scrape in scrapes.items():
        by_history.setdefault(scrape.history or reason, []).append(scrape)
    return {name: _join(of_history) for name, of_history in by_history.items()}


def _join(scrapes: Sequence[Scrape]) -> Scrape:
    first, *others = scrapes
    if not others:
        return first
    recorders = [each.keep for each in scrapes if isinstance(each.keep, EngineRecorder)]
    if len(recorders) < len(scrapes) or any(
        (each.pods, each.port) != (first.pods, first.port) for each in others
    ):
        raise ValueError(f"history {first.history} is of scrapes that cannot be joined")
    return replace(
        first,
        families=_union(each.families for each in scrapes),
        prefixes=_union(each.prefixes for each in scrapes),
        keep=reduce(EngineRecorder.merged, recorders),
        # To a probe without one every scrape matters.
        fingerprints=_union(each.fingerprints for each in scrapes)
        if all(each.fingerprints for each in scrapes)
        else (),
    )


def _union(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(each for group in groups for each in group))
