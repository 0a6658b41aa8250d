"""The type of an entry under ``subjects``."""

from typing import Annotated

from msgspec import UNSET, Meta

from reporter.catalogue.format_parts.base import CatalogueStruct, OptionalKey, Text
from reporter.model.catalogue.subject_definitions import NamespaceScope
from reporter.model.enums import Layer


Prefix = Annotated[
    str,
    Meta(pattern=r"^[a-z]+$", max_length=63, extra={"is": "a word in lower case"}),
]


class SubjectEntry(CatalogueStruct, frozen=True, kw_only=True):
    """The definition of a layer's subjects: the objects of one kind."""

    layer: Annotated[Layer, Meta(description="The layer; the cluster is a subject by itself.")]
    kind: Annotated[
        Text,
        Meta(
            description="Each object of this kind is a subject. `Namespace` for harnesses that are namespaces."
        ),
    ]
    about: Annotated[Text, Meta(description="What a subject is, for docs/reasons.md.")]
    prefix: Annotated[
        OptionalKey[Prefix],
        Meta(description="How its reasons begin. Absent: the kind in lower case."),
    ] = UNSET
    plain: Annotated[
        bool,
        Meta(
            description="true where subjects are named by their object alone, in labels of Events and in the "
            "status; of others the name is `KIND/NAME`. Only for one kind of each layer."
        ),
    ] = False
    labels: Annotated[
        dict[str, str], Meta(description="The labels that an object must have.")
    ] = {}
    namespaces: Annotated[
        NamespaceScope,
        Meta(
            description="The namespaces whose objects count: `all`, `labelled` for those with "
            "`namespace-labels`, or `harness` for those with a harness of this pack."
        ),
    ] = NamespaceScope.ALL
    namespace_labels: Annotated[
        dict[str, str], Meta(description="The labels that such a namespace has.")
    ] = {}
    name_label: Annotated[
        str,
        Meta(description="A label whose value is the subject's name. Absent: the object's name."),
    ] = ""
    namespace_label: Annotated[
        str,
        Meta(
            description="A label whose value is the subject's namespace. Absent: that of the object."
        ),
    ] = ""
    ended_conditions: Annotated[
        list[str],
        Meta(
            description="Conditions that are True while it is being deleted, beside a deletionTimestamp."
        ),
    ] = []
    ended_phases: Annotated[
        list[str], Meta(description="The same: values of its `status.phase`.")
    ] = []
    needs: Annotated[
        list[str],
        Meta(description="More kinds without which every reason about the subject is Unknown."),
    ] = []
