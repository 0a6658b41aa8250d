"""
Render the page /status: every subject, its states, since when, and why it is not announced.

Foreign text appears as in Events, sanitized and shortened. Contents of objects do not appear.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from types import MappingProxyType

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.announcing.schedule import PublishContext
from reporter.evaluation.clocks import ZERO, FindingState, TrackedFindings
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.finished_pass import FinishedPass
from reporter.evaluation.silence_texts import silence_file_json, silence_json
from reporter.evaluation.states import ReasonState, shown_state
from reporter.evaluation.tracking import next_tracking_deadline
from reporter.kube.decoding import Json
from reporter.model.enums import Reason
from reporter.model.observations import NotServed, NotSynced, WatchLost, WatchState
from reporter.model.subjects import FindingKey, Subject
from reporter.model.times import format_time
from reporter.snapshot.snapshot import Snapshot


StateSince = Callable[[FindingKey, ReasonState], datetime]

NONE_UNCHECKED: Mapping[Reason, str] = MappingProxyType({})

SUBJECTS_PER_CHUNK = 16
"""The subjects that are rendered at once, which takes a few milliseconds of the event loop."""


class StateHistory:
    """Remembers since when each key has been in its state. A clear key has no entry."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._states: dict[FindingKey, tuple[ReasonState, datetime]] = {}

    def follow(self, finished: FinishedPass) -> Iterable[None]:
        """
        Note the time of each change of state in a pass. All of a pass have one time.

        The result is empty: the pass is taken in one step.
        """
        # One pair for all keys that enter a state together: an outage makes thousands of them.
        now = self._now()
        since = {state: (state, now) for state in ReasonState}
        for key in finished.changed:
            state = finished.state(key)
            if state is None:
                self._states.pop(key, None)
            elif key not in self._states or self._states[key][0] is not state:
                self._states[key] = since[state]
        return ()

    def freeze(self) -> StateSince:
        """
        Return the history as of this moment, which later passes do not change.

        A state that a pass has just changed, and that ``follow`` was not called for yet, is since
        now.
        """
        states, now = self._states.copy(), self._now()

        def since(key: FindingKey, state: ReasonState) -> datetime:
            known = states.get(key)
            return known[1] if known is not None and known[0] is state else now

        return since


def render_diagnosis(
    context: PublishContext,
    snapshot: Snapshot,
    *,
    since: StateSince,
    process: Json,
    unchecked: Mapping[Reason, str] = NONE_UNCHECKED,
) -> Iterator[str]:
    """
    Yield the page as JSON in chunks: rendering all of it at once would hold the loop for a second.

    All arguments are of one moment, and none of them changes while the page is rendered.

    *since*: returns when a key entered its state.
    *process*: the first keys of the page, "leading" among them.
    *unchecked*: the reasons that check nothing, with what to set.
    """
    evaluation = context.evaluation
    yield _head_json(context, snapshot, process)
    keys: defaultdict[Subject, set[FindingKey]] = defaultdict(set)
    for key in chain(evaluation.tracked.finding_states, evaluation.tracked.unknown_states):
        keys[key.subject].add(key)
    subjects = iter(sorted(evaluation.subjects))
    comma = ""
    while chunk := list(islice(subjects, SUBJECTS_PER_CHUNK)):
        texts = []
        for subject in chunk:
            states = _shown_states(keys.get(subject, ()), evaluation, leading=process["leading"])
            verdicts = [
                _verdict_json(key, each, context, since(key, each)) for key, each in states
            ]
            texts.append(_indent(_subject_json(subject, verdicts, context, unchecked)))
        yield comma + ",".join(texts)
        comma = ","
    yield "\n  ]\n}\n"


