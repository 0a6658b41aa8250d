"""The series of many clusters on one page, as if their agents had sent them."""

import threading
import time
from collections.abc import Iterator

from prometheus_client.core import Metric

from e2e.hub.parts.pages import render
from reporter.metrics.declarations import (
    ROLLUP_BLOCKING_INFO,
    ROLLUP_CLUSTER_INFO,
    ROLLUP_EVALUATED,
    ROLLUP_INFERENCE_SETS,
    ROLLUP_REPLICAS,
    ROLLUP_STATE,
    ROLLUP_UNOBSERVED,
    MetricDeclaration,
)
from reporter.metrics.input_collectors import make_family
from reporter.metrics.rollups import UNKNOWN_NAMESPACES, UNLISTED_LAYERS
from reporter.model.states import COUNTED_STATES, State


LABEL = "cluster"


class SyntheticFleet:
    """
    *failed*: numbers of the clusters that are Failed. The first *silent* ones are not on the page.
    """

    def __init__(self, clusters: int) -> None:
        self.clusters, self.silent = clusters, 0
        self.failed: frozenset[int] = frozenset()
        self._lock = threading.Lock()
        self._static: tuple[tuple[int, frozenset[int]], bytes] | None = None

    def render(self) -> bytes:
        with self._lock:
            key = (self.silent, self.failed)
            if self._static is None or self._static[0] != key:
                self._static = key, render(self._state_families())
            return self._static[1] + render([self._times()])

    def _numbers(self) -> range:
        return range(self.silent, self.clusters)

    def _times(self) -> Metric:
        now = time.time()
        samples = (((name(n), f"uid-{n}"), now) for n in self._numbers())
        return make_family(_labelled(ROLLUP_EVALUATED), samples)

    def _state_families(self) -> Iterator[Metric]:
        every = [(n, State.FAILED if n in self.failed else State.CURRENT) for n in self._numbers()]
        yield make_family(
            _labelled(ROLLUP_STATE),
            (
                ((name(n), "cluster", "", each.key), float(each is state))
                for n, state in every
                for each in COUNTED_STATES
            ),
        )
        yield make_family(
            _labelled(ROLLUP_INFERENCE_SETS),
            (
                ((name(n), "", each.key), 20.0 if each is State.CURRENT else 0.0)
                for n, _ in every
                for each in COUNTED_STATES
            ),
        )
        counts = ("desired", "updated", "ready")
        yield make_family(
            _labelled(ROLLUP_REPLICAS),
            (((name(n), "", count), 40.0) for n, _ in every for count in counts),
        )
        whats = (UNKNOWN_NAMESPACES, UNLISTED_LAYERS)
        yield make_family(
            _labelled(ROLLUP_UNOBSERVED),
            (((name(n), what), 0.0) for n, _ in every for what in whats),
        )
        yield make_family(
            _labelled(ROLLUP_CLUSTER_INFO), (((name(n), "0.1.0"), 1.0) for n, _ in every)
        )
        why = ("cluster", "", "clusterKaitoControllerNotReady", "Crash", "platform", "true")
        yield make_family(
            _labelled(ROLLUP_BLOCKING_INFO),
            (((name(n), *why), 1.0) for n, state in every if state is State.FAILED),
        )


def name(number: int) -> str:
    return f"cluster-{number:05}"


def _labelled(declaration: MetricDeclaration) -> MetricDeclaration:
    return MetricDeclaration(
        declaration.name, declaration.type, declaration.help, (LABEL, *declaration.labels)
    )
