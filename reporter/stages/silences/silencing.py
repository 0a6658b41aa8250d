"""
Silence findings: they are evaluated and suppress as before, and are not announced.

A silenced source still suppresses: the checks downstream have no input, silenced or not. A silenced
finding is never the primary one, since rank is no dependency. No silence holds back a Ready Event, which
is no finding.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from reporter.model.catalogue.entries import Catalogue
from reporter.model.enums import Reason
from reporter.model.silences import NO_SILENCES, Silence, Silences, SilenceState
from reporter.model.subjects import FindingKey
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.silences.checking import check_text, layers_of, with_state
from reporter.stages.silences.written import written_silences
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import Subjects


def silence_findings(  # noqa: PLR0913
    before: Silences,
    snapshot: Snapshot,
    gate: Gate,
    catalogue: Catalogue,
    subjects: Subjects,
    *,
    idle: Collection[Reason],
    now: datetime,
) -> Silences:
    """Return the silences that are written, with the keys that they silence at this moment."""
    checked = {
        text: before.checked.get(text) or check_text(text, catalogue)
        for text in written_silences(snapshot)
    }
    if not checked:
        return NO_SILENCES
    every = tuple(
        with_state(each, catalogue, subjects, idle=idle, now=now) for each in checked.values()
    )
    active = [each for each in every if each.state is SilenceState.ACTIVE]
    return Silences(
        every,
        match_silences(active, (*gate.finding_states, *gate.unknown_states)),
        min((each.until for each in every if each.until and each.until > now), default=None),
        checked,
    )


def match_silences(
    active: Collection[Silence], keys: Iterable[FindingKey]
) -> Mapping[FindingKey, Silence]:
    """Return the keys that are silenced, each with the silence that lasts longest."""
    by_place: defaultdict[tuple[str, str], list[Silence]] = defaultdict(list)
    for each in sorted(active, key=_until, reverse=True):
        by_place[each.namespace, each.inferenceset].append(each)
    if not by_place:
        return {}
    silenced = {}
    for key in keys:
        subject = key.subject
        places = dict.fromkeys(((subject.namespace, ""), (subject.namespace, subject.name)))
        found = [s for place in places for s in by_place.get(place, ()) if _covers(s, key)]
        if found:
            silenced[key] = max(found, key=_until)
    return silenced


def _covers(silence: Silence, key: FindingKey) -> bool:
    is_of_layer = key.subject.layer in layers_of(silence.namespace, silence.inferenceset)
    return is_of_layer and (not silence.reasons or key.reason in silence.reasons)


def _until(silence: Silence) -> datetime:
    assert silence.until is not None  # noqa: S101  only a malformed silence has none
    return silence.until
