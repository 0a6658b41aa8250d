"""The verdict of a probe: trouble with a cause, no trouble, unknown or paused."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from reporter.model.enums import TroubleKind
from reporter.model.subjects import FindingKey


class ObjectRef(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """An API object by name; *resource* is the plural, with the group if that is not core."""

    resource: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.resource} {where}"


class Cause(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """The identity of a cause; counts, pod names and free text are no part of it."""

    object: ObjectRef
    code: str


EMPTY_MAP: Mapping[str, str] = MappingProxyType({})


class Trouble(Struct, frozen=True):
    """
    One cause with its kind, and the values of its message.

    *is_out*: the component cannot do its work, so reasons that depend on it are suppressed.
    *is_crash*: it comes and goes, as a crash loop, so it settles slowly and stays one episode.
    *begins*: False for trouble that goes on if it is known already, but that begins no finding, as a
    value between the two bounds of a threshold.
    *since*: when it began according to the condition's writer.
    *unchanged_since*: the newest time in its object, where nothing says since when; it has lasted from then on.
    *hold*: how long it must last to count; None for the hold that its catalogue entry has for its kind.
    *not_before*: when it counts at the earliest, whatever its hold.
    *object_created_at*: None if the object is missing.
    *missing*: the object that the cause object refers to and that does not exist.
    *nodes*: the Nodes that explain it: lost ones, on which all pods run that it is about.
    *message_fields* are identifiers and never shortened; *foreign_text* comes from other programs,
    so it is sanitized, and shortened first.
    """

    cause: Cause
    kind: TroubleKind
    is_out: bool = False
    is_crash: bool = False
    begins: bool = True
    since: datetime | None = None
    unchanged_since: datetime | None = None
    hold: timedelta | None = None
    not_before: datetime | None = None
    object_created_at: datetime | None = None
    missing: ObjectRef | None = None
    message_fields: Mapping[str, str] = EMPTY_MAP
    foreign_text: str = ""
    nodes: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        """Leave out *message_fields*: a mapping has no hash."""
        return hash((self.cause, self.kind, self.since, self.foreign_text))

    @property
    def node(self) -> str:
        """The node that the trouble is bound to; empty if it is bound to none."""
        ref = self.cause.object
        return ref.name if ref.resource == "nodes" else ""


class InvolvedObject(Struct, frozen=True):
    """
    The involvedObject of an Event; *uid* is empty for an object that was never seen.

    An Event must be in the namespace of its object, and only Events about cluster-scoped objects may be
    in kube-system (kubernetes, pkg/apis/core/validation/events.go). *namespace* is empty for these.
    """

    api_version: str
    kind: str
    name: str
    uid: str = ""
    namespace: str = ""


class Active(Struct, frozen=True):
    """
    There is trouble.

    *troubles* is never empty; its order does not depend on the order of watch events.
    *notes*: advice for the operator beside the finding, such as a flag to correct.
    *why_partial*: why other objects of the subject could not be evaluated, so that trouble of theirs
    which is not in *troubles* has not ended; empty if all were evaluated.
    *open_objects*: the cause objects for which that holds; all of them if empty.
    """

    key: FindingKey
    troubles: tuple[Trouble, ...]
    involved_object: InvolvedObject
    notes: tuple[str, ...] = ()
    why_partial: str = ""
    open_objects: frozenset[ObjectRef] = frozenset()

    def leaves_open(self, ref: ObjectRef) -> bool:
        """Return whether trouble of this object that is not reported may still exist."""
        return bool(self.why_partial) and (not self.open_objects or ref in self.open_objects)


class Clear(Struct, frozen=True, gc=False):
    """There is no trouble. *notes*: advice for the operator all the same."""

    key: FindingKey
    notes: tuple[str, ...] = ()


class Unknown(Struct, frozen=True, gc=False):
    """
    The probe could not evaluate, for the reason *why*. Nothing is raised and nothing is cleared.

    *is_brief*: a few more observations will show the state, so nobody needs to act.
    """

    key: FindingKey
    why: str
    is_brief: bool = False


class Paused(Struct, frozen=True, gc=False):
    """
    The reason does not apply now, as with zero replicas.

    An episode ends at once; a Ready Event that is still due stays due.
    """

    key: FindingKey


Verdict: TypeAlias = Active | Clear | Unknown | Paused
