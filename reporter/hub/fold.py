"""
Fold the answers of one round into the fleet.

The rules: only a complete answer is used, and without one all states stand until they are stale. A
cluster whose time of evaluation does not change for the stale time is silent. No decision rests on a
clock other than that of the hub, which never jumps, nor on a counter.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from reporter.hub import source_state as sighting_rules
from reporter.hub.cluster_verdict import Judgement, Past, find_labels, judge
from reporter.hub.contents import NO_TROUBLE, Detail, update_content
from reporter.hub.membership import Engagement
from reporter.hub.query_results import DroppedCounter
from reporter.hub.records import (
    Content,
    Fleet,
    FleetRecord,
    FleetRules,
    Sighting,
    Sightings,
    SkewWindow,
)
from reporter.hub.source_state import is_skewed, observe
from reporter.model.fleet_answers import Answers, ClustersAnswer, DroppedByCause
from reporter.model.fleet_status import Dropped, Engage, FleetCode
from reporter.model.states import State


Engagements: TypeAlias = Mapping[str, Engagement]


def fold(
    fleet: Fleet, engaged: Engagements, answers: Answers, *, now: float, rules: FleetRules
) -> Fleet:
    """
    Return the fleet after a round.

    *engaged*: what objects name; of no account where all that are seen are answered for.
    """
    if rules.engage is Engage.SEEN:
        engaged = _all_seen(fleet, answers.clusters, now=now, rules=rules)
    after = fleet
    if answers.clusters is not None:
        after = _take(fleet, engaged, answers.clusters, now=now, rules=rules)
    after = replace(after, labels_of=find_labels(after.sightings, rules, now=now))
    round_ = _Round(fleet, after, answers, now, rules)
    clusters = {name: round_.cluster(name, each) for name, each in engaged.items()}
    is_same = after.dropped == fleet.dropped and _revisions(clusters) == _revisions(fleet.clusters)
    revision = fleet.revision if is_same else fleet.revision + 1
    return replace(after, clusters=clusters, revision=revision)


def _revisions(clusters: Mapping[str, FleetRecord]) -> Mapping[str, int]:
    return {name: each.revision for name, each in clusters.items()}


# ---------------------------------------------------------------- what is seen


def _all_seen(
    fleet: Fleet, answer: ClustersAnswer | None, *, now: float, rules: FleetRules
) -> Engagements:
    """
    Return every label that is seen or was, until it is forgotten; the known ones have priority.
    """
    kept = [
        name
        for name, each in fleet.clusters.items()
        if now - (each.first_engaged if each.heard is None else each.heard) <= rules.forget
    ]
    new = sorted(set(answer.reports) - set(kept)) if answer is not None else []
    return {name: Engagement(name) for name in (*kept, *new)[: rules.max_clusters]}


def _take(
    fleet: Fleet,
    engaged: Engagements,
    answer: ClustersAnswer,
    *,
    now: float,
    rules: FleetRules,
) -> Fleet:
    """Return the fleet with the sightings of an answer, and with what of it is dropped."""
    engaged_labels = {each.label for each in engaged.values()}
    seen: dict[str, Sightings] = {
        label: sighting_rules.update(
            fleet.sightings.get(label, {}),
            answer.reports.get(label, {}),
            now=now,
            stale=rules.stale,
        )
        for label in engaged_labels
    }
    goes_on = fleet.answering_since is not None and fleet.is_answering(now, rules.stale)
    return replace(
        fleet,
        sightings=seen,
        dropped=_dropped(answer, engaged_labels, rules),
        answered=now,
        answering_since=fleet.answering_since if goes_on else now,
        engine_time=answer.time,
    )


def _dropped(
    answer: ClustersAnswer, engaged: Collection[str], rules: FleetRules
) -> DroppedByCause:
    counter = DroppedCounter()
    why = Dropped.TOO_MANY if rules.engage is Engage.SEEN else Dropped.NOT_ENGAGED
    for label in sorted(answer.series.keys() - set(engaged)):
        counter.add(why, label, answer.series[label])
    return {**answer.dropped, **counter.finish()}


# ---------------------------------------------------------------- one cluster


class _Round(NamedTuple):
    """
    One round of answers.

    *before* and *after*: the fleet without and with the sightings of this round.
    """

    before: Fleet
    after: Fleet
    answers: Answers
    now: float
    rules: FleetRules

    def cluster(self, name: str, engagement: Engagement) -> FleetRecord:
        record = self.before.clusters.get(name)
        if record is None or record.engagement != (engagement.label, engagement.uid):
            record = self._new_record(engagement, record)
        seen = self.after.sightings.get(engagement.label, {})
        judgement = judge(
            engagement, seen, self._past(record, seen), self.after, self.rules, now=self.now
        )
        chosen = seen.get(judgement.chosen) if judgement.chosen is not None else None
        content = self._content(record, engagement, judgement, chosen)
        is_same_state = content[:3] == record.content[:3]
        return record._replace(
            content=content,
            since=record.since if is_same_state else self.now,
            heard=_first_of(chosen.changed if chosen is not None else None, record.heard),
            evaluated=record.evaluated if chosen is None else chosen.report.evaluated,
            skew=self._skew(record, chosen),
            stands=record.stands and judgement.state is None,
            was_seen=record.was_seen or bool(seen),
            source=judgement.chosen.source if judgement.chosen is not None else "",
            revision=record.revision if content == record.content else self.before.revision + 1,
        )

    def _new_record(self, engagement: Engagement, old: FleetRecord | None) -> FleetRecord:
        earlier = engagement.earlier if old is None else None
        content = Content(State.UNKNOWN, code=FleetCode.NOT_ASKED)
        if earlier is not None:
            content = Content(earlier.state, earlier.last_known, uid=earlier.uid)
        return FleetRecord(
            (engagement.label, engagement.uid),
            content,
            since=self.now,
            first_engaged=self.now,
            evaluated=earlier.evaluated if earlier is not None else None,
            stands=earlier is not None and earlier.state is not State.UNKNOWN,
            written=self.now - (earlier.age if earlier is not None else 0.0),
            was_seen=earlier is not None and earlier.evaluated is not None,
            revision=self.before.revision + 1,
        )

    def _past(self, record: FleetRecord, seen: Sightings) -> Past:
        """
        Return what may stand: a state that was reported, or that of an earlier process.

        If the cluster reports what it did when that process wrote, its silence began then. If another
        cluster has the label now, nothing stands.
        """
        since = record.heard
        if since is None and record.stands:
            is_old = sighting_rules.is_as_written(seen, record.evaluated)
            since = record.written if is_old else record.first_engaged
        is_other = any(each.uid != record.content.uid for each in seen)
        if record.content.code is not None or (record.stands and is_other):
            since = None
        until = None if since is None else since + self.rules.stale
        return Past(record.heard, until, record.was_seen)

    def _content(
        self,
        record: FleetRecord,
        engagement: Engagement,
        judgement: Judgement,
        chosen: Sighting | None,
    ) -> Content:
        label, chosen_id = engagement.label, judgement.chosen
        trouble, revisions = self.answers.trouble, self.answers.revisions
        detail = Detail(
            None
            if trouble is None or chosen_id is None
            else trouble.get(label, {}).get(chosen_id.source, NO_TROUBLE),
            None if revisions is None else revisions.get(label, ()),
        )
        content = update_content(record.content, judgement, chosen, detail)
        return content._replace(skewed=is_skewed(record.skew))

    def _skew(self, record: FleetRecord, chosen: Sighting | None) -> SkewWindow | None:
        time = self.after.engine_time
        is_new = chosen is not None and chosen.changed == self.now and time is not None
        if not is_new or chosen is None or time is None:
            return record.skew
        return observe(record.skew, time - chosen.report.evaluated, now=self.now)


def _first_of(*times: float | None) -> float | None:
    return next((each for each in times if each is not None), None)
