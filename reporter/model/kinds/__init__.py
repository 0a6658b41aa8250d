"""The watched kinds, one module each; a kind that is not in these lists is never watched."""

from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.batch.jobs import JOBS
from reporter.model.kinds.cilium.network_policies import CILIUM_NETWORK_POLICIES
from reporter.model.kinds.core.deployments import DEPLOYMENTS
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.nodes import NODES
from reporter.model.kinds.core.pods import PODS
from reporter.model.kinds.core.services import SERVICES
from reporter.model.kinds.gateway_api.gateway_classes import GATEWAY_CLASSES
from reporter.model.kinds.gateway_api.gateways import GATEWAYS
from reporter.model.kinds.gateway_api.http_routes import HTTP_ROUTES
from reporter.model.kinds.gateway_api.inference_pools import INFERENCE_POOLS
from reporter.model.kinds.istio.authorization_policies import AUTHORIZATION_POLICIES
from reporter.model.kinds.istio.envoy_filters import ENVOY_FILTERS
from reporter.model.kinds.istio.mesh_config import MESH_CONFIG_MAPS
from reporter.model.kinds.kaito.api_keys import API_KEYS
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.kinds.kaito.workspaces import WORKSPACES
from reporter.model.kinds.karpenter.node_claims import NODE_CLAIMS
from reporter.model.kinds.karpenter.node_pools import NODE_POOLS
from reporter.model.kinds.keda.horizontal_pod_autoscalers import HORIZONTAL_POD_AUTOSCALERS
from reporter.model.kinds.keda.scaled_objects import SCALED_OBJECTS
from reporter.model.kinds.productionstack.clusters import PRODUCTION_STACK_CLUSTERS
from reporter.model.kinds.productionstack.health_events import HEALTH_EVENTS
from reporter.model.kinds.productionstack.statuses import PRODUCTION_STACK_STATUSES


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
