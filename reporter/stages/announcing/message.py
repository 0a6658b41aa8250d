"""
What an Event says: what is wrong and where, who must act and how, what else, what is silent.

The API server counts bytes and refuses a message of more than 1024 (kubernetes,
pkg/apis/core/validation/events.go), so a message is made to fit: text of others is shortened first,
then lists, then the remedy; names of ours are never cut.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from reporter.model.entries import CatalogueEntry
from reporter.model.enums import Layer, Reason, TroubleKind
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, Trouble
from reporter.stages.text.phrases import MAX_LISTED, abbreviate_list, human_duration
from reporter.stages.text.sanitize import sanitize, truncate_bytes


MAX_MESSAGE_BYTES = 1024
MIN_FOREIGN_BYTES = 24
"""
Bytes of foreign text below which it tells nothing and is left out.
"""


@dataclass(frozen=True, slots=True)
class ReportedTrouble:
    """
    One trouble as it is to be told; *lasted*: in its present kind, zero while within its hold.
    """

    trouble: Trouble
    lasted: timedelta


@dataclass(frozen=True, slots=True)
class MessageInput:
    """
    All that one message says.

    *also*: other reasons of the subject. *silenced*: reasons that are suppressed because of it, and
    in how many *namespaces*. *group*: names of the InferenceSets that it stands for, *example* the one
    of which it tells.
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
        What a rewrite is judged by: causes and suffixes, no counts and no texts of others.
        """
        causes = sorted({self._cause_id(t.trouble.cause) for t in self.troubles})
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
        """
        Of a group, one member is told of as an example, so its name is no cause.
        """
        return cause.code if self.grouped_names else f"{cause.object}={cause.code}"


@dataclass(frozen=True, slots=True)
class Truncation:
    """
    How much of a message there is room for: troubles, reasons of each suffix, the remedy.
    """

    max_troubles: int
    max_reasons: int
    include_remedy: bool


def render_message(speech: MessageInput) -> str:
    """
    At most 1024 bytes.
    """
    told = sorted(speech.troubles, key=lambda t: (not t.trouble.is_out, t.trouble.cause))
    for cut in _truncations(speech, len(told)):
        head = told[: cut.max_troubles]
        fitted = _fit(speech, head, _tail(speech, cut, left=len(told) - len(head), causes=head))
        if fitted is not None:
            return fitted
    return truncate_bytes(_render_without_foreign(speech, told[:1]), MAX_MESSAGE_BYTES)


def _truncations(speech: MessageInput, told: int) -> tuple[Truncation, ...]:
    every = len((*speech.other_reasons, *speech.suppressed_reasons))
    return (
        Truncation(told, every, include_remedy=True),
        Truncation(told, MAX_LISTED, include_remedy=True),
        Truncation(MAX_LISTED, MAX_LISTED, include_remedy=True),
        Truncation(MAX_LISTED, MAX_LISTED, include_remedy=False),
        Truncation(1, MAX_LISTED, include_remedy=True),
        Truncation(1, MAX_LISTED, include_remedy=False),
    )


def _fit(speech: MessageInput, told: Sequence[ReportedTrouble], tail: str) -> str | None:
    """
    The message with as much foreign text as there is room for; None if there is none without.
    """
    foreign = [sanitize(t.trouble.foreign_text) for t in told]
    bare = _head(speech, told, [""] * len(told)) + tail
    room = MAX_MESSAGE_BYTES - len(bare.encode())
    if room < 0:
        return None
    full = _head(speech, told, foreign) + tail
    if len(full.encode()) <= MAX_MESSAGE_BYTES:
        return full
    share = room // len(told) - len(": ") if told else 0
    cut = [truncate_bytes(f, share) if share >= MIN_FOREIGN_BYTES else "" for f in foreign]
    shortened = _head(speech, told, cut) + tail
    return shortened if len(shortened.encode()) <= MAX_MESSAGE_BYTES else bare


def _render_without_foreign(speech: MessageInput, told: Sequence[ReportedTrouble]) -> str:
    return _head(speech, told, [""] * len(told))


def _head(speech: MessageInput, told: Sequence[ReportedTrouble], foreign: Sequence[str]) -> str:
    group = f"{_group_prefix(speech)}: " if speech.grouped_names else ""
    if not told:
        return _ready_text(speech)
    sentences = (_sentence(speech, each, text) for each, text in zip(told, foreign, strict=True))
    return group + " ".join(dict.fromkeys(sentences))


def _ready_text(speech: MessageInput) -> str:
    """
    Of a group whose Event was read back it is not known whom it stood for; by now it is everyone.
    """
    many = speech.subject.layer is Layer.MODELDEPLOYMENT and not speech.subject.name
    if not many:
        return _fill_template(speech, {}, "")
    verb = "is" if len(speech.grouped_names) == 1 else "are"
    return f"{_group_prefix(speech)} {verb} ready again."


def _sentence(speech: MessageInput, told: ReportedTrouble, foreign: str) -> str:
    text = _fill_template(speech, told.trouble.message_fields, foreign)
    if told.trouble.kind is TroubleKind.STARTING and told.lasted:
        text = f"{text.removesuffix('.')} (no progress for {human_duration(told.lasted)})."
    # Last, so that no word of ours seems to be one of theirs.
    apart = foreign and "{foreign}" not in speech.entry.message_template
    return f"{text.removesuffix('.')}: {foreign}." if apart else text


def _fill_template(speech: MessageInput, fields: Mapping[str, str], foreign: str) -> str:
    names = {
        "namespace": speech.subject.namespace,
        "inferenceset": speech.subject.name or speech.example,
    }
    return speech.entry.message_template.format_map({**names, **fields, "foreign": foreign})


def _tail(
    speech: MessageInput, cut: Truncation, *, left: int, causes: Sequence[ReportedTrouble]
) -> str:
    """
    *left*: how many troubles are not told.
    """
    parts = [f" And {left} more like it."] if left > 0 else []
    remedy = _find_remedy(speech.entry, causes[0]) if cut.include_remedy and causes else ""
    if remedy:
        parts.append(f" {speech.entry.owner.capitalize()}: {remedy}")
    if speech.other_reasons:
        parts.append(f" (also: {abbreviate_list(speech.other_reasons, cut.max_reasons)})")
    if speech.suppressed_reasons:
        reasons = abbreviate_list(speech.suppressed_reasons, cut.max_reasons)
        parts.append(
            f" (suppressing downstream reasons: {reasons} in {speech.suppressed_namespaces} namespace(s))"
        )
    return "".join(parts)


def _find_remedy(entry: CatalogueEntry, told: ReportedTrouble) -> str:
    """
    By the exact code, else by its second part, which is the pods' cause, else by its first.
    """
    code = told.trouble.cause.code
    extent, _, detail = code.partition(".")
    for each in (code, detail, extent):
        if each in entry.remedies:
            return entry.remedies[each]
    return entry.remedies.get("default", "")


def _group_prefix(speech: MessageInput) -> str:
    names, where = speech.grouped_names, f"Namespace {speech.subject.namespace}"
    if not names:
        return f"{where}: all InferenceSets"
    return f"{where}: {len(names)} InferenceSet{'s' if len(names) > 1 else ''} ({abbreviate_list(names)})"
