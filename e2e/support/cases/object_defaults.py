"""
The fields that an API server requires of the objects of a case, and that the case leaves out.
"""

from e2e.controlplane import Json
from e2e.support.production_stack.components import IMAGE


DEFAULTS: dict[str, Json] = {
    "InferenceSet": {
        "spec": {"labelSelector": {}, "template": {"inference": {"preset": {"name": "phi-4"}}}}
    },
    "Workspace": {"resource": {"labelSelector": {}}, "inference": {"preset": {"name": "phi-4"}}},
    "InferencePool": {
        "spec": {
            "selector": {"matchLabels": {}},
            "targetPorts": [{"number": 5000}],
            "endpointPickerRef": {"name": "none", "port": {"number": 9002}},
        }
    },
    "HTTPRoute": {"status": {"parents": []}},
    "GatewayClass": {"spec": {"controllerName": "example.com/gateway"}},
    "Gateway": {
        "spec": {
            "gatewayClassName": "none",
            "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
        }
    },
    "Service": {"spec": {"ports": [{"port": 80}]}},
    "ScaledObject": {"spec": {"triggers": [{"type": "external", "metadata": {}}]}},
    "HorizontalPodAutoscaler": {
        "spec": {"maxReplicas": 4, "scaleTargetRef": {"apiVersion": "kaito.sh/v1beta1"}}
    },
    "NodeClaim": {
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "d"},
            "requirements": [],
        }
    },
    "NodePool": {
        "spec": {
            "template": {
                "spec": {
                    "nodeClassRef": {
                        "group": "karpenter.azure.com",
                        "kind": "AKSNodeClass",
                        "name": "d",
                    },
                    "requirements": [],
                }
            }
        }
    },
    "Pod": {"spec": {"containers": [{"name": "main", "image": IMAGE}]}},
    "Job": {
        "spec": {
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "main", "image": IMAGE}],
                }
            }
        }
    },
}
"""Fields that the API server requires and the reporter does not read."""

ITEM_DEFAULTS: dict[str, Json] = {
    "conditions": {"reason": "NotGiven", "message": ""},
    "ownerReferences": {"apiVersion": "apps/v1", "uid": "00000000-0000-0000-0000-000000000001"},
    "containerStatuses": {"image": IMAGE, "imageID": ""},
    "initContainerStatuses": {"image": IMAGE, "imageID": ""},
    "parents": {"controllerName": "example.com/gateway"},
}
