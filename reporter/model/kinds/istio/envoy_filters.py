"""EnvoyFilters of Istio."""

import re

import msgspec

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.keys import namespace_keys
from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.ownership import harness_of
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject


NO_PATCHES = msgspec.Raw(b"")
ENVOY_CLUSTER_PATTERN = re.compile(rb'"(outbound\|[^"\\]{1,300})"')
"""The name that Istio gives the Envoy cluster of a Service: ``outbound|port|subset|host``."""

EXT_AUTHZ_FILTER_TYPE = b"envoy.extensions.filters.http.ext_authz"
"""The type of Envoy's filter for external authorization."""


class WorkloadSelector(ApiStruct, frozen=True):
    labels: dict[str, str] | None = None


class EnvoyFilterSpec(ApiStruct, frozen=True):
    """
    The spec of an EnvoyFilter; *config_patches* is long, so only two facts of it are kept.

    *clusters*: the upstreams that the patches name. *authorizes*: whether one of the patches is an
    ext_authz filter.
    """

    workload_selector: WorkloadSelector | None = None
    config_patches: msgspec.Raw = NO_PATCHES
    clusters: tuple[str, ...] = ()
    authorizes: bool = False

    def __post_init__(self) -> None:
        patches = bytes(self.config_patches)
        if patches:
            clusters = sorted({name.decode() for name in ENVOY_CLUSTER_PATTERN.findall(patches)})
            msgspec.structs.force_setattr(self, "clusters", tuple(clusters))
            msgspec.structs.force_setattr(self, "authorizes", EXT_AUTHZ_FILTER_TYPE in patches)
            msgspec.structs.force_setattr(self, "config_patches", NO_PATCHES)


class MessageType(ApiStruct, frozen=True):
    name: str | None = ""
    code: str | None = ""


class ValidationMessage(ApiStruct, frozen=True):
    level: str | None = ""
    type: MessageType | None = None


class EnvoyFilterStatus(ApiStruct, frozen=True):
    """
    The status, empty unless istiod analyses configurations. *observed_generation* may be a text.
    """

    observed_generation: int | str | None = 0
    validation_messages: tuple[ValidationMessage, ...] | None = ()


class EnvoyFilter(ApiObject, frozen=True):
    spec: EnvoyFilterSpec = EnvoyFilterSpec()
    status: EnvoyFilterStatus = EnvoyFilterStatus()


def affects(envoy_filter: EnvoyFilter) -> tuple[Subject, ...]:
    return (harness_of(envoy_filter),)


ENVOY_FILTERS = ResourceKind(
    resource="envoyfilters",
    group="networking.istio.io",
    versions=("v1alpha3",),
    kind="EnvoyFilter",
    type=EnvoyFilter,
    index_keys=namespace_keys,
    affects=affects,
)
