"""The existence of objects: being deleted, deleted while the reporter watched, or never seen."""

from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.verdicts import ObjectRef
from reporter.stages.snapshot.snapshot import Snapshot


T = TypeVar("T", bound=ApiObject)


def is_deleting(about: ApiObject) -> bool:
    return about.metadata.deletion_timestamp is not None


def exclude_deleting(objects: Iterable[T]) -> tuple[T, ...]:
    # Inlined `is_deleting`: a full pass comes here for each object of each subject.
    return tuple([each for each in objects if each.metadata.deletion_timestamp is None])


class Absence(Struct, frozen=True):
    """
    The absence of an object that something refers to.

    A reference to a deleted object worked once and is LOST; a reference to an object that was never
    seen is a mistake of whoever wrote it, and DECLARED.
    """

    was_deleted: bool

    @property
    def trouble_kind(self) -> TroubleKind:
        return TroubleKind.LOST if self.was_deleted else TroubleKind.DECLARED

    def describe(self, suggestion: str = "") -> str:
        """
        Return the half sentence for a message; *suggestion* follows only for a name never seen.
        """
        return "was deleted" if self.was_deleted else f"does not exist{suggestion}"


def absence_of(snapshot: Snapshot, ref: ObjectRef) -> Absence:
    return Absence(was_deleted=ref in snapshot.deleted_uids)
