"""The status that a ProductionStackCluster is to have."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from reporter.hub.document import FleetMoment
from reporter.hub.records import FleetRecord
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.model.enums import Layer
from reporter.model.fleet_object_status import MAX_PACKAGES, ClusterObjectStatus
from reporter.model.fleet_status import ClusterEntry, FleetBlocking
from reporter.model.object_status import AVAILABLE, ObjectBlocking, SetCounts
from reporter.model.states import Actionability
from reporter.rollup.answers import ObjectAnswer
from reporter.rollup.conditions import make_conditions


Json = dict[str, Any]


def render_status(found: ProductionStackCluster, entry: ClusterEntry, *, now: datetime) -> Json:
    """Return the status as a client reads it, without the times that change without news."""
    generation = found.metadata.generation
    counts = entry.inference_sets
    status = ClusterObjectStatus(
        observed_generation=generation,
        state=entry.state,
        last_known=entry.last_known,
        conditions=tuple(
            each
            for each in make_conditions(
                _answer(entry), found.status or {}, generation=generation, now=now
            )
            if each.type != AVAILABLE
        ),
        blocking=entry.blocking,
        cluster_uid=entry.uid,
        reporter_version=entry.version,
        inference_sets=SetCounts.of(counts.by_state()) if counts is not None else None,
        replicas=entry.replicas,
        namespaces_not_current=entry.namespace_count,
        packages=entry.packages[:MAX_PACKAGES],
        clock_skewed=entry.skewed,
    )
    rendered: Json = msgspec.json.decode(msgspec.json.encode(status))
    return rendered


def confirmed_at(record: FleetRecord, moment: FleetMoment, *, now: datetime) -> datetime | None:
    """
    Return the time of the answer that a status rests on; None if that was of an earlier process.

    Answers in which nothing has changed confirm no state of a cluster. If they did, a hub that starts
    again and again would keep the state of a cluster that is gone.
    """
    if record.content.code is not None:
        return moment.answered_at
    if record.stands or record.heard is None:
        return None
    return now - timedelta(seconds=max(moment.seconds - record.heard, 0.0))


def _answer(entry: ClusterEntry) -> ObjectAnswer:
    blocking = _object_blocking(entry.blocking) if entry.blocking is not None else None
    return ObjectAnswer(entry.state, blocking=blocking)


def _object_blocking(blocking: FleetBlocking) -> ObjectBlocking:
    actionabilities = {each.value: each for each in Actionability}
    return ObjectBlocking(
        reason=blocking.reason or blocking.code,
        code=blocking.code,
        layer=Layer.CLUSTER,
        message=blocking.message,
        remedy=blocking.remedy,
        actionability=actionabilities.get(blocking.actionability, Actionability.PLATFORM),
        stalled=blocking.stalled,
    )
