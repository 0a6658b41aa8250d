"""
The loops that read ProductionStackClusters in the namespace of the hub.
"""

from collections.abc import Iterator
from dataclasses import replace

from reporter.kube.client.client import RestClient
from reporter.kube.discovery.discovery_loop import DiscoveryLoop
from reporter.kube.watch.context import WatchContext
from reporter.kube.watch.reflector import Reflector
from reporter.model.kinds.productionstack.clusters import (
    PRODUCTION_STACK_CLUSTERS,
    ProductionStackCluster,
)
from reporter.runtime.inputs.inputs import report_watch
from reporter.runtime.leaderelection.lifecycle import NamedTask
from reporter.runtime.process.clock import Clock
from reporter.sinks.metrics import WatchReport
from reporter.stages.store.status_objects import StatusObjectStore
from reporter.stages.store.store import Store


class HubInputs:
    """
    *namespace*: the only one whose objects are read.
    """

    def __init__(self, api: RestClient, clock: Clock, *, namespace: str) -> None:
        self._clock = clock
        self.kind = replace(PRODUCTION_STACK_CLUSTERS, namespace=namespace)
        crds = {self.kind.group_resource}
        context, presences = WatchContext(api, clock), Store((), crds)
        self._discovery = DiscoveryLoop(context, presences, crds)
        self.objects = StatusObjectStore(ProductionStackCluster, presences.served_version)
        self._reflector = Reflector(context, self.kind, self.objects, self._discovery)

    def tasks(self) -> Iterator[NamedTask]:
        yield "discovery", self._discovery.run()
        yield f"reflector {self.kind.group_resource}", self._reflector.run()

    def watch_reports(self) -> Iterator[WatchReport]:
        """
        Return the state of the watch, for the metrics page.
        """
        yield report_watch(self._reflector, self.objects.watch_state, self._clock.now())
