"""
Answers of the metrics engine: series, and what is gathered from them by cluster label and source.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from reporter.model.fleet_status import Dropped
from reporter.model.states import State
from reporter.model.status_document import Replicas


class SeriesSample(NamedTuple):
    """One series of an instant vector. *value*: as text, as the API has it."""

    labels: Mapping[str, str]
    value: str


Source: TypeAlias = str
"""
The target labels of series, as one text: what one replica exposes to one scraper has the same ones.
"""


class SourceReport(NamedTuple):
    """
    The report of one source on one cluster UID.

    *evaluated*: Unix time of its evaluation. *state*: None if there is none, or several.
    """

    uid: str
    evaluated: float
    state: State | None = None
    counts: Mapping[State, int] = {}
    replicas: Replicas | None = None
    version: str = ""


class SourceId(NamedTuple):
    source: Source
    uid: str


class ReportedBlocking(NamedTuple):
    """
    The blocking cause of a cluster or a workload namespace, as far as its labels tell.

    *silenced_until*: Unix time at which its silence ends; 0 without one.
    """

    reason: str
    code: str
    actionability: str
    stalled: bool = False
    silenced_until: float = 0.0


class NamespaceTrouble(NamedTuple):
    """A workload namespace that is not Current. *state*: None if only its cause is known."""

    name: str
    state: State | None = None
    blocking: ReportedBlocking | None = None


class ClusterTrouble(NamedTuple):
    """The blocking causes of a cluster, and of its namespaces that are not Current, by name."""

    blocking: ReportedBlocking | None = None
    namespaces: tuple[NamespaceTrouble, ...] = ()


class PackageCount(NamedTuple):
    """A number of workload namespaces by package, revision and state."""

    package: str
    revision: str
    state: State
    namespaces: int


class DroppedSeries(Struct, frozen=True):
    """Series that are left out for one cause. *names*: some of what they belong to."""

    series: int = 0
    names: tuple[str, ...] = ()


DroppedByCause: TypeAlias = Mapping[Dropped, DroppedSeries]


class ClustersAnswer(Struct, frozen=True):
    """A complete answer about the clusters. *time*: of the engine; None without any series."""

    time: float | None = None
    reports: Mapping[str, Mapping[SourceId, SourceReport]] = field(default_factory=dict)
    series: Mapping[str, int] = field(default_factory=dict)
    dropped: DroppedByCause = field(default_factory=dict)


TroubleAnswer: TypeAlias = Mapping[str, Mapping[Source, ClusterTrouble]]
RevisionsAnswer: TypeAlias = Mapping[str, tuple[PackageCount, ...]]


class Answers(NamedTuple):
    """The answers of one round; None for a query without a complete one."""

    clusters: ClustersAnswer | None = None
    trouble: TroubleAnswer | None = None
    revisions: RevisionsAnswer | None = None


Samples: TypeAlias = Iterable[SeriesSample]
