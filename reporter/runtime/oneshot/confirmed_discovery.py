"""Discover the resources so that the store believes it at once."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

from reporter.kube.client import RestClient
from reporter.kube.discovery import discover
from reporter.model.observations import DiscoveryResult
from reporter.runtime.process.clock import Clock
from reporter.stages.store.crd_presence import LOSS_CONFIRMED_AFTER
from reporter.stages.store.store import Store


RECHECK_AFTER = timedelta(seconds=1)
"""The pause until the second discovery, if the first one lacks a resource."""


async def confirm_discovery(
    api: RestClient, store: Store, crds: Collection[str], clock: Clock
) -> DiscoveryResult:
    """
    Discover the resources, twice if some are missing: an API server that starts lacks some.

    The store believes two results that are LOSS_CONFIRMED_AFTER apart. Nobody who waits for an
    answer has that much time, so the first one is recorded as that much older than it is.
    """
    groups = frozenset(crd.partition(".")[2] for crd in crds)
    found = (await discover(api, groups, previous=None)).discovery
    store.record_discovery(found, now=clock.now() - LOSS_CONFIRMED_AFTER)
    if set(crds) - found.served_versions.keys():
        await asyncio.sleep(RECHECK_AFTER.total_seconds())
        found = (await discover(api, groups, previous=None)).discovery
        store.record_discovery(found, now=clock.now())
    return found
