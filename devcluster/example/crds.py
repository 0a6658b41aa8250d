"""The CustomResourceDefinitions of the example stack, without schemas."""

from collections.abc import Iterator
from dataclasses import dataclass

from devcluster.schema.api_errors import Json
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS


@dataclass(frozen=True, slots=True)
class _CRDDefinition:
    group: str
    plural: str
    kind: str
    versions: tuple[str, ...]
    """The served versions; the first is the storage version."""
    namespaced: bool = True
    short: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()


_GATEWAY = "gateway.networking.k8s.io"
_CONDITION_PATH = '.status.conditions[?(@.type=="{}")].status'

_DETAILED = (
    _CRDDefinition(
        _GATEWAY, "gatewayclasses", "GatewayClass", ("v1", "v1beta1"), namespaced=False, short=("gc",),
        columns=(("Controller", ".spec.controllerName"), ("Accepted", _CONDITION_PATH.format("Accepted"))),
    ),
    _CRDDefinition(
        _GATEWAY, "gateways", "Gateway", ("v1", "v1beta1"), short=("gtw",),
        columns=(("Class", ".spec.gatewayClassName"), ("Programmed", _CONDITION_PATH.format("Programmed"))),
    ),
    _CRDDefinition(_GATEWAY, "httproutes", "HTTPRoute", ("v1", "v1beta1")),
    _CRDDefinition("inference.networking.k8s.io", "inferencepools", "InferencePool", ("v1",), short=("infpool",)),
    _CRDDefinition(
        "kaito.sh", "inferencesets", "InferenceSet", ("v1beta1", "v1alpha1"), short=("is",),
        columns=(("Replicas", ".status.replicas"), ("Ready", ".status.readyReplicas")),
    ),
    _CRDDefinition(
        "kaito.sh", "workspaces", "Workspace", ("v1beta1", "v1alpha1"), short=("wk",),
        columns=(("Inferenceready", _CONDITION_PATH.format("InferenceReady")), ("State", ".status.state")),
    ),
    _CRDDefinition("kaito.sh", "apikeys", "APIKey", ("v1alpha1",), columns=(("Phase", ".status.phase"),)),
    _CRDDefinition(
        "keda.sh", "scaledobjects", "ScaledObject", ("v1alpha1",), short=("so",),
        columns=(("Ready", _CONDITION_PATH.format("Ready")),),
    ),
    _CRDDefinition("networking.istio.io", "envoyfilters", "EnvoyFilter", ("v1alpha3",)),
    _CRDDefinition(
        "security.istio.io", "authorizationpolicies", "AuthorizationPolicy", ("v1", "v1beta1"), short=("ap",),
        columns=(("Action", ".spec.action"),),
    ),
    _CRDDefinition(
        "cilium.io", "ciliumnetworkpolicies", "CiliumNetworkPolicy", ("v2",), short=("cnp",),
        columns=(("Valid", _CONDITION_PATH.format("Valid")),),
    ),
    _CRDDefinition(
        "karpenter.sh", "nodeclaims", "NodeClaim", ("v1",), namespaced=False,
        columns=(("Ready", _CONDITION_PATH.format("Ready")),),
    ),
    _CRDDefinition(
        "karpenter.sh", "nodepools", "NodePool", ("v1",), namespaced=False,
        columns=(("Ready", _CONDITION_PATH.format("Ready")),),
    ),
)  # fmt: skip
"""The definitions with short names and columns of kubectl."""


def crds() -> list[Json]:
    """Return the CRD of each watched kind that is not built in."""
    return [_manifest(definition) for definition in (*_DETAILED, *_plain())]


def _plain() -> Iterator[_CRDDefinition]:
    detailed = {(definition.group, definition.plural) for definition in _DETAILED}
    for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS):
        if not kind.is_built_in and (kind.group, kind.resource) not in detailed:
            yield _CRDDefinition(kind.group, kind.resource, kind.kind, kind.versions)


def crd(name: str) -> Json:
    """
    Return the CRD such as `gateways.gateway.networking.k8s.io`. Raise KeyError if it is unknown.
    """
    return {manifest["metadata"]["name"]: manifest for manifest in crds()}[name]


def _manifest(definition: _CRDDefinition) -> Json:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{definition.plural}.{definition.group}"},
        "spec": {
            "group": definition.group,
            "names": {
                "kind": definition.kind,
                "listKind": f"{definition.kind}List",
                "plural": definition.plural,
                "singular": definition.kind.lower(),
                **({"shortNames": list(definition.short)} if definition.short else {}),
            },
            "scope": "Namespaced" if definition.namespaced else "Cluster",
            "versions": [_version(definition, name) for name in definition.versions],
        },
    }


def _version(definition: _CRDDefinition, version: str) -> Json:
    columns = [
        {"name": name, "type": "string", "jsonPath": path} for name, path in definition.columns
    ]
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "name": version,
        "served": True,
        "storage": version == definition.versions[0],
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [*columns, age],
    }
