"""
ProductionStackStatuses: their users say what they ask about, and the reporter writes the answer.
"""

from enum import StrEnum, unique
from typing import Annotated, TypeAlias

from msgspec import Meta

from reporter.model.kinds.base.api_struct import ApiStruct
from reporter.model.kinds.base.keys import no_index_keys
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.status_object import (
    GROUP,
    VERSIONS,
    StatusObject,
    affects_none,
)


MAX_SETS = 256
MAX_NAME = 253
"""The longest name of an object (API conventions, "Names")."""


ObjectName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]


@unique
class StatusScope(StrEnum):
    """The subject of an object: the namespace that it is in, or the control plane."""

    NAMESPACE = "Namespace"
    CLUSTER = "Cluster"


class PackageSpec(ApiStruct, frozen=True):
    name: Annotated[str, Meta(max_length=MAX_NAME, description="Name of the package.")] = ""
    revision: Annotated[
        str, Meta(max_length=MAX_NAME, description="Revision of the package, such as a version.")
    ] = ""


class ProductionStackStatusSpec(ApiStruct, frozen=True):
    """The subject of the status, as its user asks for it."""

    scope: Annotated[
        StatusScope,
        Meta(
            description="Namespace: the harness and InferenceSets of the object's namespace. "
            "Cluster: the control plane; only in the namespace of the release."
        ),
    ] = StatusScope.NAMESPACE
    inference_sets: Annotated[
        tuple[ObjectName, ...],
        Meta(
            max_length=MAX_SETS,
            description="Names of the InferenceSets that the package consists of, beside the "
            "harness. None: all of the namespace.",
        ),
    ] = ()
    package: Annotated[
        PackageSpec | None,
        Meta(description="The package that the namespace is made from, for the status."),
    ] = None


class ProductionStackStatus(StatusObject, frozen=True):
    spec: ProductionStackStatusSpec = ProductionStackStatusSpec()


PRODUCTION_STACK_STATUSES = ResourceKind(
    resource="productionstackstatuses",
    group=GROUP,
    versions=VERSIONS,
    kind="ProductionStackStatus",
    type=ProductionStackStatus,
    index_keys=no_index_keys,
    affects=affects_none,
    tracks_deletions=False,
)
