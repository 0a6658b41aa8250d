"""
The metrics page, in the text format of Prometheus.

Every series of the catalogue is there from the start, and trouble that has ended reads zero.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial

from prometheus_client.core import Metric

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.finished_pass import FinishedPass
from reporter.kinds.health_events import HealthEvent, StoreLimit, StoreWriteResult
from reporter.kube.event_record import WriteResult
from reporter.metrics import declarations
from reporter.metrics.completeness import InitialPassKeys
from reporter.metrics.input_collectors import ScrapeCollector, WatchReport
from reporter.metrics.process import ProcessMetrics, ReloadResult
from reporter.metrics.rollups import RollUpCollector
from reporter.metrics.silences import SilenceCollector
from reporter.metrics.since import Episodes
from reporter.metrics.state_collector import StateCollector
from reporter.metrics.store import StoreMetrics
from reporter.model.enums import Reason
from reporter.model.object_status import WriteObjectResult
from reporter.model.subjects import FindingKey
from reporter.rollup.records import RollUp
from reporter.scrape.samples import ScrapeResult
from reporter.settings import RollUpScope


class Metrics(ProcessMetrics):
    """
    Count passes and writes when they happen; ask for everything else at each scrape.

    *episode_starts*: returns when the announced episodes began. *scrape_pages*: the metrics pages of
    model pods that are to be read.
    """

    def __init__(self, catalogue: Catalogue, watches: Callable[[], Iterable[WatchReport]]) -> None:
        super().__init__(watches)
        self._states, self._evaluation = StateCollector(catalogue), Evaluation()
        self.episode_starts: Callable[[], Episodes] = dict
        self._holds_lease: Callable[[], bool] = lambda: False
        self._knows_episodes: Callable[[], bool] = lambda: False
        self._evaluated_completely = False
        self._initial_keys = InitialPassKeys()
        self._findings_complete = self._gauge(declarations.FINDINGS_COMPLETE)
        self._findings_complete.set_function(lambda: float(self._are_findings_complete()))
        self.registry.register(SilenceCollector(lambda: self._evaluation))
        self._reloads = self._counter(declarations.OVERLAY_RELOADS, ReloadResult)
        self._overlay_refused = self._gauge(declarations.OVERLAY_REFUSED)
        self.scrape_pages = ScrapeCollector()
        self.registry.register(self.scrape_pages)
        self._passes = self._histogram(declarations.PASS_DURATION)
        self._last_pass = self._gauge(declarations.LAST_PASS)
        self._writes = self._counter(declarations.EVENT_WRITES, WriteResult)
        self._scrapes = self._counter(declarations.SCRAPES, ScrapeResult)
        self._mirror_writes = self._counter(declarations.MIRROR_WRITES, WriteResult)
        self._leader = self._gauge(declarations.LEADER)
        self._status_writes = self._counter(declarations.STATUS_OBJECT_WRITES, WriteObjectResult)
        self._status_failing = self._gauge(declarations.STATUS_OBJECTS_FAILING)
        announced = (e.reason for e in catalogue.entries.values() if e.is_evaluated)
        self._episodes = self._counter(declarations.EPISODES, announced)
        self._episode_duration = self._histogram(declarations.EPISODE_DURATION)

    def add_reasons(self, catalogue: Catalogue) -> None:
        """
        Show the reasons of another catalogue too. Those that are gone read zero until a restart.
        """
        self._states.add_reasons(catalogue)
        for entry in catalogue.entries.values():
            if entry.is_evaluated:
                self._episodes.labels(entry.reason)

    def show_rollup(
        self,
        rollup: Callable[[], RollUp],
        scope: RollUpScope,
        *,
        holds_lease: Callable[[], bool],
        version: str,
    ) -> None:
        """
        Add the series of the status. Only the leader has them, so no two replicas contradict.

        *holds_lease*: False also in a leader that was paused, once others may have taken over.
        """
        if scope is not RollUpScope.OFF:
            self.registry.register(
                RollUpCollector(
                    rollup,
                    scope,
                    holds_lease=holds_lease,
                    version=version,
                    owner_of=self._states.owner_of,
                    knows_findings=self._are_findings_complete,
                )
            )

    def show_store(self, objects: Callable[[], Iterable[HealthEvent]]) -> StoreMetrics:
        """
        Add the series of the HealthEvent store, and return the object that counts for them.

        *objects*: returns the HealthEvents of this program, at each scrape.
        """
        store = StoreMetrics(
            objects,
            writes=self._counter(declarations.STORE_WRITES, StoreWriteResult),
            rejected=self._counter(declarations.STORE_REJECTED, StoreLimit),
        )
        self.registry.register(store)
        return store

    def set_failing_objects_function(self, count: Callable[[], int]) -> None:
        """Show what *count* returns at each scrape: ProductionStackStatuses whose last write failed."""
        self._status_failing.set_function(lambda: float(count()))

    def set_overlay_function(self, is_refused: Callable[[], bool]) -> None:
        """
        Show 1 at each scrape while *is_refused* returns True.

        It does so while the newest overlay is invalid and an earlier one is in effect.
        """
        self._overlay_refused.set_function(lambda: float(is_refused()))

    def count_reload(self, result: ReloadResult) -> None:
        """
        Count a changed overlay that was loaded while the process ran: APPLIED, or REFUSED as invalid.
        """
        self._reloads.labels(result).inc()

    def set_leader_function(self, is_leader: Callable[[], bool]) -> None:
        """Show at each scrape whether this replica is the leader, which alone writes Events."""
        self._leader.set_function(lambda: float(is_leader()))

    def set_findings_functions(
        self,
        *,
        holds_lease: Callable[[], bool],
        knows_episodes: Callable[[], bool],
        reading: Iterable[Reason] = (),
    ) -> None:
        """
        Show the findings on which alerts fire while *holds_lease* returns True.

        *knows_episodes*: returns whether the episodes of a predecessor are among those of this process.
        *reading*: the reasons that read metrics pages.
        """
        self._holds_lease, self._knows_episodes = holds_lease, knows_episodes
        self._initial_keys = InitialPassKeys(frozenset(reading))

    def _are_findings_complete(self) -> bool:
        return self._evaluated_completely and self._holds_lease() and self._knows_episodes()

    def _prepare(self) -> Callable[[], Iterable[Metric]]:
        return partial(
            self._states.collect,
            self._evaluation,
            self.episode_starts(),
            leading=self._holds_lease(),
        )

    def follow(self, finished: FinishedPass) -> Iterable[None]:
        """
        Take the evaluation of a pass for the next scrapes, and count its duration.

        The result is empty: the pass is taken in one step.
        """
        self._evaluation = finished.evaluation
        # A pass from before they were known does not show their findings yet.
        self._initial_keys.follow(finished.evaluation)
        self._evaluated_completely = self._knows_episodes() and self._initial_keys.are_decided
        self._passes.observe(finished.took.total_seconds())
        self._last_pass.set_to_current_time()
        return ()

    def count_write(self, result: str) -> None:
        """Count one request to write an Event. *result*: a value of WriteResult."""
        self._writes.labels(result).inc()

    def count_mirror_write(self, result: str) -> None:
        """
        Count one request to write the mirror of an Event, which is beside its InferenceSet.

        *result*: a value of WriteResult.
        """
        self._mirror_writes.labels(result).inc()

    def on_episode_begin(self, key: FindingKey) -> None:
        """
        Count an episode when the write of its first Warning has finished; a Normal Event begins none.
        """
        self._episodes.labels(key.reason).inc()

    def on_episode_end(self, key: FindingKey, lasted: timedelta) -> None:
        """Observe how long an episode *lasted*, from its first Event; a negative time counts as 0."""
        self._episode_duration.labels(key.reason).observe(max(lasted.total_seconds(), 0.0))

    def count_scrape(self, result: ScrapeResult) -> None:
        """Count one attempt to read the metrics page of a model pod, by its result."""
        self._scrapes.labels(result).inc()

    def count_status_write(self, result: WriteObjectResult) -> None:
        """Count one request to write the status of a ProductionStackStatus, by its result."""
        self._status_writes.labels(result).inc()
