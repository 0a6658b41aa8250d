"""
Decide the state of one cluster. It is Current only if one living source of one known UID says so.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from reporter.hub.membership import Engagement
from reporter.hub.records import Fleet, FleetRules, LabelsByUid, Sighting, Sightings
from reporter.model.fleet_answers import SourceId
from reporter.model.fleet_status import FleetCode
from reporter.model.states import State


class Judgement(NamedTuple):
    """
    *state*: None leaves it as it is. *code*: why it is Unknown. *chosen*: the source that counts.

    *other_uids*, *other_labels*: all that a duplicate has.
    """

    state: State | None
    code: FleetCode | None = None
    chosen: SourceId | None = None
    other_uids: tuple[str, ...] = ()
    other_labels: tuple[str, ...] = ()


STANDS = Judgement(None)


def find_labels(seen: Mapping[str, Sightings], rules: FleetRules, *, now: float) -> LabelsByUid:
    """Return the labels of all clusters that live."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for label, sightings in seen.items():
        for each, sighting in sightings.items():
            if each.uid and sighting.is_living(now, rules.stale):
                found[each.uid].add(label)
    return {uid: tuple(sorted(labels)) for uid, labels in found.items()}


class Past(NamedTuple):
    """
    The knowledge about a cluster before this round.

    *heard*: when a source that counted last changed. *stands_until*: until when its state may stand
    without a change; None if there is none that may. *was_seen*: series with its label ever were.
    """

    heard: float | None
    stands_until: float | None
    was_seen: bool


def judge(
    engagement: Engagement,
    sightings: Sightings,
    past: Past,
    fleet: Fleet,
    rules: FleetRules,
    *,
    now: float,
) -> Judgement:
    """Return the state. *fleet*: with the times of the answers up to now."""
    if engagement.paused:
        return Judgement(State.UNKNOWN, FleetCode.PAUSED)
    living = {
        each: found for each, found in sightings.items() if found.is_living(now, rules.stale)
    }
    uids = {each.uid for each in living}
    real = tuple(sorted(uids - {""}))
    if len(real) > 1 or (engagement.uid and set(real) - {engagement.uid}):
        return Judgement(State.UNKNOWN, FleetCode.DUPLICATE_CLUSTER, other_uids=real)
    labels = fleet.labels_of.get(real[0], ()) if real and not engagement.uid else ()
    if len(labels) > 1:
        return Judgement(
            State.UNKNOWN, FleetCode.DUPLICATE_CLUSTER, other_uids=real, other_labels=labels
        )
    if "" in uids:
        return Judgement(State.UNKNOWN, FleetCode.NO_CLUSTER_UID, _newest(living))
    chosen = _newest({each: found for each, found in living.items() if found.changed is not None})
    if chosen is not None and living[chosen].seen == fleet.answered:
        return _reported(chosen, living[chosen])
    if past.stands_until is not None and now <= past.stands_until:
        return STANDS
    code = _why_unknown(living, sightings, past, fleet, rules, now=now)
    return Judgement(State.UNKNOWN, code, _newest(living))


def _newest(sightings: Sightings) -> SourceId | None:
    """
    Return the source that counts: of those that are in the newest answer, the one that changed last.

    Two that changed in the same round are a pair of scrapers, or two leaders for a moment: the newer
    time of evaluation wins.
    """

    def order(each: SourceId) -> tuple[float, float, float, SourceId]:
        found = sightings[each]
        changed = found.changed if found.changed is not None else found.first_seen
        return found.seen, changed, found.report.evaluated, each

    return max(sightings, key=order, default=None)


def _reported(chosen: SourceId, found: Sighting) -> Judgement:
    state = found.report.state
    if state is None:
        return Judgement(State.UNKNOWN, FleetCode.NO_STATE, chosen)
    return Judgement(state, None, chosen)


def _why_unknown(
    living: Sightings,
    sightings: Sightings,
    past: Past,
    fleet: Fleet,
    rules: FleetRules,
    *,
    now: float,
) -> FleetCode:
    """Say why nothing is known, without blaming a cluster for an engine that does not answer."""
    if fleet.answered is None:
        return FleetCode.NOT_ASKED
    if not fleet.is_answering(now, rules.stale):
        return FleetCode.ENGINE_UNAVAILABLE
    if living:
        return FleetCode.NOT_CONFIRMED
    if not past.was_seen and not sightings:
        return FleetCode.NEVER_REPORTED
    if fleet.hears(now, rules.stale) or past.heard is None:
        return FleetCode.SILENT
    return FleetCode.ENGINE_UNAVAILABLE
