"""The clusters that the hub answers for, as people ask for them."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from reporter.kinds.productionstack import ProductionStackCluster
from reporter.model.states import State
from reporter.model.times import parse_zoned_time


class Earlier(NamedTuple):
    """
    The knowledge of an earlier process about a cluster.

    *evaluated*: the Unix time of evaluation that the cluster had reported; None if none was.
    *age*: seconds since that was written.
    """

    state: State
    last_known: State | None
    uid: str = ""
    evaluated: float | None = None
    age: float = 0.0


class Engagement(NamedTuple):
    """One cluster that is answered for. *uid*: the UID that it must have; empty: any."""

    label: str
    uid: str = ""
    paused: bool = False
    earlier: Earlier | None = None


def engagements_of(
    objects: Iterable[ProductionStackCluster], *, now: datetime, max_age: timedelta
) -> Mapping[str, Engagement]:
    """
    Return the clusters that objects name, by the names of the objects.

    *max_age*: how old a status may be to be what an earlier process knew. Without such a limit a hub
    that restarts again and again would keep a state for ever.
    """
    return {
        each.metadata.name: Engagement(
            each.spec.cluster_label,
            each.spec.cluster_uid,
            each.spec.paused,
            _earlier(each, now=now, max_age=max_age),
        )
        for each in objects
    }


def _earlier(
    found: ProductionStackCluster, *, now: datetime, max_age: timedelta
) -> Earlier | None:
    """
    Return what the status tells; None if it is about another spec, and so maybe another cluster.
    """
    status: Mapping[str, Any] = found.status or {}
    state = _state(status.get("state"))
    evaluated = status.get("reportedTimestampSeconds")
    if state is None or found.observed_generation != found.metadata.generation:
        return None
    written = parse_zoned_time(status.get("lastEvaluationTime"))
    number = float(evaluated) if isinstance(evaluated, int | float) else None
    last_known = _state(status.get("lastKnown"))
    is_recent = written is not None and abs(now - written) <= max_age
    if not is_recent and state is not State.UNKNOWN:
        state, last_known = State.UNKNOWN, state
    uid = status.get("clusterUID")
    age = max((now - written).total_seconds(), 0.0) if written is not None else 0.0
    return Earlier(state, last_known, uid if isinstance(uid, str) else "", number, age)


def _state(text: object) -> State | None:
    try:
        return State(text) if isinstance(text, str) else None
    except ValueError:
        return None
