"""
What a probe says: trouble with a cause, none, or that it could not look.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from reporter.model.enums import TroubleKind
from reporter.model.subjects import FindingKey


class ObjectRef(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """
    An object of the API by name; *resource* is the plural, with the group where it is not core.
    """

    resource: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.resource} {where}"


class Cause(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """
    What a change of cause is judged by: never a count, a pod's name or free text.
    """

    object: ObjectRef
    code: str


EMPTY_MAP: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Trouble:
    """
    One cause with its kind, and what the message needs to know of it.

    *out*: the component cannot do its work, so what depends on it is suppressed.
    *crash*: settles slowly, so that a slow crash loop is one episode.
    *since*: when the writer says it began; *born*: creation of the object, None when it is missing.
    *fields* are ours and never shortened; *foreign* is text of others, cleaned and shortened first.
    """

    cause: Cause
    kind: TroubleKind
    is_out: bool = False
    is_crash: bool = False
    since: datetime | None = None
    object_created_at: datetime | None = None
    message_fields: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAP, hash=False)
    foreign_text: str = ""


@dataclass(frozen=True, slots=True)
class InvolvedObject:
    """
    The involvedObject of a key's Event: cluster-scoped, as only such fits kube-system.

    *uid* is empty for an object that was never seen.
    """

    api_version: str
    kind: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Active:
    """
    There is trouble; *troubles* is never empty, its order does not change with delivery.

    *notes*: what an operator should set right besides, such as a flag.
    """

    key: FindingKey
    troubles: tuple[Trouble, ...]
    involved_object: InvolvedObject
    notes: tuple[str, ...] = ()


class Clear(Struct, frozen=True, gc=False):
    """
    Looked, and there is none. *notes*: what an operator should set right all the same.
    """

    key: FindingKey
    notes: tuple[str, ...] = ()


class Unknown(Struct, frozen=True, gc=False):
    """
    Could not look. Raises nothing and clears nothing.
    """

    key: FindingKey
    why: str


class Paused(Struct, frozen=True, gc=False):
    """
    The question makes no sense now: an episode ends at once, and a Ready that is owed stays owed.
    """

    key: FindingKey


Verdict: TypeAlias = Active | Clear | Unknown | Paused
