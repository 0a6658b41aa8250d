"""
Fold the answers of one round into the fleet.

The rules: only a complete answer is used, and without one all states stand until they are stale. A
cluster whose time of evaluation does not change for the stale time is silent. No decision rests on a
clock other than that of the hub, which never jumps, nor on a counter.
"""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from reporter.hub import source_state
from reporter.hub.cluster_reports import ClustersAnswer, DroppedByCause, DroppedCounter
from reporter.hub.cluster_verdict import ClusterVerdict, find_labels, judge
from reporter.hub.query_results import Answers, ClusterTrouble
from reporter.hub.records import Content, Fleet, FleetRecord, FleetRules, Member, Members
from reporter.hub.source_state import SourceState
from reporter.model.enums import Engage
from reporter.model.fleet_status import Dropped, FleetCode
from reporter.model.states import State


def fold(
    fleet: Fleet, members: Members, answers: Answers, *, now: float, rules: FleetRules
) -> Fleet:
    """
    Return the fleet after a round.

    *members*: the clusters that objects name; ignored where the hub answers for all that are seen.
    """
    after = replace(fleet, remembers=fleet.remembers or answers.history is not None)
    if rules.engage is Engage.SEEN:
        earlier = _earlier(fleet, answers, now=now, rules=rules)
        members = _all_seen(fleet, answers, earlier, now=now, rules=rules)
        forgotten = {label: at for label, at in earlier.items() if label not in members}
        after = replace(after, forgotten=forgotten)
    if answers.clusters is not None:
        after = _take(after, members, answers.clusters, now=now, rules=rules)
    after = replace(after, labels_of=find_labels(after.sources, rules, now=now))
    clusters: dict[str, FleetRecord] = {}
    for name, member in members.items():
        before = _record_before(fleet, name, member, now=now)
        verdict = judge(member, before, after, rules, now=now)
        record = _advance(before, verdict, after, answers, now=now)
        is_same = record.content == before.content
        clusters[name] = record if is_same else replace(record, revision=fleet.revision + 1)
    is_same = (after.dropped, after.remembers) == (fleet.dropped, fleet.remembers)
    is_same = is_same and _revisions(clusters) == _revisions(fleet.clusters)
    revision = fleet.revision if is_same else fleet.revision + 1
    return replace(after, clusters=clusters, revision=revision)


def _revisions(clusters: Mapping[str, FleetRecord]) -> Mapping[str, int]:
    return {name: each.revision for name, each in clusters.items()}


# ---------------------------------------------------------------- what is seen


def _earlier(
    fleet: Fleet, answers: Answers, *, now: float, rules: FleetRules
) -> Mapping[str, float]:
    """Return when the labels that an earlier process saw were last there, until they are forgotten."""
    history = {label: now - age for label, age in (answers.history or {}).items()}
    found = {**fleet.forgotten, **history}
    return {label: at for label, at in found.items() if now - at <= rules.forget}


def _all_seen(
    fleet: Fleet,
    answers: Answers,
    earlier: Mapping[str, float],
    *,
    now: float,
    rules: FleetRules,
) -> Members:
    """
    Return every label that is seen or was, until it is forgotten; the known ones have priority.
    """
    answer = answers.clusters
    kept = [
        name
        for name, each in fleet.clusters.items()
        if now - (each.first_engaged if each.last_update is None else each.last_update)
        <= rules.forget
    ]
    new = sorted(set(answer.reports) - set(kept)) if answer is not None else []
    before = {name: _seen_before(name, at, now=now) for name, at in earlier.items()}
    names = dict.fromkeys((*kept, *new, *sorted(before)))
    return {
        name: Member(name, earlier=before.get(name)) for name in [*names][: rules.max_clusters]
    }


def _seen_before(label: str, at: float, *, now: float) -> FleetRecord:
    """Return the record of a cluster that was last seen before this process began to ask."""
    content = Content(code=FleetCode.NOT_ASKED)
    return FleetRecord(label, "", content, since=now, first_engaged=at, was_seen=True)


def _take(
    fleet: Fleet, members: Members, answer: ClustersAnswer, *, now: float, rules: FleetRules
) -> Fleet:
    """Return the fleet with the sources of an answer, and with what of it is dropped."""
    labels = {each.label for each in members.values()}
    goes_on = fleet.answering_since is not None and fleet.is_answering(now, rules.stale)
    return replace(
        fleet,
        sources={
            label: source_state.update(
                fleet.sources.get(label, {}),
                answer.reports.get(label, {}),
                now=now,
                stale=rules.stale,
            )
            for label in labels
        },
        dropped=_dropped(answer, labels, fleet.forgotten, rules),
        answered=now,
        answering_since=fleet.answering_since if goes_on else now,
        engine_time=answer.time,
    )


