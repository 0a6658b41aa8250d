"""
Which rights the enabled reasons need, and the check at start that names those that are missing.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from reporter.kube.client.client import RestClient
from reporter.kube.objects.access_review import (
    Permission,
    PermissionStatus,
    format_missing_permissions,
    review_permissions,
)
from reporter.kube.objects.event_format import EVENT_NAMESPACE as EVENTS
from reporter.model.entries import Catalogue, CatalogueEntry, ProbeSpec
from reporter.model.enums import DetailSource
from reporter.model.kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.runtime.scraping import scraping_reasons
from reporter.settings import ScrapeMode


READ_VERBS = ("list", "watch")
EVENT_VERBS = ("create", "patch", "get", "list")
NO_SOURCES: frozenset[DetailSource] = frozenset()
BUILT_IN_GROUPS = frozenset({"", "apps", "autoscaling"})
"""
Groups that every API server has.
"""

POD_PROXY_PERMISSION = Permission("get", "", "pods/proxy")
RETRY_INTERVAL = 60.0
"""
Seconds until the check is tried again when the API server did not answer.
"""

logger = logging.getLogger(__name__)


def kinds_to_watch(
    catalogue: Catalogue,
    specs: Mapping[str, ProbeSpec],
    sources: Collection[DetailSource] = NO_SOURCES,
) -> tuple[ResourceKind, ...]:
    """
    The kinds that the judged reasons read, in the order in which they are to be listed.
    """
    wanted = {
        kind.resource
        for entry in catalogue.entries.values()
        if entry.is_evaluated
        for kind in specs[entry.probe].watched_kinds(sources)
    }
    return tuple(kind for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS) if kind.resource in wanted)


def crds_to_track(
    catalogue: Catalogue,
    specs: Mapping[str, ProbeSpec],
    sources: Collection[DetailSource] = NO_SOURCES,
) -> frozenset[str]:
    """
    The CRDs whose presence is followed: those asked about, and those of the kinds that are read.
    """
    asked = {
        crd
        for entry in catalogue.entries.values()
        if entry.is_evaluated
        for crd in specs[entry.probe].observed_crds(entry.parameters)
    }
    read = kinds_to_watch(catalogue, specs, sources)
    return frozenset(
        asked | {kind.group_resource for kind in read if kind.group not in BUILT_IN_GROUPS}
    )


def required_permissions(
    catalogue: Catalogue,
    specs: Mapping[str, ProbeSpec],
    *,
    lease: Permission | None,
    sources: Collection[DetailSource] = NO_SOURCES,
    mode: ScrapeMode = ScrapeMode.DIRECT,
) -> Mapping[Permission, Collection[str]]:
    """
    Every right that is needed, with the reasons, or the detail of them, that are blind without it.

    *lease* names the lease and its namespace; None without election. *sources*: those that are
    switched on. *mode*: how pods are read.
    """
    needed: defaultdict[Permission, set[str]] = defaultdict(set)
    for entry in catalogue.entries.values():
        if entry.is_evaluated:
            for kind, what in _kinds_read(entry, specs[entry.probe], sources):
                for verb in READ_VERBS:
                    right = Permission(verb, kind.group, kind.resource, name=kind.object_name)
                    needed[right].add(what)
    if mode is not ScrapeMode.DIRECT:
        for reason in scraping_reasons(catalogue, specs):
            needed[POD_PROXY_PERMISSION].add(reason)
    for verb in EVENT_VERBS:
        needed[Permission(verb, "", "events", EVENTS)].add("every reason: no Event can be written")
    if lease is not None:
        leader = "every reason: this process cannot lead"
        group, where = "coordination.k8s.io", lease.namespace
        needed[Permission("create", group, "leases", where)].add(leader)
        for verb in ("get", "update"):
            needed[Permission(verb, group, "leases", where, lease.name)].add(leader)
    return needed


def _kinds_read(
    entry: CatalogueEntry, spec: ProbeSpec, sources: Collection[DetailSource]
) -> Iterator[tuple[ResourceKind, str]]:
    """
    Each kind with what is blind without it: all of a reason, or only what a source adds to it.
    """
    for kind in (*spec.required_kinds, *spec.optional_kinds):
        yield kind, entry.reason
    for source, kinds in spec.kinds_by_source.items():
        if source in sources:
            yield from ((kind, f"{entry.reason} (detail of {source})") for kind in kinds)


async def check_permissions(
    api: RestClient,
    needed: Mapping[Permission, Collection[str]],
    *,
    mode: ScrapeMode = ScrapeMode.PROXY,
) -> None:
    """
    Tell in one table which rights are missing; the process runs with what it has.

    *mode*: how pods are read; one way of several is missed only once it is needed.
    """
    while True:
        grants = await review_permissions(api, needed)
        if any(grant is not PermissionStatus.UNKNOWN for _, grant in grants):
            break
        await asyncio.sleep(RETRY_INTERVAL)
    if (POD_PROXY_PERMISSION, PermissionStatus.MISSING) in grants and mode is ScrapeMode.AUTO:
        logger.info(
            "%s is not granted; it is asked for only where pods cannot be reached",
            POD_PROXY_PERMISSION,
        )
        grants = tuple((right, grant) for right, grant in grants if right != POD_PROXY_PERMISSION)
    lines = format_missing_permissions(grants, needed).splitlines()
    missing = any(grant is PermissionStatus.MISSING for _, grant in grants)
    if missing:
        logger.error("some rights are missing, and what they are for is blind:")
    for line in lines:
        logger.log(
            logging.ERROR if missing else logging.WARNING, "  %s" if missing else "%s", line
        )
    if not lines:
        logger.info("all %d rights that are needed are granted", len(grants))
