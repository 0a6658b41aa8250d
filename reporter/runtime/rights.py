"""
Which rights the enabled reasons need, and the check at start that names those that are missing.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from reporter.kube.access import Grant, Right, review, table
from reporter.kube.client import Api
from reporter.kube.event_format import NAMESPACE as EVENTS
from reporter.model.entries import Catalogue, Entry, ProbeSpec
from reporter.model.kinds import KINDS, KINDS_OF_SOURCES, ResourceKind
from reporter.model.words import Source
from reporter.runtime.scraping import reasons
from reporter.settings import ScrapeMode


READING = ("list", "watch")
SPEAKING = ("create", "patch", "get", "list")
NONE: frozenset[Source] = frozenset()
BUILT_IN = frozenset({"", "apps", "autoscaling"})
"""
Groups that every API server has.
"""

PROXYING = Right("get", "", "pods/proxy")
AGAIN = 60.0
"""
Seconds until the check is tried again when the API server did not answer.
"""

logger = logging.getLogger(__name__)


def kinds_of(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], sources: Collection[Source] = NONE
) -> tuple[ResourceKind, ...]:
    """
    The kinds that the judged reasons read, in the order in which they are to be listed.
    """
    wanted = {
        kind.resource
        for entry in catalogue.entries.values()
        if entry.judged
        for kind in specs[entry.probe].reads(sources)
    }
    return tuple(kind for kind in (*KINDS, *KINDS_OF_SOURCES) if kind.resource in wanted)


def crds_of(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], sources: Collection[Source] = NONE
) -> frozenset[str]:
    """
    The CRDs whose presence is followed: those asked about, and those of the kinds that are read.
    """
    asked = {
        crd
        for entry in catalogue.entries.values()
        if entry.judged
        for crd in specs[entry.probe].presences(entry.parameters)
    }
    read = kinds_of(catalogue, specs, sources)
    return frozenset(asked | {kind.qualified for kind in read if kind.group not in BUILT_IN})


def rights(
    catalogue: Catalogue,
    specs: Mapping[str, ProbeSpec],
    *,
    lease: Right | None,
    sources: Collection[Source] = NONE,
    mode: ScrapeMode = ScrapeMode.DIRECT,
) -> Mapping[Right, Collection[str]]:
    """
    Every right that is needed, with the reasons, or the detail of them, that are blind without it.

    *lease* names the lease and its namespace; None without election. *sources*: those that are
    switched on. *mode*: how pods are read.
    """
    needed: defaultdict[Right, set[str]] = defaultdict(set)
    for entry in catalogue.entries.values():
        if entry.judged:
            for kind, what in _read(entry, specs[entry.probe], sources):
                for verb in READING:
                    right = Right(verb, kind.group, kind.resource, name=kind.name)
                    needed[right].add(what)
    if mode is not ScrapeMode.DIRECT:
        for reason in reasons(catalogue, specs):
            needed[PROXYING].add(reason)
    for verb in SPEAKING:
        needed[Right(verb, "", "events", EVENTS)].add("every reason: no Event can be written")
    if lease is not None:
        leader = "every reason: this process cannot lead"
        group, where = "coordination.k8s.io", lease.namespace
        needed[Right("create", group, "leases", where)].add(leader)
        for verb in ("get", "update"):
            needed[Right(verb, group, "leases", where, lease.name)].add(leader)
    return needed


def _read(
    entry: Entry, spec: ProbeSpec, sources: Collection[Source]
) -> Iterator[tuple[ResourceKind, str]]:
    """
    Each kind with what is blind without it: all of a reason, or only what a source adds to it.
    """
    for kind in (*spec.requires, *spec.uses):
        yield kind, entry.reason
    for source, kinds in spec.sources.items():
        if source in sources:
            yield from ((kind, f"{entry.reason} (detail of {source})") for kind in kinds)


async def check(
    api: Api, needed: Mapping[Right, Collection[str]], *, mode: ScrapeMode = ScrapeMode.PROXY
) -> None:
    """
    Tell in one table which rights are missing; the process runs with what it has.

    *mode*: how pods are read; one way of several is missed only once it is needed.
    """
    while True:
        grants = await review(api, needed)
        if any(grant is not Grant.UNKNOWN for _, grant in grants):
            break
        await asyncio.sleep(AGAIN)
    if (PROXYING, Grant.MISSING) in grants and mode is ScrapeMode.AUTO:
        logger.info(
            "%s is not granted; it is asked for only where pods cannot be reached", PROXYING
        )
        grants = tuple((right, grant) for right, grant in grants if right != PROXYING)
    lines = table(grants, needed).splitlines()
    missing = any(grant is Grant.MISSING for _, grant in grants)
    if missing:
        logger.error("some rights are missing, and what they are for is blind:")
    for line in lines:
        logger.log(
            logging.ERROR if missing else logging.WARNING, "  %s" if missing else "%s", line
        )
    if not lines:
        logger.info("all %d rights that are needed are granted", len(grants))
