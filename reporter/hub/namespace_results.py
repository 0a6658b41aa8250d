"""Gather all workload namespaces of one cluster, for its detail on demand."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from reporter.hub.detail_results import blocking_of
from reporter.hub.query_results import (
    BLOCKING_INFO,
    INFERENCE_SETS,
    MAX_COUNT,
    NAME,
    PACKAGE_INFO,
    PREFIX,
    REPLICAS,
    SILENCED_UNTIL,
    STATE,
    STATES,
    parse_value,
    source_of,
    text_of,
)
from reporter.hub.render import MAX_TIME, reported_blocking
from reporter.model.fleet_answers import ReportedBlocking, SeriesSample, Source
from reporter.model.fleet_status import FleetBlocking, FleetNamespace
from reporter.model.states import State, is_complete
from reporter.model.status_document import Counts, Package, Replicas


class _Draft:
    def __init__(self) -> None:
        self.states: set[State] = set()
        self.blocking: ReportedBlocking | None = None
        self.silenced_until = 0.0
        self.counts: dict[State, int] = {}
        self.replicas: dict[str, int] = {}
        self.package: Package | None = None

    def add(self, metric: str, labels: Mapping[str, str], value: float) -> None:
        state = STATES.get(labels.get("state", ""), State.UNKNOWN)
        if metric == STATE:
            self.states |= {state} if value else set()
        elif metric == BLOCKING_INFO:
            self.blocking = blocking_of(labels)
        elif metric == SILENCED_UNTIL:
            self.silenced_until = value
        elif metric == INFERENCE_SETS:
            self.counts[state] = int(value)
        elif metric == REPLICAS and labels.get("count") in Replicas.__struct_fields__:
            self.replicas[labels["count"]] = int(value)
        elif metric == PACKAGE_INFO:
            revision = text_of(labels, "revision")
            self.package = Package(name=text_of(labels, "package"), revision=revision)

    def finish(self, name: str) -> FleetNamespace:
        return FleetNamespace(
            name=name,
            state=next(iter(self.states)) if len(self.states) == 1 else State.UNKNOWN,
            blocking=self._blocking(),
            package=self.package,
            inference_sets=Counts.of(self.counts) if is_complete(self.counts) else None,
            replicas=Replicas(**self.replicas) if "desired" in self.replicas else None,
        )

    def _blocking(self) -> FleetBlocking | None:
        if self.blocking is None:
            return None
        return reported_blocking(self.blocking._replace(silenced_until=self.silenced_until))


def gather_namespaces(
    samples: Iterable[SeriesSample], source: Source
) -> tuple[FleetNamespace, ...]:
    """Return the namespaces that one source reports, by name. *source*: the one that counts."""
    drafts: defaultdict[str, _Draft] = defaultdict(_Draft)
    for labels, text in samples:
        name, value = text_of(labels, "workload_namespace"), parse_value(text)
        metric = labels.get(NAME, "").removeprefix(PREFIX)
        most = MAX_TIME if metric == SILENCED_UNTIL else MAX_COUNT
        if name and value is not None and 0 <= value <= most and source_of(labels) == source:
            drafts[name].add(metric, labels, value)
    return tuple(draft.finish(name) for name, draft in sorted(drafts.items()))
