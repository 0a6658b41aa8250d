"""HorizontalPodAutoscalers, which KEDA creates for ScaledObjects."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import no_index_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import model_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.keda.scaling_target import ScalingSpec
from reporter.model.subjects import Subject


class HorizontalPodAutoscalerSpec(ScalingSpec, frozen=True):
    max_replicas: int | None = None


class HorizontalPodAutoscalerStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class HorizontalPodAutoscaler(ApiObject, frozen=True):
    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()
    status: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus()


def affects(autoscaler: HorizontalPodAutoscaler) -> tuple[Subject, ...]:
    name = autoscaler.spec.inference_set
    return (model_of(autoscaler, name),) if name else ()


HORIZONTAL_POD_AUTOSCALERS = ResourceKind(
    resource="horizontalpodautoscalers",
    group="autoscaling",
    versions=("v2",),
    kind="HorizontalPodAutoscaler",
    type=HorizontalPodAutoscaler,
    index_keys=no_index_keys,
    affects=affects,
)
