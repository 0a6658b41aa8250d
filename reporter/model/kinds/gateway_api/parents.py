"""The status that a route or InferencePool has for each of its parents."""

from typing import ClassVar

from reporter.model.kinds.base.api_struct import ApiStruct, InterningApiStruct
from reporter.model.kinds.base.conditions import Condition


class ParentReference(InterningApiStruct, frozen=True):
    """
    A reference to a parent. The API's defaults: a Gateway, in the namespace of the referring object.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ("group", "kind", "namespace", "name")

    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    section_name: str | None = None
    port: int | None = None


class ParentStatus(InterningApiStruct, frozen=True):
    """The conditions that one controller reports for one parent."""

    interned_fields: ClassVar[tuple[str, ...]] = ("controller_name",)

    parent_ref: ParentReference
    controller_name: str | None = ""
    conditions: tuple[Condition, ...] | None = ()


class ParentsStatus(ApiStruct, frozen=True):
    parents: tuple[ParentStatus, ...] | None = ()
