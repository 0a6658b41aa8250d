"""APIKeys of the gateway auth that comes with KAITO."""

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.keys import namespace_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import harness_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject


class SecretReference(ApiStruct, frozen=True):
    name: str = ""


class APIKeyStatus(ApiStruct, frozen=True):
    phase: str | None = ""
    conditions: tuple[Condition, ...] | None = ()
    secret_ref: SecretReference | None = None


class APIKey(ApiObject, frozen=True):
    status: APIKeyStatus = APIKeyStatus()


def affects(api_key: APIKey) -> tuple[Subject, ...]:
    return (harness_of(api_key),)


API_KEYS = ResourceKind(
    resource="apikeys",
    group="kaito.sh",
    versions=("v1alpha1",),
    kind="APIKey",
    type=APIKey,
    index_keys=namespace_keys,
    affects=affects,
)
