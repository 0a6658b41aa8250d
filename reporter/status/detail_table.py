"""Render one subject at length: what blocks it, where, what to do, and which reasons lead there."""

from collections.abc import Iterable, Iterator, Sequence

from reporter.model.status_document import (
    Blocking,
    InferenceSetStatus,
    NotAvailable,
    Replicas,
    SilencedBy,
    Suppressed,
)
from reporter.process.log_format import one_line
from reporter.status.summary import Summary
from reporter.status.table import NOTHING, POINTER, format_age, paint


LABEL_WIDTH = 15


def render_set(namespace: str, each: InferenceSetStatus, *, colour: bool) -> Iterator[str]:
    """
    Yield the lines of one InferenceSet: state, replicas, availability, what blocks it, what is suppressed.

    Lines without content are left out. *colour*: the state is written in its ANSI colour.
    """
    kind, _, name = each.name.rpartition("/")
    yield field(kind or "InferenceSet", f"{namespace}/{name}")
    state = paint(each.state.word, colour=colour)
    if each.last_known is not None:
        state += f" (last known: {each.last_known.word})"
    if each.paused:
        state += " (scaled to zero)"
    yield field("State", state, is_safe=True)
    yield field("Replicas", describe_replicas(each.replicas))
    yield from render_availability(
        each.available, each.not_available, each.answered_seconds, blocking=each.blocking
    )
    if each.gateways:
        yield field("Gateway", ", ".join(each.gateways))
    if each.generation is not None:
        seen = NOTHING if each.observed_generation is None else each.observed_generation
        yield field("Generation", f"{each.generation}, observed: {seen}")
    if each.not_judged:
        yield field("Not judged", f"{', '.join(each.not_judged)}: no metrics page is known")
    if each.blocking is not None:
        yield from render_blocking(each.blocking)
    yield from render_suppressed(each.suppressed)


def render_blocking(blocking: Blocking, *, with_chain: bool = True) -> Iterator[str]:
    """
    Yield the lines of what blocks a subject: its cause, who acts, since when and what to do.

    *with_chain*: also the reasons that lead from the symptom to the cause, one a line.
    """
    reason = blocking.reason or blocking.code
    code = f" ({blocking.code})" if blocking.reason and blocking.code else ""
    yield field("Blocked by", f"{reason}{code}, layer {blocking.layer}")
    yield field("Acts", blocking.actionability + _describe_patience(blocking))
    if blocking.since is not None:
        source = f", by the {blocking.since_from}" if blocking.since_from is not None else ""
        since = blocking.since.strftime("%Y-%m-%d %H:%M:%S UTC")
        yield field("Since", f"{since} ({format_age(blocking.in_state_seconds)}{source})")
    if blocking.silenced is not None:
        yield field("Silenced", _describe_silence(blocking.silenced))
    if blocking.object:
        yield field("Object", blocking.object)
    if blocking.message:
        yield field("Message", blocking.message)
    if blocking.remedy:
        yield field("Remedy", blocking.remedy)
    if blocking.via and with_chain:
        yield from _chain((*blocking.via, reason))


def render_availability(
    available: bool | None,
    cause: NotAvailable | None,
    answered_seconds: int | None,
    *,
    blocking: Blocking | None,
) -> Iterator[str]:
    """
    Yield the lines about whether a request can reach a subject and be answered, and why not.

    *available*: None if it is not known. *cause*: why not, or why it is not known; it is left out if it is
    that of *blocking*, which is shown beside it. *answered_seconds*: the age of the last answer to a check;
    None without one that counts.
    """
    word = {True: "yes", False: "no", None: "unknown"}[available]
    is_shown = cause is None or (
        blocking is not None and (blocking.reason, blocking.code) == (cause.reason, cause.code)
    )
    because = "" if cause is None or is_shown else f", because of {_name(cause)}"
    answered = "" if answered_seconds is None else f", answered {format_age(answered_seconds)} ago"
    yield field("Available", f"{word}{because}{answered}")
    if cause is None or is_shown:
        return
    yield field("  Acts", cause.actionability)
    details = (
        ("  Object", cause.object),
        ("  Message", cause.message),
        ("  Remedy", cause.remedy),
    )
    yield from (field(label, text) for label, text in details if text)


def _name(cause: NotAvailable) -> str:
    return f"{cause.reason} ({cause.code})" if cause.reason else cause.code


def describe_availability(summary: Summary) -> Iterator[str]:
    """
    Yield phrases for people: whether a subject is available, or how many of its InferenceSets are.

    The cause of one that is not follows, unless something blocks the subject, which is shown beside it.
    """
    counts, cause = summary.counts, summary.not_available
    if counts is not None:
        yield f"{counts.available} of {counts.total} available"
    else:
        yield {True: "available", False: "not available", None: "availability unknown"}[
            summary.available
        ]
    if cause is None or summary.blocking is not None:
        return
    object_ = f" ({cause.object})" if cause.object else ""
    yield f"because of {cause.reason or cause.code}{object_}, acts: {cause.actionability}"


def render_suppressed(findings: Iterable[Suppressed]) -> Iterator[str]:
    """
    Yield the lines about findings of a subject that are not announced, as they follow from others.
    """
    for each in findings:
        held = ", held" if each.held else ""
        yield field("Suppressed", f"{each.reason} ({each.code}{held}), by {', '.join(each.by)}")
        yield field("Message", each.message)


def _describe_silence(silenced: SilencedBy) -> str:
    until = silenced.until.strftime("%Y-%m-%d %H:%M:%S UTC")
    by = f" by {silenced.by}" if silenced.by else ""
    why = f": {silenced.why}" if silenced.why else ""
    return f"until {until}{by}, in {silenced.origin}{why}"


def _describe_patience(blocking: Blocking) -> str:
    if blocking.stalled:
        pattern = f", {blocking.pattern}" if blocking.pattern is not None else ""
        return f" (stalled: longer than {format_age(blocking.window_seconds)}{pattern})"
    if not blocking.held:
        return ""
    unseen = ", and a single reading cannot tell since when" if blocking.since is None else ""
    return f" (held: it may be a normal change{unseen})"


def _chain(reasons: Sequence[str]) -> Iterator[str]:
    yield field("Chain", reasons[0])
    for depth, reason in enumerate(reasons[1:]):
        yield " " * LABEL_WIDTH + "  " * depth + POINTER + one_line(reason)


def describe_replicas(replicas: Replicas | None) -> str:
    """
    Return a phrase such as "2 of 3 ready, 3 updated"; "-" for an unknown number, "unknown" for None.
    """
    if replicas is None:
        return "unknown"
    ready, updated = (
        NOTHING if number is None else str(number) for number in (replicas.ready, replicas.updated)
    )
    return f"{ready} of {replicas.desired} ready, {updated} updated"


def field(label: str, text: str, *, is_safe: bool = False) -> str:
    """Return a line with a label. *is_safe*: the text is ours, and may have colours."""
    return f"{label + ': ':{LABEL_WIDTH}}{text if is_safe else one_line(text)}".rstrip()
