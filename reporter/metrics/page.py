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
from reporter.kube.leadership import Leadership
from reporter.metrics import declarations
from reporter.metrics.completeness import InitialPassKeys
from reporter.metrics.input_collectors import InputReport
from reporter.metrics.process import ProcessMetrics, ReloadResult
from reporter.metrics.rollups import RollUpCollector
from reporter.metrics.silences import SilenceCollector
from reporter.metrics.since import Episodes
from reporter.metrics.state_collector import StateCollector
from reporter.metrics.store import StoreMetrics
from reporter.model.enums import Reason
from reporter.model.object_status import WriteObjectResult
from reporter.model.subjects import FindingKey
from reporter.process.clock import Clock
from reporter.rollup.records import RollUp
from reporter.scrape.samples import ScrapeResult
from reporter.settings import RollUpScope


class Metrics(ProcessMetrics):
    """
    Count passes and writes when they happen; ask for everything else at each scrape.

    Each ``count_…`` counts one event by its result: *count_write* a request to write an Event,
    *count_mirror_write* one to write its mirror beside an InferenceSet, *count_status_write* one to write
    the status of a ProductionStackStatus, *count_scrape* an attempt to read the metrics page of a model
    pod, *count_reload* a changed overlay that was loaded while the process ran.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        inputs: Callable[[], InputReport],
        leadership: Leadership,
        clock: Clock,
    ) -> None:
        super().__init__(inputs, clock)
        self._states, self._evaluation = StateCollector(catalogue), Evaluation()
        # False also in a leader that was paused, once others may have taken over.
        self._holds_lease = leadership.holds_lease
        self._episode_starts: Callable[[], Episodes] = dict
        self._knows_episodes: Callable[[], bool] = lambda: False
        self._evaluated_completely = False
        self._initial_keys = InitialPassKeys()
        self._findings_complete = self._gauge(declarations.FINDINGS_COMPLETE)
        self._findings_complete.set_function(lambda: float(self._are_findings_complete()))
        self.registry.register(SilenceCollector(lambda: self._evaluation))
        self.count_reload = self._result_counter(declarations.OVERLAY_RELOADS, ReloadResult)
        self._overlay_refused = self._gauge(declarations.OVERLAY_REFUSED)
        self._passes = self._histogram(declarations.PASS_DURATION)
        self._last_pass = self._gauge(declarations.LAST_PASS)
        self.count_write = self._result_counter(declarations.EVENT_WRITES, WriteResult)
        self.count_scrape = self._result_counter(declarations.SCRAPES, ScrapeResult)
        self.count_mirror_write = self._result_counter(declarations.MIRROR_WRITES, WriteResult)
        self._gauge(declarations.LEADER).set_function(lambda: float(leadership.is_leader))
        self.count_status_write = self._result_counter(
            declarations.STATUS_OBJECT_WRITES, WriteObjectResult
        )
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
        self, rollup: Callable[[], RollUp], scope: RollUpScope, *, version: str
    ) -> None:
        """
        Add the series of the status. Only the leader has them, so no two replicas contradict.
        """
        if scope is not RollUpScope.OFF:
            self.registry.register(
                RollUpCollector(
                    rollup,
                    scope,
                    holds_lease=self._holds_lease,
                    version=version,
                    owner_of=self._states.owner_of,
                    knows_findings=self._are_findings_complete,
                )
            )

    def show_store(
        self, objects: Callable[[], Iterable[HealthEvent]], is_up: Callable[[], bool]
    ) -> StoreMetrics:
        """
        Add the series of the HealthEvent store, and return the object that counts for them.

        The functions are called at each scrape. *objects*: returns the HealthEvents of this program.
        """
        store = StoreMetrics(
            objects,
            is_up,
            count_store_write=self._result_counter(declarations.STORE_WRITES, StoreWriteResult),
            count_rejected=self._result_counter(declarations.STORE_REJECTED, StoreLimit),
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

    def show_findings(
        self,
        episode_starts: Callable[[], Episodes],
        *,
        knows_episodes: Callable[[], bool],
        reading: Iterable[Reason] = (),
    ) -> None:
        """
        Show the findings on which alerts fire while this process leads.

        *episode_starts*: returns when the announced episodes began. *knows_episodes*: returns whether those
        of a predecessor are among them. *reading*: the reasons that read metrics pages.
        """
        self._episode_starts, self._knows_episodes = episode_starts, knows_episodes
        self._initial_keys = InitialPassKeys(frozenset(reading))

    def _are_findings_complete(self) -> bool:
        return self._evaluated_completely and self._holds_lease() and self._knows_episodes()

    def _prepare(self) -> Callable[[], Iterable[Metric]]:
        return partial(
            self._states.collect,
            self._evaluation,
            self._episode_starts(),
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

    def on_episode_begin(self, key: FindingKey) -> None:
        """
        Count an episode when the write of its first Warning has finished; a Normal Event begins none.
        """
        self._episodes.labels(key.reason).inc()

    def on_episode_end(self, key: FindingKey, lasted: timedelta) -> None:
        """Observe how long an episode *lasted*, from its first Event; a negative time counts as 0."""
        self._episode_duration.labels(key.reason).observe(max(lasted.total_seconds(), 0.0))
