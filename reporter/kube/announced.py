"""
The annotation of an Event from which another process continues the episode: its troubles and times.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Self

import msgspec
from msgspec import Struct, field

from reporter.kinds.objects import Condition, NamespacedName
from reporter.model.enums import Reason, TroubleKind
from reporter.model.verdicts import Cause, InvolvedObject, ObjectRef, Trouble


ANNOUNCED_ANNOTATION = "reporter.productionstack.kaito.sh/announced"

MAX_TROUBLES = 10
MAX_BYTES = 32 * 1024
"""
The most that one annotation holds; all annotations of an object may have 256 KiB (kubernetes,
apimachinery/pkg/api/validation/objectmeta.go).
"""


class AnnouncedTrouble(Struct, frozen=True, omit_defaults=True):
    """
    One trouble of a finding; *fields* and *text* are those of its message.

    *object*: the resource, namespace and name of its cause object. *since*: when it began, by the
    condition that states it. *began*: since when it has been of its *kind*, as the process observed it.
    *seen*: since when its present cause was seen without a pause. *hold*: as of Trouble. The times are
    None if they are not known.
    """

    object: tuple[str, str, str]
    code: str
    kind: TroubleKind
    is_out: bool = False
    is_crash: bool = False
    since: datetime | None = None
    began: datetime | None = None
    created_at: datetime | None = None
    fields: dict[str, str] = field(default_factory=dict)
    text: str = ""
    seen: datetime | None = None
    hold: timedelta | None = None

    @classmethod
    def of(cls, trouble: Trouble, *, began: datetime | None, seen: datetime | None) -> Self:
        """Return what the annotation keeps of a Trouble. *began*, *seen*: the fields of these names."""
        ref = trouble.cause.object
        return cls(
            (ref.resource, ref.namespace, ref.name),
            trouble.cause.code,
            trouble.kind,
            trouble.is_out,
            trouble.is_crash,
            trouble.since,
            began,
            trouble.object_created_at,
            dict(trouble.message_fields),
            trouble.foreign_text,
            seen,
            trouble.hold,
        )

    @property
    def trouble(self) -> Trouble:
        """
        The trouble as the process that wrote the Event knew it, for the evaluation of the next process.
        """
        return Trouble(
            Cause(ObjectRef(*self.object), self.code),
            self.kind,
            is_out=self.is_out,
            is_crash=self.is_crash,
            since=self.since,
            hold=self.hold,
            object_created_at=self.created_at,
            message_fields=self.fields,
            foreign_text=self.text,
        )


class AnnouncedFinding(Struct, frozen=True, omit_defaults=True):
    """
    The troubles of a finding that existed and had outlived their hold, and how many more there were.

    *out_since*: since when its component was out without a pause. *unknown_since*: since when it could not
    be evaluated; None if it could.
    """

    troubles: tuple[AnnouncedTrouble, ...] = ()
    more: int = 0
    out_since: datetime | None = None
    unknown_since: datetime | None = None


class OtherFinding(AnnouncedFinding, frozen=True, omit_defaults=True, kw_only=True):
    """A finding of the same subject that the Event names in its suffix."""

    reason: Reason
    item: str = ""


class AnnouncedError(Struct, frozen=True, omit_defaults=True):
    """An error of the nodes of Workspaces, in the words of the condition that stated it."""

    workspaces: tuple[NamespacedName, ...]
    type: str
    status: str = "False"
    reason: str = ""
    message: str = ""

    def condition(self, since: datetime) -> Condition:
        """
        Return the condition of the Workspaces, dated *since*, as the annotation keeps no time of it.
        """
        return Condition(self.type, self.status, self.reason, self.message, since)


class Announced(Struct, frozen=True, omit_defaults=True):
    """
    The finding of an Event, and what its suffixes name.

    *suppressing*: the reasons that it suppresses. *existed*: the objects of its troubles that were
    seen to exist, so that the next process can tell a deleted one from one that never was.
    *errors*: the errors of nodes. The provisioner soon deletes the NodeClaims that state them.
    *involved*: the involvedObject, where the annotated object is no Event but a HealthEvent.
    """

    finding: AnnouncedFinding
    also: tuple[OtherFinding, ...] = ()
    suppressing: tuple[Reason, ...] = ()
    existed: tuple[tuple[str, str, str], ...] = ()
    errors: tuple[AnnouncedError, ...] = ()
    involved: tuple[str, str, str, str, str] | None = None

    @property
    def involved_object(self) -> InvolvedObject | None:
        """
        The involvedObject of the episode; None if it is to be read from the Event that carries this.
        """
        return InvolvedObject(*self.involved) if self.involved is not None else None

    @property
    def existing_objects(self) -> tuple[ObjectRef, ...]:
        """The objects of *existed* as references; empty if none of them is known to have existed."""
        return tuple(ObjectRef(*each) for each in self.existed)


_DECODER = msgspec.json.Decoder(Announced)


def encode_announced(announced: Announced) -> str:
    """
    Return the value of the annotation, of MAX_BYTES at most.

    A longer one is encoded without *also* and the texts of messages; empty if it is still too long.
    """
    encoded = msgspec.json.encode(announced)
    if len(encoded) > MAX_BYTES:
        encoded = msgspec.json.encode(_without_texts(announced))
    return encoded.decode() if len(encoded) <= MAX_BYTES else ""


def _without_texts(announced: Announced) -> Announced:
    def shortened(found: AnnouncedFinding) -> AnnouncedFinding:
        troubles = [msgspec.structs.replace(each, fields={}, text="") for each in found.troubles]
        return msgspec.structs.replace(found, troubles=tuple(troubles))

    return msgspec.structs.replace(announced, finding=shortened(announced.finding), also=())


def decode_announced(annotations: Mapping[str, str | None] | None, name: str) -> Announced | None:
    """Return what the annotation *name* says; None if there is none, or none that can be read."""
    text = (annotations or {}).get(name)
    if not text:
        return None
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
