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

from reporter.model.observations import Sight, Unlisted, Unserved, Unwatched
from reporter.model.subjects import Key, Subject
from reporter.stages.gate import wakes
from reporter.stages.judgement import Judgement
from reporter.stages.pacing import Stage
from reporter.stages.records import Gate, Record
from reporter.stages.snapshot import Snapshot
from reporter.stages.states import Changes, State, said
from reporter.stages.states import state as state_of
from reporter.stages.wording import Speech, Told, message


Json = dict[str, Any]
Since = Callable[[Key, State], datetime]
ZERO = timedelta(0)

PART = 16
"""
Subjects: a few milliseconds' work.
"""


class History:
    """
    Since when each key has been in its state; what is clear has none.
    """

    def __init__(self, now: Callable[[], datetime], leading: Callable[[], bool]) -> None:
        self._now, self._leading = now, leading
        self._changes = Changes()
        self._seen: dict[Key, tuple[State, datetime]] = {}

    def passed(self, before: Judgement, after: Judgement, took: timedelta) -> None:
        now = self._now()
        for key, state in self._changes.of(after, leading=self._leading()):
            if state is None:
                self._seen.pop(key, None)
            elif key not in self._seen or self._seen[key][0] is not state:
                self._seen[key] = state, now

    def since(self) -> Since:
        """
        As it is at this moment, whatever comes after.

        What a pass has changed that this was not told of yet is so since now.
        """
        found, now = self._seen.copy(), self._now()

        def since(key: Key, state: State) -> datetime:
            seen = found.get(key)
            return seen[1] if seen is not None and seen[0] is state else now

        return since


def page(stage: Stage, snapshot: Snapshot, *, since: Since, process: Json) -> Iterator[str]:
    """
    JSON in parts, which are made one by one: all of it would hold the loop for a second.

    It tells of one moment, that of the arguments: none of them changes afterwards. *since*: from when
    a key is in its state. *process*: what is known of it, "leading" among that.
    """
    judged = stage.judged
    head = {
        **process,
        "kinds": {name: _sight(table.sight) for name, table in snapshot.tables.items()},
        "crds": {name: _presence(snapshot, name) for name in sorted(snapshot.presences)},
        "pendingReasons": list(stage.catalogue.pending),
        "notes": [note for key in sorted(judged.notes) for note in judged.notes[key]],
    }
    yield json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "subjects": ['
    keys: defaultdict[Subject, set[Key]] = defaultdict(set)
    for key in chain(judged.gate.records, judged.gate.unseen):
        keys[key.subject].add(key)
    subjects = iter(sorted(judged.subjects))
    comma = ""
    while part := list(islice(subjects, PART)):
        texts = []
        for subject in part:
            known = _states(keys.get(subject, ()), judged, leading=process["leading"])
            verdicts = [_verdict(key, each, stage, since(key, each)) for key, each in known]
            texts.append(_indented(_subject(subject, verdicts, stage)))
        yield comma + ",".join(texts)
        comma = ","
    yield "\n  ]\n}\n"


def _states(
    keys: Iterable[Key], judged: Judgement, *, leading: bool
) -> Iterable[tuple[Key, State]]:
    found = {
        key: State.UNKNOWN if key in judged.gate.unseen else state_of(judged, key)
        for key in sorted(keys)
    }
    return said(found, leading=leading).items()


def _indented(value: Json) -> str:
    """
    As in a list that is the value of a key of the page. Texts have no line breaks in JSON.
    """
    return ("\n" + json.dumps(value, indent=2)).replace("\n", "\n    ")


def _subject(subject: Subject, verdicts: list[Json], stage: Stage) -> Json:
    spoken = {verdict["reason"] for verdict in verdicts}
    clear = [e.reason for e in stage.catalogue.of(subject.layer) if e.reason not in spoken]
    return {
        "layer": subject.layer,
        "namespace": subject.namespace,
        "name": subject.name,
        "clear": clear,
        "readyOwed": subject in stage.voice.owed,
        "verdicts": verdicts,
    }


def _verdict(key: Key, state: State, stage: Stage, since: datetime) -> Json:
    judged = stage.judged
    record = judged.record(key)
    episode = stage.voice.episodes.get(key)
    return {
        "reason": key.reason,
        **({"item": key.item} if key.item else {}),
        "state": str(state),
        "since": _time(since),
        "heldUntil": _time(_change(key, record, stage)) if state is State.HELD else None,
        "unknown": record.unknown if record is not None else judged.gate.unseen[key].why,
        "suppressedBy": [str(source) for source in judged.silence.by.get(key, ())],
        "text": _text(key, record, stage) if record is not None else "",
        "causes": _causes(record) if record is not None else [],
        "episode": _time(episode.record.episode) if episode is not None else None,
        "count": episode.record.count if episode is not None else 0,
        "message": episode.record.message if episode is not None else "",
    }


def _change(key: Key, record: Record | None, stage: Stage) -> datetime | None:
    """
    When time alone will change the state.
    """
    alone = Gate({} if record is None else {key: record}, {})
    rules, patience = stage.catalogue.__getitem__, stage.terms.patience
    return wakes(alone, rules=rules, patience=patience)


def _text(key: Key, record: Record, stage: Stage) -> str:
    """
    What its Event would say, without the suffixes, be it announced or not.
    """
    told = tuple(Told(trouble, ZERO) for trouble in record.troubles)
    return message(Speech(stage.catalogue[key.reason], key.subject, told)) if told else ""


def _causes(record: Record) -> list[Json]:
    return [
        {
            "object": str(watch.trouble.cause.object),
            "code": watch.trouble.cause.code,
            "kind": watch.trouble.kind,
            "out": watch.trouble.out,
            "active": watch.active,
            "held": not watch.through,
            "seconds": round(watch.in_kind().total_seconds(), 3),
            "quietSeconds": round(watch.quiet.total_seconds(), 3),
        }
        for watch in sorted(record.watches.values(), key=lambda w: w.trouble.cause)
    ]


def _sight(sight: Sight) -> str:
    match sight:
        case Unlisted(why):
            return f"not listed: {why}" if why else "being listed"
        case Unwatched(lost, why):
            return f"not watched since {_time(lost)}: {why}"
        case Unserved():
            return "not served"
        case _:
            return "watched"


def _presence(snapshot: Snapshot, crd: str) -> str:
    presence = snapshot.presence(crd)
    if presence.blind:
        return f"unknown: {presence.blind}"
    if presence.doubted is not None:
        return "missing in one answer, a second is awaited"
    return ", ".join(presence.versions or ()) or "not served"


def _time(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment is not None else None
