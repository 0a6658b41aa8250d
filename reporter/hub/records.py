"""
The fleet as of one round: what is seen under each label, and the answer about each cluster.

Times are seconds of a clock of the hub that never jumps, but for those that clusters report.
"""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct, field, structs

from reporter.hub.cluster_reports import DroppedByCause
from reporter.hub.query_results import PackageKey
from reporter.hub.series import Source
from reporter.hub.source_state import SkewWindow, SourceStates
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.model.enums import Engage
from reporter.model.fleet_status import FleetBlocking, FleetCode, FleetNamespace
from reporter.model.object_status import OBSERVED
from reporter.model.states import State
from reporter.model.status_document import Replicas, Unobserved
from reporter.model.times import parse_zoned_time


class FleetRules(Struct, frozen=True):
    """
    The limits of the fold.

    *stale*: seconds without a change of its time of evaluation after which a cluster is silent.
    *forget*: seconds after which a silent cluster that no object names is left out.
    """

    stale: float = 300.0
    engage: Engage = Engage.LISTED
    max_clusters: int = 12_000
    forget: float = 14 * 86_400.0


class Content(Struct, frozen=True, gc=False):
    """
    The answer about a cluster, without ages.

    *code*: why the hub calls it Unknown; None if the state is what the cluster reports.
    *other_uids*, *other_labels*: of a duplicate. *trouble_known*: *blocking* and *namespaces* are those of this state.
    *unobserved*: None if nobody says whether all below the control plane is known.
    """

    state: State = State.UNKNOWN
    last_known: State | None = None
    code: FleetCode | None = None
    uid: str = ""
    other_uids: tuple[str, ...] = ()
    other_labels: tuple[str, ...] = ()
    version: str = ""
    counts: Mapping[State, int] = {}
    replicas: Replicas | None = None
    blocking: FleetBlocking | None = None
    namespaces: tuple[FleetNamespace, ...] = ()
    trouble_known: bool = False
    packages: Mapping[PackageKey, int] = {}
    skewed: bool = False
    unobserved: Unobserved | None = Unobserved()


class FleetRecord(Struct, frozen=True, gc=False):
    """
    The answer about a cluster, and what it rests on.

    *label*, *expected_uid*: of the member that it is about; an empty UID is any. *since*: when state and
    code became what they are. *last_update*: when a source that counts last changed; None if none ever
    did. *evaluated*: the Unix time that the cluster reports; None if it never did.

    *is_carried_over*: the state is that of an earlier process, which wrote it at *written*. *was_observed*:
    that process knew all below the control plane; None if it did not say so. *was_seen*: series with its
    label were in an answer. *source*: the source that counts; empty without one.
    """

    label: str
    expected_uid: str
    content: Content
    since: float
    first_engaged: float
    last_update: float | None = None
    evaluated: float | None = None
    skew: SkewWindow | None = None
    is_carried_over: bool = False
    written: float = 0.0
    was_observed: bool | None = None
    was_seen: bool = False
    source: Source = ""
    revision: int = 0

    @property
    def is_observed(self) -> bool | None:
        """Return whether all below the control plane is known; None if that is not known either."""
        content = self.content
        if content.state is State.UNKNOWN:
            return False
        if self.is_carried_over:
            return self.was_observed
        return None if content.unobserved is None else content.unobserved == Unobserved()


class Fleet(Struct, frozen=True):
    """
    The clusters of a hub, as far as they are known.

    *clusters*: by name of their object, or by label if all that are seen are answered for.

    *sources*: by cluster label. *labels_of*: the labels under which a cluster lives, by its UID; with
    several at least one is wrong. *answered*: when the last complete answer about clusters came;
    *engine_time*: the Unix time of the engine in it. *dropped*: the series of it that were left out, by
    cause. *answering_since*: since when such answers come without a gap as long as the stale time.
    *remembers*: the clusters that were seen by an earlier process are among them. *forgotten*: labels of
    that process for which there is no room, with when they were last seen. *revision*: changes with the
    content.
    """

    clusters: Mapping[str, FleetRecord] = field(default_factory=dict)
    sources: Mapping[str, SourceStates] = field(default_factory=dict)
    labels_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: DroppedByCause = field(default_factory=dict)
    answered: float | None = None
    answering_since: float | None = None
    engine_time: float | None = None
    remembers: bool = False
    forgotten: Mapping[str, float] = field(default_factory=dict)
    revision: int = 0

    def is_answering(self, now: float, stale: float) -> bool:
        """
        Return whether the engine gave a complete answer within the last *stale* seconds.

        False before the first answer. While it is False, silence says nothing about a cluster.
        """
        return self.answered is not None and now - self.answered <= stale

    def can_detect_silence(self, now: float, stale: float) -> bool:
        """
        Return whether answers have come for so long that a cluster without a change is silent.
        """
        since = self.answering_since
        return self.is_answering(now, stale) and since is not None and now - since > stale


