"""The loops that read ProductionStackClusters in the namespace of the hub, and its permissions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

from reporter.catalogue.subject_definitions import NO_SUBJECTS
from reporter.controller.inputs import report_watch
from reporter.controller.permission_review import PermissionReview
from reporter.hub.permissions import needed_permissions
from reporter.kinds.productionstack import (
    PRODUCTION_STACK_CLUSTERS,
    ProductionStackCluster,
)
from reporter.kube.client import RestClient
from reporter.kube.discovery import DiscoveryLoop
from reporter.kube.lifecycle import NamedTask
from reporter.kube.reflector import Reflector
from reporter.kube.watch_context import WatchContext
from reporter.metrics.collectors import PermissionReport, WatchReport
from reporter.process.clock import Clock
from reporter.settings import Settings
from reporter.store.store import Store
from reporter.store.written_objects import WrittenObjectStore


class HubInputs:
    """The namespace of the Lease is the only one whose objects are read."""

    def __init__(self, settings: Settings, api: RestClient, clock: Clock) -> None:
        self._clock = clock
        self.kind = replace(PRODUCTION_STACK_CLUSTERS, namespace=settings.lease_namespace)
        crds = {self.kind.group_resource}
        context, presences = WatchContext(api, clock), Store((), crds, subjects=NO_SUBJECTS)
        self._discovery = DiscoveryLoop(context, presences, crds)
        self.objects = WrittenObjectStore(ProductionStackCluster, presences.served_version)
        self._reflector = Reflector(context, self.kind, self.objects, self._discovery)
        self._permissions = PermissionReview(context, needed_permissions(settings))
        api.on_forbidden(self._permissions.record_forbidden)

    @property
    def needs_permissions(self) -> bool:
        return bool(self._permissions.states.needed)

    async def review_permissions(self) -> NoReturn:
        """Review the permissions that the hub needs until cancelled."""
        await self._permissions.run()

    def describe_permissions(self) -> dict[str, Any]:
        """Return what is known of the permissions that are needed, for /status."""
        return self._permissions.states.as_json()

    def report_permissions(self) -> PermissionReport:
        """Return what is known of the permissions, for the metrics page."""
        return self._permissions.report()

    def tasks(self) -> Iterator[NamedTask]:
        yield "discovery", self._discovery.run()
        yield f"reflector {self.kind.group_resource}", self._reflector.run()

    def watch_reports(self) -> Iterator[WatchReport]:
        """Return the state of the watch, for the metrics page."""
        yield report_watch(
            self._reflector,
            self.objects.watch_state,
            self._clock.now(),
            undecodable=len(self.objects.undecodable),
        )
