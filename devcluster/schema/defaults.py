"""
Defaults that the real server sets in built-in objects.

They include nulls and empty strings, as clients receive these and must handle them.
"""

from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import ServedKind


_COUNTERS = (
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "observedGeneration",
)
_POD_SPEC: Json = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}

EMPTY_OBJECTS: dict[str, Json] = {
    "pods": {"spec": {"containers": None}, "status": {}},
    "namespaces": {"spec": {}, "status": {}},
    "services": {"spec": {}, "status": {"loadBalancer": {}}},
    "nodes": {"spec": {}, "status": {}},
    "leases.coordination.k8s.io": {"spec": {}},
    "events": {
        "involvedObject": {},
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    },
    "deployments.apps": {
        "spec": {
            "replicas": 0,
            "selector": None,
            "template": {"metadata": {}, "spec": {"containers": None}},
            "strategy": {},
        },
        "status": {},
    },
    "replicasets.apps": {
        "spec": {
            "replicas": 0,
            "selector": None,
            "template": {"metadata": {}, "spec": {"containers": None}},
        },
        "status": {"replicas": 0},
    },
    "jobs.batch": {
        "spec": {"template": {"metadata": {}, "spec": {"containers": None}}},
        "status": {},
    },
    "customresourcedefinitions.apiextensions.k8s.io": {
        "spec": {"group": "", "names": {"plural": "", "kind": ""}, "scope": "", "versions": None},
        "status": {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": None,
        },
    },
}
"""The fields of a bookmark's object beside its metadata."""


def apply_defaults(kind: ServedKind, value: Json) -> None:
    """Set the defaults of one object, in place."""
    match kind.group_resource:
        case "events":
            _default_event(value)
        case "leases.coordination.k8s.io":
            value.setdefault("spec", {})
        case "namespaces":
            _default_namespace(value)
        case "deployments.apps":
            _default_deployment(value)
        case "pods":
            _default_pod(value)
        case "services":
            value.setdefault("status", {"loadBalancer": {}})
        case "jobs.batch":
            value.setdefault("status", {})
        case _:
            pass


def _default_event(value: Json) -> None:
    for key, default in EMPTY_OBJECTS["events"].items():
        value.setdefault(key, {} if default == {} else default)
    if "series" in value:
        value["series"].setdefault("lastObservedTime", None)


def _default_namespace(value: Json) -> None:
    meta = value["metadata"]
    meta["labels"] = {**meta.get("labels", {}), "kubernetes.io/metadata.name": meta["name"]}
    value.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    value.setdefault("status", {}).setdefault("phase", "Active")


def _default_deployment(value: Json) -> None:
    spec = value.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    _default_pod_spec(spec.setdefault("template", {}).setdefault("spec", {}))
    status = value.setdefault("status", {})
    for counter in _COUNTERS:
        if status.get(counter) == 0:
            del status[counter]


def _default_pod(value: Json) -> None:
    _default_pod_spec(value.setdefault("spec", {}))
    status = value.setdefault("status", {})
    status.setdefault("phase", "Pending")
    status.setdefault("qosClass", "BestEffort")
    for condition in status.get("conditions", ()):
        condition.setdefault("lastProbeTime", None)
        condition.setdefault("lastTransitionTime", None)


def _default_pod_spec(spec: Json) -> None:
    for key, default in _POD_SPEC.items():
        spec.setdefault(key, {} if default == {} else default)
    for container in spec.get("containers", ()):
        container.setdefault("resources", {})
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
