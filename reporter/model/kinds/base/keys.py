"""
The keys by which probes look objects up other than by name.

Kinds build their index from these functions and probes look up with them, so that both agree.
Keys are plain strings: they are hashed for each changed object.
"""

from sys import intern

from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import CREATED_BY_LABEL, INFERENCE_SET_LABEL


def name_key(name: str) -> str:
    """Return the key of the objects of this name in any namespace."""
    return f"name={name}"


def label_key(label: str, value: str) -> str:
    return f"{label}={value}"


def workload_key(namespace: str, workload: str) -> str:
    """Return the key of the pods of a Deployment or other controller."""
    return f"{namespace}/{workload}"


def gateway_key(namespace: str, gateway: str) -> str:
    """Return the key of the Deployments of a Gateway."""
    return f"{namespace}/{gateway}"


def namespace_key(namespace: str) -> str:
    return f"{namespace}/"


def inference_set_key(namespace: str, inference_set: str) -> str:
    return f"model={namespace}/{inference_set}"


def workspace_key(namespace: str, workspace: str) -> str:
    return f"workspace={namespace}/{workspace}"


def backend_pool_key(namespace: str, pool: str) -> str:
    """Return the key of the routes that lead to an InferencePool."""
    return f"backend={namespace}/{pool}"


def namespace_keys(each: ApiObject) -> tuple[str, ...]:
    """Index an object by its namespace."""
    return (namespace_key(each.metadata.namespace),)


def inference_set_keys(each: ApiObject) -> tuple[str, ...]:
    """
    Index an object by the InferenceSet in the label of KAITO or of the modeldeployment chart.
    """
    meta = each.metadata
    name = meta.label(CREATED_BY_LABEL) or meta.label(INFERENCE_SET_LABEL)
    # Interned, as the indexes of several kinds have the same keys.
    return (intern(inference_set_key(meta.namespace, name)),) if name else ()


def parent_gateway_key(namespace: str, gateway: str) -> str:
    """Return the key of the routes that name a Gateway as parent."""
    return f"parent={namespace}/{gateway}"


def picker_key(namespace: str, picker: str) -> str:
    """Return the key of the InferencePools that name an endpoint picker."""
    return f"picker={namespace}/{picker}"


def no_index_keys(_: ApiObject) -> tuple[str, ...]:
    """Index nothing: these objects are only read by name, or all of them."""
    return ()
