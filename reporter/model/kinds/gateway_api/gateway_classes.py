"""GatewayClasses."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import no_index_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import ALL_HARNESSES, ALL_MODELS
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.gateway_api.gateways import GATEWAY_API_GROUP
from reporter.model.subjects import Subject


class GatewayClassSpec(ApiStruct, frozen=True):
    controller_name: str = ""


class GatewayClassStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = ()


class GatewayClass(ApiObject, frozen=True):
    spec: GatewayClassSpec = GatewayClassSpec()
    status: GatewayClassStatus = GatewayClassStatus()


def affects(_: GatewayClass) -> tuple[Subject, ...]:
    """
    Return every harness and model: Gateways of any namespace may refer to a class.

    The status of a model's route counts if the controller of its Gateway's class wrote it.
    """
    return (ALL_HARNESSES, ALL_MODELS)


GATEWAY_CLASSES = ResourceKind(
    resource="gatewayclasses",
    group=GATEWAY_API_GROUP,
    versions=("v1",),
    kind="GatewayClass",
    type=GatewayClass,
    index_keys=no_index_keys,
    affects=affects,
)
