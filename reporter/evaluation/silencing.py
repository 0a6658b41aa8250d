"""
Silence findings: they are evaluated and suppress as before, and are not announced.

A silenced source still suppresses: the checks downstream have no input, silenced or not. A silenced
finding is never the primary one, since rank is no dependency. No silence holds back a Ready Event, which
is no finding.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.clocks import TrackedFindings
from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import (
    SILENCE_FIELDS,
    SILENCE_KEY,
    SILENCE_PREFIX,
    ResourceKind,
    silence_annotations,
    silence_labels,
)
from reporter.model.enums import Layer, Reason
from reporter.model.sanitize import MAX_QUOTED_BYTES, sanitize, truncate_bytes
from reporter.model.silences import (
    ALL_REASONS,
    NO_SILENCES,
    Silence,
    Silences,
    SilenceState,
    SilenceText,
)
from reporter.model.subjects import FindingKey, Subject, is_qualified, qualified_name
from reporter.model.suggest import did_you_mean, suggest
from reporter.model.times import parse_time
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import Subjects


# --------------------------------------------------------------------
# Check a silence: one with a doubtful part silences nothing.


UNTIL = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2}))?|\d{8}T\d{6}Z", re.ASCII
)
"""
The forms of `until`: a time (RFC 3339); a day, which begins at midnight UTC; and, for labels, whose values
may not contain a colon, a time in the basic format of ISO 8601.
"""

MAX_SHOWN_UNTIL = 40
UNTIL_HELP = "such as 2026-12-01T00:00:00Z, 2026-12-01, or 20261201T000000Z in a label"


def check_silence(
    text: SilenceText,
    catalogue: Catalogue,
    subjects: Subjects,
    *,
    unchecked: Collection[Reason],
    now: datetime,
) -> Silence:
    """
    Return the silence with its state. *unchecked*: reasons that check nothing with the flags in effect.
    """
    return with_state(
        check_text(text, catalogue), catalogue, subjects, unchecked=unchecked, now=now
    )


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
    unchecked: Collection[Reason],
    now: datetime,
) -> Silence:
    """Return a silence with its state at this moment; a malformed one stays as it is."""
    if silence.until is None:
        return silence
    if silence.until <= now:
        return replace(silence, state=SilenceState.EXPIRED, problem="it has ended; remove it")
    problem = _why_inapplicable(silence, catalogue, subjects, unchecked)
    return (
        replace(silence, state=SilenceState.INAPPLICABLE, problem=problem) if problem else silence
    )


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


def _why_inapplicable(
    silence: Silence, catalogue: Catalogue, subjects: Subjects, unchecked: Collection[Reason]
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
    left_out = sorted(r for r in reasons if not catalogue[r].is_evaluated or r in unchecked)
    if reasons and len(left_out) == len(reasons):
        return f"{left_out[0]} is not evaluated" if len(left_out) == 1 else "none is evaluated"
    return ""


def quoted(text: str) -> str:
    """Return a text that somebody wrote into a silence, sanitized and shortened."""
    return truncate_bytes(sanitize(text), MAX_QUOTED_BYTES)


# --------------------------------------------------------------------
# Find the silences that are written: in the file, and on namespaces and InferenceSets.


SEPARATOR, LABEL_SEPARATOR = ",", "."
"""The characters between reasons: the value of a label may not contain the first."""

BOTH_FORMS = (
    "is written in labels and in annotations ({fields}); remove one of them, so that it is plain"
    " which one counts"
)

NOT_DECODED = "the newest version of the object cannot be decoded, so it may be silenced no longer"


def written_silences(snapshot: Snapshot) -> Iterator[SilenceText]:
    """Yield the silences that are written, valid or not."""
    file = snapshot.silence_file
    if file.problem:
        yield SilenceText(file.path, problem=file.problem)
    yield from file.silences
    for kind in (NAMESPACES, INFERENCE_SETS):
        if kind.resource in snapshot.tables:
            for each in snapshot.by_index(kind, ApiObject, SILENCE_KEY):
                ref = ObjectRef(kind.watch_name, each.metadata.namespace, each.metadata.name)
                yield _of_object(kind, each, is_decodable=ref not in snapshot.undecodable)


def _of_object(kind: ResourceKind, each: ApiObject, *, is_decodable: bool) -> SilenceText:
    meta, annotations, labels = each.metadata, silence_annotations(each), silence_labels(each)
    is_set = kind.resource == INFERENCE_SETS.resource
    namespace, name = (meta.namespace, meta.name) if is_set else (meta.name, "")
    origin = " ".join((kind.kind, "/".join(filter(None, (namespace, name)))))
    if not is_decodable:
        return SilenceText(origin, namespace, name, problem=NOT_DECODED)
    if annotations and labels:
        both = sorted(SILENCE_PREFIX + field for field in {*annotations, *labels})
        problem = BOTH_FORMS.format(fields=", ".join(both))
        return SilenceText(origin, namespace, name, problem=problem)
    fields = annotations or labels
    unknown = sorted(fields.keys() - SILENCE_FIELDS)
    if unknown:
        problem = "; ".join(map(_why_unknown, unknown))
        return SilenceText(origin, namespace, name, problem=problem)
    return SilenceText(
        origin,
        namespace,
        name,
        _split(fields.get("reasons", "")),
        fields.get("until", ""),
        fields.get("why", ""),
        fields.get("by", ""),
    )


def _why_unknown(field: str) -> str:
    known = f"known are {', '.join(SILENCE_FIELDS)}, about the object that has them"
    help_ = suggest(field, SILENCE_FIELDS, otherwise=known, form="`silence-{}`")
    return f"`{quoted(f'silence-{field}')}` is unknown: {help_}"


def _split(text: str) -> tuple[str, ...]:
    names = text.replace(LABEL_SEPARATOR, SEPARATOR).split(SEPARATOR)
    return tuple(each.strip() for each in names) if text.strip() else ()


def silence_findings(  # noqa: PLR0913
    before: Silences,
    snapshot: Snapshot,
    tracked: TrackedFindings,
    catalogue: Catalogue,
    subjects: Subjects,
    *,
    unchecked: Collection[Reason],
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
        with_state(each, catalogue, subjects, unchecked=unchecked, now=now)
        for each in checked.values()
    )
    active = [each for each in every if each.state is SilenceState.ACTIVE]
    return Silences(
        every,
        match_silences(active, (*tracked.finding_states, *tracked.unknown_states)),
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
