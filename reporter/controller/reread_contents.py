"""The cached objects that a second look compares with what the API server has."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from enum import Enum, unique
from typing import TypeAlias

from msgspec import Struct

from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import Watching
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.snapshot import Snapshot


@unique
class Undecodable(Enum):
    """The marker in place of the content of an object that cannot be decoded."""

    UNDECODABLE = "undecodable"


CachedContent: TypeAlias = ApiObject | Undecodable | None
"""
The fields of an object that are read; None if there is no such object.

Contents are compared and not resourceVersions, which the cache does not keep: a version that differs
in nothing that is read makes no difference.
"""


class Reading(Struct, frozen=True):
    """An object as the API server has it, at a resourceVersion of its kind."""

    content: CachedContent
    version: str = ""


class WatchProgress(Struct, frozen=True):
    """The resourceVersion up to which a watch has delivered, and when its last event arrived."""

    version: str = ""
    last_event: datetime | None = None

    def is_behind(self, version: str, since: datetime) -> bool:
        """
        Return whether events from before *version* still arrived after *since*.

        Then the event of a change up to that version may still come. resourceVersions are compared as
        numbers (API concepts, "Resource versions"); False if they are none, as nothing is known then.
        """
        if not (self.version.isdecimal() and version.isdecimal()):
            return False
        has_delivered = self.last_event is not None and self.last_event > since
        return has_delivered and int(self.version) < int(version)


class Cache:
    """The watched objects as one snapshot has them, to compare them with the API server."""

    def __init__(self, kinds: Iterable[ResourceKind], snapshot: Snapshot) -> None:
        self._kinds: defaultdict[str, list[ResourceKind]] = defaultdict(list)
        for kind in kinds:
            # A cause names the resource, of which a catalogue may declare several kinds.
            self._kinds[kind.group_resource].append(kind)
        self._snapshot = snapshot

    def kind_of(self, ref: ObjectRef) -> ResourceKind | None:
        """
        Return the kind of an object; None while its watch is not open, or if it has no name.

        Without an open watch a list follows anyway, and kinds such as Secrets are never watched.
        """
        watched = [each for each in self._kinds.get(ref.resource, ()) if self._is_open(each)]
        if not watched or not ref.name:
            return None
        return next((each for each in watched if self.content(each, ref) is not None), watched[0])

    def _is_open(self, kind: ResourceKind) -> bool:
        return isinstance(self._snapshot.tables[kind.table].watch_state, Watching)

    def content(self, kind: ResourceKind, ref: ObjectRef) -> CachedContent:
        """
        Return the object as the cache has it; None if it is not there, UNDECODABLE if it cannot be read.
        """
        if ObjectRef(kind.watch_name, ref.namespace, ref.name) in self._snapshot.undecodable:
            return Undecodable.UNDECODABLE
        return self._snapshot.tables[kind.table].objects.get((ref.namespace, ref.name))
