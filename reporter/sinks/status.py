"""
The status page: every subject, what is known of it, since when, and why it is silent.

Names and reasons only; texts of others and contents of objects do not appear.
"""

from datetime import datetime
from typing import Any

from reporter.model.entries import Catalogue
from reporter.model.observations import Sight, Unlisted, Unserved, Unwatched
from reporter.model.subjects import Key, Subject
from reporter.stages.gate import Record
from reporter.stages.judgement import Judgement
from reporter.stages.snapshot import Snapshot
from reporter.stages.states import states
from reporter.stages.voice import Voice


Json = dict[str, Any]


def page(
    judged: Judgement, voice: Voice, catalogue: Catalogue, snapshot: Snapshot, *, process: Json
) -> Json:
    """
    *process*: what is known of the process itself.
    """
    return {
        **process,
        "kinds": {name: _sight(table.sight) for name, table in snapshot.tables.items()},
        "crds": {name: _presence(snapshot, name) for name in sorted(snapshot.presences)},
        "pendingReasons": list(catalogue.pending),
        "notes": [note for key in sorted(judged.notes) for note in judged.notes[key]],
        "subjects": [
            _subject(subject, judged, voice, catalogue) for subject in sorted(judged.subjects)
        ],
    }


def _subject(subject: Subject, judged: Judgement, voice: Voice, catalogue: Catalogue) -> Json:
    state = states(judged)
    keys = sorted(key for key in state if key.subject == subject)
    spoken = {key.reason for key in keys}
    clear = [e.reason for e in catalogue.of(subject.layer) if e.reason not in spoken]
    return {
        "layer": subject.layer,
        "namespace": subject.namespace,
        "name": subject.name,
        "clear": clear,
        "readyOwed": subject in voice.owed,
        "verdicts": [_verdict(key, str(state[key]), judged, voice) for key in keys],
    }


def _verdict(key: Key, state: str, judged: Judgement, voice: Voice) -> Json:
    record = judged.gate.records.get(key)
    episode = voice.episodes.get(key)
    return {
        "reason": key.reason,
        **({"item": key.item} if key.item else {}),
        "state": state,
        "unknown": record.unknown if record is not None else judged.gate.unseen[key].why,
        "suppressedBy": [str(source) for source in judged.silence.by.get(key, ())],
        "causes": _causes(record) if record is not None else [],
        "episode": _time(episode.record.episode) if episode is not None else None,
        "count": episode.record.count if episode is not None else 0,
        "message": episode.record.message if episode is not None else "",
    }


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
