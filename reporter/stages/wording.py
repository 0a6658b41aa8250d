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

from reporter.model.entries import Entry
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, Trouble
from reporter.model.words import Kind, Layer, Reason
from reporter.stages.foreign import clean, shorten


LIMIT = 1024
NAMED = 3
"""
How many of a long list are named.
"""

WORTH = 24
"""
Bytes of foreign text below which it tells nothing and is left out.
"""


@dataclass(frozen=True, slots=True)
class Told:
    """
    One trouble as it is to be told; *lasted*: in its present kind, zero while within its hold.
    """

    trouble: Trouble
    lasted: timedelta


@dataclass(frozen=True, slots=True)
class Speech:
    """
    All that one message says.

    *also*: other reasons of the subject. *silenced*: reasons that are suppressed because of it, and
    in how many *namespaces*. *group*: names of the InferenceSets that it stands for, *example* the one
    of which it tells.
    """

    entry: Entry
    subject: Subject
    told: tuple[Told, ...] = ()
    also: tuple[Reason, ...] = ()
    silenced: tuple[Reason, ...] = ()
    namespaces: int = 0
    group: tuple[str, ...] = ()
    example: str = ""

    @property
    def digest(self) -> str:
        """
        What a rewrite is judged by: causes and suffixes, no counts and no texts of others.
        """
        causes = sorted({self._cause(t.trouble.cause) for t in self.told})
        parts = (*causes, "also", *self.also, "silent", *self.silenced, str(self.namespaces))
        return sha256("\n".join(parts).encode()).hexdigest()[:16]

    def _cause(self, cause: Cause) -> str:
        """
        Of a group, one member is told of as an example, so its name is no cause.
        """
        return cause.code if self.group else f"{cause.object}={cause.code}"


@dataclass(frozen=True, slots=True)
class Cut:
    """
    How much of a message there is room for: troubles, reasons of each suffix, the remedy.
    """

    told: int
    reasons: int
    remedy: bool


def message(speech: Speech) -> str:
    """
    At most 1024 bytes.
    """
    told = sorted(speech.told, key=lambda t: (not t.trouble.out, t.trouble.cause))
    for cut in _cuts(speech, len(told)):
        head = told[: cut.told]
        fitted = _fit(speech, head, _tail(speech, cut, left=len(told) - len(head), causes=head))
        if fitted is not None:
            return fitted
    return shorten(_fit_none(speech, told[:1]), LIMIT)


def _cuts(speech: Speech, told: int) -> tuple[Cut, ...]:
    every = len((*speech.also, *speech.silenced))
    return (
        Cut(told, every, remedy=True),
        Cut(told, NAMED, remedy=True),
        Cut(NAMED, NAMED, remedy=True),
        Cut(NAMED, NAMED, remedy=False),
        Cut(1, NAMED, remedy=True),
        Cut(1, NAMED, remedy=False),
    )


def _fit(speech: Speech, told: Sequence[Told], tail: str) -> str | None:
    """
    The message with as much foreign text as there is room for; None if there is none without.
    """
    foreign = [clean(t.trouble.foreign) for t in told]
    bare = _head(speech, told, [""] * len(told)) + tail
    room = LIMIT - len(bare.encode())
    if room < 0:
        return None
    full = _head(speech, told, foreign) + tail
    if len(full.encode()) <= LIMIT:
        return full
    share = room // len(told) - len(": ") if told else 0
    cut = [shorten(f, share) if share >= WORTH else "" for f in foreign]
    shortened = _head(speech, told, cut) + tail
    return shortened if len(shortened.encode()) <= LIMIT else bare


def _fit_none(speech: Speech, told: Sequence[Told]) -> str:
    return _head(speech, told, [""] * len(told))


def _head(speech: Speech, told: Sequence[Told], foreign: Sequence[str]) -> str:
    group = f"{_group(speech)}: " if speech.group else ""
    if not told:
        return _ready(speech)
    sentences = (_sentence(speech, each, text) for each, text in zip(told, foreign, strict=True))
    return group + " ".join(dict.fromkeys(sentences))


def _ready(speech: Speech) -> str:
    """
    Of a group whose Event was read back it is not known whom it stood for; by now it is everyone.
    """
    many = speech.subject.layer is Layer.MODELDEPLOYMENT and not speech.subject.name
    if not many:
        return _fill(speech, {}, "")
    verb = "is" if len(speech.group) == 1 else "are"
    return f"{_group(speech)} {verb} ready again."


def _sentence(speech: Speech, told: Told, foreign: str) -> str:
    text = _fill(speech, told.trouble.fields, foreign)
    if told.trouble.kind is Kind.STARTING and told.lasted:
        text = f"{text.removesuffix('.')} (no progress for {duration(told.lasted)})."
    # Last, so that no word of ours seems to be one of theirs.
    apart = foreign and "{foreign}" not in speech.entry.message
    return f"{text.removesuffix('.')}: {foreign}." if apart else text


def _fill(speech: Speech, fields: Mapping[str, str], foreign: str) -> str:
    names = {
        "namespace": speech.subject.namespace,
        "inferenceset": speech.subject.name or speech.example,
    }
    return speech.entry.message.format_map({**names, **fields, "foreign": foreign})


def _tail(speech: Speech, cut: Cut, *, left: int, causes: Sequence[Told]) -> str:
    """
    *left*: how many troubles are not told.
    """
    parts = [f" And {left} more like it."] if left > 0 else []
    remedy = _remedy(speech.entry, causes[0]) if cut.remedy and causes else ""
    if remedy:
        parts.append(f" {speech.entry.owner.capitalize()}: {remedy}")
    if speech.also:
        parts.append(f" (also: {listed(speech.also, cut.reasons)})")
    if speech.silenced:
        reasons = listed(speech.silenced, cut.reasons)
        parts.append(
            f" (suppressing downstream reasons: {reasons} in {speech.namespaces} namespace(s))"
        )
    return "".join(parts)


def _remedy(entry: Entry, told: Told) -> str:
    """
    By the exact code, else by its second part, which is the pods' cause, else by its first.
    """
    code = told.trouble.cause.code
    extent, _, detail = code.partition(".")
    for each in (code, detail, extent):
        if each in entry.remedies:
            return entry.remedies[each]
    return entry.remedies.get("default", "")


def _group(speech: Speech) -> str:
    names, where = speech.group, f"Namespace {speech.subject.namespace}"
    if not names:
        return f"{where}: all InferenceSets"
    return f"{where}: {len(names)} InferenceSet{'s' if len(names) > 1 else ''} ({listed(names)})"


def listed(names: Sequence[str], few: int = NAMED) -> str:
    """
    A few names, sorted, and how many more there are.
    """
    ordered = sorted(names)
    if len(ordered) <= few:
        return ", ".join(ordered)
    return f"{', '.join(ordered[:few])} and {len(ordered) - few} more"


def duration(span: timedelta) -> str:
    """
    As kubectl shows an age, to one unit.
    """
    seconds = int(span.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
