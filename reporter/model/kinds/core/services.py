"""Services, of which only the existence is read."""

from msgspec.structs import replace

from reporter.model.kinds.base.keys import no_index_keys, picker_key
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject


class Service(ApiObject, frozen=True):
    """A Service, without labels and owners: a cluster has several of them for each model."""


def affects(_: Service) -> tuple[Subject, ...]:
    """Return nothing: a Service matters to the models whose InferencePool names it."""
    return ()


def _bounded(service: Service) -> Service:
    return Service(metadata=replace(service.metadata, labels=None, owner_references=None))


def _picker_key(service: Service) -> str:
    return picker_key(service.metadata.namespace, service.metadata.name)


SERVICES = ResourceKind(
    resource="services",
    group="",
    versions=("v1",),
    kind="Service",
    type=Service,
    index_keys=no_index_keys,
    affects=affects,
    referrers=(("inferencepools", _picker_key),),
    bounded=_bounded,
)
