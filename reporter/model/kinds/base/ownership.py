"""The subjects that an object belongs to, by its namespace, labels or name."""

from reporter.model.enums import Layer
from reporter.model.kinds.base.objects import ApiObject, Metadata
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


CREATED_BY_LABEL = "inferenceset.kaito.sh/created-by"
INFERENCE_SET_LABEL = "kaito.sh/inferenceset"
GATEWAY_NAME_LABEL = "gateway.networking.k8s.io/gateway-name"
POOL_NAME_LABEL = "inferencepool"
ROUTE_SUFFIX = "-route"
POOL_SUFFIX = "-inferencepool"
ENDPOINT_PICKER_SUFFIX = "-inferencepool-epp"
"""
Names that the modeldeployment chart gives the InferencePool and the endpoint picker of a model.
"""

ALL_HARNESSES = Subject(Layer.MODELHARNESS)
ALL_MODELS = Subject(Layer.MODELDEPLOYMENT)


def harness_of(each: ApiObject) -> Subject:
    """Return the harness of the object's namespace."""
    return Subject(Layer.MODELHARNESS, each.metadata.namespace)


def model_of(each: ApiObject, inference_set: str) -> Subject:
    """Return this InferenceSet of the object's namespace; "" stands for all of them."""
    return Subject(Layer.MODELDEPLOYMENT, each.metadata.namespace, inference_set)


def owning_model_of(each: ApiObject) -> Subject:
    """
    Return the InferenceSet that the object is part of; all of its namespace if it names none.
    """
    return model_of(each, owning_inference_set(each))


def owning_inference_set(each: ApiObject) -> str:
    """
    Return the name of the InferenceSet that an object is part of, by label or by its chart's naming.
    """
    meta = each.metadata
    # The first label decides for most objects; a full list asks this of each of them.
    by_label = meta.label(CREATED_BY_LABEL) or meta.label(INFERENCE_SET_LABEL)
    return by_label or _inference_set_of_picker(meta)


def _inference_set_of_picker(meta: Metadata) -> str:
    by_pool = meta.label(POOL_NAME_LABEL).removesuffix(ENDPOINT_PICKER_SUFFIX)
    if by_pool or not meta.name.endswith(ENDPOINT_PICKER_SUFFIX):
        return by_pool
    return meta.name.removesuffix(ENDPOINT_PICKER_SUFFIX)


def possible_models_of(each: ApiObject, suffix: str) -> tuple[Subject, ...]:
    """
    Return the InferenceSets that may look the object up: by its labels, or by its name.

    *suffix*: what charts add to an InferenceSet's name. All of the namespace if none is named.
    """
    owner, name = owning_inference_set(each), each.metadata.name
    by_name = name.removesuffix(suffix) if name.endswith(suffix) else ""
    if not owner or not by_name or by_name == owner:
        return (model_of(each, owner or by_name),)
    return (model_of(each, owner), model_of(each, by_name))


def workload_subject(each: ApiObject) -> Subject:
    """
    Return the subject of a Deployment or pod: a model, a Gateway's harness, or else the cluster.

    Components of the control plane may run in any namespace.
    """
    inference_set = owning_inference_set(each)
    if inference_set:
        return model_of(each, inference_set)
    if each.metadata.label(GATEWAY_NAME_LABEL):
        return harness_of(each)
    return CLUSTER_SUBJECT
