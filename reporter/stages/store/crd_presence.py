"""
The presence of a CRD, derived from repeated discovery.

One discovery that lacks a resource proves nothing: the API server may just be starting. A loss
counts once a second discovery, at least ten seconds later, agrees.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from reporter.model.observations import CRDPresence, DiscoveryResult


LOSS_CONFIRMED_AFTER = timedelta(seconds=10)


def update_presence(
    before: CRDPresence, result: DiscoveryResult, crd: str, *, now: datetime
) -> CRDPresence:
    """
    Return the presence of *crd* (``resource.group``) after one more discovery.
    """
    if crd.partition(".")[2] in result.failed_groups:
        return replace(before, why_unknown="discovery of its API group failed")
    versions = result.served_versions.get(crd, ())
    if before.versions is not None and before.versions == versions:
        return replace(before, missing_since=None, why_unknown="")
    if versions and set(versions) >= set(before.versions or ()):
        return CRDPresence(
            versions, since=now, why_unknown="", ever_served=before.ever_served | set(versions)
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
    )


def mark_discovery_failed(before: CRDPresence, why: str) -> CRDPresence:
    """
    Return the presence after a discovery that failed as a whole.
    """
    return replace(before, why_unknown=why)
