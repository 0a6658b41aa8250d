"""
The kinds of objects that probes read, and how each is found in the API.
"""

from dataclasses import dataclass

from reporter.model.gateway_objects import Gateway, GatewayClass, HTTPRoute, InferencePool
from reporter.model.kaito_objects import APIKey, InferenceSet, Workspace
from reporter.model.mesh_config import MeshConfig
from reporter.model.mesh_objects import AuthorizationPolicy, CiliumNetworkPolicy, EnvoyFilter
from reporter.model.node_objects import NodeClaim
from reporter.model.objects import ApiObject, Deployment, Namespace, Pod
from reporter.model.scaling_objects import HorizontalPodAutoscaler, ScaledObject


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """
    A resource of the API.

    *versions* are those whose shape we can read, preferred first.
    *selector* restricts what is watched to objects with these labels, *name* to those of this name.
    """

    resource: str
    group: str
    versions: tuple[str, ...]
    kind: str
    type: type[ApiObject]
    selector: str = ""
    name: str = ""

    @property
    def qualified(self) -> str:
        """
        The name as in a CRD and in kubectl: resource.group.
        """
        return f"{self.resource}.{self.group}" if self.group else self.resource


NAMESPACES = ResourceKind("namespaces", "", ("v1",), "Namespace", Namespace)
PODS = ResourceKind("pods", "", ("v1",), "Pod", Pod)
DEPLOYMENTS = ResourceKind("deployments", "apps", ("v1",), "Deployment", Deployment)

GATEWAY_API = "gateway.networking.k8s.io"
GATEWAY_CLASSES = ResourceKind(
    "gatewayclasses", GATEWAY_API, ("v1",), "GatewayClass", GatewayClass
)
GATEWAYS = ResourceKind("gateways", GATEWAY_API, ("v1",), "Gateway", Gateway)
HTTP_ROUTES = ResourceKind("httproutes", GATEWAY_API, ("v1",), "HTTPRoute", HTTPRoute)
INFERENCE_POOLS = ResourceKind(
    "inferencepools", "inference.networking.k8s.io", ("v1",), "InferencePool", InferencePool
)

KAITO = "kaito.sh"
INFERENCE_SETS = ResourceKind(
    "inferencesets", KAITO, ("v1beta1", "v1alpha1"), "InferenceSet", InferenceSet
)
WORKSPACES = ResourceKind("workspaces", KAITO, ("v1beta1", "v1alpha1"), "Workspace", Workspace)
API_KEYS = ResourceKind("apikeys", KAITO, ("v1alpha1",), "APIKey", APIKey)

ENVOY_FILTERS = ResourceKind(
    "envoyfilters", "networking.istio.io", ("v1alpha3",), "EnvoyFilter", EnvoyFilter
)
NETWORK_POLICIES = ResourceKind(
    "ciliumnetworkpolicies", "cilium.io", ("v2",), "CiliumNetworkPolicy", CiliumNetworkPolicy
)

KINDS: tuple[ResourceKind, ...] = (
    NAMESPACES,
    DEPLOYMENTS,
    PODS,
    GATEWAY_CLASSES,
    GATEWAYS,
    ENVOY_FILTERS,
    API_KEYS,
    NETWORK_POLICIES,
    INFERENCE_SETS,
    WORKSPACES,
    HTTP_ROUTES,
    INFERENCE_POOLS,
)
"""
In the order in which they are listed at start: what explains before what fails.
"""

SCALED_OBJECTS = ResourceKind(
    "scaledobjects", "keda.sh", ("v1alpha1",), "ScaledObject", ScaledObject
)
AUTOSCALERS = ResourceKind(
    "horizontalpodautoscalers",
    "autoscaling",
    ("v2",),
    "HorizontalPodAutoscaler",
    HorizontalPodAutoscaler,
)
NODE_CLAIMS = ResourceKind("nodeclaims", "karpenter.sh", ("v1",), "NodeClaim", NodeClaim)
AUTHORIZATION_POLICIES = ResourceKind(
    "authorizationpolicies",
    "security.istio.io",
    ("v1", "v1beta1"),
    "AuthorizationPolicy",
    AuthorizationPolicy,
)
MESH_CONFIGS = ResourceKind("configmaps", "", ("v1",), "ConfigMap", MeshConfig, name="istio")

KINDS_OF_SOURCES: tuple[ResourceKind, ...] = (
    MESH_CONFIGS,
    AUTHORIZATION_POLICIES,
    NODE_CLAIMS,
    SCALED_OBJECTS,
    AUTOSCALERS,
)
"""
Those that are read only if a source is switched on; listed after all others.
"""
