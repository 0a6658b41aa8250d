"""
The fleet as of one round: what is seen under each label, and the answer about each cluster.

Times are seconds of a clock of the hub that never jumps, but for those that clusters report.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from reporter.model.fleet_answers import (
    DroppedByCause,
    NamespaceTrouble,
    PackageCount,
    ReportedBlocking,
    Source,
    SourceId,
    SourceReport,
)
from reporter.model.fleet_status import Engage, FleetCode
from reporter.model.states import State
from reporter.model.status_document import Replicas


class FleetRules(Struct, frozen=True):
    """
    The limits of the fold.

    *stale*: seconds without a change of its time of evaluation after which a cluster is silent.
    *forget*: seconds after which a silent cluster that no object names is left out.
    """

    stale: float = 300.0
    engage: Engage = Engage.LISTED
    max_clusters: int = 12_000
    forget: float = 86_400.0


class Sighting(NamedTuple):
    """
    The knowledge about one source and UID under a label.

    *changed*: when its time of evaluation last changed; None if it never did before our eyes.
    *seen*: when it was last in an answer. *earlier*: the times of evaluation before, the last one first.
    """

    report: SourceReport
    first_seen: float
    seen: float
    changed: float | None = None
    earlier: tuple[float, ...] = ()

    def is_living(self, now: float, stale: float) -> bool:
        """
        Return whether its time changed within the stale time; one that is new has that long to.
        """
        since = self.first_seen if self.changed is None else self.changed
        return now - since <= stale


Sightings: TypeAlias = Mapping[SourceId, Sighting]

LabelsByUid: TypeAlias = Mapping[str, tuple[str, ...]]
"""
The cluster labels under which a cluster lives, by its UID. With several at least one is wrong.
"""


class Content(NamedTuple):
    """
    The answer about a cluster, without ages.

    *code*: why the hub calls it Unknown; None if the state is what the cluster reports.
    *other_uids*, *other_labels*: of a duplicate. *trouble_known*: *blocking* and *namespaces* are those of this state.
    """

    state: State
    last_known: State | None = None
    code: FleetCode | None = None
    uid: str = ""
    other_uids: tuple[str, ...] = ()
    other_labels: tuple[str, ...] = ()
    version: str = ""
    counts: Mapping[State, int] = {}
    replicas: Replicas | None = None
    blocking: ReportedBlocking | None = None
    namespaces: tuple[NamespaceTrouble, ...] = ()
    trouble_known: bool = False
    packages: tuple[PackageCount, ...] = ()
    skewed: bool = False


class SkewWindow(NamedTuple):
    """
    The smallest age of a cluster's time of evaluation at the moment of a change, in two windows.

    The age of an answer is the skew of the clocks, plus the time since the evaluation and on the way,
    which is never negative: so the smallest one is the nearest.
    """

    started: float
    smallest: float
    before: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds by which the cluster's clock is ahead of the engine's; negative if behind."""
        return -min(each for each in (self.smallest, self.before) if each is not None)


class FleetRecord(NamedTuple):
    """
    The answer about a cluster, and what it rests on.

    *engagement*: label and UID that were asked for. *since*: when state and code became what they are.
    *heard*: when a source that counts last changed; None if none ever did. *evaluated*: the Unix time
    that the cluster reports, None if it never did. *stands*: the state is that of an earlier process,
    which wrote it at *written*. *was_seen*: series with its label were in an answer.
    *source*: the source that counts; empty without one.
    """

    engagement: tuple[str, str]
    content: Content
    since: float
    first_engaged: float
    heard: float | None = None
    evaluated: float | None = None
    skew: SkewWindow | None = None
    stands: bool = False
    written: float = 0.0
    was_seen: bool = False
    source: Source = ""
    revision: int = 0

    @property
    def label(self) -> str:
        return self.engagement[0]


class Fleet(Struct, frozen=True):
    """
    The clusters of a hub, as far as they are known.

    *clusters*: by name of their object, or by label if all that are seen are answered for.

    *answered*: when the last complete answer about clusters came. *answering_since*: since when such
    answers come without a gap as long as the stale time. *engine_time*: Unix time of the engine then.
    *labels_of*: of those that live. *revision*: changes with the content.
    """

    clusters: Mapping[str, FleetRecord] = field(default_factory=dict)
    sightings: Mapping[str, Sightings] = field(default_factory=dict)
    labels_of: LabelsByUid = field(default_factory=dict)
    dropped: DroppedByCause = field(default_factory=dict)
    answered: float | None = None
    answering_since: float | None = None
    engine_time: float | None = None
    revision: int = 0

    def is_answering(self, now: float, stale: float) -> bool:
        return self.answered is not None and now - self.answered <= stale

    def hears(self, now: float, stale: float) -> bool:
        """
        Return whether answers have come for so long that a cluster without a change is silent.
        """
        since = self.answering_since
        return self.is_answering(now, stale) and since is not None and now - since > stale
