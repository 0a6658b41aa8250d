"""The silences of a cluster with what each holds back at this moment: as rows of a table, and as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.silence_texts import silence_json, until_text
from reporter.evaluation.silencing import match_silences
from reporter.model.silences import Silence, SilenceState
from reporter.model.subjects import FindingKey, Subject
from reporter.status.source import Target
from reporter.status.table import CLUSTER_NAME


HEAD = ("SUBJECT", "REASONS", "UNTIL", "STATE", "BY", "HOLDS BACK", "WHY")
MOST_NAMED = 3
"""Findings that are named in a cell."""


class ListedSilence(Struct, frozen=True):
    """A silence, and the findings that would be announced, now or once their hold is over, without it."""

    silence: Silence
    holds_back: tuple[FindingKey, ...]


def listed_silences(evaluation: Evaluation, target: Target) -> Iterator[ListedSilence]:
    """Yield the silences about a subject, in the order in which they are written; all for everything."""
    in_trouble = [
        key
        for key, state in evaluation.tracked.finding_states.items()
        if state.troubles and key not in evaluation.suppressions.suppressed_by
    ]
    for each in evaluation.silences.all:
        if _is_about(each, target):
            is_active = each.state is SilenceState.ACTIVE
            held = match_silences([each], in_trouble) if is_active else ()
            yield ListedSilence(each, tuple(sorted(held)))


def _is_about(silence: Silence, target: Target) -> bool:
    if target.is_everything:
        return True
    if silence.namespace != target.namespace:
        return False
    return not target.name or silence.inferenceset in ("", target.name)


def rows(silences: Iterable[ListedSilence]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each silence, with the cells of HEAD; what is not given is empty."""
    for each in silences:
        silence = each.silence
        yield (
            silence.scope,
            silence.reason_text,
            until_text(silence) or "",
            silence.state,
            silence.by,
            _held_text(each),
            silence.why,
        )


def _held_text(listed: ListedSilence) -> str:
    # Of one subject, or the cluster, the reason says it all.
    is_of_one = bool(listed.silence.inferenceset or not listed.silence.namespace)
    named = [
        each.reason if is_of_one else f"{each.reason} {_name(each.subject)}"
        for each in listed.holds_back
    ]
    more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
    return ", ".join([*named[:MOST_NAMED], *more])


def _name(subject: Subject) -> str:
    """Return the name of a subject as the commands take it."""
    return "/".join(filter(None, (subject.namespace, subject.name))) or CLUSTER_NAME


def as_json(listed: ListedSilence) -> Mapping[str, Any]:
    """Return a silence as /status shows it, and what it holds back."""
    held = [{"reason": each.reason, "subject": _name(each.subject)} for each in listed.holds_back]
    return {**silence_json(listed.silence), "holdsBack": held}
