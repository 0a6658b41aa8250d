"""The type of an entry under ``kinds``."""

from typing import Annotated

from msgspec import UNSET, Meta

from reporter.catalogue.format_parts.base import CatalogueStruct, OptionalKey, Text


KindName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Z][A-Za-z0-9]*$",
        max_length=63,
        extra={"is": "a name in CamelCase, such as InferenceService"},
    ),
]
ResourceName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
        max_length=63,
        extra={"is": "a plural in small letters, such as inferenceservices"},
    ),
]
GroupName = Annotated[
    str,
    Meta(
        pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$",
        max_length=253,
        extra={"is": "an API group, such as serving.kserve.io"},
    ),
]
VersionName = Annotated[
    str,
    Meta(
        pattern=r"^v[0-9]+((alpha|beta)[0-9]+)?$",
        max_length=63,
        extra={"is": "a version, such as v1beta1"},
    ),
]


NamespaceName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length=63,
        extra={"is": "the name of a namespace"},
    ),
]


class KindEntry(CatalogueStruct, frozen=True, kw_only=True):
    """A kind of the API that is read for reasons with the probe `cel`."""

    kind: Annotated[
        KindName, Meta(description="Its name in CamelCase, by which reasons refer to it.")
    ]
    name: Annotated[
        OptionalKey[KindName],
        Meta(
            description="Another name for reasons to refer to, where a kind is declared twice with "
            "different selectors."
        ),
    ] = UNSET
    resource: Annotated[
        ResourceName, Meta(description="The plural in the address of its objects.")
    ]
    group: Annotated[GroupName, Meta(description="Its API group. Absent: the core group.")] = ""
    version: Annotated[
        OptionalKey[VersionName],
        Meta(description="Its version. Absent: the one that the API server prefers."),
    ] = UNSET
    observes_generation: Annotated[
        bool,
        Meta(
            description="false for a kind whose `status.observedGeneration` is not that of its own spec."
        ),
    ] = True
    namespaced: Annotated[bool, Meta(description="false for a kind without namespaces.")] = True
    namespace: Annotated[
        OptionalKey[NamespaceName],
        Meta(description="The only namespace of which objects are read."),
    ] = UNSET
    label_selector: Annotated[
        OptionalKey[Text], Meta(description="Which objects are read, as for kubectl.")
    ] = UNSET
    field_selector: Annotated[
        OptionalKey[Text], Meta(description="Which objects are read, as for kubectl.")
    ] = UNSET
