"""The permissions that the enabled reasons need."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue, CatalogueEntry, ProbeSpec
from reporter.controller.coverage import describe_purpose, subject_kinds
from reporter.controller.enabled_scrapes import build_scrapes, scraping_reasons
from reporter.controller.store_kind import find_store_kind
from reporter.controller.watched_kinds import ALL_KINDS, NO_SOURCES, kinds_to_watch
from reporter.evaluation.registry import SPECS
from reporter.kinds.health_events import HealthEvent
from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.access_review import (
    SUBJECT_ACCESS_REVIEWS,
    TOKEN_REVIEWS,
    Permission,
    PermissionStatus,
)
from reporter.kube.event_format import EVENT_NAMESPACE
from reporter.model.enums import DetailSource, Reason
from reporter.settings import ScrapeMode, Settings, StatusAuthorization


# --------------------------------------------------------------------
# The permissions that are needed, with what the reviews of them have found. Reads no clock.


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
        """Return the states before the first answer: all are unknown, and none is missing."""
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
        """The permissions that are not known to be granted: the missing and the unknown ones."""
        return tuple(each for each in self.needed if each in self.missing | self.unknown)

    @property
    def statuses(self) -> tuple[tuple[Permission, PermissionStatus], ...]:
        """The status of each permission that is needed, the most important first."""
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
        """
        Return the permissions in /status: *reviewedAt* (null before an answer), *missing* and *unknown*.
        """
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


READ_VERBS = ("list", "watch")
EVENT_VERBS = ("create", "patch", "get", "list")
MIRROR_VERBS = ("create", "patch", "get")
LEASE_GROUP = "coordination.k8s.io"
POD_PROXY_PERMISSION = Permission("get", "", "pods/proxy")
_KIND_ORDER = {kind.resource: place for place, kind in enumerate(ALL_KINDS)}


class PermissionNeeds(Struct, frozen=True, kw_only=True):
    """
    The activities of a process that need permissions, beside the reading for its reasons.

    *lease* names the Lease and its namespace, None without election. *writes_events*: False if they
    are printed instead. *sources* are those switched on. *mode* is how pods are scraped, for the reasons
    *scraping*; None: all that may. *status_objects*: their status is written. *mirror_events*:
    Events are written beside InferenceSets. *store*: the kind, of one namespace, in which episodes
    are kept. *reviews*: whoever reads the status is authorized.
    """

    lease: Permission | None = None
    writes_events: bool = True
    sources: Collection[DetailSource] = NO_SOURCES
    mode: ScrapeMode = ScrapeMode.DIRECT
    scraping: Collection[Reason] | None = None
    status_objects: bool = False
    mirror_events: bool = False
    store: ResourceKind | None = None
    reviews: bool = False


def permissions_for(
    settings: Settings, catalogue: Catalogue, *, mode: ScrapeMode
) -> Mapping[Permission, Collection[str]]:
    """
    Return the permissions that a process with these settings needs; see *required_permissions*.
    """
    where, name = settings.lease_namespace, settings.leader_election_id
    lease = Permission("get", LEASE_GROUP, "leases", where, name)
    needs = PermissionNeeds(
        lease=lease if settings.leader_elect else None,
        writes_events=not settings.dry_run,
        sources=settings.sources,
        mode=mode,
        scraping=tuple(build_scrapes(catalogue, SPECS, settings.flag_texts)),
        status_objects=settings.status_objects,
        mirror_events=settings.mirror_events,
        store=find_store_kind(settings),
        reviews=settings.status_authorization is StatusAuthorization.KUBERNETES,
    )
    return required_permissions(catalogue, needs)


def required_permissions(
    catalogue: Catalogue, needs: PermissionNeeds
) -> Mapping[Permission, Collection[str]]:
    """
    Return every permission needed, with the reasons, or details of them, that it serves.

    The most important come first: those for Events, without which nothing is announced, the Lease,
    and the kinds in the order in which they are listed.
    """
    needed: defaultdict[Permission, set[str]] = defaultdict(set)
    for permission, purpose in (
        *_announcing_permissions(needs),
        *sorted(_read_permissions(catalogue, needs.sources), key=_reading_order),
        *_scraping_permissions(catalogue, needs),
        *_optional_permissions(needs),
    ):
        needed[permission].add(purpose)
    return needed


def _announcing_permissions(needs: PermissionNeeds) -> Iterator[tuple[Permission, str]]:
    """Yield each permission without which nothing is announced."""
    if not needs.writes_events:
        return
    for verb in EVENT_VERBS:
        yield (
            Permission(verb, "", "events", EVENT_NAMESPACE),
            "every reason: no Event can be written",
        )
    for permission in election_permissions(needs.lease) if needs.lease is not None else ():
        yield permission, "every reason: this process cannot lead"


def _scraping_permissions(
    catalogue: Catalogue, needs: PermissionNeeds
) -> Iterator[tuple[Permission, str]]:
    """Yield the permission to read pages through the API server, with each reason that reads some."""
    if needs.mode is ScrapeMode.DIRECT:
        return
    every = scraping_reasons(catalogue, SPECS)
    for reason in every if needs.scraping is None else needs.scraping:
        yield POD_PROXY_PERMISSION, reason


def _optional_permissions(needs: PermissionNeeds) -> Iterator[tuple[Permission, str]]:
    """Yield each permission that no reason needs, with what is not done without it."""
    for permission in _status_object_permissions() if needs.status_objects else ():
        yield permission, "none: status objects are not written"
    for verb in MIRROR_VERBS if needs.mirror_events else ():
        yield Permission(verb, "", "events"), "none: Events are not written beside InferenceSets"
    for permission in _store_permissions(needs.store) if needs.store is not None else ():
        yield permission, "none: episodes are not kept as HealthEvents"
    for permission in reader_review_permissions() if needs.reviews else ():
        yield permission, "none: the status is shown to nobody"


def _read_permissions(
    catalogue: Catalogue, sources: Collection[DetailSource]
) -> Iterator[tuple[Permission, str]]:
    """Yield each permission to read a kind with what needs it."""
    watched = kinds_to_watch(catalogue, sources)
    for entry in catalogue.entries.values():
        if entry.is_evaluated and SPECS[entry.probe].is_called(sources):
            spec = SPECS[entry.probe].bound(entry.parameters)
            about = [kind for kind in subject_kinds(entry, catalogue) if kind in watched]
            for kind, purpose in _kinds_read(entry, spec, sources, about):
                for verb in READ_VERBS:
                    where, name = kind.namespace, kind.object_name
                    yield Permission(verb, kind.group, kind.resource, where, name), purpose


def _reading_order(read: tuple[Permission, str]) -> int:
    """Return the place in the order in which kinds are listed; declared ones are the last."""
    return _KIND_ORDER.get(read[0].resource, len(_KIND_ORDER))


def _status_object_permissions() -> Iterator[Permission]:
    kind = PRODUCTION_STACK_STATUSES
    for verb in READ_VERBS:
        yield Permission(verb, kind.group, kind.resource)
    yield Permission("patch", kind.group, f"{kind.resource}/status")


def _store_permissions(kind: ResourceKind) -> Iterator[Permission]:
    for verb in (*READ_VERBS, "create", "delete"):
        yield Permission(verb, kind.group, kind.resource, kind.namespace)
    if kind.type is HealthEvent:  # the status of other kinds is other controllers'
        yield Permission("patch", kind.group, f"{kind.resource}/status", kind.namespace)


def reader_review_permissions() -> Iterator[Permission]:
    """
    Yield the permissions to create the TokenReview and SubjectAccessReview of a reader of the status.
    """
    for group, resource in (TOKEN_REVIEWS, SUBJECT_ACCESS_REVIEWS):
        yield Permission("create", group, resource)


def election_permissions(lease: Permission) -> Iterator[Permission]:
    """Yield the permissions for the Lease: create in its namespace, get and update by its name."""
    # No resourceName: RBAC cannot restrict create by the name of the object.
    yield Permission("create", LEASE_GROUP, "leases", lease.namespace)
    for verb in ("get", "update"):
        yield Permission(verb, LEASE_GROUP, "leases", lease.namespace, lease.name)


def _kinds_read(
    entry: CatalogueEntry,
    spec: ProbeSpec,
    sources: Collection[DetailSource],
    about: Collection[ResourceKind],
) -> Iterator[tuple[ResourceKind, str]]:
    """
    Return each kind with what needs it: a reason, a part of it, or only detail.

    *about*: the watched kinds without which the subjects of the reason are not all known.
    """
    kinds = {*spec.required_kinds, *spec.consulted_kinds, *spec.optional_kinds, *about}
    yield from ((kind, describe_purpose(kind, entry, spec, about)) for kind in kinds)
    for source, kinds_of_source in spec.kinds_by_source.items():
        if source in sources:
            yield from ((k, f"{entry.reason} (detail of {source})") for k in kinds_of_source)