# ---------------------------------------------------------------- membership


class Member(NamedTuple):
    """
    One cluster that is answered for.

    *uid*: the UID that it must have; empty: any. *earlier*: what is known of it from before this process;
    None if nothing is.
    """

    label: str
    uid: str = ""
    paused: bool = False
    earlier: FleetRecord | None = None


Members: TypeAlias = Mapping[str, Member]


def members_of(
    objects: Iterable[ProductionStackCluster],
    known: Container[str],
    *,
    now: float,
    wall_time: datetime,
    max_age: timedelta,
) -> Members:
    """
    Return the clusters that objects name, by the names of the objects.

    *known*: the names of those that have a record, so that nothing of an earlier process is needed.
    *max_age*: how old a status may be to be what that process knew. Without such a limit a hub that
    restarts again and again would keep a state for ever.
    """
    return {
        each.metadata.name: Member(
            each.spec.cluster_label,
            each.spec.cluster_uid,
            each.spec.paused,
            None
            if each.metadata.name in known
            else _read_status(each, now=now, wall_time=wall_time, max_age=max_age),
        )
        for each in objects
    }


def _read_status(
    found: ProductionStackCluster, *, now: float, wall_time: datetime, max_age: timedelta
) -> FleetRecord | None:
    """
    Return what the status tells; None if it is about another spec, and so maybe another cluster.
    """
    status: Mapping[str, Any] = found.status or {}
    state, last_known = _state(status.get("state")), _state(status.get("lastKnown"))
    if state is None or found.observed_generation != found.metadata.generation:
        return None
    written = parse_zoned_time(status.get("lastEvaluationTime"))
    is_recent = written is not None and abs(wall_time - written) <= max_age
    if not is_recent and state is not State.UNKNOWN:
        state, last_known = State.UNKNOWN, state
    uid, evaluated = status.get("clusterUID"), status.get("reportedTimestampSeconds")
    age = max((wall_time - written).total_seconds(), 0.0) if written is not None else 0.0
    content = Content(
        state,
        last_known,
        uid=uid if isinstance(uid, str) else "",
        blocking=None if state is State.UNKNOWN else _read_blocking(status, wall_time),
        unobserved=None,
    )
    return FleetRecord(
        found.spec.cluster_label,
        found.spec.cluster_uid,
        content,
        since=now,
        first_engaged=now,
        evaluated=float(evaluated) if isinstance(evaluated, int | float) else None,
        is_carried_over=state is not State.UNKNOWN,
        written=now - age,
        was_observed=_read_observed(status),
        was_seen=isinstance(evaluated, int | float),
    )


def _read_blocking(status: Mapping[str, Any], wall_time: datetime) -> FleetBlocking | None:
    """Return what blocked the cluster, without a silence of it that has ended."""
    try:
        found: FleetBlocking | None = msgspec.convert(status.get("blocking"), FleetBlocking | None)
    except msgspec.ValidationError:
        return None  # of an earlier or later release
    if found is None or found.silenced_until is None or found.silenced_until > wall_time:
        return found
    return structs.replace(found, silenced_until=None)


def _read_observed(status: Mapping[str, Any]) -> bool | None:
    conditions = status.get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, dict) and each.get("type") == OBSERVED:
            return _CONDITION_VALUES.get(str(each.get("status")))
    return None


_CONDITION_VALUES = {"True": True, "False": False}


def _state(text: object) -> State | None:
    try:
        return State(text) if isinstance(text, str) else None
    except ValueError:
        return None
