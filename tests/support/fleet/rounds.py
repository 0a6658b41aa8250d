"""Rounds of a hub, played on the fold: objects, sources, an engine that fails, and restarts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec

from reporter.hub.cluster_reports import ClusterReportReader
from reporter.hub.document import FleetView, confirmed_at, render_status
from reporter.hub.fold import fold
from reporter.hub.query_results import Answers, gather_revisions, gather_trouble
from reporter.hub.records import Fleet, FleetRules, members_of
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.model.enums import Engage
from reporter.model.fleet_status import ClusterEntry
from reporter.model.states import State
from reporter.rollup.desired import is_outdated, make_patch, renewal_due_at
from reporter.stories.format import apply_merge_patch
from tests.support.fleet.series import NOON, SourceSeries, all_clusters, series_of


LABEL = "cluster"
RENEWAL = timedelta(minutes=5)
MAX_AGE = timedelta(minutes=15)


def a_cluster(
    name: str = "prod",
    *,
    label: str = "",
    uid: str = "",
    paused: bool = False,
    generation: int = 1,
    status: dict | None = None,
) -> ProductionStackCluster:
    """Return an object as the API server delivers it."""
    spec = {"clusterLabel": label or name, "clusterUID": uid, "paused": paused}
    meta = {"name": name, "namespace": "hub", "uid": f"uid-of-{name}", "resourceVersion": "7"}
    whole = {
        "metadata": meta | {"generation": generation},
        "spec": spec,
        "status": {"observedGeneration": -1} if status is None else status,
    }
    return msgspec.convert(whole, ProductionStackCluster)


def answers_of(sources: Iterable[SourceSeries], *, time: float) -> Answers:
    """Return complete answers to all three queries."""
    every = list(sources)
    reader = ClusterReportReader(LABEL)
    clusters = reader.read(series_of(all_clusters(every)), time if every else None)
    return Answers(
        clusters,
        gather_trouble(series_of(s for each in every for s in each.trouble()), LABEL),
        gather_revisions(series_of(s for each in every for s in each.revisions()), LABEL),
    )


@dataclass(slots=True)
class Rounds:
    """
    A hub whose objects get their status at once. *seconds*: since the first start, of all clocks.

    *answered_at*: when the last complete answer came to this process. *last_there*: when the engine last had
    series of a label.
    """

    rules: FleetRules = field(default_factory=FleetRules)
    objects: dict[str, ProductionStackCluster] = field(default_factory=dict)
    fleet: Fleet = field(default_factory=Fleet)
    seconds: float = 0.0
    answered_at: datetime | None = None
    last_there: dict[str, float] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(NOON + self.seconds, UTC)

    def engage(self, *objects: ProductionStackCluster) -> "Rounds":
        self.objects |= {each.metadata.name: each for each in objects}
        return self

    def ask(self, *sources: SourceSeries) -> None:
        """Play a round with complete answers."""
        self.answered_at = self.now
        self.last_there |= {each.label: self.seconds for each in sources if each.label}
        answers = answers_of(sources, time=NOON + self.seconds)
        if self.rules.engage is Engage.SEEN and not self.fleet.remembers:
            answers = answers._replace(history=self._history())
        self.fold(answers)

    def _history(self) -> Mapping[str, float]:
        ages = {label: self.seconds - at for label, at in self.last_there.items()}
        return {label: age for label, age in ages.items() if age <= self.rules.forget}

    def fail(self) -> None:
        """Play a round without a complete answer."""
        self.fold(Answers())

    def fold(self, answers: Answers) -> None:
        members = members_of(
            self.objects.values(),
            self.fleet.clusters,
            now=self.seconds,
            wall_time=self.now,
            max_age=MAX_AGE,
        )
        if self.rules.engage is Engage.SEEN:
            members = {}
        self.fleet = fold(self.fleet, members, answers, now=self.seconds, rules=self.rules)
        self._write()

    def _write(self) -> None:
        view = self.view()
        for name, found in self.objects.items():
            entry, record = view.cluster(name), self.fleet.clusters.get(name)
            if entry is None or record is None or record.is_carried_over:
                continue
            wanted = render_status(found, entry, now=self.now)
            at = confirmed_at(record, view, now=self.now)
            due = renewal_due_at(found, RENEWAL, evaluated_at=at, now=self.now)
            if is_outdated(found, wanted) or due <= self.now:
                patch = make_patch(found, wanted, evaluated_at=at, reported=record.evaluated)
                status = apply_merge_patch(found.status or {}, patch["status"])
                self.objects[name] = msgspec.structs.replace(found, status=status)

    def restart(self) -> None:
        """Let another process lead, which knows the objects alone."""
        self.fleet, self.answered_at = Fleet(), None

    def view(self) -> FleetView:
        return FleetView(self.fleet, self.rules, self.seconds, self.answered_at)

    def entry(self, name: str = "prod") -> ClusterEntry:
        found = self.view().cluster(name)
        assert found is not None, f"{name} is not in {sorted(self.fleet.clusters)}"
        return found

    def line(self, name: str = "prod") -> str:
        """Return state, last known state and code in one line."""
        entry = self.entry(name)
        words = [entry.state.value]
        if entry.blocking is not None:
            words.append(entry.blocking.reason or entry.blocking.code)
        if entry.last_known is not None:
            words.append(f"was {entry.last_known}")
        return " ".join(words)

    def lines(self) -> Mapping[str, str]:
        return {name: self.line(name) for name in self.fleet.clusters}


STATES = {each.value: each for each in State}