def _head_json(context: PublishContext, snapshot: Snapshot, process: Json) -> str:
    """Return the page up to the list of subjects."""
    notes = context.evaluation.notes
    head = {
        **process,
        "kinds": {name: _watch_text(table.watch_state) for name, table in snapshot.tables.items()},
        "crds": {name: _presence_text(snapshot, name) for name in sorted(snapshot.presences)},
        "notes": [note for key in sorted(notes) for note in notes[key]],
        "silenceFile": silence_file_json(snapshot.silence_file),
        "silences": [silence_json(each) for each in context.evaluation.silences.all],
    }
    return json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "subjects": ['


def _shown_states(
    keys: Iterable[FindingKey], evaluation: Evaluation, *, leading: bool
) -> Iterator[tuple[FindingKey, ReasonState]]:
    for key in sorted(keys):
        state = shown_state(evaluation, key, leading=leading)
        if state is not None:
            yield key, state


def _indent(value: Json) -> str:
    """Return the JSON of an element of the page's list. JSON strings contain no line breaks."""
    return ("\n" + json.dumps(value, indent=2)).replace("\n", "\n    ")


def _subject_json(
    subject: Subject,
    verdicts: list[Json],
    context: PublishContext,
    unchecked: Mapping[Reason, str],
) -> Json:
    not_clear = {verdict["reason"] for verdict in verdicts}
    entries = context.catalogue.evaluated_entries(subject.layer, subject.kind)
    not_checked = {e.reason: unchecked[e.reason] for e in entries if e.reason in unchecked}
    clear = [
        entry.reason
        for entry in entries
        if entry.reason not in not_clear and entry.reason not in not_checked
    ]
    return {
        "layer": subject.layer,
        "namespace": subject.namespace,
        "name": subject.name,
        "clear": clear,
        **({"notChecked": not_checked} if not_checked else {}),
        "readyOwed": subject in context.announcement_state.ready_owed,
        "verdicts": verdicts,
    }


def _verdict_json(
    key: FindingKey, shown: ReasonState, context: PublishContext, since: datetime
) -> Json:
    evaluation = context.evaluation
    state = evaluation.finding_state_of(key)
    episode = context.announcement_state.episodes.get(key)
    sources = evaluation.suppressions.suppressed_by.get(key, ())
    silence = evaluation.silence_of(key)
    held_until = _held_until(key, state, context) if shown is ReasonState.HELD else None
    why = state.why_unknown if state is not None else evaluation.tracked.unknown_states[key].why
    return {
        "reason": key.reason,
        **({"item": key.item} if key.item else {}),
        "state": str(shown),
        "since": format_time(since),
        "heldUntil": format_time(held_until) if held_until is not None else None,
        "unknown": why,
        "suppressedBy": [str(source) for source in sources],
        "silenced": silence_json(silence) if silence is not None else None,
        "text": _message_text(key, state, context) if state is not None else "",
        "causes": _causes_json(state) if state is not None else [],
        "episode": format_time(episode.event.episode_start) if episode is not None else None,
        "count": episode.event.count if episode is not None else 0,
        "message": episode.event.message if episode is not None else "",
    }


def _held_until(
    key: FindingKey, state: FindingState | None, context: PublishContext
) -> datetime | None:
    """Return the moment at which time alone changes the state of this key."""
    tracked = TrackedFindings({} if state is None else {key: state}, {})
    entry_of, delays = context.catalogue.__getitem__, context.settings.delays
    return next_tracking_deadline(tracked, entry_of=entry_of, delays=delays)


def _message_text(key: FindingKey, state: FindingState, context: PublishContext) -> str:
    """Return the message of the key's Event without suffixes, also if it is not announced."""
    if not state.troubles:
        return ""
    reported = tuple(
        ReportedTrouble(clock.trouble, ZERO, clock.stopped)
        for clock in state.clocks
        if clock.active
    )
    return render_message(MessageInput(context.catalogue[key.reason], key.subject, reported))


def _causes_json(state: FindingState) -> list[Json]:
    return [
        {
            "object": str(clock.trouble.cause.object),
            "code": clock.trouble.cause.code,
            "kind": clock.trouble.kind,
            "out": clock.trouble.is_out,
            "active": clock.active,
            "unknown": clock.stopped,
            "held": not clock.past_hold,
            "seconds": round(clock.time_in_kind.total_seconds(), 3),
            "quietSeconds": round(clock.clear_for.total_seconds(), 3),
        }
        for clock in sorted(state.clocks, key=lambda each: each.trouble.cause)
    ]


def _watch_text(watch_state: WatchState) -> str:
    match watch_state:
        case NotSynced(why):
            return f"not listed: {why}" if why else "being listed"
        case WatchLost(lost_at, why):
            return f"not watched since {format_time(lost_at)}: {why}"
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
