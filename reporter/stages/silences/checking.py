"""Check a silence: one with a doubtful part silences nothing."""

import re
from collections.abc import Collection, Iterator
from datetime import datetime

from msgspec.structs import replace

from reporter.model.catalogue.entries import Catalogue
from reporter.model.enums import Layer, Reason
from reporter.model.silences import ALL_REASONS, Silence, SilenceState, SilenceText
from reporter.model.subjects import Subject, is_qualified, qualified_name
from reporter.model.text.suggest import did_you_mean
from reporter.model.text.times import parse_time
from reporter.stages.snapshot.subjects import Subjects
from reporter.stages.text.sanitize import sanitize, truncate_bytes


UNTIL = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2}))?|\d{8}T\d{6}Z", re.ASCII
)
"""
The forms of `until`: a time (RFC 3339); a day, which begins at midnight UTC; and, for labels, whose values
may not contain a colon, a time in the basic format of ISO 8601.
"""

MAX_QUOTED = 200
"""The most bytes that are shown of a text that somebody wrote into a silence."""

MAX_SHOWN_UNTIL = 40
UNTIL_HELP = "such as 2026-12-01T00:00:00Z, 2026-12-01, or 20261201T000000Z in a label"


def check_silence(
    text: SilenceText,
    catalogue: Catalogue,
    subjects: Subjects,
    *,
    idle: Collection[Reason],
    now: datetime,
) -> Silence:
    """
    Return the silence with its state. *idle*: reasons that check nothing with the flags in effect.
    """
    return with_state(check_text(text, catalogue), catalogue, subjects, idle=idle, now=now)


def check_text(text: SilenceText, catalogue: Catalogue) -> Silence:
    """Return the silence as active or malformed, from its text alone."""
    until = parse_until(text.until)
    problem = text.problem or next(_problems(text, catalogue, until), "")
    reasons = frozenset(Reason(each) for each in text.reasons if each != ALL_REASONS)
    return Silence(
        text.origin,
        text.namespace,
        text.inferenceset,
        SilenceState.MALFORMED if problem else SilenceState.ACTIVE,
        frozenset() if problem else reasons,
        None if problem else until,
        quoted(text.why),
        quoted(text.by),
        problem,
    )


def with_state(
    silence: Silence,
    catalogue: Catalogue,
    subjects: Subjects,
    *,
    idle: Collection[Reason],
    now: datetime,
) -> Silence:
    """Return a silence that is not malformed with its state at this moment."""
    if silence.until is None:
        return silence
    if silence.until <= now:
        return replace(silence, state=SilenceState.EXPIRED, problem="it has ended; remove it")
    problem = _why_unmatched(silence, catalogue, subjects, idle)
    return replace(silence, state=SilenceState.UNMATCHED, problem=problem) if problem else silence


def parse_until(text: str) -> datetime | None:
    """Return the moment in UTC; None for a text of any other form."""
    return parse_time(text) if UNTIL.fullmatch(text) else None


def _problems(text: SilenceText, catalogue: Catalogue, until: datetime | None) -> Iterator[str]:
    if not text.until:
        yield f"`until` is missing: when the silence ends, {UNTIL_HELP}"
    elif until is None:
        yield f"`until` is `{_printable(text.until)}`; it must be a time with its zone, {UNTIL_HELP}"
    if not text.reasons:
        yield f"`reasons` is missing: name them, or write `{ALL_REASONS}`"
    if text.inferenceset and not text.namespace:
        yield "`inferenceset` has no `namespace`; add the one that it is in"
    if ALL_REASONS in text.reasons and len(text.reasons) > 1:
        yield f"`{ALL_REASONS}` stands alone; remove it or the other reasons"
    for each in text.reasons:
        if each != ALL_REASONS:
            yield from _reason_problems(each, text, catalogue)


def _reason_problems(name: str, text: SilenceText, catalogue: Catalogue) -> Iterator[str]:
    entry = catalogue.entries.get(Reason(name))
    shown = f"`{quoted(name)}`"
    if entry is None:
        yield f"unknown reason {shown}{did_you_mean(name, catalogue.entries)}"
    elif entry.is_ready_reason:
        yield f"{shown} announces recovery, which no silence holds back; remove it"
    elif entry.layer not in layers_of(text.namespace, text.inferenceset):
        yield f"{shown} is of the layer {entry.layer}: {_WHERE[entry.layer]}"
    elif text.inferenceset and entry.subject_kind != _kind_of(text.inferenceset):
        named = qualified_name(entry.subject_kind, "NAME")
        yield f"{shown} is about objects of another kind; name one as `{named}`"


def _printable(text: str) -> str:
    # `quoted` would remove the time that this text should be.
    return re.sub(r"[^ -~]", "?", text)[:MAX_SHOWN_UNTIL]


_WHERE = {
    Layer.CLUSTER: "a silence of the cluster is in the file, without `namespace`",
    Layer.MODELHARNESS: "it is about a namespace as a whole; silence it there",
    Layer.MODELDEPLOYMENT: "name the namespace of its InferenceSets",
}


def layers_of(namespace: str, inferenceset: str) -> tuple[Layer, ...]:
    """
    Return the layers of the findings that a silence may be about.

    *inferenceset*: ``KIND/NAME`` of a subject of another pack, which may be of either layer.
    """
    if not namespace:
        return (Layer.CLUSTER,)
    if inferenceset and not is_qualified(inferenceset):
        return (Layer.MODELDEPLOYMENT,)
    return (Layer.MODELHARNESS, Layer.MODELDEPLOYMENT)


def _kind_of(inferenceset: str) -> str:
    return Subject(Layer.MODELDEPLOYMENT, name=inferenceset).kind


def _why_unmatched(
    silence: Silence, catalogue: Catalogue, subjects: Subjects, idle: Collection[Reason]
) -> str:
    namespace, name = silence.namespace, silence.inferenceset
    named = [Subject(layer, namespace, name) for layer in layers_of(namespace, name)]
    if name and not any(map(subjects.may_include, named)):
        # It may exist in a namespace without workloads, or be deleted at this moment.
        kind = _kind_of(name) or "InferenceSet"
        return f"there is no {kind} {namespace}/{named[0].object_name} that is evaluated"
    # Subjects of packs may be in namespaces that are no subjects themselves.
    if not name and namespace not in subjects.namespaces and not subjects.unknown:
        return f"{namespace} is no workload namespace"
    reasons = silence.reasons
    off = sorted(r for r in reasons if not catalogue[r].is_evaluated or r in idle)
    if reasons and len(off) == len(reasons):
        return f"{', '.join(off)} is not evaluated" if len(off) == 1 else "none is evaluated"
    return ""


def quoted(text: str) -> str:
    """Return a text that somebody wrote into a silence, sanitized and shortened."""
    return truncate_bytes(sanitize(text), MAX_QUOTED)
