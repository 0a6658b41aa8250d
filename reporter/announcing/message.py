"""
Render the message of an Event: what is wrong and where, who must act and how, then the suffixes.

The API server counts bytes and refuses a message of more than 1,024, so a message is made to fit:
foreign text is shortened first, then lists, then the remedy. Identifiers are never cut.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256

from msgspec import Struct

from reporter.catalogue.entries import CatalogueEntry
from reporter.model.enums import Layer, Reason, TroubleKind
from reporter.model.sanitize import (
    MAX_EVENT_MESSAGE_BYTES,
    MAX_LISTED,
    abbreviate_list,
    common_beginning,
    human_duration,
    sanitize,
    truncate_bytes,
)
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, Trouble


MIN_FOREIGN_BYTES = 24
"""The bytes of foreign text below which it says nothing and is left out."""


class ReportedTrouble(Struct, frozen=True):
    """
    One trouble as the message reports it.

    *lasted*: how long it lasted in its present kind; zero while within its hold.
    *is_unknown*: its object cannot be evaluated now, so it is reported as last seen.
    *not_before*: when it may replace another cause that was announced; None if it may at once.
    """

    trouble: Trouble
    lasted: timedelta
    is_unknown: bool = False
    not_before: datetime | None = None


class MessageInput(Struct, frozen=True):
    """
    Everything that one message is rendered from.

    *other_reasons*: other findings of the subject, for the "also" suffix.
    *suppressed_reasons*: reasons that are suppressed because of this one, in as many namespaces as
    *suppressed_namespaces*.
    *grouped_names*: the objects that a group Event stands for.
    *example*: the one of them whose trouble is reported.
    """

    entry: CatalogueEntry
    subject: Subject
    troubles: tuple[ReportedTrouble, ...] = ()
    other_reasons: tuple[Reason, ...] = ()
    suppressed_reasons: tuple[Reason, ...] = ()
    suppressed_namespaces: int = 0
    grouped_names: tuple[str, ...] = ()
    example: str = ""

    @property
    def content_digest(self) -> str:
        """
        The digest whose change causes a rewrite: causes and suffixes, without counts and foreign text.

        Events carry it, and it must not differ between releases: every Event would be rewritten once.
        """
        causes = sorted({self._cause_id(each.trouble.cause) for each in self.troubles})
        parts = (
            *causes,
            "also",
            *self.other_reasons,
            "silent",
            *self.suppressed_reasons,
            str(self.suppressed_namespaces),
        )
        return sha256("\n".join(parts).encode()).hexdigest()[:16]

    def _cause_id(self, cause: Cause) -> str:
        # A group reports one member as an example; another example is no other cause.
        return cause.code if self.grouped_names else f"{cause.object}={cause.code}"


class Truncation(Struct, frozen=True):
    """One attempt to make a message fit: how many troubles and reasons it names."""

    max_troubles: int
    max_reasons: int
    include_remedy: bool


def render_message(message_input: MessageInput) -> str:
    """Return the message, of at most MAX_EVENT_MESSAGE_BYTES."""
    troubles = sorted(
        message_input.troubles, key=lambda each: (not each.trouble.is_out, each.trouble.cause)
    )
    for truncation in _truncations(message_input, len(troubles)):
        shown = troubles[: truncation.max_troubles]
        tail = _tail(message_input, truncation, omitted=len(troubles) - len(shown), shown=shown)
        fitted = _fit(message_input, shown, tail)
        if fitted is not None:
            return fitted
    return truncate_bytes(
        _render_without_foreign(message_input, troubles[:1]), MAX_EVENT_MESSAGE_BYTES
    )


def _truncations(message_input: MessageInput, troubles: int) -> tuple[Truncation, ...]:
    """Return the truncations to try, the longest message first."""
    reasons = len((*message_input.other_reasons, *message_input.suppressed_reasons))
    return (
        Truncation(troubles, reasons, include_remedy=True),
        Truncation(troubles, MAX_LISTED, include_remedy=True),
        Truncation(MAX_LISTED, MAX_LISTED, include_remedy=True),
        Truncation(MAX_LISTED, MAX_LISTED, include_remedy=False),
        Truncation(1, MAX_LISTED, include_remedy=True),
        Truncation(1, MAX_LISTED, include_remedy=False),
    )


def _fit(
    message_input: MessageInput, troubles: Sequence[ReportedTrouble], tail: str
) -> str | None:
    """
    Return the message with as much foreign text as fits; None if it does not fit without any.
    """
    foreign = [sanitize(each.trouble.foreign_text) for each in troubles]
    bare = _render_without_foreign(message_input, troubles) + tail
    room = MAX_EVENT_MESSAGE_BYTES - len(bare.encode())
    if room < 0:
        return None
    full = _head(message_input, troubles, foreign) + tail
    if len(full.encode()) <= MAX_EVENT_MESSAGE_BYTES:
        return full
    share = room // len(troubles) - len(": ") if troubles else 0
    cut = [truncate_bytes(text, share) if share >= MIN_FOREIGN_BYTES else "" for text in foreign]
    shortened = _head(message_input, troubles, cut) + tail
    # A template may use its foreign text more than once, so the share may be too much.
    return shortened if len(shortened.encode()) <= MAX_EVENT_MESSAGE_BYTES else bare


def _render_without_foreign(
    message_input: MessageInput, troubles: Sequence[ReportedTrouble]
) -> str:
    return _head(message_input, troubles, [""] * len(troubles))


def _head(
    message_input: MessageInput, troubles: Sequence[ReportedTrouble], foreign: Sequence[str]
) -> str:
    if not troubles:
        return _ready_text(message_input)
    prefix = f"{_group_prefix(message_input)}: " if message_input.grouped_names else ""
    sentences = [
        _sentence(message_input, each, text) for each, text in zip(troubles, foreign, strict=True)
    ]
    first, *others = dict.fromkeys(sentences)
    bare = [_sentence(message_input, each, "") for each in troubles]
    shared = common_beginning(bare)
    return prefix + " ".join([first, *(each.removeprefix(shared) for each in others)])


def _ready_text(message_input: MessageInput) -> str:
    subject = message_input.subject
    # Only a group's Ready is about a model without a name.
    if subject.layer is not Layer.MODELDEPLOYMENT or not subject.is_unnamed:
        return _fill_template(message_input, {}, "")
    verb = "is" if len(message_input.grouped_names) == 1 else "are"
    return f"{_group_prefix(message_input)} {verb} ready again."


def _sentence(message_input: MessageInput, reported: ReportedTrouble, foreign: str) -> str:
    text = _fill_template(message_input, reported.trouble.message_fields, foreign)
    if reported.trouble.kind is TroubleKind.STARTING and reported.lasted:
        text = f"{text.removesuffix('.')} (no progress for {human_duration(reported.lasted)})."
    if reported.is_unknown:
        text = f"{text.removesuffix('.')} (as last seen: it cannot be evaluated now)."
    # Foreign text comes last, so that nobody takes words of the reporter for part of it.
    template = message_input.entry.message_template
    apart = foreign and "{foreign}" not in template
    state = reported.trouble.message_fields.get("state")
    if "{state}" in template and foreign == f"it {state}":
        apart = False  # as of an object that was deleted: the sentence says so already
    return f"{text.removesuffix('.')}: {foreign}." if apart else text


def _names(message_input: MessageInput) -> Mapping[str, str]:
    subject, kind = message_input.subject, message_input.entry.object_kind
    name = subject.object_name or message_input.example
    return {"namespace": subject.namespace, **({kind.lower(): name} if kind else {})}


def _fill_template(message_input: MessageInput, fields: Mapping[str, str], foreign: str) -> str:
    template = message_input.entry.message_template
    return template.format_map({**_names(message_input), **fields, "foreign": foreign})


def fill_remedy(message_input: MessageInput, reported: ReportedTrouble) -> str:
    """
    Return the remedy of a trouble with its names filled in, so that its commands can be copied.
    """
    remedy = _find_remedy(message_input.entry, reported)
    return remedy.format_map({**_names(message_input), **reported.trouble.message_fields})


def _tail(
    message_input: MessageInput,
    truncation: Truncation,
    *,
    omitted: int,
    shown: Sequence[ReportedTrouble],
) -> str:
    """
    Return the end of the message: the number of omitted troubles, the remedy and the suffixes.
    """
    parts = [f" And {omitted} more like it."] if omitted > 0 else []
    entry, limit = message_input.entry, truncation.max_reasons
    remedy = fill_remedy(message_input, shown[0]) if truncation.include_remedy and shown else ""
    if remedy:
        parts.append(f" {entry.owner.capitalize()}: {remedy}")
    if message_input.other_reasons:
        parts.append(f" (also: {abbreviate_list(message_input.other_reasons, limit)})")
    if message_input.suppressed_reasons:
        reasons = abbreviate_list(message_input.suppressed_reasons, limit)
        where = f"{message_input.suppressed_namespaces} namespace(s)"
        parts.append(f" (suppressing downstream reasons: {reasons} in {where})")
    return "".join(parts)


def _find_remedy(entry: CatalogueEntry, reported: ReportedTrouble) -> str:
    """
    Return the remedy for the most specific part of the code ``<extent>.<cause of the pods>``.
    """
    code = reported.trouble.cause.code
    extent, _, pods_cause = code.partition(".")
    for each in (code, pods_cause, extent):
        if each in entry.remedies:
            return entry.remedies[each]
    return entry.remedies.get("default", "")


def _group_prefix(message_input: MessageInput) -> str:
    names, where = message_input.grouped_names, f"Namespace {message_input.subject.namespace}"
    kind = message_input.entry.object_kind
    if not names:
        # The group was read back, so its members are not known. Its Ready waits for all of them.
        return f"{where}: all {kind}s"
    plural = "s" if len(names) > 1 else ""
    return f"{where}: {len(names)} {kind}{plural} ({abbreviate_list(names)})"
