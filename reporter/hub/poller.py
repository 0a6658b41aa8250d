"""Ask the queries of one round, and gather what they answer. Decoding runs in a thread."""

import asyncio
import logging
import random
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from reporter.hub import query_results
from reporter.hub.cluster_reports import ClusterReportReader, ClustersAnswer
from reporter.hub.queries import SERIES_LIMIT, of_history, of_round
from reporter.hub.query_client import QueryClient, QueryFailed, Vector, read
from reporter.kube.backoff import Backoff, BackoffParameters
from reporter.model.fleet_status import QueryEntry, QueryName, QueryResult
from reporter.process.clock import Clock
from reporter.process.heap import rare_collections
from reporter.settings.hub import HubSettings


LEAST_TIME_LIMIT = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=2)

HISTORY_TIME_LIMIT = timedelta(minutes=1)
"""The time limit of the history, which looks at hundreds of moments; half of the stale time at most."""

HISTORY_RANGES = (timedelta(days=1), timedelta(hours=1))
"""
The ranges of the past that are asked for instead of all, each after HISTORY_TRIES failures in a row: without any
history the fleet is Unknown for the whole term.
"""

HISTORY_TRIES = 10
"""About a quarter of an hour at the default interval: after a shorter trouble of the engine nothing is missing."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class _Pause(NamedTuple):
    """The failures of a query, and until when it is not asked. *until*: seconds of the clock."""

    backoff: Backoff
    until: float = 0.0


class Poller:
    """
    Asks the queries of a round when it is told to; after a failure a query pauses for longer each time.

    *count_result* is called with the result of every query. *jitter*: returns a random number in [0, 1).
    """

    def __init__(
        self,
        client: QueryClient,
        settings: HubSettings,
        clock: Clock,
        *,
        count_result: Callable[[QueryName, QueryResult], None],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._client, self._clock, self._count_result = client, clock, count_result
        self._jitter = jitter
        self._label, self._max_clusters = settings.hub_cluster_label, settings.hub_max_clusters
        self._queries = of_round(self._label)
        self._reader = ClusterReportReader(self._label)
        # The answer of an ended term may still be read in its thread when the next one begins.
        self._reading = threading.Lock()
        self._time_limit = max(settings.hub_interval / len(self._queries), LEAST_TIME_LIMIT)
        forget = int(settings.hub_forget.total_seconds())
        ranges = [int(each.total_seconds()) for each in HISTORY_RANGES]
        self._history_ranges = [forget, *(each for each in ranges if each < forget)]
        self._history_failures = 0
        self._history_time_limit = max(
            min(HISTORY_TIME_LIMIT, settings.hub_stale / 2), self._time_limit
        )
        longest = max(min(LONGEST_PAUSE, settings.hub_stale / 2), settings.hub_interval)
        self._parameters = BackoffParameters(
            initial=settings.hub_interval / 2, cap=longest, no_response_cap=longest
        )
        self._longest_pause = longest
        self._pauses: dict[QueryName, _Pause] = {}
        self._entries: dict[QueryName, QueryEntry] = {}

    @property
    def entries(self) -> tuple[QueryEntry, ...]:
        """The result of each query that was sent, in the order of a round; empty before the first."""
        return tuple(self._entries[name] for name in QueryName if name in self._entries)

    async def ask(self, *, with_history: bool = False) -> query_results.Answers:
        """
        Return the answers to the queries of a round; None for each that has no complete one.

        Without an answer about clusters the other queries are not asked. *with_history*: ask also which
        clusters were there in the past, which takes longer.
        """
        clusters = await self._try(QueryName.CLUSTERS, self._gather_clusters)
        if clusters is None:
            return query_results.Answers()
        at = clusters.time
        trouble = await self._try(
            QueryName.TROUBLE,
            lambda found: query_results.gather_trouble(found.series, self._label),
            at=at,
        )
        revisions = await self._try(
            QueryName.REVISIONS,
            lambda found: query_results.gather_revisions(found.series, self._label),
            at=at,
        )
        history = None
        if with_history:
            history = await self._ask_history(at)
        else:
            self._history_failures = 0
        return query_results.Answers(clusters, trouble, revisions, history)

    async def _ask_history(self, at: float | None) -> query_results.HistoryAnswer | None:
        ranges, failures = self._history_ranges, self._history_failures
        seconds = ranges[min(failures // HISTORY_TRIES, len(ranges) - 1)]
        self._queries[QueryName.HISTORY] = of_history(self._label, seconds)
        history = await self._try(
            QueryName.HISTORY,
            lambda found: query_results.gather_history(found.series, self._label, found.time),
            at=at,
        )
        if history is not None and seconds < ranges[0]:
            logger.warning(
                "the history is that of the last %d s: clusters that are gone for longer are missing",
                seconds,
            )
        return history

    def _gather_clusters(self, found: Vector) -> ClustersAnswer:
        with self._reading:
            answer = self._reader.read(found.series, found.time)
        if len(answer.reports) > self._max_clusters:
            why = f"{len(answer.reports)} clusters, and --hub-max-clusters={self._max_clusters}"
            raise QueryFailed(QueryResult.TOO_MANY, why)
        return answer

    async def _try(
        self, name: QueryName, gather: Callable[[Vector], T], *, at: float | None = None
    ) -> T | None:
        """Return what a query answers; None if that is not complete, or it is not its turn yet."""
        pause = self._pauses.get(name)
        if pause is not None and self._clock.seconds() < pause.until:
            return None
        limit = 0 if name in {QueryName.CLUSTERS, QueryName.HISTORY} else SERIES_LIMIT
        is_history = name is QueryName.HISTORY
        time_limit = self._history_time_limit if is_history else self._time_limit
        started = self._clock.seconds()
        try:
            body = await self._client.ask(
                self._queries[name], time_limit=time_limit, at=at, limit=limit
            )
            with rare_collections():
                gathered = await asyncio.to_thread(read, body, gather, limit=limit)
        except QueryFailed as err:
            self._failed(name, err, started)
            return None
        except Exception as err:
            # Without an answer states become stale. A loop that ends would leave them as they are.
            logger.exception("the answer to the query %s cannot be read", name)
            why = f"a fault of the hub: {type(err).__name__}"
            self._failed(name, QueryFailed(QueryResult.UNREADABLE, why), started)
            return None
        self._record(name, QueryResult.COMPLETE, "", started)
        if self._pauses.pop(name, None) is not None:
            logger.info("the query %s has a complete answer again", name)
        return gathered

    def _failed(self, name: QueryName, err: QueryFailed, started: float) -> None:
        self._history_failures += name is QueryName.HISTORY
        before = self._entries.get(name)
        self._record(name, err.result, str(err), started)
        if before is None or before.result is not err.result:
            logger.warning("the query %s has no complete answer (%s): %s", name, err.result, err)
        now = self._clock.seconds()
        old = self._pauses.get(name)
        backoff = (old.backoff if old is not None else Backoff(self._parameters)).with_failure(
            now=now
        )
        asked = timedelta(seconds=err.retry_after or 0)
        pause = backoff.pause(self._jitter(), at_least=min(asked, self._longest_pause))
        self._pauses[name] = _Pause(backoff, now + pause.total_seconds())

    def _record(self, name: QueryName, result: QueryResult, why: str, started: float) -> None:
        self._count_result(name, result)
        at: datetime = self._clock.now()
        took = round(self._clock.seconds() - started, 3)
        self._entries[name] = QueryEntry(query=name, result=result, at=at, why=why, seconds=took)