def _dropped(
    answer: ClustersAnswer,
    labels: Collection[str],
    forgotten: Collection[str],
    rules: FleetRules,
) -> DroppedByCause:
    counter = DroppedCounter()
    why = Dropped.TOO_MANY if rules.engage is Engage.SEEN else Dropped.NOT_ENGAGED
    for label in sorted({*answer.series, *forgotten} - set(labels)):
        counter.add(why, label, answer.series.get(label, 1))
    return {**answer.dropped, **counter.finish()}


# ---------------------------------------------------------------- one cluster


def _record_before(fleet: Fleet, name: str, member: Member, *, now: float) -> FleetRecord:
    """Return the record to go on from: of the round before, an earlier process, or a new one."""
    known = fleet.clusters.get(name)
    if known is not None and (known.label, known.expected_uid) == (member.label, member.uid):
        return known
    record = member.earlier if known is None else None
    if record is None:
        content = Content(code=FleetCode.NOT_ASKED)
        record = FleetRecord(member.label, member.uid, content, since=now, first_engaged=now)
    return replace(record, revision=fleet.revision + 1)


def _advance(
    before: FleetRecord, verdict: ClusterVerdict, fleet: Fleet, answers: Answers, *, now: float
) -> FleetRecord:
    """Return the record after a round. *fleet*: with the sources of this round."""
    sources = fleet.sources.get(before.label, {})
    chosen = sources.get(verdict.chosen) if verdict.chosen is not None else None
    content = _show(before, verdict, chosen, answers)
    last_update, skew = before.last_update, before.skew
    if chosen is not None and chosen.changed is not None:
        last_update = chosen.changed
        if last_update == now and fleet.engine_time is not None:
            age = fleet.engine_time - chosen.report.evaluated
            skew = source_state.observe(skew, age, now=now)
    return replace(
        before,
        content=content,
        since=before.since if _is_same_state(content, before.content) else now,
        last_update=last_update,
        evaluated=before.evaluated if chosen is None else chosen.report.evaluated,
        skew=skew,
        is_carried_over=before.is_carried_over and verdict.state is None,
        was_seen=before.was_seen or bool(sources),
        source=verdict.chosen.source if verdict.chosen is not None else "",
    )


def _is_same_state(one: Content, other: Content) -> bool:
    return (one.state, one.last_known, one.code) == (other.state, other.last_known, other.code)


# ---------------------------------------------------------------- what is shown


MIXED = frozenset({FleetCode.DUPLICATE_CLUSTER, FleetCode.NO_CLUSTER_UID, FleetCode.PAUSED})
"""
The codes with which packages under the label may be those of another cluster, or of no account.
"""


def _show(
    record: FleetRecord, verdict: ClusterVerdict, chosen: SourceState | None, answers: Answers
) -> Content:
    """Return what is shown after a round: what stands while nothing new is known, and what does not."""
    before, is_skewed = record.content, source_state.is_skewed(record.skew)
    if verdict.state is None:
        return replace(before, skewed=is_skewed)
    packages = before.packages
    if answers.revisions is not None:
        packages = answers.revisions.get(record.label, {})
    last_known = before.last_known if before.state is State.UNKNOWN else before.state
    report = chosen.report if chosen is not None else None
    shown = Content(
        verdict.state,
        last_known if verdict.state is State.UNKNOWN else None,
        verdict.code,
        uid=report.uid if report is not None else before.uid,
        other_uids=verdict.other_uids,
        other_labels=verdict.other_labels,
        version=report.version if report is not None else before.version,
        packages={} if verdict.code in MIXED else packages,
        skewed=is_skewed,
    )
    if verdict.code is not None or report is None or verdict.chosen is None:
        return shown
    shown = replace(
        shown, counts=report.counts, replicas=report.replicas, unobserved=report.unobserved
    )
    trouble = None
    if answers.trouble is not None:
        of_label = answers.trouble.get(record.label, {})
        trouble = of_label.get(verdict.chosen.source, ClusterTrouble())
    return _with_trouble(before, shown, trouble)


def _with_trouble(before: Content, shown: Content, trouble: ClusterTrouble | None) -> Content:
    """Add what blocks; what was known before stays while the cluster is in the same state."""
    if trouble is not None:
        blocking = trouble.blocking if shown.state is not State.CURRENT else None
        return replace(shown, blocking=blocking, namespaces=trouble.namespaces, trouble_known=True)
    if before.state is shown.state and before.code is None:
        return replace(
            shown,
            blocking=before.blocking,
            namespaces=before.namespaces,
            trouble_known=before.trouble_known,
        )
    return shown
