"""
The presence of a CRD, derived from repeated discovery.

One discovery that lacks a resource proves nothing: the API server may just be starting. A loss
counts once a second discovery, at least ten seconds later, agrees.
"""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import (
    FORGOTTEN_VERSION,
    CRDPresence,
    DiscoveryResult,
)


LOSS_CONFIRMED_AFTER = timedelta(seconds=10)


class CRDPresences:
    """The presence of each tracked resource, by ``resource.group``."""

    def __init__(self, crds: Iterable[str]) -> None:
        self.by_resource: Mapping[str, CRDPresence] = {crd: CRDPresence() for crd in crds}

    def set_resources(self, crds: Iterable[str]) -> None:
        """Track these resources alone. What is known of one that is tracked already is kept."""
        known = self.by_resource
        self.by_resource = {crd: known.get(crd, CRDPresence()) for crd in crds}

    def remember_served(self, served: Container[str]) -> None:
        """Remember of CRDs that a predecessor of this process saw them served."""
        self.by_resource = {
            crd: replace(each, ever_served=each.ever_served | {FORGOTTEN_VERSION})
            if crd in served
            else each
            for crd, each in self.by_resource.items()
        }

    def record(self, result: DiscoveryResult | None, why: str, *, now: datetime) -> bool:
        """Update every presence and return whether any changed; None is a failure, with *why*."""
        before = self.by_resource
        self.by_resource = {
            crd: mark_discovery_failed(each, why)
            if result is None
            else update_presence(each, result, crd, now=now)
            for crd, each in before.items()
        }
        return self.by_resource != before

    def served_version(self, kind: ResourceKind) -> str | None:
        """
        Return the version in which to watch a kind, None while unknown or if no known one is served.
        """
        presence = self.by_resource.get(kind.group_resource)
        if presence is None:
            return kind.versions[0]
        return next(iter(kind.readable_versions(presence.versions or ())), None)

    @property
    def has_unconfirmed_loss(self) -> bool:
        return any(each.missing_since is not None for each in self.by_resource.values())


def update_presence(
    before: CRDPresence, result: DiscoveryResult, crd: str, *, now: datetime
) -> CRDPresence:
    """Return the presence of *crd* (``resource.group``) after one more discovery."""
    if crd.partition(".")[2] in result.failed_groups:
        return replace(before, why_unknown="discovery of its API group failed")
    versions = result.served_versions.get(crd, ())
    namespaced = result.namespaced.get(crd)
    if before.versions is not None and before.versions == versions:
        if (
            before.missing_since is None
            and not before.why_unknown
            and before.namespaced == namespaced
        ):
            return before
        return replace(before, missing_since=None, why_unknown="", namespaced=namespaced)
    if versions and set(versions) >= set(before.versions or ()):
        return CRDPresence(
            versions,
            since=now,
            why_unknown="",
            ever_served=before.ever_served | set(versions),
            namespaced=namespaced,
        )
    if before.missing_since is None:
        return replace(before, missing_since=now, why_unknown="")
    if now - before.missing_since < LOSS_CONFIRMED_AFTER:
        return replace(before, why_unknown="")
    return CRDPresence(
        versions,
        since=before.missing_since,
        why_unknown="",
        ever_served=before.ever_served | set(versions),
        namespaced=namespaced,
    )


def mark_discovery_failed(before: CRDPresence, why: str) -> CRDPresence:
    """Return the presence after a discovery that failed as a whole."""
    return replace(before, why_unknown=why)
