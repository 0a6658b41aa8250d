"""The series of one source, as a metrics engine answers with them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from reporter.hub.queries import PREFIX
from reporter.hub.series import Series
from reporter.model.states import COUNTED_STATES, State


NOON = 1_767_268_800.0
"""Unix time of 2026-01-01 12:00 UTC."""


class SeriesSample(NamedTuple):
    """One series with its value as text, as the API has it."""

    labels: Mapping[str, str]
    value: str


def series_of(samples: Iterable[SeriesSample]) -> list[Series]:
    """Return the series as they are in an answer."""
    return [
        Series(msgspec.Raw(msgspec.json.encode(labels)), (NOON, value))
        for labels, value in samples
    ]


@dataclass(frozen=True, slots=True)
class SourceSeries:
    """
    The report of one source. *states*: more than one contradict. *blocking*: reason, code, actionability.

    *namespaces*: states of workload namespaces that are not Current. *packages*: numbers of namespaces
    by package, revision and state. *silenced_until*: when the silence of what blocks the cluster, or a
    namespace, ends. *unobserved*: numbers by what is not observed, empty of an
    earlier release. *rights*: permissions that are missing.
    """

    label: str = "prod"
    uid: str = "uid-1"
    evaluated: float | str = NOON
    states: tuple[State, ...] = (State.CURRENT,)
    target: Mapping[str, str] = field(default_factory=lambda: {"job": "reporter", "pod": "a"})
    counts: Mapping[State, int] = field(default_factory=lambda: {State.CURRENT: 3})
    version: str = "0.1.0"
    blocking: tuple[str, str, str] | None = None
    namespaces: Mapping[str, State] = field(default_factory=dict)
    packages: Mapping[tuple[str, str, State], int] = field(default_factory=dict)
    silenced_until: Mapping[str, float] = field(default_factory=dict)
    unobserved: Mapping[str, int] = field(default_factory=lambda: {"namespaces": 0, "layers": 0})
    rights: tuple[str, ...] = ()

    def _sample(self, metric: str, value: float | str = 1, **labels: str) -> SeriesSample:
        name = {"cluster": self.label} if self.label else {}
        return SeriesSample(
            {"__name__": PREFIX + metric, **self.target, **name, **labels}, str(value)
        )

    def clusters(self) -> Iterator[SeriesSample]:
        for state in self.states:
            yield self._sample("state", scope="cluster", state=state.key)
        for state in COUNTED_STATES if self.counts else ():
            yield self._sample("inferencesets", self.counts.get(state, 0), state=state.key)
        yield self._sample("replicas", 4, count="desired")
        yield self._sample("replicas", 4, count="ready")
        for what, number in self.unobserved.items():
            yield self._sample("unobserved", number, what=what)
        for right in self.rights:
            yield self._sample("missing_rights", right=right)
        yield self._sample("cluster_info", version=self.version)
        uid = {"cluster_uid": self.uid} if self.uid else {}
        yield self._sample("evaluated_timestamp_seconds", self.evaluated, **uid)

    def trouble(self) -> Iterator[SeriesSample]:
        if self.blocking is not None:
            reason, code, acts = self.blocking
            labels = {"reason": reason, "code": code, "actionability": acts, "stalled": "true"}
            yield self._sample("blocking_info", scope="cluster", **labels)
        yield from self._silences()
        for name, state in self.namespaces.items():
            labels = {"workload_namespace": name, "state": state.key}
            yield self._sample("state", scope="namespace", **labels)

    def _silences(self) -> Iterator[SeriesSample]:
        for name, until in self.silenced_until.items():
            labels = {"scope": "namespace", "workload_namespace": name} if name else {}
            metric = "blocking_silenced_until_timestamp_seconds"
            yield self._sample(metric, until, **{"scope": "cluster", **labels})

    def detail(self) -> Iterator[SeriesSample]:
        """Yield the series of namespaces with all their states."""
        yield from (each for each in self._silences() if "workload_namespace" in each.labels)
        for name, state in self.namespaces.items():
            labels = {"workload_namespace": name}
            for each in COUNTED_STATES:
                is_so = float(each is state)
                yield self._sample("state", is_so, scope="namespace", state=each.key, **labels)
                yield self._sample("inferencesets", 2 * is_so, state=each.key, **labels)
            yield self._sample("replicas", 4, count="desired", **labels)
            yield self._sample("package_info", package="harness", revision="1", **labels)

    def revisions(self) -> Iterator[SeriesSample]:
        for (package, revision, state), number in self.packages.items():
            labels = {"package": package, "revision": revision, "state": state.key}
            yield SeriesSample({"cluster": self.label, **labels}, str(number))


def all_clusters(sources: Iterable[SourceSeries]) -> list[SeriesSample]:
    return [sample for each in sources for sample in each.clusters()]
