"""
The lists of the kinds that the program itself watches or writes; beside it are a module for each API group.

Kinds that a catalogue declares, and NVSentinel's, are watched although they are in none of the lists.
"""

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.batch import JOBS
from reporter.kinds.cilium import CILIUM_NETWORK_POLICIES
from reporter.kinds.core import NAMESPACES, NODES, PODS, SERVICES
from reporter.kinds.gateway_api import GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES, INFERENCE_POOLS
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kinds.istio import AUTHORIZATION_POLICIES, ENVOY_FILTERS, MESH_CONFIG_MAPS
from reporter.kinds.kaito import API_KEYS, INFERENCE_SETS, WORKSPACES
from reporter.kinds.karpenter import NODE_CLAIMS, NODE_POOLS
from reporter.kinds.keda import HORIZONTAL_POD_AUTOSCALERS, SCALED_OBJECTS
from reporter.kinds.productionstack import PRODUCTION_STACK_CLUSTERS, PRODUCTION_STACK_STATUSES
from reporter.kinds.resource_kind import ResourceKind


DEFAULT_KINDS: tuple[ResourceKind, ...] = (
    NAMESPACES,
    NODES,
    DEPLOYMENTS,
    PODS,
    GATEWAY_CLASSES,
    GATEWAYS,
    ENVOY_FILTERS,
    API_KEYS,
    CILIUM_NETWORK_POLICIES,
    INFERENCE_SETS,
    WORKSPACES,
    SERVICES,
    HTTP_ROUTES,
    INFERENCE_POOLS,
)
"""
The kinds in the order in which they are listed at start: possible causes before their effects.
"""

OPTIONAL_KINDS: tuple[ResourceKind, ...] = (
    MESH_CONFIG_MAPS,
    AUTHORIZATION_POLICIES,
    NODE_CLAIMS,
    NODE_POOLS,
    SCALED_OBJECTS,
    HORIZONTAL_POD_AUTOSCALERS,
    JOBS,
)
"""
The kinds that are watched only if ``--sources`` switches their source on; listed after all others.
"""

WRITTEN_KINDS: tuple[ResourceKind, ...] = (
    PRODUCTION_STACK_STATUSES,
    PRODUCTION_STACK_CLUSTERS,
    HEALTH_EVENTS,
)
"""The kinds of this program, which it writes to; no verdict reads them."""
