"""
The built-in kinds that are served. Those nobody fills are here because kubectl lists them.
"""

from reporter.embedded.kinds import Generation, Kind


_REVIEW = Kind(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
    "selfsubjectaccessreview", namespaced=False, verbs=("create",),
)  # fmt: skip

CORE = (
    Kind("", "v1", "configmaps", "ConfigMap", "configmap", short_names=("cm",)),
    Kind("", "v1", "events", "Event", "event", short_names=("ev",), create_on_update=True, cached=False),
    Kind("", "v1", "limitranges", "LimitRange", "limitrange", short_names=("limits",)),
    Kind(
        "", "v1", "namespaces", "Namespace", "namespace", namespaced=False, short_names=("ns",),
        subresources=("status",), returns_deleted=True,
        verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    ),
    Kind(
        "", "v1", "nodes", "Node", "node", namespaced=False, short_names=("no",),
        subresources=("status",),
    ),
    Kind(
        "", "v1", "pods", "Pod", "pod", short_names=("po",), categories=("all",),
        subresources=("status",), returns_deleted=True, generation=Generation.SPEC,
    ),
    Kind("", "v1", "resourcequotas", "ResourceQuota", "resourcequota", short_names=("quota",)),
    Kind("", "v1", "secrets", "Secret", "secret"),
    Kind(
        "", "v1", "serviceaccounts", "ServiceAccount", "serviceaccount", short_names=("sa",),
        returns_deleted=True,
    ),
    Kind(
        "", "v1", "services", "Service", "service", short_names=("svc",), categories=("all",),
        subresources=("status",), create_on_update=True, returns_deleted=True,
    ),
)  # fmt: skip

APPS = (
    Kind(
        "apps", "v1", "deployments", "Deployment", "deployment", short_names=("deploy",),
        categories=("all",), subresources=("scale", "status"),
        generation=Generation.SPEC_AND_ANNOTATIONS,
    ),
    Kind(
        "apps", "v1", "replicasets", "ReplicaSet", "replicaset", short_names=("rs",),
        categories=("all",), subresources=("scale", "status"), generation=Generation.SPEC,
    ),
    Kind(
        "apps", "v1", "statefulsets", "StatefulSet", "statefulset", short_names=("sts",),
        categories=("all",), subresources=("scale", "status"), generation=Generation.SPEC,
    ),
)  # fmt: skip

AUTOSCALER = Kind(
    "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
    "horizontalpodautoscaler", short_names=("hpa",), categories=("all",),
    subresources=("status",),
)  # fmt: skip

CRD = Kind(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
    "customresourcedefinition", namespaced=False, short_names=("crd", "crds"),
    categories=("api-extensions",), subresources=("status",), generation=Generation.SPEC,
    unconditional_update=False, returns_deleted=True,
)  # fmt: skip

LEASE = Kind(
    "coordination.k8s.io", "v1", "leases", "Lease", "lease",
    create_on_update=True, unconditional_update=False,
)  # fmt: skip

BUILTIN: tuple[Kind, ...] = (*CORE, *APPS, AUTOSCALER, _REVIEW, CRD, LEASE)
NAMESPACE = next(kind for kind in CORE if kind.resource == "namespaces")
GROUPS = frozenset(kind.group for kind in BUILTIN)
DEPLOYMENT = next(kind for kind in APPS if kind.resource == "deployments")
