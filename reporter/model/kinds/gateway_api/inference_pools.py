"""InferencePools of the Gateway API inference extension."""

from typing import ClassVar

from reporter.model.kinds.base.api_struct import ApiStruct, InterningApiStruct
from reporter.model.kinds.base.keys import backend_pool_key, inference_set_keys, picker_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import POOL_SUFFIX, possible_models_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.deployments import DEPLOYMENTS
from reporter.model.kinds.gateway_api.parents import ParentsStatus
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef


class InferencePoolSelector(InterningApiStruct, frozen=True):
    interned_fields: ClassVar[tuple[str, ...]] = ("match_labels",)

    match_labels: dict[str, str] | None = None


class EndpointPickerPort(ApiStruct, frozen=True):
    number: int = 0


class EndpointPickerReference(ApiStruct, frozen=True):
    name: str
    group: str | None = None
    kind: str | None = None
    port: EndpointPickerPort | None = None


class InferencePoolSpec(ApiStruct, frozen=True):
    """*endpoint_picker_ref* is optional from v1.6 of the inference extension on."""

    selector: InferencePoolSelector = InferencePoolSelector()
    endpoint_picker_ref: EndpointPickerReference | None = None


class InferencePool(ApiObject, frozen=True):
    spec: InferencePoolSpec = InferencePoolSpec()
    status: ParentsStatus = ParentsStatus()


def index_keys(pool: InferencePool) -> tuple[str, ...]:
    """Index a pool by its InferenceSet and its endpoint picker."""
    picker = pool.spec.endpoint_picker_ref
    named = (picker_key(pool.metadata.namespace, picker.name),) if picker is not None else ()
    return (*inference_set_keys(pool), *named)


def picker_ref(pool: InferencePool) -> ObjectRef | None:
    """
    Return the Deployment of a pool's endpoint picker: the chart gives it the name of its Service.
    """
    picker = pool.spec.endpoint_picker_ref
    if picker is None or not picker.name:
        return None
    return ObjectRef(DEPLOYMENTS.group_resource, pool.metadata.namespace, picker.name)


def affects(pool: InferencePool) -> tuple[Subject, ...]:
    return possible_models_of(pool, POOL_SUFFIX)


def _backend_key(pool: InferencePool) -> str:
    return backend_pool_key(pool.metadata.namespace, pool.metadata.name)


INFERENCE_POOLS = ResourceKind(
    resource="inferencepools",
    group="inference.networking.k8s.io",
    versions=("v1",),
    kind="InferencePool",
    type=InferencePool,
    index_keys=index_keys,
    affects=affects,
    referrers=(("httproutes", _backend_key),),
)
