"""
The status page: every subject, what is known of it, since when, and why it is silent.

Texts of others appear as in Events: cleaned and shortened. Contents of objects do not.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any

from reporter.model.observations import NotServed, NotSynced, WatchLost, WatchState
from reporter.model.subjects import FindingKey, Subject
from reporter.stages.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.stages.announcing.schedule import PublishContext
from reporter.stages.evaluation.clocks import FindingState, Gate
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.evaluation.gate import next_gate_deadline
from reporter.stages.evaluation.states import ReasonState, StateTracker, apply_leadership
from reporter.stages.evaluation.states import reason_state as state_of
from reporter.stages.snapshot.snapshot import Snapshot


Json = dict[str, Any]
StateSince = Callable[[FindingKey, ReasonState], datetime]
ZERO = timedelta(0)

SUBJECTS_PER_CHUNK = 16
"""
Subjects: a few milliseconds' work.
"""


class StateHistory:
    """
    Since when each key has been in its state; what is clear has none.
    """

    def __init__(self, now: Callable[[], datetime], leading: Callable[[], bool]) -> None:
        self._now, self._leading = now, leading
        self._tracker = StateTracker()
        self._seen: dict[FindingKey, tuple[ReasonState, datetime]] = {}

    def on_pass(self, before: Evaluation, after: Evaluation, took: timedelta) -> None:
        now = self._now()
        for key, state in self._tracker.update(after, leading=self._leading()):
            if state is None:
                self._seen.pop(key, None)
            elif key not in self._seen or self._seen[key][0] is not state:
                self._seen[key] = state, now

    def freeze(self) -> StateSince:
        """
        As it is at this moment, whatever comes after.

        What a pass has changed that this was not told of yet is so since now.
        """
        found, now = self._seen.copy(), self._now()

        def since(key: FindingKey, state: ReasonState) -> datetime:
            seen = found.get(key)
            return seen[1] if seen is not None and seen[0] is state else now

        return since


def render_status(
    stage: PublishContext, snapshot: Snapshot, *, since: StateSince, process: Json
) -> Iterator[str]:
    """
    JSON in parts, which are made one by one: all of it would hold the loop for a second.

    It tells of one moment, that of the arguments: none of them changes afterwards. *since*: from when
    a key is in its state. *process*: what is known of it, "leading" among that.
    """
    judged = stage.evaluation
    head = {
        **process,
        "kinds": {name: _watch_text(table.watch_state) for name, table in snapshot.tables.items()},
        "crds": {name: _presence_text(snapshot, name) for name in sorted(snapshot.presences)},
        "notes": [note for key in sorted(judged.notes) for note in judged.notes[key]],
    }
    yield json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "subjects": ['
    keys: defaultdict[Subject, set[FindingKey]] = defaultdict(set)
    for key in chain(judged.gate.finding_states, judged.gate.unknown_states):
        keys[key.subject].add(key)
    subjects = iter(sorted(judged.subjects))
    comma = ""
    while part := list(islice(subjects, SUBJECTS_PER_CHUNK)):
        texts = []
        for subject in part:
            known = _known_states(keys.get(subject, ()), judged, leading=process["leading"])
            verdicts = [_verdict_json(key, each, stage, since(key, each)) for key, each in known]
            texts.append(_indent(_subject_json(subject, verdicts, stage)))
        yield comma + ",".join(texts)
        comma = ","
    yield "\n  ]\n}\n"


def _known_states(
    keys: Iterable[FindingKey], judged: Evaluation, *, leading: bool
) -> Iterable[tuple[FindingKey, ReasonState]]:
    found = {
        key: ReasonState.UNKNOWN if key in judged.gate.unknown_states else state_of(judged, key)
        for key in sorted(keys)
    }
    return apply_leadership(found, leading=leading).items()


def _indent(value: Json) -> str:
    """
    As in a list that is the value of a key of the page. Texts have no line breaks in JSON.
    """
    return ("\n" + json.dumps(value, indent=2)).replace("\n", "\n    ")


def _subject_json(subject: Subject, verdicts: list[Json], stage: PublishContext) -> Json:
    spoken = {verdict["reason"] for verdict in verdicts}
    clear = [
        e.reason
        for e in stage.catalogue.evaluated_entries(subject.layer)
        if e.reason not in spoken
    ]
    return {
        "layer": subject.layer,
        "namespace": subject.namespace,
        "name": subject.name,
        "clear": clear,
        "readyOwed": subject in stage.announcement_state.ready_owed,
        "verdicts": verdicts,
    }


def _verdict_json(
    key: FindingKey, state: ReasonState, stage: PublishContext, since: datetime
) -> Json:
    judged = stage.evaluation
    record = judged.finding_state_of(key)
    episode = stage.announcement_state.episodes.get(key)
    return {
        "reason": key.reason,
        **({"item": key.item} if key.item else {}),
        "state": str(state),
        "since": _format_time(since),
        "heldUntil": _format_time(_held_until(key, record, stage))
        if state is ReasonState.HELD
        else None,
        "unknown": record.why_unknown
        if record is not None
        else judged.gate.unknown_states[key].why,
        "suppressedBy": [str(source) for source in judged.suppressions.suppressed_by.get(key, ())],
        "text": _message_text(key, record, stage) if record is not None else "",
        "causes": _causes_json(record) if record is not None else [],
        "episode": _format_time(episode.event.episode_start) if episode is not None else None,
        "count": episode.event.count if episode is not None else 0,
        "message": episode.event.message if episode is not None else "",
    }


def _held_until(
    key: FindingKey, record: FindingState | None, stage: PublishContext
) -> datetime | None:
    """
    When time alone will change the state.
    """
    alone = Gate({} if record is None else {key: record}, {})
    rules, patience = stage.catalogue.__getitem__, stage.settings.delays
    return next_gate_deadline(alone, entry_of=rules, delays=patience)


def _message_text(key: FindingKey, record: FindingState, stage: PublishContext) -> str:
    """
    What its Event would say, without the suffixes, be it announced or not.
    """
    told = tuple(ReportedTrouble(trouble, ZERO) for trouble in record.troubles)
    return (
        render_message(MessageInput(stage.catalogue[key.reason], key.subject, told))
        if told
        else ""
    )


def _causes_json(record: FindingState) -> list[Json]:
    return [
        {
            "object": str(watch.trouble.cause.object),
            "code": watch.trouble.cause.code,
            "kind": watch.trouble.kind,
            "out": watch.trouble.is_out,
            "active": watch.active,
            "held": not watch.past_hold,
            "seconds": round(watch.time_in_kind().total_seconds(), 3),
            "quietSeconds": round(watch.clear_for.total_seconds(), 3),
        }
        for watch in sorted(record.clocks.values(), key=lambda w: w.trouble.cause)
    ]


def _watch_text(sight: WatchState) -> str:
    match sight:
        case NotSynced(why):
            return f"not listed: {why}" if why else "being listed"
        case WatchLost(lost, why):
            return f"not watched since {_format_time(lost)}: {why}"
        case NotServed():
            return "not served"
        case _:
            return "watched"


def _presence_text(snapshot: Snapshot, crd: str) -> str:
    presence = snapshot.presence(crd)
    if presence.why_unknown:
        return f"unknown: {presence.why_unknown}"
    if presence.missing_since is not None:
        return "missing in one answer, a second is awaited"
    return ", ".join(presence.versions or ()) or "not served"


def _format_time(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment is not None else None
