"""Gather the series of the queries *trouble* and *revisions*, which decide no state."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from reporter.hub.query_results import (
    BLOCKING_INFO,
    CLUSTER_SCOPE,
    MAX_COUNT,
    NAME,
    PREFIX,
    SILENCED_UNTIL,
    STATE,
    STATES,
    parse_value,
    source_of,
    text_of,
)
from reporter.model.fleet_answers import (
    ClusterTrouble,
    NamespaceTrouble,
    PackageCount,
    ReportedBlocking,
    RevisionsAnswer,
    SeriesSample,
    Source,
    TroubleAnswer,
)
from reporter.model.states import State


class _Draft:
    """
    The report of one source so far. Where several series contradict, the first by text counts.
    """

    def __init__(self) -> None:
        self.states: dict[str, State] = {}
        self.causes: dict[str, ReportedBlocking] = {}
        self.silenced: dict[str, float] = {}

    def add(self, metric: str, labels: Mapping[str, str], value: str) -> None:
        """Take a series. The cluster is kept by the empty name."""
        namespace = text_of(labels, "workload_namespace")
        is_of_one = bool(namespace) or labels.get("scope") == CLUSTER_SCOPE
        if metric == BLOCKING_INFO and is_of_one:
            found = blocking_of(labels)
            self.causes[namespace] = min(found, self.causes.get(namespace, found))
        elif metric == SILENCED_UNTIL and is_of_one:
            # The earliest end: a silence that is not certain hides nothing.
            until = parse_value(value) or 0.0
            self.silenced[namespace] = min(until, self.silenced.get(namespace, until))
        elif metric == STATE and namespace:
            state = STATES.get(labels.get("state", ""), State.UNKNOWN)
            self.states[namespace] = max(
                state, self.states.get(namespace, state), key=lambda each: each.severity
            )

    def finish(self) -> ClusterTrouble:
        names = sorted({*self.states, *self.causes} - {""})
        return ClusterTrouble(
            self._cause(""),
            tuple(
                NamespaceTrouble(name, self.states.get(name), self._cause(name)) for name in names
            ),
        )

    def _cause(self, name: str) -> ReportedBlocking | None:
        found = self.causes.get(name)
        until = self.silenced.get(name, 0.0)
        return found._replace(silenced_until=until) if found is not None else None


def blocking_of(labels: Mapping[str, str]) -> ReportedBlocking:
    return ReportedBlocking(
        text_of(labels, "reason"),
        text_of(labels, "code"),
        text_of(labels, "actionability"),
        labels.get("stalled") == "true",
    )


def gather_trouble(samples: Iterable[SeriesSample], label: str) -> TroubleAnswer:
    """Return what blocks, by cluster label and source."""
    drafts: defaultdict[str, defaultdict[Source, _Draft]]
    drafts = defaultdict(lambda: defaultdict(_Draft))
    for labels, value in samples:
        cluster = labels.get(label, "")
        if cluster:
            metric = labels.get(NAME, "").removeprefix(PREFIX)
            drafts[cluster][source_of(labels)].add(metric, labels, value)
    return {
        cluster: {source: draft.finish() for source, draft in sources.items()}
        for cluster, sources in drafts.items()
    }


def gather_revisions(samples: Iterable[SeriesSample], label: str) -> RevisionsAnswer:
    """Return the packages of each cluster, by name, revision and state."""
    found: defaultdict[str, list[PackageCount]] = defaultdict(list)
    for labels, text in samples:
        cluster, value = labels.get(label, ""), parse_value(text)
        if cluster and value is not None and 0 < value <= MAX_COUNT:
            state = STATES.get(labels.get("state", ""), State.UNKNOWN)
            package, revision = text_of(labels, "package"), text_of(labels, "revision")
            found[cluster].append(PackageCount(package, revision, state, int(value)))
    return {cluster: tuple(sorted(each)) for cluster, each in found.items()}
