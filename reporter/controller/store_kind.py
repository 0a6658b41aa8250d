"""The kind of the objects in which episodes are kept."""

from dataclasses import replace

from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kinds.nvsentinel import node_health_events
from reporter.kinds.resource_kind import ResourceKind
from reporter.settings import Settings, StoreBackend


def find_store_kind(settings: Settings) -> ResourceKind | None:
    """
    Return the one kind that is written, in the namespace of the release; None without the store.
    """
    namespace = settings.release_namespace
    match settings.store:
        case StoreBackend.NONE:
            return None
        case StoreBackend.HEALTH_EVENTS:
            return replace(HEALTH_EVENTS, namespace=namespace)
        case StoreBackend.NVSENTINEL:
            return node_health_events(settings.store_resource, namespace)
