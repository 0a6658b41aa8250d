"""The series of the states of reasons, computed at each scrape."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from threading import Lock

from prometheus_client.core import Metric
from prometheus_client.samples import Sample

from reporter.catalogue.entries import NO_ALERT, Catalogue, CatalogueEntry
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.registry import SPECS
from reporter.evaluation.states import ReasonState
from reporter.metrics import declarations, index
from reporter.metrics.inference_sets import KEPT_FOR, SetSeries
from reporter.metrics.input_collectors import make_family
from reporter.metrics.since import Episodes, FindingTimes
from reporter.model.enums import Reason


ALWAYS_SHOWN = frozenset(
    {index.ACTIVE, ReasonState.ANNOUNCED, ReasonState.SUPPRESSED, ReasonState.UNKNOWN}
)
"""The states of a reason that have a series also while nothing is in them; the others follow as zeros for an hour."""

PAGES = "pages"
"""The value of the label ``reads`` for reasons that read metrics pages; it is empty for all others."""


class StateCollector:
    """
    The state of every reason, by namespace of its subjects and by InferenceSet.

    The namespace is "" for the cluster, and for what stands for all subjects of a layer that may
    exist. What was shown once is shown while its layer has subjects in its namespace: an alert
    resolves on a zero. It goes with the last of them, so that what is deleted costs nothing.

    Made of values that do not change, so that another thread than that of the event loop can do it.
    """

    def __init__(self, catalogue: Catalogue, *, limit: int = declarations.SET_LIMIT) -> None:
        self._one_at_a_time = Lock()
        self._index, self._times = index.StateIndex(), FindingTimes()
        self._sets = SetSeries(self.owner_of, limit=limit)
        self._rows: set[index.ReasonRow] = set()
        self._last_there: dict[tuple[index.ReasonRow, str], datetime] = {}
        self._entries: Mapping[Reason, CatalogueEntry] = {}
        self.add_reasons(catalogue)

    def add_reasons(self, catalogue: Catalogue) -> None:
        """
        Show the reasons of another catalogue too, but for reasons of readiness.

        Nothing is removed, as an alert resolves on a zero.
        """
        warnings = {k: e for k, e in catalogue.entries.items() if not e.is_ready_reason}
        self._entries = {**self._entries, **warnings}  # replaced, as another thread may read it

    def collect(
        self, evaluation: Evaluation, episodes: Episodes, *, leading: bool = False
    ) -> list[Metric]:
        """
        Return the series of an evaluation.

        *episodes*: the start of each open one. *leading*: this replica leads, so that alerts fire on
        its findings.
        """
        with self._one_at_a_time:
            return list(self._collect(evaluation, episodes, leading))

    def _collect(
        self, evaluation: Evaluation, episodes: Episodes, leading: bool
    ) -> Iterator[Metric]:
        changed = self._index.update(evaluation)
        if evaluation.evaluated_at is not None:
            self._sets.update(
                changed, self._index, evaluation.subjects, now=evaluation.evaluated_at
            )
        rows = self._known_rows(evaluation)
        findings = sorted(set(self._alerted())) if leading else []
        yield make_family(declarations.FINDING, ((labels, 1) for labels in findings))
        states = self._states(rows, evaluation.evaluated_at)
        yield make_family(declarations.REASON_STATE, states)
        yield _family(declarations.SET_STATE, self._sets.samples())
        yield _family(declarations.FINDING_SINCE, list(self._since(evaluation, episodes)))
        suppressions = sorted(_suppressions(evaluation))
        yield make_family(declarations.SUPPRESSION_INFO, ((each, 1) for each in suppressions))
        yield make_family(declarations.SETS_LEFT_OUT, [((), self._sets.left_out)])
        counts = index.count_subjects(evaluation, self._index.subjects)
        yield make_family(declarations.SUBJECTS, counts.items())

    def _known_rows(self, evaluation: Evaluation) -> list[index.ReasonRow]:
        self._rows |= {(each.layer, each.reason, "") for each in self._entries.values()}
        self._rows |= self._index.rows.keys()
        existing = {(each.layer, each.namespace) for each in evaluation.subjects}
        self._rows = {row for row in self._rows if not row[2] or (row[0], row[2]) in existing}
        return sorted(self._rows)

    def _alerted(self) -> Iterator[tuple[str, ...]]:
        """
        Yield the labels of each pair on which alerts fire; of those without series, by namespace.

        While something of it is out it has its severity for that as well, beside the one that it has as
        long as it lasts: that it gets worse is no end.
        """
        for pair, items in self._index.alerted.items():
            subject, entry = pair.subject, self._entries.get(pair.reason)
            if entry is None:
                continue  # a reason of readiness has no trouble
            name = subject.name if pair in self._sets.shown else ""
            severities = {entry.severity}
            if any(items.values()):
                severities.add(entry.severity_while_out)
            for each in severities - {"", NO_ALERT}:
                yield subject.layer, pair.reason, entry.owner, subject.namespace, each, name

    def _states(
        self, rows: list[index.ReasonRow], now: datetime | None
    ) -> Iterator[tuple[tuple[str, ...], float]]:
        known = set(rows)
        self._last_there = {
            (row, name): at
            for (row, name), at in self._last_there.items()
            if row in known and (now is None or now - at < KEPT_FOR)
        }
        for row in rows:
            layer, reason, namespace = row
            owner, reads = self.owner_of(reason), self._reads(reason)
            for name in index.STATE_NAMES:
                has = float(row in self._index.rows and name in self._index.rows[row])
                if has and now is not None:
                    self._last_there[row, name] = now
                if name in ALWAYS_SHOWN or (row, name) in self._last_there:
                    yield (layer, reason, owner, namespace, name, reads), has

    def _reads(self, reason: Reason) -> str:
        """Return PAGES for a reason that is Unknown without metrics pages, which a pod may lack for long."""
        entry = self._entries.get(reason)
        spec = SPECS.get(entry.probe) if entry is not None else None
        return PAGES if spec is not None and spec.scrape is not None else ""

    def owner_of(self, reason: str) -> str:
        """Return who must act; empty for a reason that no catalogue has had."""
        entry = self._entries.get(Reason(reason))
        return "" if entry is None else entry.owner

    def _since(self, evaluation: Evaluation, episodes: Episodes) -> Iterator[Sample]:
        found = self._times.find(evaluation, episodes, self._sets.shown)
        for pair, moment in found.items():
            yield Sample(declarations.FINDING_SINCE.full_name, self._sets.labels(pair), moment)


def _suppressions(evaluation: Evaluation) -> set[tuple[str, ...]]:
    return {
        (
            root.reason,
            root.subject.namespace,
            key.subject.layer,
            key.reason,
            key.subject.namespace,
        )
        for root, keys in evaluation.suppressions.suppresses.items()
        for key in keys
    }


def _family(declaration: declarations.MetricDeclaration, samples: list[Sample]) -> Metric:
    """Return a family of samples that are ready: most of them are those of the last scrape."""
    family = make_family(declaration, ())
    family.samples = samples
    return family
