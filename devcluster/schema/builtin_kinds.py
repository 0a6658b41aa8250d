"""The built-in kinds that are served."""

from devcluster.schema.kinds import GenerationPolicy, ServedKind


SELF_SUBJECT_ACCESS_REVIEW = ServedKind(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
    "selfsubjectaccessreview", namespaced=False, verbs=("create",),
)  # fmt: skip

SELF_SUBJECT_RULES_REVIEW = ServedKind(
    "authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview",
    "selfsubjectrulesreview", namespaced=False, verbs=("create",),
)  # fmt: skip

CORE_KINDS = (
    ServedKind("", "v1", "configmaps", "ConfigMap", "configmap", short_names=("cm",)),
    ServedKind("", "v1", "events", "Event", "event", short_names=("ev",), is_watch_cached=False),
    ServedKind(
        "", "v1", "namespaces", "Namespace", "namespace", namespaced=False, short_names=("ns",),
        subresources=("status",), returns_deleted=True,
        verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    ),
    ServedKind(
        "", "v1", "nodes", "Node", "node", namespaced=False, short_names=("no",),
        subresources=("status",),
    ),
    ServedKind(
        "", "v1", "pods", "Pod", "pod", short_names=("po",), categories=("all",),
        subresources=("status",), returns_deleted=True, generation=GenerationPolicy.SPEC,
    ),
    ServedKind(
        "", "v1", "serviceaccounts", "ServiceAccount", "serviceaccount", short_names=("sa",),
        returns_deleted=True,
    ),
    ServedKind(
        "", "v1", "services", "Service", "service", short_names=("svc",), categories=("all",),
        subresources=("status",), returns_deleted=True,
    ),
)  # fmt: skip

APPS_KINDS = (
    ServedKind(
        "apps", "v1", "deployments", "Deployment", "deployment", short_names=("deploy",),
        categories=("all",), subresources=("scale", "status"),
        generation=GenerationPolicy.SPEC_AND_ANNOTATIONS,
    ),
    ServedKind(
        "apps", "v1", "replicasets", "ReplicaSet", "replicaset", short_names=("rs",),
        categories=("all",), subresources=("scale", "status"), generation=GenerationPolicy.SPEC,
    ),
)  # fmt: skip

JOB = ServedKind(
    "batch", "v1", "jobs", "Job", "job", categories=("all",), subresources=("status",),
    generation=GenerationPolicy.SPEC,
)  # fmt: skip

CRD = ServedKind(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
    "customresourcedefinition", namespaced=False, short_names=("crd", "crds"),
    categories=("api-extensions",), subresources=("status",), generation=GenerationPolicy.SPEC,
    unconditional_update=False, returns_deleted=True,
)  # fmt: skip

LEASE = ServedKind(
    "coordination.k8s.io", "v1", "leases", "Lease", "lease",
    unconditional_update=False,
)  # fmt: skip

BUILTIN_KINDS: tuple[ServedKind, ...] = (
    *CORE_KINDS,
    *APPS_KINDS,
    JOB,
    SELF_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_RULES_REVIEW,
    CRD,
    LEASE,
)
NAMESPACE = next(kind for kind in CORE_KINDS if kind.resource == "namespaces")
BUILTIN_GROUPS = frozenset(kind.group for kind in BUILTIN_KINDS)
DEPLOYMENT = next(kind for kind in APPS_KINDS if kind.resource == "deployments")
