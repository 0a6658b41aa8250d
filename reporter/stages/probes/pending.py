"""
The probes that do not exist yet: their reasons stand in the catalogue and are off.

Whoever writes one of them takes its entry out of here.
"""

from typing import Any

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.stages.probes.cluster.deployments import CODES


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    Of a probe that needs to be told nothing.
    """


class GatewayClass(Parameters, frozen=True, rename="kebab"):
    """
    *builtin_classes*: those that work without an object.
    """

    builtin_classes: tuple[str, ...] = ()


class Filters(Parameters, frozen=True, rename="kebab"):
    """
    *filters*: names of the EnvoyFilters that a harness has.
    """

    filters: tuple[str, ...]


class NetworkPolicy(Parameters, frozen=True, rename="kebab"):
    """
    *name*: of the policy. *scaler_namespace_flag*: whose namespace it must let in.
    """

    name: str
    scaler_namespace_flag: str


class WeightDownload(Parameters, frozen=True, rename="kebab"):
    """
    The flags that hold what is slow, and where it is read.
    """

    window_flag: str
    min_mbps_flag: str
    metric_flag: str
    metric_port_flag: str


GATEWAYS = "gateways.gateway.networking.k8s.io"
HTTPROUTES = "httproutes.gateway.networking.k8s.io"
POOLS = "inferencepools.inference.networking.k8s.io"
INFERENCESETS = "inferencesets.kaito.sh"
WORKSPACES = "workspaces.kaito.sh"
APIKEYS = "apikeys.kaito.sh"
ENVOYFILTERS = "envoyfilters.networking.istio.io"

DEPLOYMENT = "object state pods"


def _spec(
    name: str,
    fields: str,
    codes: str | frozenset[str],
    *demands: str,
    parameters: type[Any] = Parameters,
) -> ProbeSpec:
    """
    *fields* and *codes* separated by blanks.
    """
    demanded = frozenset(demands)
    return ProbeSpec(
        name=name,
        parameters=parameters,
        fields=frozenset(fields.split()),
        codes=frozenset(codes.split()) if isinstance(codes, str) else codes,
        demands=lambda _: demanded,
    )


PENDING: tuple[ProbeSpec, ...] = (
    _spec(
        "gateway-class",
        "gateway state",
        "NotFound ClassNotFound ClassNotAccepted NotAccepted Pending",
        GATEWAYS,
        parameters=GatewayClass,
    ),
    _spec(
        "gateway-programming",
        "gateway state",
        "AddressPending AddressNotUsable Certificate Listener NotProgrammed",
        GATEWAYS,
    ),
    _spec("gateway-data-plane", f"gateway {DEPLOYMENT}", CODES, GATEWAYS),
    _spec(
        "ext-authz",
        "object state",
        "ProviderNotFound ServiceNotFound PortNotFound FilterNotFound",
        ENVOYFILTERS,
    ),
    _spec("api-keys", "object state", "NotReconciled Pending Expired SecretNotFound", APIKEYS),
    _spec(
        "catch-all-filter",
        "object state",
        "FilterNotFound SelectsNothing Rejected",
        ENVOYFILTERS,
        GATEWAYS,
        parameters=Filters,
    ),
    _spec(
        "network-policy",
        "object state",
        "Invalid NamespaceNotFound ScalerNotAllowed SelectsNothing",
        parameters=NetworkPolicy,
    ),
    _spec(
        "scaling",
        "state",
        "Replicas Metrics Cooldown ScaledObjectNotFound ScaledObjectRejected",
        INFERENCESETS,
    ),
    _spec(
        "provisioning",
        "object state",
        "Quota Capacity InstanceType NodeClaimFailed NoNodeClaim NoProgress",
        INFERENCESETS,
        WORKSPACES,
    ),
    _spec(
        "model-pods",
        DEPLOYMENT,
        "Crash OutOfMemory ImagePull Config Unschedulable Failed NotReady Workspace Missing",
        INFERENCESETS,
        WORKSPACES,
    ),
    _spec(
        "route",
        "object state",
        "RouteNotFound GatewayNotFound NotAccepted NotResolved PoolNotFound PoolNotAccepted"
        " SelectsNothing PickerNotFound Unseen",
        INFERENCESETS,
        HTTPROUTES,
        POOLS,
        GATEWAYS,
    ),
    _spec("endpoint-picker", DEPLOYMENT, CODES, INFERENCESETS, POOLS),
    _spec(
        "weight-download",
        "window limit worst pod source",
        "Slow Stalled",
        INFERENCESETS,
        parameters=WeightDownload,
    ),
    _spec("node-pressure", "node pressure pod", "Memory Disk PID", INFERENCESETS),
)
