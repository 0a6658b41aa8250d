"""
What a pass reads: every kept object and how well it is seen, at one moment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from reporter.model.kinds import ResourceKind
from reporter.model.objects import ApiObject, Condition, Pod
from reporter.model.observations import Presence, Sight, Unlisted, Unserved, Unwatched, Watched
from reporter.model.samples import Life, Window
from reporter.model.verdicts import ObjectRef
from reporter.stages.sharded import Frozen, nothing


Name = tuple[str, str]
"""
Namespace ("" for cluster-scoped objects) and name.
"""

BLIND_AFTER = timedelta(seconds=30)
"""
How long a kind may be without an open watch before what was last seen no longer counts.
"""

T = TypeVar("T", bound=ApiObject)


@dataclass(frozen=True, slots=True)
class Table:
    """
    The objects of one kind by name, and by index key, those in the order of their names.

    *members* is the same object as long as the kind stands for the same subjects.
    """

    objects: Frozen[Name, ApiObject]
    index: Frozen[str, tuple[ApiObject, ...]]
    sight: Sight
    members: object


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    Immutable, as nothing that it refers to is ever changed.

    *gone*: uid of what was seen and is not there any more. *spoilt*: objects whose newest version
    could not be read. *presences*: by ``resource.group``. *windows*: what pods' pages said.
    *refusals*: why the nodes of a Workspace were refused last, while that is not overcome.
    """

    tables: Mapping[str, Table]
    presences: Mapping[str, Presence]
    gone: Mapping[ObjectRef, str]
    spoilt: frozenset[ObjectRef]
    windows: Frozen[Name, Window] = field(default_factory=nothing)
    refusals: Frozen[Name, Condition] = field(default_factory=nothing)

    def get(self, kind: ResourceKind, type_: type[T], namespace: str, name: str) -> T | None:
        found = self.tables[kind.resource].objects.get((namespace, name))
        return found if isinstance(found, type_) else None

    def find(self, kind: ResourceKind, type_: type[T], key: str) -> tuple[T, ...]:
        """
        Objects under an index key, in the order of their names.
        """
        found = self.tables[kind.resource].index.get(key) or ()
        return tuple([each for each in found if isinstance(each, type_)])

    def all(self, kind: ResourceKind) -> Iterator[ApiObject]:
        return self.tables[kind.resource].objects.values()

    def window(self, pod: Pod) -> Window | None:
        """
        What the pages of this pod said in its present life; None if none was tried to read.
        """
        found = self.windows.get((pod.metadata.namespace, pod.metadata.name))
        return found if found is not None and found.life == Life.of(pod) else None

    def refusal(self, workspace: ApiObject) -> Condition | None:
        return self.refusals.get((workspace.metadata.namespace, workspace.metadata.name))

    def presence(self, crd: str) -> Presence:
        return self.presences.get(crd, Presence())

    def sees(self, kind: ResourceKind) -> bool:
        """
        Whether a kind that a source adds is read, served and was listed, so that absence counts.
        """
        table = self.tables.get(kind.resource)
        return table is not None and isinstance(table.sight, Watched | Unwatched)

    def blind(self, kind: ResourceKind, *, now: datetime) -> str:
        """
        Why what is kept of this kind must not be judged; empty if it may.
        """
        match self.tables[kind.resource].sight:
            case Watched() | Unserved():
                return ""
            case Unlisted():
                return self.unlisted(kind)
            case Unwatched(lost, why) if now - lost >= BLIND_AFTER:
                return f"{kind.qualified} not watched: {why}"
            case Unwatched():
                return ""

    def unlisted(self, kind: ResourceKind) -> str:
        """
        Why nothing was ever seen of this kind, so that an object's absence means nothing.
        """
        sight = self.tables[kind.resource].sight
        if not isinstance(sight, Unlisted):
            return ""
        return f"{kind.qualified} not listed yet" + (f": {sight.why}" if sight.why else "")

    def blind_from(self, kind: ResourceKind) -> datetime | None:
        """
        The moment from which this kind will be blind if its watch does not come back.
        """
        sight = self.tables[kind.resource].sight
        return sight.lost + BLIND_AFTER if isinstance(sight, Unwatched) else None
