"""The permissions that are needed, with what the reviews of them have found. Reads no clock."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reporter.kube.access_review import Permission, PermissionStatus


EVERYWHERE = " in all namespaces"


class PermissionStates(Struct, frozen=True):
    """
    The permissions at one moment.

    *needed*: with what needs each, the most important first. *missing*: those that the last answer
    denied. *unknown*: those whose last review had no answer; at first all.

    A review without an answer changes nothing of what is missing: the last answer stays.
    *reviewed_at*: when an API server last answered a review.
    """

    needed: Mapping[Permission, Collection[str]]
    missing: frozenset[Permission] = frozenset()
    unknown: frozenset[Permission] = frozenset()
    reviewed_at: datetime | None = None

    @classmethod
    def before_reviews(cls, needed: Mapping[Permission, Collection[str]]) -> "PermissionStates":
        return cls(needed, unknown=frozenset(needed))

    def with_needed(self, needed: Mapping[Permission, Collection[str]]) -> "PermissionStates":
        """
        Return the states of other permissions; of those that were not needed before nothing is known.
        """
        new = needed.keys() - self.needed.keys()
        return replace(
            self,
            needed=needed,
            missing=self.missing & needed.keys(),
            unknown=(self.unknown | new) & needed.keys(),
        )

    def with_review(
        self, results: Iterable[tuple[Permission, PermissionStatus]], *, now: datetime
    ) -> "PermissionStates":
        """Return the states after a review of some permissions; others may be needed meanwhile."""
        found = {each: status for each, status in results if each in self.needed}
        unknown = {each for each, status in found.items() if status is PermissionStatus.UNKNOWN}
        answered = found.keys() - unknown
        denied = {each for each in answered if found[each] is PermissionStatus.MISSING}
        return replace(
            self,
            missing=self.missing - answered | denied,
            unknown=self.unknown - answered | unknown,
            reviewed_at=now if answered else self.reviewed_at,
        )

    @property
    def pending(self) -> tuple[Permission, ...]:
        """Return those that are not known to be granted."""
        return tuple(each for each in self.needed if each in self.missing | self.unknown)

    @property
    def statuses(self) -> tuple[tuple[Permission, PermissionStatus], ...]:
        return tuple((each, self._status(each)) for each in self.needed)

    def _status(self, permission: Permission) -> PermissionStatus:
        if permission in self.missing:
            return PermissionStatus.MISSING
        if permission in self.unknown:
            return PermissionStatus.UNKNOWN
        return PermissionStatus.GRANTED

    def missing_by_resource(self) -> Mapping[tuple[str, str], bool]:
        """
        Return by verb and resource whether the permission is missing, in some namespace or at all.

        What is needed in one namespace, and for something else in all, is two permissions: without
        the second one, Events are announced and not mirrored.
        """
        in_one = {each.request_text for each in self.needed if each.namespace}
        found: dict[tuple[str, str], bool] = {}
        for each in self.needed:
            is_wider = not each.namespace and each.request_text in in_one
            key = (each.verb, each.group_resource + (EVERYWHERE if is_wider else ""))
            found[key] = found.get(key, False) or each in self.missing
        return found

    def as_json(self) -> dict[str, Any]:
        reviewed_at = self.reviewed_at
        return {
            "reviewedAt": reviewed_at.isoformat() if reviewed_at is not None else None,
            "missing": {
                str(each): sorted(purposes)
                for each, purposes in self.needed.items()
                if each in self.missing
            },
            "unknown": [str(each) for each in self.needed if each in self.unknown],
        }
