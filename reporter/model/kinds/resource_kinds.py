"""
The kinds of objects that probes read, and how each is found in the API.
"""

from dataclasses import dataclass

from reporter.model.kinds.gateway_api import Gateway, GatewayClass, HTTPRoute, InferencePool
from reporter.model.kinds.istio_cilium import AuthorizationPolicy, CiliumNetworkPolicy, EnvoyFilter
from reporter.model.kinds.kaito import APIKey, InferenceSet, Workspace
from reporter.model.kinds.keda import HorizontalPodAutoscaler, ScaledObject
from reporter.model.kinds.mesh_config import MeshConfigMap
from reporter.model.kinds.node_claims import NodeClaim
from reporter.model.kinds.objects import ApiObject, Deployment, Namespace, Pod


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
    label_selector: str = ""
    object_name: str = ""

    @property
    def group_resource(self) -> str:
        """
        The name as in a CRD and in kubectl: resource.group.
        """
        return f"{self.resource}.{self.group}" if self.group else self.resource


NAMESPACES = ResourceKind("namespaces", "", ("v1",), "Namespace", Namespace)
PODS = ResourceKind("pods", "", ("v1",), "Pod", Pod)
DEPLOYMENTS = ResourceKind("deployments", "apps", ("v1",), "Deployment", Deployment)

GATEWAY_API_GROUP = "gateway.networking.k8s.io"
GATEWAY_CLASSES = ResourceKind(
    "gatewayclasses", GATEWAY_API_GROUP, ("v1",), "GatewayClass", GatewayClass
)
GATEWAYS = ResourceKind("gateways", GATEWAY_API_GROUP, ("v1",), "Gateway", Gateway)
HTTP_ROUTES = ResourceKind("httproutes", GATEWAY_API_GROUP, ("v1",), "HTTPRoute", HTTPRoute)
INFERENCE_POOLS = ResourceKind(
    "inferencepools", "inference.networking.k8s.io", ("v1",), "InferencePool", InferencePool
)

KAITO_GROUP = "kaito.sh"
INFERENCE_SETS = ResourceKind(
    "inferencesets", KAITO_GROUP, ("v1beta1", "v1alpha1"), "InferenceSet", InferenceSet
)
WORKSPACES = ResourceKind(
    "workspaces", KAITO_GROUP, ("v1beta1", "v1alpha1"), "Workspace", Workspace
)
API_KEYS = ResourceKind("apikeys", KAITO_GROUP, ("v1alpha1",), "APIKey", APIKey)

ENVOY_FILTERS = ResourceKind(
    "envoyfilters", "networking.istio.io", ("v1alpha3",), "EnvoyFilter", EnvoyFilter
)
CILIUM_NETWORK_POLICIES = ResourceKind(
    "ciliumnetworkpolicies", "cilium.io", ("v2",), "CiliumNetworkPolicy", CiliumNetworkPolicy
)

DEFAULT_KINDS: tuple[ResourceKind, ...] = (
    NAMESPACES,
    DEPLOYMENTS,
    PODS,
    GATEWAY_CLASSES,
    GATEWAYS,
    ENVOY_FILTERS,
    API_KEYS,
    CILIUM_NETWORK_POLICIES,
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
HORIZONTAL_POD_AUTOSCALERS = ResourceKind(
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
MESH_CONFIG_MAPS = ResourceKind(
    "configmaps", "", ("v1",), "ConfigMap", MeshConfigMap, object_name="istio"
)

OPTIONAL_KINDS: tuple[ResourceKind, ...] = (
    MESH_CONFIG_MAPS,
    AUTHORIZATION_POLICIES,
    NODE_CLAIMS,
    SCALED_OBJECTS,
    HORIZONTAL_POD_AUTOSCALERS,
)
"""
Those that are read only if a source is switched on; listed after all others.
"""
