"""The metrics page of the hub."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from reporter.hub import metric_declarations as declared
from reporter.hub.document import FleetView
from reporter.hub.records import Fleet, FleetRecord
from reporter.metrics.input_collectors import InputReport, make_family
from reporter.metrics.process import ProcessMetrics
from reporter.model.enums import Owner
from reporter.model.fleet_status import Dropped, FleetCode, QueryName, QueryResult
from reporter.model.object_status import WriteObjectResult
from reporter.model.states import COUNTED_STATES, Actionability
from reporter.process.clock import Clock


class FleetCollector(Collector):
    """
    Collects the series of clusters; none while these are not known, so that no alert sees a zero.
    """

    def __init__(self, view: Callable[[], FleetView], hub: str) -> None:
        self._view, self._hub = view, hub

    def collect(self) -> Iterator[Metric]:
        """
        Yield the clusters by state and by code of Unknown, and the time of the last complete answer.

        Called by prometheus_client at each scrape. While clusters may be missing, each that is known has its
        series, and there are no counts: one without the missing clusters would end an alert about them.
        """
        view = self._view()
        contents = [each.content for each in view.fleet.clusters.values()]
        states, codes = Counter(c.state for c in contents), Counter(c.code for c in contents)
        is_known, is_complete = not view.why, not view.why_incomplete
        yield make_family(
            declared.HUB_CLUSTERS,
            [((self._hub, each.key), states[each]) for each in COUNTED_STATES if is_complete],
        )
        clusters = sorted(map(_labels, view.fleet.clusters.values())) if is_known else []
        yield make_family(declared.HUB_CLUSTER, (((self._hub, *labels), 1) for labels in clusters))
        yield make_family(
            declared.HUB_UNKNOWN_CLUSTERS,
            [((each,), codes[each]) for each in FleetCode if is_complete],
        )
        at = view.answered_at
        yield make_family(
            declared.HUB_LAST_SUCCESS,
            [((self._hub,), at.timestamp())] if at is not None else [],
        )


def _labels(record: FleetRecord) -> tuple[str, ...]:
    """Return the labels of a cluster. What the hub itself calls Unknown, the platform must look at."""
    content, blocking = record.content, record.content.blocking
    is_users = blocking is not None and blocking.actionability == Actionability.USER
    silenced = blocking is not None and blocking.silenced_until is not None
    owner = Owner.USER if is_users else Owner.PLATFORM
    observed = "" if record.is_observed is None else str(record.is_observed).lower()
    code = content.code or ""
    return record.label, content.state.key, code, owner, str(silenced).lower(), observed


class HubMetrics(ProcessMetrics):
    """
    Count queries and writes when they happen; ask for everything else at each scrape.

    *count_write* counts a request to write the status of a ProductionStackCluster, by its result.
    """

    def __init__(self, inputs: Callable[[], InputReport], clock: Clock) -> None:
        super().__init__(inputs, clock)
        self._leader = self._gauge(declared.HUB_LEADER)
        self._rounds = self._histogram(declared.HUB_ROUND_DURATION)
        self._dropped = self._counter(declared.HUB_DROPPED_SERIES, Dropped)
        self._results = self._counter(declared.HUB_QUERY_RESULTS, ())
        for query, result in product(QueryName, QueryResult):
            self._results.labels(query, result)
        self.count_write = self._result_counter(declared.HUB_OBJECT_WRITES, WriteObjectResult)
        self._failing = self._gauge(declared.HUB_OBJECTS_FAILING)

    def show_fleet(
        self,
        view: Callable[[], FleetView],
        *,
        hub: str,
        is_leader: Callable[[], bool],
        count_failing: Callable[[], int],
    ) -> None:
        """
        Add the series of clusters. The functions are called at each scrape.

        *hub*: the Lease of the hub. *count_failing*: returns the ProductionStackClusters whose last write
        of a status failed.
        """
        self.registry.register(FleetCollector(view, hub))
        self._leader.labels(hub).set_function(lambda: float(is_leader()))
        self._failing.set_function(lambda: float(count_failing()))

    def count_result(self, query: QueryName, result: QueryResult) -> None:
        """Count one query to the metrics engine, by its name and its result."""
        self._results.labels(query, result).inc()

    def count_round(self, seconds: float, answered: Fleet | None) -> None:
        """
        Observe how long a round took, and count the series that its answer left out.

        *answered*: the fleet after a complete answer about clusters; None without one.
        """
        self._rounds.observe(seconds)
        for why, each in answered.dropped.items() if answered is not None else ():
            self._dropped.labels(why).inc(each.series)
