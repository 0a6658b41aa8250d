"""
Decide the state of one cluster. It is Current only if one fresh source of one known UID says so.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from reporter.hub.cluster_reports import SourceId
from reporter.hub.records import Fleet, FleetRecord, FleetRules, Member
from reporter.hub.source_state import SourceStates, is_same
from reporter.model.fleet_status import FleetCode
from reporter.model.states import State


class ClusterVerdict(NamedTuple):
    """
    The verdict on one cluster after a round.

    *state*: None leaves all that is shown as it is. *code*: why the hub calls the cluster Unknown; None if
    it does not. *chosen*: the source that counts; None without one. *other_uids*, *other_labels*: all UIDs
    or labels of a duplicate, its own among them.
    """

    state: State | None
    code: FleetCode | None = None
    chosen: SourceId | None = None
    other_uids: tuple[str, ...] = ()
    other_labels: tuple[str, ...] = ()


def find_labels(
    sources: Mapping[str, SourceStates], rules: FleetRules, *, now: float
) -> Mapping[str, tuple[str, ...]]:
    """
    Return the sorted cluster labels under which each cluster UID reports now.

    Several for one UID mean that a label is wrong. Sources without a change for the stale time, and
    those without a UID, are left out.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for label, states in sources.items():
        for each, state in states.items():
            if each.uid and state.is_fresh(now, rules.stale):
                found[each.uid].add(label)
    return {uid: tuple(sorted(labels)) for uid, labels in found.items()}


def judge(
    member: Member, record: FleetRecord, fleet: Fleet, rules: FleetRules, *, now: float
) -> ClusterVerdict:
    """
    Return the verdict on a cluster.

    *record*: as of the round before. *fleet*: with the sources and the times of the answers up to now.
    """
    if member.paused:
        return ClusterVerdict(State.UNKNOWN, FleetCode.PAUSED)
    sources = fleet.sources.get(member.label, {})
    fresh = {each: found for each, found in sources.items() if found.is_fresh(now, rules.stale)}
    uids = {each.uid for each in fresh}
    real = tuple(sorted(uids - {""}))
    if len(real) > 1 or (member.uid and set(real) - {member.uid}):
        return ClusterVerdict(State.UNKNOWN, FleetCode.DUPLICATE_CLUSTER, other_uids=real)
    labels = fleet.labels_of.get(real[0], ()) if real and not member.uid else ()
    if len(labels) > 1:
        return ClusterVerdict(
            State.UNKNOWN, FleetCode.DUPLICATE_CLUSTER, other_uids=real, other_labels=labels
        )
    if "" in uids:
        return ClusterVerdict(State.UNKNOWN, FleetCode.NO_CLUSTER_UID, _newest(fresh))
    chosen = _newest({each: found for each, found in fresh.items() if found.changed is not None})
    if chosen is not None and fresh[chosen].seen == fleet.answered:
        state = fresh[chosen].report.state
        why = FleetCode.NO_STATE if state is None else None
        return ClusterVerdict(state or State.UNKNOWN, why, chosen)
    since = _confirmed_at(record, sources)
    if since is not None and now - since <= rules.stale:
        return ClusterVerdict(None)
    code = _why_unknown(record, sources, fleet, rules, now=now, has_fresh=bool(fresh))
    return ClusterVerdict(State.UNKNOWN, code, _newest(fresh))


def _newest(sources: SourceStates) -> SourceId | None:
    """
    Return the source that counts: of those that are in the newest answer, the one that changed last.

    Two that changed in the same round are a pair of scrapers, or two leaders for a moment: the newer
    time of evaluation wins.
    """

    def order(each: SourceId) -> tuple[float, float, float, SourceId]:
        found = sources[each]
        changed = found.changed if found.changed is not None else found.first_seen
        return found.seen, changed, found.report.evaluated, each

    return max(sources, key=order, default=None)


def _confirmed_at(record: FleetRecord, sources: SourceStates) -> float | None:
    """
    Return when the state was confirmed that may stay without a change; None if there is none.

    It was reported, or is that of an earlier process. If the cluster reports what it did when that
    process wrote, its silence began then. If another cluster has the label now, no state stays.
    """
    if record.content.code is not None:
        return None
    if not record.is_carried_over:
        return record.last_update
    if any(each.uid != record.content.uid for each in sources):
        return None
    if record.last_update is not None:
        return record.last_update
    is_as_written = bool(sources) and all(
        record.evaluated is not None and is_same(each.report.evaluated, record.evaluated)
        for each in sources.values()
    )
    return record.written if is_as_written else record.first_engaged


def _why_unknown(
    record: FleetRecord,
    sources: SourceStates,
    fleet: Fleet,
    rules: FleetRules,
    *,
    now: float,
    has_fresh: bool,
) -> FleetCode:
    """Say why nothing is known, without blaming a cluster for an engine that does not answer."""
    if fleet.answered is None:
        return FleetCode.NOT_ASKED
    if not fleet.is_answering(now, rules.stale):
        return FleetCode.ENGINE_UNAVAILABLE
    if has_fresh:
        return FleetCode.NOT_CONFIRMED
    if not record.was_seen and not sources:
        return FleetCode.NEVER_REPORTED
    if fleet.can_detect_silence(now, rules.stale):
        return FleetCode.SILENT
    if record.content.code in _UNCONFIRMED:
        return FleetCode.NOT_CONFIRMED
    return FleetCode.SILENT if record.last_update is None else FleetCode.ENGINE_UNAVAILABLE


_UNCONFIRMED = {FleetCode.NOT_ASKED, FleetCode.NOT_CONFIRMED}
"""
The codes of a cluster that only the past has. Its series may be missing for a moment, as while its reporter
starts again, so it is silent only after the stale time.
"""
